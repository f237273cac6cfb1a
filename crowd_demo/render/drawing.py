"""What all that draws agents shares: the input of a frame, where an agent is drawn, and which number it has.

The drawn position is `position + velocity * ahead`, with `ahead` in seconds since the last step; its pixel is the floor
of `(drawn - corner) * zoom`. Kernels and NumPy both calculate in float32, so all ways of drawing agree to the pixel:
culling, depth, poses and light.

A number below 256 is that of an agent's appearance, or of its colour in a mode; sixteen are found at a time. A mode is
a record that holds the columns it reads; its type chooses the formula. After a sort most slots of a list follow each
other, so their columns are read as they lie in memory; others are gathered. O(listed).

The screen is cut into slices, which are bands of rows of pixels. A worker draws what touches its slices, in the order
of the list, so the picture does not depend on the number of workers.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Mask, Register, Words, with_room
from crowd_demo.compute.dispatch import generic
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd import LANES, are_contiguous, floor, lane_numbers, remainder32, scramble, share_of_registers
from crowd_demo.compute.simd_memory import Contiguous, gather, load, store_bytes
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.render.camera import Camera, Rect, View
from crowd_demo.sim.store.agents import DeviceCrowd
from crowd_demo.sim.store.sparse_set import Handles
from crowd_demo.sim.store.state import Columns

C = TypeVar("C")
MARGIN_PX = 1.0  # a figure has whole pixels, and its position is rounded
ROUNDING = 2.0**-20  # of the world's side: more than the rounding error of a position in float32
Mode = Any  # what the columns are read from: the type of the record decides how agents are numbered


class Moving(NamedTuple):
    """The columns that say where agents are; indexed by slot, world units and units/s."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats


class Bounds(NamedTuple):
    """A rectangle of the world as float32; its edges belong to it."""

    left: np.float32
    top: np.float32
    right: np.float32
    bottom: np.float32


class DeviceLight(Protocol):
    """The light picture of a crowd on another processor."""

    crowd: DeviceCrowd

    def numbers(self, mode: Mode, agents: int) -> Bytes:
        """Return the colour number of each agent, in memory of that processor."""

    def draw(self, frame: Words, now: FrameInput, agents: int, number: Bytes, palette: Words, area_px: float) -> int:
        """Draw all agents on the frame; return how many are in view."""


class FrameInput(NamedTuple):
    workers: int
    options: Optimizations  # the techniques as they are now
    columns: Columns  # of the agents, by slot
    agents: Moving
    ahead: np.float32  # seconds from the last step to this frame
    time_s: np.float64  # of this frame
    camera: Camera
    view: View
    rect: Rect  # of the world: culling keeps what is in it
    bounds: Bounds  # of drawn positions: `rect`, and the margin of the figures around it
    handles: Handles  # of the crowd, for figures that remember how they drew somebody


def moving(columns: Columns) -> Moving:
    return Moving(columns.id, columns.x, columns.y, columns.vx, columns.vy)


@device
def drawn(position: Float, velocity: Float, ahead: Float) -> Float:
    return position + velocity * ahead


@device
def pixel(position: Float, velocity: Float, ahead: Float, corner: Float, zoom: Float) -> Float:
    """Floor of the screen position, still a float32."""
    return floor((drawn(position, velocity, ahead) - corner) * zoom)


@device
def within(slot: Int, agents: Moving, ahead: np.float32, bounds: Bounds) -> Mask:
    """Return whether the drawn position is in the bounds. Culling keeps just those agents."""
    x, y = drawn(agents.x[slot], agents.vx[slot], ahead), drawn(agents.y[slot], agents.vy[slot], ahead)
    return (x >= bounds.left) & (x <= bounds.right) & (y >= bounds.top) & (y <= bounds.bottom)


@device
def hash_id(number: Int) -> Int:
    """A uint32 that looks random, from an id."""
    return np.uint32(scramble(np.int32(number)))


@device
def appearance_of_id(number: Int, appearances: int) -> Int:
    """`hash_id(number) % appearances`, for one id or for sixteen, of at most 256 appearances."""
    return remainder32(scramble(number), appearances)


# --- numbers -----------------------------------------------------------------------------------------------------------

@generic
def number_of(mode: Mode, slots: Int, register: Register) -> Register:
    """Return the numbers of the sixteen agents in `register`; `slots` is for `gather`: the same, or a run."""


@device
def sixteen(slots: Ints, at: int) -> Register:
    """Sixteen entries of the list from `at` on; after its end the last one is repeated."""
    last = slots.shape[0] - 1
    if at + LANES - 1 <= last:
        return load(slots, at)
    return gather(slots, min(lane_numbers() + at, last))


@kernel
def number_agents(worker: int, workers: int, slots: Ints, mode: Mode, number: Bytes) -> None:
    """Write number[k], uint8, for this worker's share of the list."""
    listed = slots.shape[0]
    first, last = share_of_registers(listed, worker, workers)
    for at in range(first, last, LANES):
        register = sixteen(slots, at)
        if are_contiguous(register, slots[at]):
            store_bytes(number, at, number_of(mode, Contiguous(np.intp(slots[at])), register), listed - at)
        else:
            store_bytes(number, at, number_of(mode, register, register), listed - at)


class Shades(NamedTuple):
    """The colours of agents: entry k of a list of slots has the colour `palette[number[k]]`."""

    number: Bytes
    palette: Words  # 0xRRGGBB


NO_SHADES = Shades(np.zeros(0, np.uint8), np.zeros(1, np.uint32))


class ReusedColumns(Generic[C]):
    """Memory for a record of arrays, int32 unless `types` says otherwise. It grows with room to spare."""

    def __init__(self, record: Any, **types: type[np.generic]) -> None:
        self._record, self._types = record, [types.get(name, np.int32) for name in record._fields]
        self._columns = [np.empty(0, kind) for kind in self._types]

    def first(self, count: int) -> C:
        """The first `count` entries of each array; the next caller overwrites them."""
        if count > len(self._columns[0]):
            self._columns = [np.empty(with_room(count), kind) for kind in self._types]
        return self._record(*(column[:count] for column in self._columns))
