"""Slow, obvious versions of what tiles.py, flow_fields.py and ground.py of sim/terrain compute."""

import heapq
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Point = tuple[int, int]


def reference_areas(blocked: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Labels by asking, for each tile in reading order, whom it can reach; 0 for the largest area."""
    rows, columns = blocked.shape
    areas: list[set[Point]] = []
    for start in [(int(row), int(column)) for row, column in zip(*np.nonzero(blocked == 0), strict=True)]:
        if any(start in area for area in areas):
            continue
        area, todo = {start}, [start]
        while todo:
            row, column = todo.pop()
            for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                inside = 0 <= near[0] < rows and 0 <= near[1] < columns
                if inside and not blocked[near] and near not in area:
                    area.add(near)
                    todo.append(near)
        areas.append(area)
    areas.sort(key=len, reverse=True)  # stable, so the first of the largest; the others are numbered again below
    if areas:
        areas = [areas[0], *sorted(areas[1:], key=min)]
    labels = np.full(blocked.shape, -1, np.int32)
    for number, area in enumerate(areas):
        for tile in area:
            labels[tile] = number
    return labels


def reference_sees(blocked: NDArray[np.uint8], side: int, a: Point, b: Point) -> bool:
    """Sight between two points with whole coordinates: no blocked tile of the segment's bounding box is in the way.

    A tile is in the way when it holds a point of the segment (with its left and upper border, without the others), or
    when the segment passes through one of its corners and the tile is beside it there.
    """
    rows, columns = blocked.shape
    for x, y in (a, b):
        if not (0 <= x < columns * side and 0 <= y < rows * side):
            return False
    left, right = max(min(a[0], b[0]) // side - 1, 0), max(a[0], b[0]) // side + 2
    top, bottom = max(min(a[1], b[1]) // side - 1, 0), max(a[1], b[1]) // side + 2
    walls = [(column + left, row + top) for row, column in np.argwhere(blocked[top:bottom, left:right]).tolist()]
    return not any(_holds(column * side, row * side, side, a, b) or _is_beside(column, row, side, a, b)
                   for column, row in walls)


def _holds(x: int, y: int, side: int, a: Point, b: Point) -> bool:
    """Does the closed segment have a point in [x, x + side) x [y, y + side)?"""
    crossings = {Fraction(line - start, end - start) for start, end, low in ((a[0], b[0], x), (a[1], b[1], y))
                 for line in (low, low + side) if start != end}
    times = sorted({Fraction(0), Fraction(1), *(time for time in crossings if 0 < time < 1)})
    times += [(one + other) / 2 for one, other in pairwise(times)]
    return any(x <= a[0] + time * (b[0] - a[0]) < x + side and y <= a[1] + time * (b[1] - a[1]) < y + side
               for time in times)


def _is_beside(column: int, row: int, side: int, a: Point, b: Point) -> bool:
    """Does a slanted segment step diagonally past this tile, in one of the tile's corners?"""
    if a[0] == b[0] or a[1] == b[1]:
        return False
    if a[0] > b[0]:
        a, b = b, a  # now it runs to the right, and `fraction` tells where on it a corner lies
    falls = b[1] > a[1]
    for corner_x, corner_y in ((column, row), (column + 1, row), (column, row + 1), (column + 1, row + 1)):
        fraction = Fraction(corner_x * side - a[0], b[0] - a[0])
        if a[1] + fraction * (b[1] - a[1]) != corner_y * side:
            continue
        # Going down, an end point in a corner belongs to the tile behind the corner: the step is made. Going up it is
        # not: a corner belongs to the tile of which it is the upper left one, and that is beside the segment.
        passes = 0 < fraction < 1 or (falls and fraction == 1)
        beside = {(corner_x, corner_y - 1), (corner_x - 1, corner_y)} if falls else {
            (corner_x - 1, corner_y - 1), (corner_x, corner_y)}
        if passes and (column, row) in beside:
            return True
    return False


def reference_ways(blocked: NDArray[np.uint8], sources: list[Point],
                   prices: NDArray[np.uint8] | None = None) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """(distance, direction) by Dijkstra's algorithm with a heap; sources are (row, column). Without prices all are 1."""
    moves = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
    rows, columns = blocked.shape

    def steps(row: int, column: int) -> list[tuple[int, Point, int]]:
        """(number, tile, cost) of each possible step, the cost for one price."""
        found = []
        for number, (down, right) in enumerate(moves):
            to = row + down, column + right
            if 0 <= to[0] < rows and 0 <= to[1] < columns and not (blocked[to] or blocked[row, column]
                                                                   or blocked[row, to[1]] or blocked[to[0], column]):
                found.append((number, to, 7 if down and right else 5))
        return found

    def price(tile: Point) -> int:
        return 1 if prices is None else int(prices[tile])

    best: dict[Point, int] = {}
    heap = [(0, source) for source in sources if not blocked[source]]
    while heap:
        distance, tile = heapq.heappop(heap)
        if tile not in best:
            best[tile] = distance
            for _, near, cost in steps(*tile):
                heapq.heappush(heap, (distance + cost * price(tile), near))
    distances, directions = np.full(blocked.shape, -1, np.int32), np.full(blocked.shape, 9, np.uint8)
    for tile, distance in best.items():
        distances[tile] = distance
        choices = [(best[near] + cost * price(near), number) for number, near, cost in steps(*tile)]
        directions[tile] = 8 if distance == 0 else min(choices)[1]
    return distances, directions


def reference_distance_sq(blocked: NDArray[np.uint8], reach: int) -> NDArray[np.int32]:
    """Squared distance in tiles from each tile to the nearest of the other kind, at most reach**2."""
    result = np.full(blocked.shape, reach**2, np.int32)
    for row, column in np.ndindex(*blocked.shape):
        rows, columns = np.nonzero(blocked != blocked[row, column])
        if rows.size:
            result[row, column] = min(reach**2, int(((rows - row) ** 2 + (columns - column) ** 2).min()))
    return result


def reference_way_out(blocked: NDArray[np.uint8], row: int, column: int, near: float) -> Point | None:
    """The nearest free tile, of equals the first in reading order, at most so far away."""
    found = sorted(((r - row) ** 2 + (c - column) ** 2, r, c) for r, c in np.argwhere(blocked == 0).tolist())
    return found[0][1:] if found and found[0][0] <= near * near else None


class ReferenceWays:
    """Which walls areas and fields go by, step by step: `areas`, and one of `fields` for each destination."""

    def __init__(self, blocked: NDArray[np.uint8], destinations: int) -> None:
        self.areas, self.fields = blocked.copy(), [blocked.copy()] * destinations
        self.round: NDArray[np.uint8] | None = None
        self.age = 0

    def step(self, blocked: NDArray[np.uint8], tiles_a_step: int) -> None:
        """The beginning of a step in which these are the walls."""
        (rows, columns), count = blocked.shape, len(self.fields)
        if self.round is None:
            if np.array_equal(blocked, self.areas):
                return
            self.round, self.age = blocked.copy(), 0
        self.age += 1
        work, row = self.age * tiles_a_step, max(columns * count // 4, 1)
        if work >= row * rows:
            self.areas = self.round
        for goal in range(count):
            if work >= row * rows + (goal + 1) * rows * columns:
                self.fields[goal] = self.round
        if work >= row * rows + count * rows * columns:
            self.round = None

    @property
    def waits(self) -> bool:
        return self.round is not None
