"""Curves through a square of 2^bits x 2^bits cells, and a grid of cells in the order of one of them.

A curve leads from a number along it to the cell, and Morton's also back.

    ROW      row by row: neighbours in a row follow each other, those in a column are a whole row apart
    MORTON   the bits of row and column interleaved: four cells make a Z, four Zs make a larger Z
    HILBERT  quarters turned so that each cell touches the one before it

On Morton's and Hilbert's curve an aligned square of 2^k x 2^k cells is one aligned run of 4^k numbers, so cells
that are near in the world are mostly near along the curve. Numbers are below 4^bits and fit an int64.

The grid has square cells in Morton order: a counting sort by the cell's number on the curve, so that neighbours in y
are as near in memory as neighbours in x.

After `index`, the agents of cell c are `order[start[c]:start[c + 1]]`, c being a Morton number. The groups of interaction are
aligned squares of cells, which on this curve are runs: with enough cells to fill a register, or a few for the scalar
kernel. The cells around a square are found by descending the quadtree of the curve, largest quarters first; they form a few
runs. The side of the grid is a power of two: up to four times the cells of a plain grid, most of them empty, is what the
curve costs.

Source: Warren, "Hacker's Delight" (interleaving); Wikipedia, "Hilbert curve" (turning quarters).
"""

from __future__ import annotations

import math

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints, Longs
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.grid.cells import Floor, SortSpace, fitted, share_buckets, sort_items, sort_space
from crowd_demo.sim.neighbours.schedule import UpdateSchedule, count_due
from crowd_demo.sim.neighbours.structure import Domain, Runs, Structure, add_run, runs_of

ROW, MORTON, HILBERT = range(3)
CURVES = {"row": ROW, "morton": MORTON, "hilbert": HILBERT}
MAX_BITS = 11  # 2,048 cells a side at most: coarser cells in a larger world
FULL = 12.0  # agents in a square on average: they share a register
FEW = 3.0  # the same for the scalar path: they share a query, but have more candidates
MAX_LEVELS = 3  # squares of 8 x 8 cells at most


@device
def _spread(bits: int) -> int:
    bits = (bits | bits << 8) & 0x00FF00FF
    bits = (bits | bits << 4) & 0x0F0F0F0F
    bits = (bits | bits << 2) & 0x33333333
    return (bits | bits << 1) & 0x55555555


@device
def _squeeze(bits: int) -> int:
    """Keep every other bit, from the lowest: the inverse of `_spread`."""
    bits &= 0x55555555
    bits = (bits | bits >> 1) & 0x33333333
    bits = (bits | bits >> 2) & 0x0F0F0F0F
    bits = (bits | bits >> 4) & 0x00FF00FF
    return (bits | bits >> 8) & 0x0000FFFF


@device
def morton(column: int, row: int) -> int:
    return _spread(column) | _spread(row) << 1


@device
def morton_place(number: int) -> tuple[int, int]:
    """Return (column, row) of the cell with that number."""
    return _squeeze(number), _squeeze(number >> 1)


@device
def hilbert_place(number: int, bits: int) -> tuple[int, int]:
    """Return (column, row) of the cell with that number."""
    column, row = 0, 0
    for bit in range(bits):
        right = number >> 1 & 1
        below = (number ^ right) & 1
        if not below:
            if right:
                column, row = (1 << bit) - 1 - column, (1 << bit) - 1 - row
            column, row = row, column
        column, row = column + (right << bit), row + (below << bit)
        number >>= 2
    return column, row


@device
def cell_place(curve: int, number: int, bits: int) -> tuple[int, int]:
    """Return (column, row) of the cell with that number."""
    if curve == MORTON:
        return morton_place(number)
    if curve == HILBERT:
        return hilbert_place(number, bits)
    return number & (1 << bits) - 1, number >> bits


# --- the grid --------------------------------------------------------------------------------------------------------

@kernel
def find_z_cells(worker: int, workers: int, x: Floats, y: Floats, agents: int, floor: Floor, space: SortSpace,
                 cells: int) -> None:
    """Write the Morton number of the cell of every agent."""
    if worker == 0:
        share_buckets(workers, space, cells)
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        column = min(int(x[slot] * floor.inv_cell), floor.columns - 1)
        row = min(int(y[slot] * floor.inv_cell), floor.rows - 1)
        space.key[slot] = morton(column, row)


