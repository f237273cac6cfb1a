"""The minimap: the whole world, small, with its crowd, the view, and the frozen frustum; a click there moves the view.

The ground has the mean colour of each tile; the crowd is a sample, drawn on it some times a second and kept in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes
from crowd_demo.render.camera import Rect
from crowd_demo.render.hud.canvas import Canvas, Pen, Renderings
from crowd_demo.render.hud.theme import TEXT, WARM
from crowd_demo.sim.simulation import Simulation

WIDEST, HIGHEST, EDGE = 130.0, 110.0, 6.0  # units
SAMPLE = 8192  # agents at most
REFRESH_HZ = 4.0
DARK, LIGHT = (30, 34, 60), (250, 240, 210)  # the crowd on a light ground, and on a dark one
DARK_BELOW = 110.0  # mean of the ground's channels
STRONGEST = 0.8  # share of the crowd's colour, where it is densest


class MinimapView(NamedTuple):
    """What the camera shows of the world, what culling keeps where that is frozen, and the ground of all of it."""

    view: Rect
    frozen: Rect | None
    ground: Bytes  # [rows, columns, 3], of all tiles; another array when it changes


class Minimap:
    """Draws it; keeps the picture of ground and crowd."""

    def __init__(self) -> None:
        self._rendered = Renderings()
        self._px_per_unit = 1.0  # pixels a world unit, as drawn last
        self._edge_px = 0

    def draw(self, sim: Simulation, shown: MinimapView, pen: Pen, scale: float, now_s: float) -> Canvas:
        """A panel with the world as large as fits."""
        width, height = float(sim.terrain.walls.width), float(sim.terrain.walls.height)
        per_unit = min(WIDEST / width, HIGHEST / height)  # panel units a world unit
        box = width * per_unit, height * per_unit
        canvas = Canvas((box[0] + 2 * EDGE, box[1] + 2 * EDGE), pen, scale)
        inner = canvas.pixels((EDGE, EDGE, *box))
        self._px_per_unit, self._edge_px = per_unit * scale, inner.left
        picture = self._rendered.get("world", (inner.size, id(shown.ground)), lambda: pygame.surfarray.make_surface(
            picture_of(sim, shown.ground, inner.size)), now_s, 1 / REFRESH_HZ)
        canvas.surface.blit(picture, inner)
        canvas.surface.set_clip(inner)
        for rect, colour in ((shown.frozen, WARM), (shown.view, TEXT)):
            if rect:
                left, top = EDGE + rect.left * per_unit, EDGE + rect.top * per_unit
                size = (rect.right - rect.left) * per_unit, (rect.bottom - rect.top) * per_unit
                seen = canvas.pixels((left, top, *size)).clip(inner)
                pygame.draw.rect(canvas.surface, (0, 0, 0), seen.inflate(2, 2), 3)
                pygame.draw.rect(canvas.surface, pen.colour(colour), seen, 1)
        canvas.surface.set_clip(None)
        canvas.target((0, 0, *canvas.size), "minimap")
        return canvas

    def world_at(self, x: float, y: float) -> tuple[float, float]:
        """The point of the world at a pixel of the panel, as it was drawn last."""
        return (x - self._edge_px) / self._px_per_unit, (y - self._edge_px) / self._px_per_unit


def picture_of(sim: Simulation, tiles: Bytes, size: tuple[int, int]) -> Bytes:
    """Ground and crowd of the whole world in so many pixels: uint8[width, height, 3]."""
    width, height = size
    rows, columns = (np.arange(pixels) * tiles_along // pixels
                     for pixels, tiles_along in zip((height, width), tiles.shape[:2], strict=True))
    ground = tiles[rows][:, columns].swapaxes(0, 1).astype(np.float32)
    crowd = np.array(LIGHT if ground.mean() < DARK_BELOW else DARK, np.float32)
    columns_of, count = sim.agents.columns, sim.agents.count
    every = max(1, -(-count // SAMPLE))
    places = (np.clip(place[:count:every] / float(side) * pixels, 0, pixels - 1).astype(np.int64) for place, side, pixels in (
        (columns_of.x, sim.terrain.walls.width, width), (columns_of.y, sim.terrain.walls.height, height)))
    counts = np.zeros(size, np.float32)
    np.add.at(counts, tuple(places), 1)
    share = STRONGEST * (1 - np.exp(-counts / max(3 * float(counts.mean()), 0.1)))[..., None]
    return (ground + (crowd - ground) * share).astype(np.uint8)
