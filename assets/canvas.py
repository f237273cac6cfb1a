"""Canvases for the artwork: everything is drawn at several samples a pixel and averaged down, so edges are smooth.

`Relief` holds solid bodies with a depth buffer (the people), `Paper` flat shapes in painter's order (birds and badges).
A colour of a relief may have further channels: how much it has of each of four dyes, which are chosen later.
Only + - * / and square roots touch the samples, and directions and colours are rounded, so the same pixels come out on
every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Pixels = NDArray[np.uint8]
Colour = tuple[int, ...]  # red, green and blue; and of a relief the shares of the dyes
Vector = tuple[float, float, float]
Point = tuple[float, float]
Plane = tuple[Vector, float]  # (normal, offset): a body is cut to where normal . p >= offset

SAMPLES = 4  # a side of a pixel
LIGHT: Vector = (-0.48, -0.62, 0.62)  # towards the sun: upper left, in front (x right, y down, z to the viewer)
INK: Colour = (44, 34, 54)
DYES = 4


def turn(angle: float) -> Point:
    """Cosine and sine of `angle` (in full turns), rounded: the last bit of a C library must not show."""
    return round(math.cos(angle * math.tau), 9), round(math.sin(angle * math.tau), 9)


def mix(a: Colour, b: Colour, share: float) -> Colour:
    return tuple(round(x + (y - x) * share) for x, y in zip_longest(a, b, fillvalue=0))


def channels(colour: Colour) -> Floats:
    """A colour with all channels that a relief has."""
    return np.pad(np.array(colour, float), (0, 3 + DYES - len(colour)))


def average(samples: Floats, side: int = SAMPLES) -> Floats:
    """Mean of each `side` x `side` block: (h * side, w * side, ...) to (h, w, ...)."""
    height, width = samples.shape[0] // side, samples.shape[1] // side
    blocks = samples.reshape(height, side, width, side, *samples.shape[2:])
    return np.asarray(blocks.mean(axis=(1, 3)))


def grow(mask: Mask, steps: int) -> Mask:
    """`mask` widened by `steps` samples on all sides; crosses and squares alternate, which is nearly a disc."""
    for step in range(steps):
        wide = mask.copy()
        wide[:, 1:] |= mask[:, :-1]
        wide[:, :-1] |= mask[:, 1:]
        source = wide.copy() if step % 2 else mask
        wide[1:] |= source[:-1]
        wide[:-1] |= source[1:]
        mask = wide
    return mask


def flatten(colour: Floats, cover: Floats) -> Floats:
    """Averages samples to straight-alpha pixels, float (h, w, 4) in 0..255; `cover` is each sample's 0..1 opacity."""
    alpha = average(cover)
    light = average(colour * cover[..., None])
    pixels = np.zeros((*alpha.shape, 4))
    pixels[..., :3] = np.divide(light, alpha[..., None], out=np.zeros_like(light), where=alpha[..., None] > 0)
    pixels[..., 3] = alpha * 255.0
    return pixels


def over(top: Floats, bottom: Floats) -> Floats:
    """Straight-alpha `top` on `bottom`, both (h, w, 4) in 0..255."""
    a, b = top[..., 3:] / 255.0, bottom[..., 3:] / 255.0
    alpha = a + b * (1.0 - a)
    light = top[..., :3] * a + bottom[..., :3] * b * (1.0 - a)
    colour = np.divide(light, alpha, out=np.zeros_like(light), where=alpha > 0)
    return np.concatenate([colour, alpha * 255.0], axis=2)


def to_bytes(pixels: Floats, step: int = 1) -> Pixels:
    """Rounds to multiples of `step`; the small extra keeps a half from depending on the order of a sum."""
    return np.clip(step * np.floor(pixels / step + 0.50001), 0, 255).astype(np.uint8)


def save(pixels: Floats, path: Path, step: int = 1) -> None:
    """Writes (h, w, 3 or 4) values in 0..255 as a WebP without loss, a fifth smaller with only every fourth value."""
    Image.fromarray(to_bytes(pixels, step)).save(path, lossless=True, exact=True, quality=100, method=6)


