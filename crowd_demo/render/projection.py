"""Where an agent is drawn: the formulas that culling, depth, poses and light share; and the slices of the screen.

The drawn position is `position + velocity * ahead`, with `ahead` in seconds since the last step; its pixel is the
floor of `(drawn - corner) * zoom`. Kernels and NumPy both calculate in float32, so all ways of drawing agree to the
pixel.

A slice is a band of rows of pixels. A worker draws what touches its slices, in the order of the list, so the picture does not
depend on the number of workers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import floor, remainder32, scramble
from crowd_demo.sim.store.columns import Columns

ROUNDING = 2.0**-20  # of the world's side: more than the rounding error of a position in float32
SLICES_PER_WORKER = 4  # so that the workers also share a crowd that stands in one part of the screen


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
