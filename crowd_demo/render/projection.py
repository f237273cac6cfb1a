"""Where an agent is drawn: the one arithmetic that culling, depth, poses and dots share.

The drawn position is `position + velocity * ahead`, `ahead` being the seconds since the last step; its pixel is the
floor of `(drawn - corner) * zoom`. All of it is float32, in kernels and in NumPy alike, so no path can disagree by a
pixel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.jit import device

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


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


def moving(columns: Any) -> Moving:
    return Moving(columns.id, columns.x, columns.y, columns.vx, columns.vy)


@device
def drawn(position: Any, velocity: Any, ahead: Any) -> Any:
    return position + velocity * ahead


@device
def pixel(position: Any, velocity: Any, ahead: Any, corner: Any, zoom: Any) -> Any:
    """Floor of the screen position, still a float32."""
    return np.floor((drawn(position, velocity, ahead) - corner) * zoom)


def hash_ids(numbers: Ints) -> NDArray[np.uint32]:
    """`hash_id` of an array."""
    h: NDArray[np.uint32] = numbers.astype(np.uint32)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        h ^= h >> np.uint32(shift)
        h *= np.uint32(factor)
    h ^= h >> np.uint32(16)
    return h


@device
def hash_id(number: Any) -> Any:
    """A uint32 that looks random, from an id (`lowbias32` of Chris Wellons)."""
    h = np.uint32(number)
    h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D))
    h = np.uint32((h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.uint32(h ^ (h >> np.uint32(16)))