def smooth(points: Sequence[Point], steps: int = 6) -> list[Point]:
    """A closed Catmull-Rom curve through `points`."""
    curve: list[Point] = []
    for i in range(len(points)):
        p, q, r, s = (points[(i + k) % len(points)] for k in (-1, 0, 1, 2))
        for step in range(steps):
            t = step / steps
            a, b = t * (t * (2 - t) - 1), t * t * (3 * t - 5) + 2
            c, d = t * (t * (4 - 3 * t) + 1), t * t * (t - 1)
            x, y = (a * p[k] + b * q[k] + c * r[k] + d * s[k] for k in (0, 1))
            curve.append((x / 2, y / 2))
    return curve


class Paper:
    """Flat shapes, the last one on top. Coordinates are pixels from `origin`, y down."""

    def __init__(self, width: int, height: int, origin: Point) -> None:
        shape = (height * SAMPLES, width * SAMPLES)
        self.origin = origin
        self.colour: Floats = np.zeros((*shape, 3))
        self.cover: Mask = np.zeros(shape, np.bool_)

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        self.fill(self.inside(points), colour)

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        turns = [turn(k / 32) for k in range(32)]
        self.polygon([(x + radius * c, y + radius * s) for c, s in turns], colour)

    def fill(self, mask: Mask, colour: Colour) -> None:
        self.colour[mask] = colour
        self.cover |= mask

    def inside(self, points: Sequence[Point]) -> Mask:
        """Even-odd rule: each edge flips all samples to its right in the rows that it crosses."""
        rows, columns = self.cover.shape
        x = np.round([(p[0] + self.origin[0]) * SAMPLES - 0.5 for p in points], 6)
        y = np.round([(p[1] + self.origin[1]) * SAMPLES - 0.5 for p in points], 6)
        row = np.arange(rows)[:, None]
        next_x, next_y = np.roll(x, -1), np.roll(y, -1)
        crosses = (y <= row) != (next_y <= row)
        slope = np.divide(next_x - x, next_y - y, out=np.zeros_like(x), where=next_y != y)
        column = np.clip(np.ceil(x + (row - y) * slope), 0, columns).astype(np.int64)
        flat = (row * (columns + 1) + column)[crosses]
        flips = np.bincount(flat, minlength=rows * (columns + 1)).reshape(rows, columns + 1)
        return np.asarray(np.cumsum(flips, axis=1)[:, :columns] % 2 == 1)

    def outlined(self, width_px: float, opacity: float, ink: Colour = INK) -> Floats:
        """The drawing with a line of `ink` around it, as pixels."""
        line = grow(self.cover, round(width_px * SAMPLES)) & ~self.cover
        return flatten(np.where(line[..., None], np.array(ink, float), self.colour), self.cover + line * opacity)


