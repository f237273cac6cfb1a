"""Areas: which free tiles belong to which destination.

A tile belongs to the destination that the map marks on it; else to that of the nearest point, of those that see its middle and
are nearer than a radius (of equals the first). They are claimed again when the walls change (ways.py), in O(tiles * destinations).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints, Marks
from crowd_demo.compute.jit import device
from crowd_demo.sim.terrain.line_of_sight import in_sight
from crowd_demo.sim.terrain.tiles import Walls


class Areas(NamedTuple):
    """The areas of all destinations."""

    owner: Marks  # [H, W]: the destination that a tile belongs to; -1: none
    tiles: Ints  # their numbers, one area after the other and in reading order
    first: Ints  # [D + 1]: where each area begins in `tiles`


def areas_of(owner: Marks, count: int) -> Areas:
    """Return the areas of `count` destinations, whose tiles have been claimed."""
    flat = owner.reshape(-1)
    owned = np.flatnonzero(flat >= 0)
    by_owner = owned[np.argsort(flat[owned], kind="stable")]
    first = np.searchsorted(flat[by_owner], np.arange(count + 1))
    return Areas(owner, by_owner.astype(np.int32), first.astype(np.int32))


@device
def claim_tiles(walls: Walls, marks: Marks, points: Floats, radius_sq: Floats, owner: Marks, first: int, last: int) -> None:
    """Fill rows [first, last) of `owner`; points float32[D, 2], radius_sq float32[D]: how far each area reaches, squared."""
    for row in range(first, last):
        for column in range(marks.shape[1]):
            owner[row, column] = -1
            if walls.blocked[row, column]:
                continue
            owner[row, column] = marks[row, column]
            x, y = _middle(column, walls.tile, walls.width), _middle(row, walls.tile, walls.height)
            nearest_sq = np.float32(0 if marks[row, column] >= 0 else np.inf)
            for number in range(points.shape[0]):
                dx, dy = points[number, 0] - x, points[number, 1] - y
                far_sq = dx * dx + dy * dy
                if far_sq < min(nearest_sq, radius_sq[number]) and in_sight(walls, points[number, 0], points[number, 1], x,
                                                                            y):
                    owner[row, column], nearest_sq = np.int16(number), far_sq


@device
def _middle(number: int, tile: np.float32, end: np.float32) -> np.float32:
    """Along an axis, of a tile that is cut at the end of the world."""
    start = np.float32(number) * tile
    return (start + min(start + tile, end)) * np.float32(0.5)
