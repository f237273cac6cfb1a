"""Areas: which free tiles belong to which destination.

A tile belongs to the destination that the map marks on it; else to that of the nearest point, of those that see its middle
and are nearer than a radius (of equals the first). O(tiles * destinations); after an edit `Ways` does it by rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Ints, Marks
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, launch, run
from crowd_demo.sim.terrain.flow_fields import allow_steps
from crowd_demo.sim.terrain.line_of_sight import in_sight
from crowd_demo.sim.terrain.tiles import Goals, Terrain, Walls


class Areas(NamedTuple):
    """The areas of all destinations."""

    tiles: Ints  # their numbers, one area after the other and in reading order
    first: Ints  # [D + 1]: where each area begins in `tiles`


def areas_of(owner: Marks, count: int) -> Areas:
    """Return the areas of `count` destinations; `owner` int16[H, W] is the one that a tile belongs to, -1: none."""
    flat = owner.reshape(-1)
    owned = np.flatnonzero(flat >= 0)
    by_owner = owned[np.argsort(flat[owned], kind="stable")]
    first = np.searchsorted(flat[by_owner], np.arange(count + 1))
    return Areas(by_owner.astype(np.int32), first.astype(np.int32))


class Layout:
    """Walls and destinations, and what follows: whose area a tile is in (`targets`), and the steps of fields."""

    def __init__(self, terrain: Terrain, blocked: Bytes, goals: Goals, radius_sq: Floats) -> None:
        """`blocked` is copied; nothing is claimed yet. `radius_sq` as in `claim_tiles`."""
        self.walls, self.goals = terrain.walls._replace(blocked=blocked.copy()), dict(goals)
        self._marks, destinations = terrain.with_goals(goals)
        self.count = len(destinations)
        self.targets, self.steps = np.empty_like(terrain.marks), np.empty_like(blocked)
        self._points = np.array([(one.x, one.y) for one in destinations], np.float32).reshape(-1, 2)
        self._radius_sq = radius_sq
        self.claimed = 0  # rows
        self._bits: Bytes | None = None

    def is_of(self, blocked: Bytes, goals: Goals) -> bool:
        """Are the walls and the destinations these?"""
        return self.goals == goals and np.array_equal(self.walls.blocked, blocked)

    def launches(self, first: int, last: int) -> tuple[Launch, ...]:
        """Return what claims the tiles of rows [first, last)."""
        return (launch(claim_tiles, self.walls, self._marks, self._points, self._radius_sq, self.targets, first, last),
                launch(allow_steps, self.walls.blocked, self.steps, first, last))

    def finished(self) -> Layout:
        """Claim what is left."""
        if self.claimed < len(self.targets):
            run(self.launches(self.claimed, len(self.targets)))
            self.claimed = len(self.targets)
        return self

    @property
    def bits(self) -> Bytes:
        """The walls for a snapshot."""
        if self._bits is None:
            self._bits = np.packbits(self.walls.blocked)
        return self._bits


@device
def claim_tiles(walls: Walls, marks: Marks, points: Floats, radius_sq: Floats, owner: Marks, first: int, last: int) -> None:
    """Fill rows [first, last) of `owner`; points float32[D, 2], radius_sq float32[D]: how far areas reach, squared."""
    for row in range(first, last):
        for column in range(marks.shape[1]):
            owner[row, column] = -1
            if walls.blocked[row, column]:
                continue
            owner[row, column] = marks[row, column]
            x, y = _middle(column, walls.tile, walls.width), _middle(row, walls.tile, walls.height)
            nearest_sq = 0.0 if marks[row, column] >= 0 else np.inf
            for number in range(points.shape[0]):
                dx, dy = points[number, 0] - x, points[number, 1] - y
                far_sq = dx * dx + dy * dy
                if far_sq < min(nearest_sq, radius_sq[number]) and in_sight(walls, points[number, 0], points[number, 1], x,
                                                                            y):
                    owner[row, column], nearest_sq = np.int16(number), far_sq


@formula
def _middle(number: int, tile: np.float32, end: np.float32) -> np.float32:
    """Along an axis, of a tile that is cut at the end of the world."""
    start = np.float32(number) * tile
    return (start + min(start + tile, end)) * 0.5
