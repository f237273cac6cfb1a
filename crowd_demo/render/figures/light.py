"""Light: agents too small for a sprite, as light that adds up (docs/design/light.md).

An agent puts one unit of light of its colour into the pixel where it is; the picture of that light is blurred over 3 x 3
pixels, so that a cloud is smooth. How much of a pixel n figures cover, each of which covers `area` pixels somewhere, is the
tone curve:

    covered = 1 - (1 + n * area / 16) ** -16                 nearly 1 - exp(-n * area): figures also lie on each other
    pixel   = ground * (1 - covered) + (mean colour of the light) * covered

So a figure is as bright as its sprite, and a crowd as bright from afar as from near. Sums have 16 bits and saturate: a pixel
of more than 257 agents burns out. Such sums do not depend on the order, so light needs no depth sort. Each worker adds up
its share of the agents on a layer of its own, which is a pixel larger than the picture on each side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Keys, Longs, Words
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.compute.simd import LANES as SIXTEEN
from crowd_demo.compute.simd import load, pick, store, to_float, to_int
from crowd_demo.render.camera import View
from crowd_demo.render.pixels import Frame, add_saturated, channel
from crowd_demo.render.projection import Moving, pixel

UNIT = 255  # what an agent adds to the amount of light; to blue, green and red it adds its colour
PARTS, AMOUNT = 4, 3  # blue, green, red and the amount are 16 bits each of a word, the first the lowest
FULL = 0xFFFF
BLUR = 1, 2, 1  # along each axis; the weights of the nine pixels add up to 16
LEAST = np.float32(1e-6)  # too little to change an amount, and enough to divide by where there is no light


class Shades(NamedTuple):
    """The colours of agents: entry k of a list of slots has the colour `palette[number[k]]`."""

    number: Bytes
    palette: Words  # 0xRRGGBB


NO_SHADES = Shades(np.zeros(0, np.uint8), np.zeros(1, np.uint32))


def channels_of(palette: Words) -> Words:
    """Red, green and blue of each colour: uint32[n, 3]."""
    return palette[:, None] >> np.array([16, 8, 0], np.uint32) & np.uint32(255)


def light_of(palette: Words) -> Keys:
    """What an agent of each colour adds to a pixel, uint64."""
    red, green, blue = channels_of(palette).astype(np.uint64).T
    return blue | green << np.uint64(16) | red << np.uint64(32) | np.uint64(UNIT << 48)


def area_of_one(area_px: float) -> np.float32:
    """What the tone curve takes for one unit of the blurred amount."""
    return np.float32(area_px / 16 / (UNIT * sum(BLUR) ** 2))


# --- adding up -------------------------------------------------------------------------------------------------------

@device
def _at(slot: Int, agents: Moving, ahead: np.float32, view: View) -> tuple[Int, Int]:
    """The pixel where an agent is drawn."""
    x = pixel(agents.x[slot], agents.vx[slot], ahead, view.left, view.zoom)
    y = pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom)
    return int(x), int(y)


@kernel
def add_light(worker: int, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, number: Bytes,
              light: Keys, layers: Keys, on_screen: Longs) -> None:
    """Add the light of this worker's share of the slots to its layer; the blur lets a pixel beyond the edge reach in."""
    layer, stride = layers[worker].reshape(-1), layers.shape[2]
    listed, seen = slots.shape[0], 0
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        x, y = _at(np.uintp(slots[k]), agents, ahead, view)
        if -1 <= x <= view.width and -1 <= y <= view.height:
            add_saturated(layer, np.uintp((y + 1) * stride + x + 1), light[np.uintp(number[k])])
            seen += 0 <= x < view.width and 0 <= y < view.height
    on_screen[worker] = seen


# --- from light to pixels --------------------------------------------------------------------------------------------

@device
def _blur_along(layers: Keys, workers: int, row: int, sums: Ints, blurred: Ints) -> None:
    """Add up that row of all layers, and blur it along x; int32[PARTS, width]."""
    for part in range(PARTS):
        total, out, shift = sums[part], blurred[part], np.uint64(16 * part)
        for i in range(layers.shape[2]):
            total[i] = np.int32(layers[0, row, i] >> shift & np.uint64(FULL))
        for layer in range(1, workers):
            for i in range(layers.shape[2]):
                total[i] = min(total[i] + np.int32(layers[layer, row, i] >> shift & np.uint64(FULL)), FULL)
        for i in range(layers.shape[2] - 2):
            out[i] = total[i] + 2 * total[i + 1] + total[i + 2]


@device
def _blurred(rows: Ints, middle: int, part: int, at: int, like: Int) -> Int:
    """That part of the light in one pixel, or in sixteen, from three rows, of which the middle one counts twice."""
    return (pick(rows[0, part], at, like) + pick(rows[1, part], at, like) + pick(rows[2, part], at, like)
            + pick(rows[middle, part], at, like))


@device
def _tone(under: Int, light: Int, left: Float, gain: Float) -> Int:
    """A channel (0 to 255) of the picture, seen through the light above it."""
    return to_int(to_float(under) * left + to_float(light) * gain + np.float32(0.5))


@device
def _under_light(under: Int, rows: Ints, middle: int, at: int, area: np.float32) -> Int:
    """A pixel of the picture, or sixteen, with the light that lies over it."""
    amount = to_float(_blurred(rows, middle, AMOUNT, at, under))
    dims = amount * area + np.float32(1.0)
    dims = dims * dims
    dims = dims * dims
    dims = dims * dims
    left = np.float32(1.0) / (dims * dims)
    gain = (np.float32(1.0) - left) / (amount + LEAST) * np.float32(UNIT)
    red = _tone(channel(under, 16), _blurred(rows, middle, 2, at, under), left, gain)
    green = _tone(channel(under, 8), _blurred(rows, middle, 1, at, under), left, gain)
    return red * 65536 + green * 256 + _tone(channel(under, 0), _blurred(rows, middle, 0, at, under), left, gain)


