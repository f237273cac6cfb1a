"""The grid: the agents of each cell.

After `launches` have run, the agents of cell c (row-major) are the slots `order[start[c]:start[c + 1]]`, in slot order: a
counting sort with prefix sums, O(n + cells), rebuilt every step. Cells are widened by what rounding can add to the radius, so
two agents within the radius are never more than `reach` cells apart, whatever the size of a cell.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints
from crowd_demo.compute.counting_sort import SortSpace, count_share, sort_buckets, sort_launches, sort_space
from crowd_demo.compute.jit import Launch, device, kernel, launch, run
from crowd_demo.compute.simd import LANES, to_int
from crowd_demo.compute.simd_memory import load, store
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.state import Columns

MAX_CELLS = 1 << 22  # a finer grid is coarsened: 16 MB of `start`, and as much for each worker
ROUNDING = 2.0**-22  # of the world and the radius: more than the rounding error of a position or a distance


class Floor(NamedTuple):
    """The layout of cells in the world."""

    inv_cell: np.float32
    columns: int
    rows: int


@device
def cell_of(x: Float, y: Float, floor: Floor) -> Int:
    """Return the row-major number of the cell that holds a point, or of each of sixteen."""
    column = min(to_int(x * floor.inv_cell), floor.columns - 1)
    row = min(to_int(y * floor.inv_cell), floor.rows - 1)
    return row * floor.columns + column


@kernel
def find_cells(worker: int, workers: int, x: Floats, y: Floats, agents: int, floor: Floor, space: SortSpace) -> None:
    """Write the cell of every agent, and count the agents of each cell.

    Sixteen at a time, which the compiler would not do by itself. The last register of a share may extend into the next
    worker's, which writes the same there.
    """
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers, LANES):
        store(space.key, slot, cell_of(load(x, slot), load(y, slot), floor))
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


class Grid:
    """Cells over a world of `width` x `height` units for a perception `radius`; `cell` is a size, or 0 to fit."""

    def __init__(self, agents: Agents[Columns], width: float, height: float, radius: float, cell: float, workers: int) -> None:
        self.agents = agents
        self.workers = workers
        self.width, self.height = width, height
        smallest = max(math.sqrt(width * height / MAX_CELLS), 1e-3)
        self.cell, self.reach = fitted(width, height, radius, cell, smallest)
        self.columns = max(1, math.ceil(width / self.cell))
        self.rows = max(1, math.ceil(height / self.cell))
        self.floor = Floor(np.float32(1 / self.cell), self.columns, self.rows)
        self.cells = self.columns * self.rows
        self.space: SortSpace = sort_space(agents.capacity, self.cells, workers)
        self.identity = np.arange(agents.capacity + 16, dtype=np.int32)
        self.order = self.space.order
        self.layout = -1
        self.by_id = False  # sort the agents of each cell by id

    def launches(self) -> tuple[Launch, ...]:
        columns, count = self.agents.columns, self.agents.count
        find = launch(find_cells, self.workers, columns.x, columns.y, count, self.floor, self.space)
        ranks = (launch(sort_buckets, self.workers, self.space, self.cells, columns.id),) if self.by_id else ()
        return (find, *sort_launches(self.workers, self.space, count, self.cells), *ranks)

    def built(self) -> None:
        """Call after the kernels of `launches` have run."""
        self.order = self.space.order
        self.layout = self.agents.layout

    def rebuild(self) -> None:
        """Build it for the present positions."""
        run(self.launches())
        self.built()

    def reordered(self, order: Ints) -> None:
        """Call after the agents were moved: cell c is now the slots order[start[c]:start[c + 1]]."""
        self.order = order
        self.layout = self.agents.layout

    def outdated(self) -> None:
        """Call after a step that moved agents without building this grid."""
        self.layout = -1

    @property
    def fresh(self) -> bool:
        """True while the order is right for the present slots, and the cells are at most one step old."""
        return self.layout == self.agents.layout

    @property
    def start(self) -> Ints:
        """Where each cell begins in the order, and the end: int32[cells + 1]."""
        return self.space.start[:self.cells + 1]

    def reach_of(self, distance: float) -> int:
        return min(reach_of(distance, self.cell, self.width, self.height), max(self.columns, self.rows))

    def view(self) -> Cells:
        return Cells(self.order, self.space.start, self.columns, self.rows, self.reach)
