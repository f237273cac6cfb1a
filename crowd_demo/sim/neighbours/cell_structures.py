"""Structures whose candidates are in the cells of the domain's grid, and the one that has no cells.

    none      all agents are candidates of all, O(n^2): the baseline of the comparison
    buckets   the grid as it is: agents stay where they are in memory
    linked    each cell stores its first agent, each agent the next one of its cell (as in Ihaa21's boids)
    sorted    the grid, and from time to time agents are moved into its order, so that neighbours share cache lines (Ihmsen and
              others 2011, for particles)

Linked lists are rebuilt every step and never sorted: the agents of a cell lie anywhere in memory, and the next one is known
only after reading the one before. Every worker links the cells of its own rows, so lists are in slot order for any number of
workers; each looks at all agents for that, O(n) a worker.

Only *the order in memory* of the sorted grid follows a curve, cell after cell along Morton's or Hilbert's. The index stays row
by row, because SIMD needs the candidates of a row in one run. It is rewritten at the sort: after that the agents of cell c are
still the slots `order[start[c]:start[c + 1]]`, contiguous within a cell but not across cells. docs/design/curves.md has the
measurements.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints, Longs
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import LANES
from crowd_demo.grid.cells import Cells, Floor, cell_of
from crowd_demo.sim.neighbours.structure import Domain, Lists, Structure
from crowd_demo.sim.neighbours.z_grid import CURVES, cell_place

ROW = 64  # slots, without a structure


class Brute(Structure):
    """Rows of ROW slots each, so that there is work to share; every row reaches all others."""

    def candidates(self) -> Cells:
        count = self.domain.agents.count
        rows = max(1, -(-count // ROW))
        start = np.minimum(np.arange(rows + 1 + LANES) * ROW, count).astype(np.int32)
        return Cells(self.domain.grid.identity, start, 1, rows, rows)

    def rows_within(self, distance: float) -> Cells:
        return self.candidates()


class Buckets(Structure):
    """The domain's grid as an index alone: agents stay where they are in memory, each candidate is fetched through `order`."""

    USES_GRID = True
    OBEYS = frozenset({"cell_size"})

    def index(self, tick: int) -> tuple[Launch, ...]:
        return self.domain.grid.launches()

    def built(self) -> None:
        super().built()
        self.domain.grid.built()
        self.order = self.domain.grid.order

    def candidates(self) -> Cells:
        return self.domain.grid.view()


# --- linked lists ----------------------------------------------------------------------------------------------------

@kernel
def link_cells(worker: int, workers: int, x: Floats, y: Floats, agents: int, floor: Floor, lists: Lists) -> None:
    """Link the agents of the cells in this worker's rows."""
    first = floor.rows * worker // workers * floor.columns
    last = floor.rows * (worker + 1) // workers * floor.columns
    for cell in range(first, last):
        lists.head[cell] = -1
    for slot in range(agents - 1, -1, -1):
        cell = cell_of(x[slot], y[slot], floor)
        if first <= cell < last:
            lists.next[slot] = lists.head[cell]
            lists.head[cell] = slot


class Linked(Structure):
    """Lists over the cells of the domain's grid, which is not built itself."""

    OBEYS = frozenset({"cell_size"})

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        grid = domain.grid
        self.lists = Lists(np.zeros(grid.cells, np.int32), np.zeros(domain.agents.capacity, np.int32), grid.columns,
                           grid.rows, grid.reach)

    def index(self, tick: int) -> tuple[Launch, ...]:
        agents, workers = self.domain.agents, self.domain.workers
        columns = agents.columns
        return (launch(link_cells, workers, columns.x, columns.y, agents.count, self.domain.grid.floor, self.lists),)

    def candidates(self) -> Lists:
        return self.lists


# --- sorted, along rows or a curve -----------------------------------------------------------------------------------

class CurveOrder(NamedTuple):
    """A curve through the cells of a grid, and memory for an order along it."""

    cells: Ints  # int32[cells]: along the curve
    target: Ints  # int32[n + 16]: the slots along the curve, before the move
    order: Ints  # int32[n + 16]: the slots by cell, after it
    sums: Longs  # int64[workers]: agents in each worker's share of the curve


@device
def order_cells(cells: Ints, curve: int, columns: int, rows: int) -> None:
    """List all cells of a grid along a curve, which passes through a square that contains the grid."""
    bits = 0
    while 1 << bits < max(columns, rows):
        bits += 1
    listed = 0
    for number in range(1 << 2 * bits):
        column, row = cell_place(curve, number, bits)
        if column < columns and row < rows:
            cells[listed] = row * columns + column
            listed += 1


@kernel
def count_along(worker: int, workers: int, curve_order: CurveOrder, start: Ints) -> None:
    count, cells = 0, curve_order.cells.shape[0]
    for k in range(cells * worker // workers, cells * (worker + 1) // workers):
        cell = curve_order.cells[k]
        count += start[cell + 1] - start[cell]
    curve_order.sums[worker] = count


@kernel
def place_along(worker: int, workers: int, curve_order: CurveOrder, start: Ints, order: Ints) -> None:
    """Write where each agent moves, and the order of the cells after the move."""
    at, cells = 0, curve_order.cells.shape[0]
    for earlier in range(worker):
        at += curve_order.sums[earlier]
    for number in range(cells * worker // workers, cells * (worker + 1) // workers):
        cell = curve_order.cells[number]
        for k in range(start[cell], start[cell + 1]):
            curve_order.target[at] = order[k]
            curve_order.order[k] = at
            at += 1


class Sorted(Buckets):
    """The domain's grid; agents are moved into its order, or along a curve through its cells."""

    REORDERS = True
    OBEYS = frozenset({"cell_size", "reorder.when", "curve"})

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self._curve = "row"
        self._orders: dict[str, CurveOrder] = {}

    def along(self, curve: str) -> tuple[Launch, ...]:
        self._curve = curve
        if curve == "row":
            self.order = self.domain.grid.order
            return ()
        grid, workers = self.domain.grid, self.domain.workers
        find = () if curve in self._orders else (self._new_order(curve),)  # once a grid and curve
        curve_order = self._orders[curve]
        self.order = curve_order.target
        return (*find, launch(count_along, workers, curve_order, grid.start),
                launch(place_along, workers, curve_order, grid.start, grid.order))

    @property
    def curve(self) -> str:
        """What the last sort went along."""
        return self._curve

    @property
    def curve_cells(self) -> Ints | None:
        """All cells along the curve of the last sort, int32[cells]; None where that went row by row."""
        return self._orders[self._curve].cells if self._curve in self._orders else None

    def _new_order(self, curve: str) -> Launch:
        grid, room = self.domain.grid, self.domain.agents.capacity + 16
        cells = np.zeros(grid.cells, np.int32)
        self._orders[curve] = CurveOrder(cells, np.zeros(room, np.int32), np.zeros(room, np.int32),
                                           np.zeros(self.domain.workers, np.int64))
        return launch(order_cells, cells, CURVES[curve], grid.columns, grid.rows)

    def reordered(self) -> None:
        grid = self.domain.grid
        self.layout = self.domain.agents.layout
        if self._curve == "row":
            self.order = grid.identity
            grid.reordered(grid.identity)
        else:
            grid.reordered(self._orders[self._curve].order)
