"""Light: agents too small for a sprite, as light that adds up (docs/design/light.md).

An agent puts one unit of light of its colour into the pixel where it is; the picture of that light is blurred over 3
x 3 pixels, so that a cloud is smooth. How much of a pixel n figures cover, each of which covers `area` pixels
somewhere, is the tone curve:

    covered = 1 - (1 + n * area / 16) ** -16                 nearly 1 - exp(-n * area): figures also lie on each other
    pixel   = ground * (1 - covered) + (mean colour of the light) * covered

So a figure is as bright as its sprite, and a crowd as bright from afar as from near. Sums have 16 bits and saturate:
a pixel of more than 257 agents burns out. Such sums do not depend on the order, so light needs no depth sort. Each
worker adds up its share of the agents on a layer of its own, which is a pixel larger than the picture on each side.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Keys, Longs, Mask, Register, Words
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import LANES, are_contiguous, count_set, lane_numbers, select, share_of_registers, splat, to_int
from crowd_demo.compute.simd_memory import Contiguous, gather, store
from crowd_demo.render.camera import View
from crowd_demo.render.drawing import Moving, Shades, pixel, sixteen
from crowd_demo.render.figures.exposure import AMOUNT, BLUR, FULL, LEAST, PARTS, UNIT, empty_shared_rows, expose, rows_for
from crowd_demo.render.inks import channels_of, packed
from crowd_demo.render.pixels import Frame, add_saturated

BATCH = 512  # agents


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


@device
def _ends(low: Register, high: Register, room: Ints) -> tuple[int, int]:
    """The least and the greatest index of all lanes."""
    store(room, 0, low)
    store(room, LANES, high)
    least, greatest = room[0], room[LANES]
    for lane in range(1, LANES):
        least, greatest = min(least, room[lane]), max(greatest, room[LANES + lane])
    return least, greatest


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
    reached[worker, 0], reached[worker, 1] = _ends(low, high, indices)
    on_screen[worker] = seen


class Light:
    """Owns the layers. After `launches` have run, `on_screen` has the agents on the screen of each worker."""

    def __init__(self) -> None:
        self._layers: Keys = np.zeros((0, 1, 1), np.uint64)

    def launches(self, workers: int, slots: Ints, agents: Moving, ahead: np.float32, view: View, shades: Shades,
                 area_px: float, frame: Frame) -> tuple[Launch, ...]:
        """Kernels that draw the slots, each a figure of `area_px` pixels."""
        self._fit(workers, frame)
        light = light_of(shades.palette.tobytes())
        return (launch(add_light, workers, slots, agents, ahead, view, shades.number, light, self._layers, self._batch,
                       self._reached, self.on_screen),
                launch(expose, workers, frame.view(np.int32), self._layers, self._reached, self._rows, area_of_one(area_px)),
                launch(empty_shared_rows, workers, frame.shape[0], self._layers))

    def _fit(self, workers: int, frame: Frame) -> None:
        """Make the layers; their last row is for agents that are not in the picture."""
        shape = workers, frame.shape[0] + 3, frame.shape[1] + 2
        if self._layers.shape != shape:
            self._layers, self._rows = np.zeros(shape, np.uint64), rows_for(workers, shape[2])
            self.on_screen: Longs = np.zeros(workers, np.int64)
            self._batch: Ints = np.zeros((workers, BATCH), np.int32)
            self._reached: Ints = np.zeros((workers, 2), np.int32)  # the least and the greatest index


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
