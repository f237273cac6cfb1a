"""Points in the cells of a grid, which the simulation and the public `Grid` share.

After the launches of a `CellIndex` have run, the points of cell c (row-major) are `order[start[c]:start[c + 1]]`, in
the order in which they were given. Cells are widened by what rounding can add to the radius, so two points within the
radius are never more than `reach` cells apart, whatever the size of a cell. A point outside belongs to the nearest
cell of the border, which keeps that true.

They are sorted by a counting sort: O(n + buckets), stable, without allocation, the same for any number of workers. Each
worker reads the buckets of all items, sixteen at a time, and sorts those that fall in its own share of the buckets.
Shares are chosen by the last sort, so a crowd in one place is shared, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd import LANES, count_set, lane_numbers, lane_of, lowest_set, set_lanes, to_int
from crowd_demo.compute.simd_memory import has_compress, load, put_compressed, store

MAX_CELLS = 1 << 22  # a finer grid is coarsened: 16 MB of `start`, and as much for each worker
ROUNDING = 2.0**-22  # of the world and the radius: more than the rounding error of a position or a distance
MIN_CELL = 1e-3  # side of the smallest cell of a simulation, in world units


# --- the counting sort -----------------------------------------------------------------------------------------------

BLOCK = 1024  # items that a worker takes at a time: they stay in the nearest cache


class SortSpace(NamedTuple):
    key: Ints  # [n + 16]: bucket of each item, the input
    order: Ints  # [n + 16]: items by bucket
    start: Ints  # [buckets + 17]: where each bucket begins in `order`, the end, and room for a register to read
    share: Ints  # [workers + 1]: the first bucket of each worker, and the end
    taken: Ints  # [workers, 2, BLOCK + 16]: buckets and items of a block, of one worker's share


def sort_space(items: int, buckets: int, workers: int) -> SortSpace:
    return SortSpace(*(np.zeros(size, np.int32) for size in (
        items + 16, items + 16, buckets + 17, workers + 1, (workers, 2, BLOCK + 16))))


@device
def share_buckets(workers: int, space: SortSpace, buckets: int) -> None:
    """Choose the workers' shares: equal numbers of buckets and of items in them, at the last sort."""
    work = buckets + space.start[buckets]
    for share in range(workers + 1):
        low, high = 0, buckets
        while low < high:
            middle = (low + high) >> 1
            if middle + space.start[middle] < work * share // workers:
                low = middle + 1
            else:
                high = middle
        space.share[share] = low


@device
def put_met(out: Ints, at: Int, met: Mask, values: Int) -> int:
    """Write the values of the lanes that are met, one behind the other, from out[at] on; return how many."""
    count = count_set(met)
    if has_compress():
        put_compressed(out, np.uintp(at), met, values)
    elif count == LANES:
        store(out, np.intp(at), values)
    else:
        bits, free = set_lanes(met), at
        while bits != 0:
            out[np.uintp(free)] = lane_of(values, lowest_set(bits))
            free += 1
            bits &= bits - 1
    return count


@device
def take_items(space: SortSpace, taken: Ints, begin: int, items: int, first: int, end: int) -> tuple[int, int]:
    """Take the items of a block whose bucket is in [first, end). Return how many, and how many have a lower one."""
    found, lower = 0, 0
    for item in range(begin, min(begin + BLOCK, items), LANES):
        bucket, number = load(space.key, item), lane_numbers() + item
        met = (bucket > first - 1) & (bucket < end) & (number < items)
        put_met(taken[0], found, met, bucket)
        found += put_met(taken[1], found, met, number)
        lower += count_set((bucket < first) & (number < items))
    return found, lower


@device
def sort_share(worker: int, space: SortSpace, items: int) -> tuple[int, int]:
    """Sort the items of this worker's share of the buckets. Return (first, end) of them in the order.

    start[bucket + 1] is first the number of items in the bucket, then where the next one goes.
    """
    first, end, start, taken = space.share[worker], space.share[worker + 1], space.start, space.taken[worker]
    for bucket in range(first, end):
        start[bucket + 1] = 0
    at = 0
    for begin in range(0, items, BLOCK):
        found, lower = take_items(space, taken, begin, items, first, end)
        at += lower
        for k in range(np.uintp(found)):
            start[np.uintp(taken[0, k]) + np.uintp(1)] += 1
    own = at
    for bucket in range(first, end):
        count = start[bucket + 1]
        start[bucket + 1] = at
        at += count
    for begin in range(0, items, BLOCK):
        found, lower = take_items(space, taken, begin, items, first, end)
        for k in range(np.uintp(found)):
            place = np.uintp(taken[0, k]) + np.uintp(1)
            space.order[np.uintp(start[place])] = taken[1, k]
            start[place] += 1
    return own, at


@kernel
def sort_items(worker: int, workers: int, space: SortSpace, items: int) -> None:
    """Sort items by bucket, after a kernel that has found these and called `share_buckets`."""
    sort_share(worker, space, items)


@kernel
def sort_buckets(worker: int, workers: int, space: SortSpace, buckets: int, rank: Ints) -> None:
    """Sort the items of each bucket by their rank, int32[n], all different.

    Shell sort of each bucket: they are short, and mostly in order already.
    """
    for bucket in range(buckets * worker // workers, buckets * (worker + 1) // workers):
        sort_bucket(space.order, space.start[bucket], space.start[bucket + 1], rank)


@device
def sort_bucket(order: Ints, first: int, last: int, rank: Ints) -> None:
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
    """Write the cell of every agent, sixteen at a time, which the compiler would not do by itself."""
    if worker == 0:
        share_buckets(workers, space, floor.columns * floor.rows)
    first, end = agents * worker // workers, agents * (worker + 1) // workers
    whole = end - (end - first) % LANES
    for slot in range(first, whole, LANES):
        store(space.key, slot, cell_of(load(x, slot), load(y, slot), floor))
    for slot in range(whole, end):
        space.key[slot] = cell_of(x[slot], y[slot], floor)


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

    @property
    def start(self) -> Ints:
        """Where each cell begins in the order, and the end: int32[cells + 1]."""
        return self.space.start[:self.cells + 1]

    def view(self) -> Cells:
        return Cells(self.order, self.space.start, self.columns, self.rows, self.reach)