@kernel
def count_squares(worker: int, workers: int, start: Ints, squares: int, level: int, found: Longs) -> None:
    """Count the squares of this worker's share that are not empty."""
    count = 0
    for square in range(squares * worker // workers, squares * (worker + 1) // workers):
        count += start[square + 1 << 2 * level] > start[square << 2 * level]
    found[worker] = count


@device
def _find_runs(start: Ints, square: int, level: int, floor: Floor, reach: int, runs: Runs, group: int) -> None:
    """Find the cells within reach of a square, in ascending order, by the largest quarters inside their bounding box."""
    column, row = morton_place(square << 2 * level)
    side = 1 << level
    left, top = max(column - reach, 0), max(row - reach, 0)
    right, bottom = min(column + side + reach, floor.columns) - 1, min(row + side + reach, floor.rows) - 1
    first, last, size = morton(left, top), morton(right, bottom), 0
    while first >> 2 * size != last >> 2 * size:
        size += 1
    quarter = first >> 2 * size << 2 * size  # the first cell of the smallest quarter of 2^size x 2^size that holds the box
    while quarter <= last:
        column, row = morton_place(quarter)
        far_column, far_row = column + (1 << size) - 1, row + (1 << size) - 1
        apart = column > right or far_column < left or row > bottom or far_row < top
        if not apart and not (left <= column and far_column <= right and top <= row and far_row <= bottom):
            size -= 1
            continue
        if not apart:
            add_run(runs, group, start[quarter], start[quarter + (1 << 2 * size)])
        quarter += 1 << 2 * size
        while quarter >> 2 * size & 3 == 0:
            size += 1


@kernel
def find_z_runs(worker: int, workers: int, next_update: Ints, order: Ints, start: Ints, squares: int, level: int, floor: Floor,
                reach: int, schedule: UpdateSchedule, found: Longs, runs: Runs) -> None:
    """Number this worker's groups after those of earlier workers, and find the candidates of groups with agents due."""
    group = 0
    for earlier in range(worker):
        group += found[earlier]
    for square in range(squares * worker // workers, squares * (worker + 1) // workers):
        first, last = start[square << 2 * level], start[square + 1 << 2 * level]
        if last > first:
            runs.start[group], runs.count[group] = first, 0
            if count_due(next_update, order, first, last, schedule) > 0:
                _find_runs(start, square, level, floor, reach, runs, group)
            group += 1
    if worker == workers - 1:
        runs.groups[0] = group
        runs.start[group] = start[squares << 2 * level]


class ZGrid(Structure):
    """A grid of 4^bits cells, of which `floor` lie in the world."""

    REORDERS = True
    OBEYS = frozenset({"cell_size", "reorder.when"})

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        smallest = max(domain.width, domain.height) / (1 << MAX_BITS)
        self.cell, self.reach = fitted(domain.width, domain.height, domain.radius, domain.cell, smallest)
        columns, rows = max(1, math.ceil(domain.width / self.cell)), max(1, math.ceil(domain.height / self.cell))
        self.floor = Floor(np.float32(1 / self.cell), columns, rows)
        self.bits = (max(columns, rows) - 1).bit_length()
        self.cells = 1 << 2 * self.bits
        self.space = sort_space(domain.agents.capacity, self.cells, domain.workers)
        self.order = self.space.order
        self.found = np.zeros(domain.workers, np.int64)
        self.runs = runs_of(self.order, min(domain.agents.capacity, self.cells) + 1)

    def index(self, tick: int) -> tuple[Launch, ...]:
        agents, workers = self.domain.agents, self.domain.workers
        columns, count = agents.columns, agents.count
        find = launch(find_z_cells, workers, columns.x, columns.y, count, self.floor, self.space, self.cells)
        return find, launch(sort_items, workers, self.space, count)

    def built(self) -> None:
        super().built()
        self.order = self.space.order

    def query(self, simd: bool, rules: object, schedule: UpdateSchedule) -> tuple[Launch, ...]:
        workers, columns, level = self.domain.workers, self.domain.agents.columns, self.level(simd)
        squares, start = self.cells >> 2 * level, self.space.start
        return (launch(count_squares, workers, start, squares, level, self.found),
                launch(find_z_runs, workers, columns.next_update, self.order, start, squares, level, self.floor, self.reach,
                       schedule, self.found, self.runs))

    def level(self, simd: bool) -> int:
        """Return the level at which squares of 2^level cells a side hold enough agents on average."""
        wanted = FULL if simd else FEW
        each = max(self.domain.agents.count / (self.floor.columns * self.floor.rows), 1e-3)
        return min(max(round(math.log(wanted / each, 4)), 0), MAX_LEVELS, self.bits)

    def candidates(self) -> Runs:
        return self.runs._replace(order=self.order)

    def counters(self) -> dict[str, float]:
        groups = int(self.runs.groups[0])
        return {"groups": groups, "runs_per_group": float(self.runs.count[:groups].sum()) / max(groups, 1)}
