"""Points in the cells of a grid, which the simulation and the public `Grid` share.

After the launches of a `CellIndex` have run, the points of cell c (row-major) are `order[start[c]:start[c + 1]]`, in
the order in which they were given. Cells are widened by what rounding can add to the radius, so two points within the
radius are never more than `reach` cells apart, whatever the size of a cell. A point outside belongs to the nearest
cell of the border, which keeps that true.

They are sorted by a counting sort with prefix sums: O(n + buckets), stable, parallel, without allocation. Each worker
counts a contiguous share of the items in a histogram of its own; the prefix sum runs over (bucket, worker), so each worker
knows where its first item of a bucket belongs, and the result is the same for any number of workers. The first pass,
`count_share`, is a part of whatever kernel finds the keys: starting a kernel costs 30 us.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Longs
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import LANES, to_int
from crowd_demo.compute.simd_memory import load, store

MAX_CELLS = 1 << 22  # a finer grid is coarsened: 16 MB of `start`, and as much for each worker
ROUNDING = 2.0**-22  # of the world and the radius: more than the rounding error of a position or a distance
MIN_CELL = 1e-3  # side of the smallest cell of a simulation, in world units


# --- the counting sort -----------------------------------------------------------------------------------------------

class SortSpace(NamedTuple):
    key: Ints  # [n + 16]: bucket of each item, the input
    order: Ints  # [n + 16]: items by bucket
    start: Ints  # [buckets + 17]: where each bucket begins in `order`, the end, and room for a register to read
    counts: Ints  # [workers, buckets + 1]: private histograms, then private write cursors
    sums: Longs  # [workers, workers]: each worker's items in each worker's share of the buckets


def sort_space(items: int, buckets: int, workers: int) -> SortSpace:
    return SortSpace(np.zeros(items + 16, np.int32), np.zeros(items + 16, np.int32), np.zeros(buckets + 17, np.int32),
                     np.zeros((workers, buckets + 1), np.int32), np.zeros((workers, workers), np.int64))


@device
def count_share(worker: int, workers: int, space: SortSpace, items: int, buckets: int) -> None:
    """Count this worker's items by bucket, and by every worker's share of the buckets."""
    mine, sums = space.counts[worker], space.sums[worker]
    for bucket in range(buckets):
        mine[bucket] = 0
    for item in range(items * worker // workers, items * (worker + 1) // workers):
        mine[np.uintp(space.key[item])] += 1
    for share in range(workers):
        total = 0
        for bucket in range(buckets * share // workers, buckets * (share + 1) // workers):
            total += mine[bucket]
        sums[share] = total


@kernel
def place_buckets(worker: int, workers: int, space: SortSpace, buckets: int) -> None:
    at = 0
    for other in range(workers):
        for earlier in range(worker):
            at += space.sums[other, earlier]
    for bucket in range(buckets * worker // workers, buckets * (worker + 1) // workers):
        space.start[bucket] = at
        for other in range(workers):
            count = space.counts[other, bucket]
            space.counts[other, bucket] = at
            at += count
    if worker == workers - 1:
        space.start[buckets] = at


@kernel
def place_items(worker: int, workers: int, space: SortSpace, items: int) -> None:
    cursor = space.counts[worker]
    for item in range(items * worker // workers, items * (worker + 1) // workers):
        bucket = np.uintp(space.key[item])
        space.order[np.uintp(cursor[bucket])] = item
        cursor[bucket] += 1


@kernel
def sort_buckets(worker: int, workers: int, space: SortSpace, buckets: int, rank: Ints) -> None:
    """Sort the items of each bucket by their rank, int32[n], all different.

    Shell sort of each bucket: they are short, and mostly in order already.
    """
    for bucket in range(buckets * worker // workers, buckets * (worker + 1) // workers):
        sort_bucket(space.order, space.start[bucket], space.start[bucket + 1], rank)


@device
def sort_bucket(order: Ints, first: int, last: int, rank: Ints) -> None:
    """Sort order[first:last] by rank."""
    gap = 1
    while 3 * gap < last - first:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(first + gap, last):
            item, at = order[k], k
            while at >= first + gap and rank[order[at - gap]] > rank[item]:
                order[at] = order[at - gap]
                at -= gap
            order[at] = item
        gap //= 3


def sort_launches(workers: int, space: SortSpace, items: int, buckets: int) -> tuple[Launch, ...]:
    """Return the second and third pass."""
    return launch(place_buckets, workers, space, buckets), launch(place_items, workers, space, items)


# --- cells -----------------------------------------------------------------------------------------------------------

class Cells(NamedTuple):
    """Candidates in rows of cells: the points of a row, which may be neighbours, lie one after the other in `order`."""

    order: Ints  # int32: points by cell
    start: Ints  # [rows * columns + 17]: the first of each cell, the end, and room for a register to read
    columns: int
    rows: int
    reach: int  # cells to look at on each side


class Floor(NamedTuple):
    inv_cell: Float
    columns: int
    rows: int
    left: Float = np.float32(0)
    top: Float = np.float32(0)


@formula
def cell_of(x: Float, y: Float, floor: Floor) -> Int:
    """Return the row-major number of the cell that holds a point, or of each of sixteen."""
    column = to_int(min(max(0, (x - floor.left) * floor.inv_cell), np.float32(floor.columns - 1)))
    row = to_int(min(max(0, (y - floor.top) * floor.inv_cell), np.float32(floor.rows - 1)))
    return row * floor.columns + column


@kernel
def find_cells(worker: int, workers: int, x: Floats, y: Floats, agents: int, floor: Floor, space: SortSpace) -> None:
    """Write the cell of every agent, and count the agents of each cell.

    Sixteen at a time, which the compiler would not do by itself.
    """
    first, end = agents * worker // workers, agents * (worker + 1) // workers
    whole = end - (end - first) % LANES
    for slot in range(first, whole, LANES):
        store(space.key, slot, cell_of(load(x, slot), load(y, slot), floor))
    for slot in range(whole, end):
        space.key[slot] = cell_of(x[slot], y[slot], floor)
    count_share(worker, workers, space, agents, floor.columns * floor.rows)


def reach_of(distance: float, cell: float, width: float, height: float) -> int:
    """Return how many cells to search on each side for all within a distance."""
    return max(1, math.ceil((distance + ROUNDING * (distance + max(width, height))) / cell))


def fitted(width: float, height: float, radius: float, cell: float, smallest: float = 1e-3) -> tuple[float, int]:
    """Return the side of a cell of about `cell` units (0: fit the radius), and how many cells to search on each side.

    Where a whole number of cells just covers the radius, they are widened by the rounding error: else two agents at the
    radius could be a cell farther apart. In a very large world cells are larger.
    """
    needed = radius + ROUNDING * (radius + max(width, height))
    side = max(cell or max(needed, min(width, height) / 2048), smallest)
    reach = max(1, math.ceil(radius / side))
    return max(side, needed / reach), reach


class CellIndex:
    """A counting sort of up to `items` points into square cells, over a world of `width` x `height` units.

    `cell` is the side of a cell, or 0 to fit the radius. `kind` is the type of coordinates, `corner` where the world
    begins.
    """

    shared_from = 150_000  # items: one thread sorts fewer, as waking another takes longer

    def __init__(self, items: int, width: float, height: float, radius: float, cell: float, workers: int, *,
                 max_cells: int = MAX_CELLS, smallest: float = MIN_CELL, kind: type = np.float32,
                 corner: tuple[float, float] = (0.0, 0.0)) -> None:
        self.workers, self.width, self.height = workers, width, height
        smallest = max(math.sqrt(width * height / max_cells), max(width, height) / max_cells, smallest)
        self.cell, self.reach = fitted(width, height, radius, cell, smallest)
        self.columns, self.rows = (max(1, math.ceil(side / self.cell)) for side in (width, height))
        self.floor = Floor(kind(1 / self.cell), self.columns, self.rows, kind(corner[0]), kind(corner[1]))
        self.cells = self.columns * self.rows
        self.space: SortSpace = sort_space(items, self.cells, workers)
        self.order = self.space.order

    def sorting(self, x: Floats, y: Floats, count: int) -> tuple[Launch, ...]:
        workers = self.workers if count >= self.shared_from else 1
        find = launch(find_cells, workers, x, y, count, self.floor, self.space)
        return (find, *sort_launches(workers, self.space, count, self.cells))

    @property
    def start(self) -> Ints:
        """Where each cell begins in the order, and the end: int32[cells + 1]."""
        return self.space.start[:self.cells + 1]

    def view(self) -> Cells:
        return Cells(self.order, self.space.start, self.columns, self.rows, self.reach)