@device
def _expose_row(picture: Ints, rows: Ints, middle: int, area: np.float32) -> None:
    width = picture.shape[0]
    for at in range(0, width - SIXTEEN + 1, SIXTEEN):
        store(picture, at, _under_light(load(picture, at), rows, middle, at, area))
    for at in range(width - width % SIXTEEN, width):
        picture[at] = _under_light(picture[at], rows, middle, at, area)


@kernel
def expose(worker: int, workers: int, picture: Ints, layers: Keys, scratch: Ints, area: np.float32) -> None:
    """Lay the light of all layers over this worker's rows of the picture, and empty those rows that nobody else reads.

    `picture` is the frame as int32; `scratch` has room for three blurred rows and a sum, for each worker.
    """
    height = picture.shape[0]
    first, last = height * worker // workers, height * (worker + 1) // workers
    rows, sums = scratch[worker], scratch[worker, 3]
    for row in range(first, last + 2 * (last > first)):
        _blur_along(layers, workers, row, sums, rows[row % 3])
        if first + 2 <= row < last:
            for layer in range(workers):
                layers[layer, row] = np.uint64(0)
        if row >= first + 2:
            _expose_row(picture[row - 2], rows, (row - 1) % 3, area)


@kernel
def empty_shared_rows(worker: int, workers: int, height: int, layers: Keys) -> None:
    """Empty the rows of the layers that two workers have read, and the last two; call after `expose`."""
    for share in range(worker, workers + 1, workers):
        first = height * share // workers
        for row in range(first, first + 2):
            for layer in range(workers):
                layers[layer, row] = np.uint64(0)


class Light:
    """Owns the layers. After the calls have run, `on_screen` is how many of their agents are on the screen."""

    def __init__(self) -> None:
        self._layers: Keys = np.zeros((0, 1, 1), np.uint64)
        self._scratch: Ints = np.zeros((0, 4, PARTS, 1), np.int32)
        self._on_screen: Longs = np.zeros(1, np.int64)

    @property
    def on_screen(self) -> int:
        return int(self._on_screen.sum())

    def calls(self, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, shades: Shades, area_px: float,
              frame: Frame) -> tuple[Call, ...]:
        """Kernels that draw the slots, each a figure of `area_px` pixels."""
        self._fit(workers, frame)
        return (call(add_light, workers, slots, agents, ahead, view, shades.number, light_of(shades.palette), self._layers,
                     self._on_screen),
                call(expose, workers, frame.view(np.int32), self._layers, self._scratch, area_of_one(area_px)),
                call(empty_shared_rows, workers, frame.shape[0], self._layers))

    def _fit(self, workers: int, frame: Frame) -> None:
        """Make layers for that many workers, or more."""
        height, width = frame.shape[0] + 2, frame.shape[1] + 2
        if self._layers.shape[0] < workers or self._layers.shape[1:] != (height, width):
            self._layers = np.zeros((workers, height, width), np.uint64)
            self._scratch = np.zeros((workers, 4, PARTS, width), np.int32)
        if len(self._on_screen) != workers:
            self._on_screen = np.zeros(workers, np.int64)


# --- the same in NumPy -----------------------------------------------------------------------------------------------

def draw_plain(slots: Ints, agents: Moving, ahead: np.float32, view: View, shades: Shades, area_px: float,
               frame: Frame) -> int:
    """Draw the same picture in NumPy; return how many are on the screen."""
    x, y = (np.floor((position[slots] + velocity[slots] * ahead - corner) * view.zoom).astype(np.int64)
            for position, velocity, corner in ((agents.x, agents.vx, view.left), (agents.y, agents.vy, view.top)))
    near = (x >= -1) & (x <= view.width) & (y >= -1) & (y <= view.height)
    sums = np.zeros((frame.shape[0] + 2, frame.shape[1] + 2, PARTS), np.int32)
    parts = light_of(shades.palette).view(np.uint16).reshape(-1, PARTS)
    np.add.at(sums, (y[near] + 1, x[near] + 1), parts[shades.number[near]])
    sums = np.minimum(sums, FULL)
    along = sums[:, :-2] + 2 * sums[:, 1:-1] + sums[:, 2:]
    frame[:] = _under_all_light(frame, along[:-2] + 2 * along[1:-1] + along[2:], area_of_one(area_px))
    return int(((x >= 0) & (x < view.width) & (y >= 0) & (y < view.height)).sum())


def _under_all_light(frame: Frame, light: Ints, area: np.float32) -> Frame:
    amount = light[..., AMOUNT].astype(np.float32)
    dims: Floats = amount * area + np.float32(1)
    for _ in range(3):
        dims = dims * dims
    left = np.float32(1) / (dims * dims)
    gain = (np.float32(1) - left) / (amount + LEAST) * np.float32(UNIT)
    out = np.zeros_like(frame)
    for part, shift in enumerate((np.uint32(0), np.uint32(8), np.uint32(16))):
        under = (frame >> shift & np.uint32(255)).astype(np.float32)
        out |= (under * left + light[..., part].astype(np.float32) * gain + np.float32(0.5)).astype(np.uint32) << shift
    return out
