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

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Keys, Longs, Mask, Register, Words
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.compute.simd import LANES, bits, count_set, lane_numbers, select, splat, to_float, to_int
from crowd_demo.compute.simd_memory import load, pick, store, take
from crowd_demo.render.camera import View
from crowd_demo.render.numbering import is_run, registers, sixteen
from crowd_demo.render.pixels import Frame, add_saturated
from crowd_demo.render.projection import Moving, pixel

UNIT = 255  # what an agent adds to the amount of light; to blue, green and red it adds its colour
PARTS, AMOUNT = 4, 3  # blue, green, red and the amount are 16 bits each of a word, the first the lowest
FULL = np.uint64(0xFFFF)
EVEN, HALF, ONES = np.uint64(0x0000FFFF0000FFFF), np.uint64(16), np.uint64(0x0000000100000001)  # blue and red; of a word
LOW, WIDE, TWICE, DARK = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(2), np.uint64(0)
BATCH = 512  # agents
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
def _place(slots: Int, agents: Moving, ahead: np.float32, view: View, stride: int) -> tuple[Register, Mask, Mask]:
    """Where in a layer sixteen agents are, which of them are there, and which are on the screen.

    The blur lets a pixel beyond the edge reach in.
    """
    x = pixel(take(agents.x, slots), take(agents.vx, slots), ahead, view.left, view.zoom)
    y = pixel(take(agents.y, slots), take(agents.vy, slots), ahead, view.top, view.zoom)
    width, height, least = np.float32(view.width), np.float32(view.height), np.float32(-1)
    near = (x >= least) & (x <= width) & (y >= least) & (y <= height)
    on_screen = (x > least) & (x < width) & (y > least) & (y < height)
    return to_int(y) * stride + to_int(x) + (stride + 1), near, on_screen


@device
def _ends(low: Register, high: Register, room: Ints) -> tuple[int, int]:
    """The least and the greatest place of all lanes."""
    store(room, 0, low)
    store(room, LANES, high)
    least, greatest = room[0], room[LANES]
    for lane in range(1, LANES):
        least, greatest = min(least, room[lane]), max(greatest, room[LANES + lane])
    return least, greatest


@kernel
def add_light(worker: int, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, number: Bytes,
              light: Keys, layers: Keys, batch: Ints, reached: Ints, on_screen: Longs) -> None:
    """Add the light of this worker's share of the slots to its layer, and note the places that it has reached.

    First the places of `BATCH` agents are found in lanes, then their light is added, one by one.
    """
    layer, stride, places = layers[worker].reshape(-1), layers.shape[2], batch[worker]
    nowhere = np.int32((layers.shape[1] - 1) * stride)  # in the last row, which nobody reads
    listed, seen = slots.shape[0], 0
    first, last = registers(listed, worker, workers)
    low, high = splat(nowhere, lane_numbers()), splat(np.int32(-1), lane_numbers())
    for begin in range(first, last, BATCH):
        end = min(begin + BATCH, last)
        for at in range(begin, end, LANES):
            register = sixteen(slots, at)
            if is_run(register, slots[at]):
                place, near, shown = _place(np.intp(slots[at]), agents, ahead, view, stride)
            else:
                place, near, shown = _place(register, agents, ahead, view, stride)
            near, shown = near & (lane_numbers() < listed - at), shown & (lane_numbers() < listed - at)
            store(places, at - begin, select(near, place, splat(nowhere, place)))
            low = select(near & (place < low), place, low)
            high = select(near & (place > high), place, high)
            seen += count_set(shown)
        for at in range(begin, min(end, listed)):
            add_saturated(layer, np.uintp(places[np.uintp(at - begin)]), light[np.uintp(number[np.uintp(at)])])
    reached[worker, 0], reached[worker, 1] = _ends(low, high, places)
    on_screen[worker] = seen


# --- from light to pixels --------------------------------------------------------------------------------------------

@device
def _reaches(reached: Ints, layer: int, row: int, stride: int) -> bool:
    """May there be light in that row of a layer?"""
    return reached[layer, 0] < (row + 1) * stride and reached[layer, 1] >= row * stride


@device
def _add_rows(a: Keys, b: Keys, sums: Keys) -> None:
    """Add the light of two rows; each of the four sums of a word stops at 65535."""
    for i in range(sums.shape[0]):
        even = (a[i] & EVEN) + (b[i] & EVEN)
        odd = (a[i] >> HALF & EVEN) + (b[i] >> HALF & EVEN)
        even |= (even >> HALF & ONES) * FULL
        odd |= (odd >> HALF & ONES) * FULL
        sums[i] = even & EVEN | (odd & EVEN) << HALF


@device
def _blur_along(layers: Keys, reached: Ints, workers: int, row: int, sums: Keys, blurred: Ints) -> bool:
    """Add up that row of all layers, and blur it along x: int32[PARTS, width]. Return whether there is any light."""
    found, stride, line = False, layers.shape[2], sums
    for layer in range(workers):
        if _reaches(reached, layer, row, stride):
            if found:
                _add_rows(line, layers[layer, row], sums)
            line = sums if found else layers[layer, row]
            found = True
    if found:
        _blur_row(line, blurred)
    else:
        blurred[:] = 0
    return found


