"""Light: agents too small for a sprite, as light that adds up (docs/design/light.md).

An agent puts one unit of light of its colour into the pixel where it is; the picture of that light is blurred over 3
x 3 pixels, so that a cloud is smooth. How much of a pixel n figures cover, each of which covers `area` pixels
somewhere, is the tone curve:

    covered = 1 - (1 + n * area / 16) ** -16                 nearly 1 - exp(-n * area): figures also lie on each other
    pixel   = ground * (1 - covered) + (mean colour of the light) * covered

So a figure is as bright as its sprite, and a crowd as bright from afar as from near. Sums have 16 bits and saturate:
a pixel of more than 257 agents burns out. Such sums do not depend on the order, so light needs no depth sort. Each
worker adds up its share of the agents on a layer of its own, which is a pixel larger than the picture on each side.

A word of a layer holds four sums of 16 bits. Where no pixel of three rows has the light of more than sixteen agents,
the nine weighted words of a pixel are added up as they are, for no sum reaches into the next one. Other rows are
split into four parts of 32 bits first, which takes half as long again. Both give the same numbers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Keys, Longs, Mask, Register, Words
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import (
    LANES,
    are_contiguous,
    bits,
    count_set,
    lane_numbers,
    select,
    share_of_registers,
    splat,
    to_float,
    to_int,
)
from crowd_demo.compute.simd_memory import Contiguous, gather, load, pick, store
from crowd_demo.render.camera import View
from crowd_demo.render.drawing import Moving, Shades, pixel, sixteen
from crowd_demo.render.inks import channels_of, packed
from crowd_demo.sprites.pixels import Frame, add_saturated, add_words

UNIT = 255  # what an agent adds to the amount of light; to blue, green and red it adds its colour
PARTS, AMOUNT = 4, 3  # blue, green, red and the amount are 16 bits each of a word, the first the lowest
FULL = np.uint64(0xFFFF)
EVEN, HALF, ONES = np.uint64(0x0000FFFF0000FFFF), np.uint64(16), np.uint64(0x0000000100000001)  # blue and red; of a word
LOW, WIDE, TWICE, DARK = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(2), np.uint64(0)
BRIGHT = np.uint64(0xF000F000F000F000)  # a sum of which 16 would not fit 16 bits
BLUR = 1, 2, 1  # along each axis; the weights of the nine pixels add up to 16
LEAST = 1e-6  # too little to change an amount, and enough to divide by where there is no light
BATCH = 512  # agents


class Rows(NamedTuple):
    """What each worker remembers: three rows that are blurred along x, as words, and as parts where they are bright."""

    line: Keys  # [workers, width]: a row of light
    words: Keys  # [workers, 3, width]
    parts: Ints  # [workers, 3, PARTS, width]


@device
def _reaches(reached: Ints, layer: int, row: int, stride: int) -> bool:
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
def _blur_along(layers: Keys, reached: Ints, workers: int, row: int, sums: Keys, words: Keys, parts: Ints) -> int:
    """Add up that row of all layers, and blur it along x. Return 0 where there is no light, 1, or 2 if it is bright."""
    found, stride, line = False, layers.shape[2], sums
    for layer in range(workers):
        if _reaches(reached, layer, row, stride):
            if found:
                _add_rows(line, layers[layer, row], sums)
            line = sums if found else layers[layer, row]
            found = True
    if not found:
        words[:] = DARK
        return 0
    brightest = DARK  # all bits of the row's light
    for i in range(line.shape[0] - 2):
        words[i] = line[i] + TWICE * line[i + 1] + line[i + 2]
        brightest |= line[i] | line[i + 2]
    if not brightest & BRIGHT:
        return 1
    blue, green, red, amount = parts[0], parts[1], parts[2], parts[3]
    for i in range(line.shape[0] - 2):  # two parts of a word at a time, which have 32 bits each
        a, b, c = line[i], line[i + 1], line[i + 2]
        even = (a & EVEN) + TWICE * (b & EVEN) + (c & EVEN)
        odd = (a >> HALF & EVEN) + TWICE * (b >> HALF & EVEN) + (c >> HALF & EVEN)
        blue[i], red[i] = np.int32(even & LOW), np.int32(even >> WIDE)
        green[i], amount[i] = np.int32(odd & LOW), np.int32(odd >> WIDE)
    return 2


@device
def _split(words: Keys, blurred: Ints) -> None:
    """A row that is not bright, as parts."""
    for i in range(words.shape[0]):
        word = words[i]
        for part in range(PARTS):
            blurred[part, i] = np.int32(word >> np.uint64(16 * part) & FULL)


@device
def _blurred(rows: Ints, middle: int, part: int, at: int, like: Int) -> Int:
    """That part of the light in one pixel, or in sixteen, from three rows, of which the middle one counts twice."""
    return (pick(rows[0, part], at, like) + pick(rows[1, part], at, like) + pick(rows[2, part], at, like)
            + pick(rows[middle, part], at, like))


@formula
def _tone(under: Int, light: Int, left: Float, gain: Float) -> Int:
    """A channel (0 to 255) of the picture, seen through the light above it."""
    return to_int(to_float(under) * left + to_float(light) * gain + 0.5)


@formula
def under_light(under: Int, blue: Int, green: Int, red: Int, light: Int, area: np.float32) -> Int:
    """A pixel of the picture, or sixteen, with the light that lies over it: its colour and its amount."""
    amount = to_float(light)
    dims = amount * area + 1
    dims = dims * dims
    dims = dims * dims
    dims = dims * dims
    left = 1 / (dims * dims)
    gain = (1 - left) / (amount + LEAST) * UNIT
    red, green = _tone(bits(under, 16, 255), red, left, gain), _tone(bits(under, 8, 255), green, left, gain)
    return red * 65536 + green * 256 + _tone(bits(under, 0, 255), blue, left, gain)


@device
def _under_words(under: Int, low: Int, high: Int, area: np.float32) -> Int:
    """The same from words: blue and green are in the low halves, red and the amount in the high ones."""
    return under_light(under, bits(low, 0, 0xFFFF), bits(low, 16, 0xFFFF), bits(high, 0, 0xFFFF), bits(high, 16, 0xFFFF),
                        area)


@device
def _under_parts(under: Int, rows: Ints, middle: int, at: int, area: np.float32) -> Int:
    return under_light(under, _blurred(rows, middle, 0, at, under), _blurred(rows, middle, 1, at, under),
                        _blurred(rows, middle, 2, at, under), _blurred(rows, middle, AMOUNT, at, under), area)


@device
def _expose_parts(picture: Ints, rows: Ints, middle: int, area: np.float32) -> None:
    width = picture.shape[0]
    for at in range(0, width - LANES + 1, LANES):
        store(picture, at, _under_parts(load(picture, at), rows, middle, at, area))
    for at in range(width - width % LANES, width):
        picture[at] = _under_parts(picture[at], rows, middle, at, area)


@device
def _expose_words(picture: Ints, words: Keys, middle: int, area: np.float32) -> None:
    width = picture.shape[0]
    for at in range(0, width - LANES + 1, LANES):
        low, high = add_words(words, middle, at)
        store(picture, at, _under_words(load(picture, at), low, high, area))
    for at in range(width - width % LANES, width):
        word = words[0, at] + words[1, at] + words[2, at] + words[middle, at]
        picture[at] = _under_words(picture[at], np.int32(word & LOW), np.int32(word >> WIDE), area)


@kernel
def expose(worker: int, workers: int, picture: Ints, layers: Keys, reached: Ints, rows: Rows, area: np.float32) -> None:
    """Lay the light of all layers over this worker's rows of the picture, and empty those rows that nobody else reads.

    `picture` is the frame as int32. Where there is no light the picture stays as it is.
    """
    height, stride = picture.shape[0], layers.shape[2]
    first, last = height * worker // workers, height * (worker + 1) // workers
    line, words, parts = rows.line[worker], rows.words[worker], rows.parts[worker]
    lit = bright = split = 0  # a bit for each of the last three rows: there is light, it is bright, its parts are known
    for row in range(first, last + 2 * (last > first)):
        found = _blur_along(layers, reached, workers, row, line, words[row % 3], parts[row % 3])
        lit, bright, split = (lit << 1 | (found > 0)) & 7, (bright << 1 | (found > 1)) & 7, (split << 1 | (found > 1)) & 7
        if found and first + 2 <= row < last:
            for layer in range(workers):
                if _reaches(reached, layer, row, stride):
                    layers[layer, row] = DARK
        if row < first + 2 or not lit:
            continue
        if bright:
            for back in range(3):
                if not split >> back & 1:
                    _split(words[(row - back) % 3], parts[(row - back) % 3])
            split = 7
            _expose_parts(picture[row - 2], parts, (row - 1) % 3, area)
        else:
            _expose_words(picture[row - 2], words, (row - 1) % 3, area)


@kernel
def empty_shared_rows(worker: int, workers: int, height: int, layers: Keys) -> None:
    """Empty the rows of the layers that two workers have read, and the last two; call after `expose`."""
    for share in range(worker, workers + 1, workers):
        first = height * share // workers
        for row in range(first, first + 2):
            for layer in range(workers):
                layers[layer, row] = DARK


# --- light of agents -------------------------------------------------------------------------------------------------

@lru_cache(16)
def dimmed(palette: bytes, light: int) -> Words:
    """The colours (the bytes of uint32, 0xRRGGBB) with `light`/255 of their light; not to be written into."""
    return packed(channels_of(np.frombuffer(palette, np.uint32)) * np.uint32(light) // np.uint32(255))


@lru_cache(16)  # each frame asks for it, mostly with the same colours
def light_of(palette: bytes) -> Keys:
    """What an agent of each colour (the bytes of uint32, 0xRRGGBB) adds to a pixel, uint64; not to be written into."""
    red, green, blue = channels_of(np.frombuffer(palette, np.uint32)).astype(np.uint64).T
    return blue | green << np.uint64(16) | red << np.uint64(32) | np.uint64(UNIT << 48)


def area_of_one(area_px: float) -> np.float32:
    """The factor of the tone curve for one unit of the blurred amount of light."""
    return np.float32(area_px / 16 / (UNIT * sum(BLUR) ** 2))


# --- adding up -------------------------------------------------------------------------------------------------------

@formula
def reaches_screen(x: Float, y: Float, view: View) -> tuple[Mask, Mask]:
    """Return whether the light of an agent at a pixel reaches the screen, and whether it is on the screen."""
    width, height = np.float32(view.width), np.float32(view.height)
    near = (x >= -1) & (x <= width) & (y >= -1) & (y <= height)
    return near, (x > -1) & (x < width) & (y > -1) & (y < height)


@device
def _index_in_layer(slots: Int, agents: Moving, ahead: np.float32, view: View, stride: int) -> tuple[Register, Mask, Mask]:
    """Where in a layer sixteen agents are, which of them are there, and which are on the screen.

    The blur lets a pixel beyond the edge reach in.
    """
    x = pixel(gather(agents.x, slots), gather(agents.vx, slots), ahead, view.left, view.zoom)
    y = pixel(gather(agents.y, slots), gather(agents.vy, slots), ahead, view.top, view.zoom)
    near, on_screen = reaches_screen(x, y, view)
    return to_int(y) * stride + to_int(x) + (stride + 1), near, on_screen


@kernel
def add_light(worker: int, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, number: Bytes,
              light: Keys, layers: Keys, batch: Ints, reached: Ints, on_screen: Longs) -> None:
    """Add the light of this worker's share of the slots to its layer, and write the range that it has reached.

    First the indices of `BATCH` agents are found in lanes, then their light is added, one by one.
    """
    layer, stride, indices = layers[worker].reshape(-1), layers.shape[2], batch[worker]
    nowhere = (layers.shape[1] - 1) * stride  # in the last row, which nobody reads
    listed, seen = slots.shape[0], 0
    first, last = share_of_registers(listed, worker, workers)
    low, high = splat(nowhere, lane_numbers()), splat(-1, lane_numbers())
    for begin in range(first, last, BATCH):
        end = min(begin + BATCH, last)
        for at in range(begin, end, LANES):
            register = sixteen(slots, at)
            if are_contiguous(register, slots[at]):
                index, near, shown = _index_in_layer(Contiguous(np.intp(slots[at])), agents, ahead, view, stride)
            else:
                index, near, shown = _index_in_layer(register, agents, ahead, view, stride)
            near, shown = near & (lane_numbers() < listed - at), shown & (lane_numbers() < listed - at)
            store(indices, at - begin, select(near, index, nowhere))
            low = select(near & (index < low), index, low)
            high = select(near & (index > high), index, high)
            seen += count_set(shown)
        for at in range(begin, min(end, listed)):
            add_saturated(layer, np.uintp(indices[np.uintp(at - begin)]), light[np.uintp(number[np.uintp(at)])])
    store(indices, 0, low)
    store(indices, LANES, high)
    reached[worker, 0], reached[worker, 1] = indices[0], indices[LANES]  # the least and the greatest index of all lanes
    for lane in range(1, LANES):
        reached[worker, 0] = min(reached[worker, 0], indices[lane])
        reached[worker, 1] = max(reached[worker, 1], indices[LANES + lane])
    on_screen[worker] = seen


class Light:
    """Owns the layers. After `launches` have run, `on_screen` has the agents on the screen of each worker."""

    def __init__(self) -> None:
        self._layers: Keys = np.zeros((0, 1, 1), np.uint64)

    def launches(self, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, shades: Shades,
                 area_px: float, frame: Frame) -> tuple[Launch, ...]:
        """Kernels that draw the slots, each a figure of `area_px` pixels."""
        shape = workers, frame.shape[0] + 3, frame.shape[1] + 2  # the last row: agents that are elsewhere
        if self._layers.shape != shape:
            width = shape[2]
            self._layers = np.zeros(shape, np.uint64)
            self._rows = Rows(np.zeros((workers, width), np.uint64), np.zeros((workers, 3, width), np.uint64),
                              np.zeros((workers, 3, PARTS, width), np.int32))
            self.on_screen: Longs = np.zeros(workers, np.int64)
            self._batch: Ints = np.zeros((workers, BATCH), np.int32)
            self._reached: Ints = np.zeros((workers, 2), np.int32)  # the least and the greatest index
        light = light_of(shades.palette.tobytes())
        return (launch(add_light, workers, slots, agents, ahead, view, shades.number, light, self._layers, self._batch,
                       self._reached, self.on_screen),
                launch(expose, workers, frame.view(np.int32), self._layers, self._reached, self._rows, area_of_one(area_px)),
                launch(empty_shared_rows, workers, frame.shape[0], self._layers))


# --- the same in NumPy -----------------------------------------------------------------------------------------------

def draw_plain(slots: Ints, agents: Moving, ahead: np.float32, view: View, shades: Shades, area_px: float,
               frame: Frame) -> int:
    """Draw the picture of the kernels in NumPy; return how many agents are on the screen."""
    x, y = (np.floor((position[slots] + velocity[slots] * ahead - corner) * view.zoom).astype(np.int64)
            for position, velocity, corner in ((agents.x, agents.vx, view.left), (agents.y, agents.vy, view.top)))
    near = (x >= -1) & (x <= view.width) & (y >= -1) & (y <= view.height)
    sums = np.zeros((frame.shape[0] + 2, frame.shape[1] + 2, PARTS), np.int32)
    parts = light_of(shades.palette.tobytes()).view(np.uint16).reshape(-1, PARTS)
    np.add.at(sums, (y[near] + 1, x[near] + 1), parts[shades.number[near]])
    sums = np.minimum(sums, int(FULL))
    along = sums[:, :-2] + 2 * sums[:, 1:-1] + sums[:, 2:]
    light = along[:-2] + 2 * along[1:-1] + along[2:]
    amount = light[..., AMOUNT].astype(np.float32)
    dims: Floats = amount * area_of_one(area_px) + np.float32(1)
    for _ in range(3):
        dims = dims * dims
    left = np.float32(1) / (dims * dims)
    gain = (np.float32(1) - left) / (amount + LEAST) * np.float32(UNIT)
    out = np.zeros_like(frame)
    for part, shift in enumerate((np.uint32(0), np.uint32(8), np.uint32(16))):
        under = (frame >> shift & np.uint32(255)).astype(np.float32)
        out |= (under * left + light[..., part].astype(np.float32) * gain + np.float32(0.5)).astype(np.uint32) << shift
    frame[:] = out
    return int(((x >= 0) & (x < view.width) & (y >= 0) & (y < view.height)).sum())
