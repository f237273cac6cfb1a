"""What kernels ask about an agent: where it is drawn, and which number it has; and the slices of the screen.

The drawn position is `position + velocity * ahead`, with `ahead` in seconds since the last step; its pixel is the floor
of `(drawn - corner) * zoom`. Kernels and NumPy both calculate in float32, so all ways of drawing agree to the pixel:
culling, depth, poses and light.

A number below 256 is that of an agent's look, or of its colour in a mode; sixteen are found at a time. A mode is a
record that holds the columns it reads; its type chooses the formula. After a sort most slots of a list follow each
other, so their columns are read as they lie in memory; others are gathered. O(listed).

A slice is a band of rows of pixels. A worker draws what touches its slices, in the order of the list, so the picture
does not depend on the number of workers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Mask, Register
from crowd_demo.compute.dispatch import generic
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import LANES, count_set, floor, lane_numbers, remainder32, scramble, select, splat
from crowd_demo.compute.simd_memory import load, store_bytes, take
from crowd_demo.sim.store.columns import Columns

ROUNDING = 2.0**-20  # of the world's side: more than the rounding error of a position in float32
SLICES_PER_WORKER = 4  # so that the workers also share a crowd that stands in one part of the screen
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


def moving(columns: Columns) -> Moving:
    """Those columns of any behaviour."""
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
    """Is the drawn position in the bounds? Culling keeps just those agents."""
    x, y = drawn(agents.x[slot], agents.vx[slot], ahead), drawn(agents.y[slot], agents.vy[slot], ahead)
    return (x >= bounds.left) & (x <= bounds.right) & (y >= bounds.top) & (y <= bounds.bottom)


@device
def hash_id(number: Int) -> Int:
    """A uint32 that looks random, from an id."""
    return np.uint32(scramble(np.int32(number)))


@device
def look_of_id(number: Int, looks: int) -> Int:
    """`hash_id(number) % looks`, for one id or for sixteen, of at most 256 looks."""
    return remainder32(scramble(number), looks)


@device
def first_at(tops: Ints, value: int) -> int:
    """The first k with tops[k] >= value, in ascending tops."""
    low, high = 0, tops.shape[0]
    while low < high:
        middle = (low + high) // 2
        if tops[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


# --- numbers -----------------------------------------------------------------------------------------------------------

@generic
def number_of(mode: Mode, slots: Int, register: Register) -> Register:
    """Return the numbers of the sixteen agents in `register`; `slots` is for `take`: the same, or the first of a run."""


@device
def sixteen(slots: Ints, at: int) -> Register:
    """Sixteen entries of the list from there on; after its end the last one is repeated."""
    last = slots.shape[0] - 1
    if at + LANES - 1 <= last:
        return load(slots, at)
    lanes = lane_numbers() + at
    return take(slots, select(lanes < last, lanes, splat(np.int32(last), lanes)))


@device
def is_run(register: Register, first: Int) -> bool:
    """Do the slots follow each other?"""
    return count_set(register == lane_numbers() + first) == LANES


@device
def registers(listed: int, worker: int, workers: int) -> tuple[int, int]:
    """The first entry of a worker's share and the one after its last: whole registers of the list."""
    count = (listed + LANES - 1) // LANES
    return count * worker // workers * LANES, count * (worker + 1) // workers * LANES


@kernel
def number_agents(worker: int, workers: int, slots: Ints, mode: Mode, number: Bytes) -> None:
    """Write number[k], uint8, for this worker's share of the list."""
    listed = slots.shape[0]
    first, last = registers(listed, worker, workers)
    for at in range(first, last, LANES):
        register = sixteen(slots, at)
        if is_run(register, slots[at]):
            store_bytes(number, at, number_of(mode, np.intp(slots[at]), register), listed - at)
        else:
            store_bytes(number, at, number_of(mode, register, register), listed - at)


def numbering(workers: int, slots: Ints, mode: Mode, number: Bytes) -> Launch:
    """The kernel after which `number[k]` is the number of the agent in `slots[k]`."""
    return launch(number_agents, workers, slots, mode, number)