@device
def _blur_row(line: Keys, blurred: Ints) -> None:
    """Two parts of a word at a time, which have 32 bits each."""
    blue, green, red, amount = blurred[0], blurred[1], blurred[2], blurred[3]
    for i in range(line.shape[0] - 2):
        a, b, c = line[i], line[i + 1], line[i + 2]
        even = (a & EVEN) + TWICE * (b & EVEN) + (c & EVEN)
        odd = (a >> HALF & EVEN) + TWICE * (b >> HALF & EVEN) + (c >> HALF & EVEN)
        blue[i], red[i] = np.int32(even & LOW), np.int32(even >> WIDE)
        green[i], amount[i] = np.int32(odd & LOW), np.int32(odd >> WIDE)


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
    red = _tone(bits(under, 16, 255), _blurred(rows, middle, 2, at, under), left, gain)
    green = _tone(bits(under, 8, 255), _blurred(rows, middle, 1, at, under), left, gain)
    return red * 65536 + green * 256 + _tone(bits(under, 0, 255), _blurred(rows, middle, 0, at, under), left, gain)


@device
def _expose_row(picture: Ints, rows: Ints, middle: int, area: np.float32) -> None:
    width = picture.shape[0]
    for at in range(0, width - LANES + 1, LANES):
        store(picture, at, _under_light(load(picture, at), rows, middle, at, area))
    for at in range(width - width % LANES, width):
        picture[at] = _under_light(picture[at], rows, middle, at, area)


@kernel
def expose(worker: int, workers: int, picture: Ints, layers: Keys, reached: Ints, sums: Keys, blurred: Ints,
           area: np.float32) -> None:
    """Lay the light of all layers over this worker's rows of the picture, and empty those rows that nobody else reads.

    `picture` is the frame as int32; `sums` has room for a row and `blurred` for three, for each worker. Where there is no
    light the picture stays as it is.
    """
    height, stride = picture.shape[0], layers.shape[2]
    first, last = height * worker // workers, height * (worker + 1) // workers
    lit = 0  # a bit for each of the last three rows
    for row in range(first, last + 2 * (last > first)):
        found = _blur_along(layers, reached, workers, row, sums[worker], blurred[worker, row % 3])
        lit = (lit << 1 | found) & 7
        if found and first + 2 <= row < last:
            for layer in range(workers):
                if _reaches(reached, layer, row, stride):
                    layers[layer, row] = DARK
        if row >= first + 2 and lit:
            _expose_row(picture[row - 2], blurred[worker], (row - 1) % 3, area)


@kernel
def empty_shared_rows(worker: int, workers: int, height: int, layers: Keys) -> None:
    """Empty the rows of the layers that two workers have read, and the last two; call after `expose`."""
    for share in range(worker, workers + 1, workers):
        first = height * share // workers
        for row in range(first, first + 2):
            for layer in range(workers):
                layers[layer, row] = DARK


class Light:
    """Owns the layers. After the calls have run, `on_screen` is how many of their agents are on the screen."""

    def __init__(self) -> None:
        self._layers: Keys = np.zeros((0, 1, 1), np.uint64)
        self._sums: Keys = np.zeros((0, 1), np.uint64)
        self._blurred: Ints = np.zeros((0, 3, PARTS, 1), np.int32)
        self._reserve(1)

    def _reserve(self, workers: int) -> None:
        self._batch: Ints = np.zeros((workers, BATCH), np.int32)
        self._reached: Ints = np.zeros((workers, 2), np.int32)  # the least and the greatest place
        self._on_screen: Longs = np.zeros(workers, np.int64)

    @property
    def on_screen(self) -> int:
        return int(self._on_screen.sum())

    def calls(self, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, shades: Shades, area_px: float,
              frame: Frame) -> tuple[Call, ...]:
        """Kernels that draw the slots, each a figure of `area_px` pixels."""
        self._fit(workers, frame)
        return (call(add_light, workers, slots, agents, ahead, view, shades.number, light_of(shades.palette), self._layers,
                     self._batch, self._reached, self._on_screen),
                call(expose, workers, frame.view(np.int32), self._layers, self._reached, self._sums, self._blurred,
                     area_of_one(area_px)),
                call(empty_shared_rows, workers, frame.shape[0], self._layers))

    def _fit(self, workers: int, frame: Frame) -> None:
        """Make layers for that many workers, or more; the last row is for agents that are not in the picture."""
        height, width = frame.shape[0] + 3, frame.shape[1] + 2
        if self._layers.shape[0] < workers or self._layers.shape[1:] != (height, width):
            self._layers = np.zeros((workers, height, width), np.uint64)
            self._sums = np.zeros((workers, width), np.uint64)
            self._blurred = np.zeros((workers, 3, PARTS, width), np.int32)
        if len(self._on_screen) != workers:
            self._reserve(workers)


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
    sums = np.minimum(sums, int(FULL))
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
