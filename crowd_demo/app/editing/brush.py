"""Which tiles a round brush passes on its way: pure geometry, in world units, with memory for those near the way alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles
from crowd_demo.sim.terrain.tiles import Run, Terrain

Point = tuple[float, float]


class Sweep(NamedTuple):
    """The way of a round brush: at least one point, which are joined by straight lines."""

    path: tuple[Point, ...]
    radius: float


class Patch(NamedTuple):
    """Tiles of a part of the map, bool[h, w], whose upper left tile is (row, column)."""

    row: int
    column: int
    mask: Bools

    @property
    def runs(self) -> tuple[Run, ...]:
        """The stretches of tiles in reading order."""
        ends = np.diff(self.mask.view(np.int8), axis=1, prepend=np.int8(0), append=np.int8(0))
        (rows, first), (_, end) = np.nonzero(ends == 1), np.nonzero(ends == -1)
        first, end = first + self.column, end + self.column
        return tuple(zip((rows + self.row).tolist(), first.tolist(), end.tolist(), strict=True))

    @property
    def part(self) -> tuple[slice, slice]:
        """Where it lies in an array of all tiles."""
        rows, columns = self.mask.shape
        return np.s_[self.row:self.row + rows, self.column:self.column + columns]


def tiles_passed(terrain: Terrain, sweep: Sweep) -> Patch:
    """Return the tiles whose middle is no farther from the way than the radius, and those that lie under the way itself."""
    tile, (x, y) = float(terrain.walls.tile), np.array(sweep.path, np.float64).T
    (row, row_end), (column, column_end) = (
        _within(along.min() - sweep.radius, along.max() + sweep.radius, tile, count)
        for along, count in ((y, terrain.rows), (x, terrain.columns)))
    centre_x: Doubles = (np.arange(column, column_end, dtype=np.float64) + 0.5) * tile
    centre_y: Doubles = (np.arange(row, row_end, dtype=np.float64)[:, None] + 0.5) * tile
    mask = np.zeros((row_end - row, column_end - column), np.bool_)
    for start, end in _segments(sweep.path):
        mask |= distance_sq(centre_x, centre_y, start, end) <= sweep.radius**2
        # and those under points that are half a tile apart, so that the line has no gaps
        count = math.ceil(2 * max(abs(end[0] - start[0]), abs(end[1] - start[1])) / tile) + 1
        columns, rows = (np.floor(np.linspace(first, last, count) / tile).astype(np.int64) - before
                         for first, last, before in ((start[0], end[0], column), (start[1], end[1], row)))
        inside = (rows >= 0) & (rows < mask.shape[0]) & (columns >= 0) & (columns < mask.shape[1])
        mask[rows[inside], columns[inside]] = True
    return Patch(row, column, mask)


def is_passed(x: Doubles, y: Doubles, sweep: Sweep) -> Bools:
    """Return bool[n]: which of the points float64[n] are no farther from the way than the radius."""
    passed = np.zeros(len(x), np.bool_)
    for start, end in _segments(sweep.path):
        passed |= distance_sq(x, y, start, end) <= sweep.radius**2
    return passed


def distance_sq(x: Doubles, y: Doubles, start: Point, end: Point) -> Doubles:
    """Return the squared distance of points from a line between two others; the arrays are broadcast."""
    way_x, way_y = end[0] - start[0], end[1] - start[1]
    length_sq = way_x * way_x + way_y * way_y
    share = np.clip(((x - start[0]) * way_x + (y - start[1]) * way_y) / length_sq, 0, 1) if length_sq else 0.0
    found: Doubles = (x - start[0] - share * way_x) ** 2 + (y - start[1] - share * way_y) ** 2
    return found


def points_along(start: Point, end: Point, spacing: float) -> list[Point]:
    """Return the points of a line at each multiple of a distance from its start, without the start itself."""
    length = math.dist(start, end)
    shares = [spacing * number / length for number in range(1, int(length / spacing) + 1)] if length else []
    return [(start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])) for share in shares]


def _within(low: float, high: float, tile: float, count: int) -> tuple[int, int]:
    """The first tile on the map that touches a stretch, and the one after the last."""
    first = min(max(math.floor(low / tile), 0), count)
    return first, max(min(math.floor(high / tile) + 1, count), first)


def _segments(path: Sequence[Point]) -> list[tuple[Point, Point]]:
    return list(pairwise(path)) or [(path[0], path[0])]
