"""A square whose edges meet: what is drawn over one edge comes in at the other, so tiles never show a seam.

Variants of a kind are seamless among each other because all that touches an edge is drawn alike in each of them:
`Torus.varied` gives a variant its own texture in the middle, fading to the common one at the edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from canvas import Colour, Floats, average
from numpy.random import RandomState
from numpy.typing import NDArray

TILE = 64
SAMPLES = 4
SIDE = TILE * SAMPLES


def _fade(t: Floats) -> Floats:
    return t * t * (3 - 2 * t)


def noise(seed: int, cells: int) -> Floats:
    """Smooth periodic gradient noise, about -1..1, (SIDE, SIDE), with `cells` bumps a side."""
    slopes = RandomState(seed).random_sample((2, cells, cells)) * 2 - 1
    place = (np.arange(SIDE) + 0.5) * cells / SIDE
    low = place.astype(np.int64)
    share = place - low
    total = np.zeros((SIDE, SIDE))
    for step_y in (0, 1):
        for step_x in (0, 1):
            slope_y, slope_x = slopes[:, ((low + step_y) % cells)[:, None], (low + step_x) % cells]
            weight = _fade(1 - np.abs(share - step_y))[:, None] * _fade(1 - np.abs(share - step_x))
            total += weight * (slope_y * (share - step_y)[:, None] + slope_x * (share - step_x))
    return total * 2.2


class Torus:
    """One tile in the making: (SIDE, SIDE, 3) samples. Coordinates are pixels, wrapping at 64."""

    def __init__(self, colour: Colour, variant: int) -> None:
        self.colour: Floats = np.ones((SIDE, SIDE, 3)) * np.array(colour)
        self.variant = variant
        self.own = RandomState(1000 + variant)  # of this variant, for the inside
        self.common = RandomState(7)  # the same in every variant, for the edges
        self.place: Floats = (np.arange(SIDE) + 0.5) / SAMPLES
        edge = _fade(np.clip(np.minimum(self.place, TILE - self.place) / 14.0, 0, 1))
        self.inside: Floats = edge[:, None] * edge[None, :]

    def varied(self, seed: int, cells: int) -> Floats:
        """Noise that is common at the edges and this variant's own inside."""
        own = noise(seed + 100 * (self.variant + 1), cells)
        return noise(seed, cells) * (1 - self.inside) + own * self.inside

    def lighten(self, amount: Floats) -> None:
        """Adds `amount` (levels, (SIDE, SIDE)) to all three colours."""
        self.colour += amount[..., None]

    def blend(self, cover: NDArray[Any], colour: Colour) -> None:
        """Paints `colour` with an opacity of 0..1 a sample, or a yes or no."""
        self.colour += (np.array(colour) - self.colour) * np.clip(cover, 0, 1)[..., None]

    def _offsets(self, x: float, y: float) -> tuple[Floats, Floats]:
        dx = (self.place - x + TILE / 2) % TILE - TILE / 2
        dy = (self.place - y + TILE / 2) % TILE - TILE / 2
        return dx[None, :], dy[:, None]

    def spot(self, x: float, y: float, radius_x: float, radius_y: float, colour: Colour, opacity: float = 1.0,
             soft: float = 0.15) -> None:
        """An ellipse whose edge fades over the share `soft` of its radius."""
        dx, dy = self._offsets(x, y)
        inside = 1 - np.sqrt((dx / radius_x) ** 2 + (dy / radius_y) ** 2)
        self.blend(np.clip(inside / soft, 0, 1) * opacity, colour)

    def blade(self, x: float, y: float, lean: float, height: float, width: float, colour: Colour,
              opacity: float) -> None:
        """A tapered stroke from (x, y) up to (x + lean, y - height)."""
        dx, dy = self._offsets(x, y)
        along = -dy / height
        aside = np.abs(dx - lean * along * along)
        inside = (along >= 0) & (along <= 1) & (aside < width * (1 - along))
        self.blend(inside * opacity, colour)

    def slab(self, x: float, y: float, width: float, height: float, level: float, round_px: float = 1.5,
             bevel: float = 5.0) -> None:
        """A stone with rounded corners on what is there: `level` brighter, lit on its upper left edge."""
        dx, dy = self._offsets(x + width / 2, y + height / 2)
        out_x = np.maximum(np.abs(dx) - width / 2 + round_px, 0)
        out_y = np.maximum(np.abs(dy) - height / 2 + round_px, 0)
        inside = np.sqrt(out_x**2 + out_y**2) <= round_px
        rim = (np.abs(dx) > width / 2 - 1.0) | (np.abs(dy) > height / 2 - 1.0)
        lit = ((dx < -width / 2 + 1.0) | (dy < -height / 2 + 1.0)) & rim
        self.lighten(inside * (level + bevel * lit - bevel * (rim & ~lit)))

    def is_inside(self, x: float, y: float, margin: float) -> bool:
        return margin <= x <= TILE - margin and margin <= y <= TILE - margin

    def pixels(self) -> Floats:
        return average(self.colour, SAMPLES)