class Relief:
    """Solid bodies seen along z, each sample showing the nearest. Coordinates are pixels from `origin`, y down."""

    def __init__(self, width: int, height: int, origin: Point) -> None:
        shape = (height * SAMPLES, width * SAMPLES)
        self.depth: Floats = np.full(shape, -np.inf)
        self.colour: Floats = np.zeros((*shape, 3 + DYES))
        self.x: Floats = (np.arange(shape[1]) + 0.5) / SAMPLES - origin[0]
        self.y: Floats = (np.arange(shape[0]) + 0.5) / SAMPLES - origin[1]

    def _window(self, low: Point, high: Point) -> tuple[slice, slice]:
        left, right = np.searchsorted(self.x, (low[0], high[0]))
        top, bottom = np.searchsorted(self.y, (low[1], high[1]))
        return slice(int(top), int(bottom)), slice(int(left), int(right))

    def ellipsoid(self, centre: Vector, axes: Sequence[Vector], colour: Colour, keep: Plane | None) -> None:
        """`axes`: the three half axes, at right angles."""
        m = np.round(np.array(axes), 6)  # the surface is |u| = 1 under p = centre + u m, so p' Q p = 1
        reach_x, reach_y = (math.sqrt(float((m[:, k] ** 2).sum())) for k in (0, 1))
        window = self._window((centre[0] - reach_x, centre[1] - reach_y), (centre[0] + reach_x, centre[1] + reach_y))
        x, y = self.x[window[1]][None, :] - centre[0], self.y[window[0]][:, None] - centre[1]
        unit = m / (m**2).sum(axis=1)[:, None]
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = (unit[:, :, None] * unit[:, None, :]).sum(axis=0).tolist()
        half = (xz * x + yz * y) / zz
        inside = half**2 - (xx * x**2 + 2 * xy * x * y + yy * y**2 - 1) / zz
        z = -half + np.sqrt(np.maximum(inside, 0))
        normal = (xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z)
        self._show(window, np.where(inside > 0, z + centre[2], -np.inf), normal, colour, keep)

    def limb(self, a: Vector, b: Vector, radius_a: float, radius_b: float, colour: Colour,
             keep: Plane | None) -> None:
        """A ball rolled from `a` to `b` while its radius changes: arms, legs, bodies, skirts."""
        low = (min(a[0] - radius_a, b[0] - radius_b), min(a[1] - radius_a, b[1] - radius_b))
        high = (max(a[0] + radius_a, b[0] + radius_b), max(a[1] + radius_a, b[1] + radius_b))
        window = self._window(low, high)
        t = (np.arange(14) / 13)[:, None, None]
        radius = radius_a + (radius_b - radius_a) * t
        x = self.x[window[1]][None, None, :] - (a[0] + (b[0] - a[0]) * t)
        y = self.y[window[0]][None, :, None] - (a[1] + (b[1] - a[1]) * t)
        inside = radius**2 - x**2 - y**2
        height = np.sqrt(np.maximum(inside, 0))
        z = np.where(inside > 0, height + (a[2] + (b[2] - a[2]) * t), -np.inf)
        best = np.argmax(z, axis=0)[None]
        chosen = [np.take_along_axis(np.broadcast_to(v, z.shape), best, 0)[0] for v in (z, x, y, height)]
        self._show(window, chosen[0], (chosen[1], chosen[2], chosen[3]), colour, keep)

    def _show(self, window: tuple[slice, slice], z: Floats, normal: tuple[Floats, Floats, Floats], colour: Colour,
              keep: Plane | None) -> None:
        nearer = z > self.depth[window] + 1e-6
        if keep is not None:
            (nx, ny, nz), offset = keep
            plane = nx * self.x[window[1]][None, :] + ny * self.y[window[0]][:, None]
            nearer &= plane + nz * np.where(np.isfinite(z), z, 0.0) >= offset
        length = np.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2) + 1e-9
        lit = (normal[0] * LIGHT[0] + normal[1] * LIGHT[1] + normal[2] * LIGHT[2]) / length
        shade = _toon(lit[nearer])[:, None]
        self.depth[window][nearer] = z[nearer]
        self.colour[window][nearer] = np.minimum(channels(colour) * shade + channels((0, 0, 9)) * (1.15 - shade), 255)

    def outlined(self, width_px: float, crease_px: float = 2.2) -> tuple[Floats, Floats]:
        """The bodies as pixels, with an ink line around them and a soft one where one stands well before another.

        And float (h, w, DYES): how much of each dye comes to the colour of a pixel, which is premultiplied for that.
        """
        solid = np.isfinite(self.depth)
        depth = np.where(solid, self.depth, -1e3)
        crease = solid & (_nearest_around(depth, 2) - depth > crease_px)
        colour = np.where(crease[..., None], self.colour * 0.55 + channels(INK) * 0.15, self.colour)
        line = grow(solid, round(width_px * SAMPLES)) & ~solid
        pixels = flatten(np.where(line[..., None], np.array(INK, float), colour[..., :3]), solid + line * 0.9)
        return pixels, average(colour[..., 3:] * solid[..., None])


def _nearest_around(depth: Floats, steps: int) -> Floats:
    """Greatest depth within `steps` samples along rows and columns."""
    for _ in range(steps):
        near = depth.copy()
        near[1:] = np.maximum(near[1:], depth[:-1])
        near[:-1] = np.maximum(near[:-1], depth[1:])
        near[:, 1:] = np.maximum(near[:, 1:], depth[:, :-1])
        near[:, :-1] = np.maximum(near[:, :-1], depth[:, 1:])
        depth = near
    return depth


def _toon(lit: Floats) -> Floats:
    """Brightness of a surface: two flat tones with a soft step between them and a small highlight."""
    step = np.clip((lit + 0.10) / 0.36, 0, 1)
    shine = np.clip((lit - 0.80) / 0.16, 0, 1)
    return 0.70 + 0.30 * step * step * (3 - 2 * step) + 0.10 * shine
