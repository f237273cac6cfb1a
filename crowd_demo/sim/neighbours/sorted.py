"""The same grid, and every so often the agents are moved into its order, so that neighbours share cache lines.

With a curve only *where agents lie in memory* follows it, cell after cell along Morton's or Hilbert's curve; the index stays
row by row, because lanes want the candidates of a row in one run. It is rewritten at the sort: after that the agents of cell
c are the slots `order[start[c]:start[c + 1]]` as ever, contiguous within a cell and no longer beyond. docs/design/curves.md
has the measurements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crowd_demo.compute.jit import Call, device, kernel, prange
from crowd_demo.sim.neighbours.buckets import Buckets
from crowd_demo.sim.neighbours.curves import CURVES, cell_number
from crowd_demo.sim.neighbours.structure import Place


class Way(NamedTuple):
    """A curve through the cells of a grid, and room for an order along it."""

    cells: Any  # int32[cells]: along the curve
    target: Any  # int32[n + 16]: the slots along the curve, before the move
    order: Any  # int32[n + 16]: the slots by cell, after it
    sums: Any  # int64[workers]: agents in each worker's share of the curve


@device
def find_way(cells: Any, curve: int, columns: int, rows: int) -> None:
    """Sort all cells of a grid along a curve."""
    bits = 0
    while 1 << bits < max(columns, rows):
        bits += 1
    numbers = np.zeros(rows * columns, np.int64)
    for row in range(rows):
        for column in range(columns):
            numbers[row * columns + column] = cell_number(curve, column, row, bits)
    cells[:] = np.argsort(numbers)


@device
def _count_along(worker: int, workers: int, way: Any, start: Any) -> None:
    count, cells = 0, way.cells.shape[0]
    for k in range(cells * worker // workers, cells * (worker + 1) // workers):
        cell = way.cells[k]
        count += start[cell + 1] - start[cell]
    way.sums[worker] = count


@device
def _place_along(worker: int, workers: int, way: Any, start: Any, order: Any) -> None:
    at, cells = 0, way.cells.shape[0]
    for earlier in range(worker):
        at += way.sums[earlier]
    for number in range(cells * worker // workers, cells * (worker + 1) // workers):
        cell = way.cells[number]
        for k in range(start[cell], start[cell + 1]):
            way.target[at] = order[k]
            way.order[k] = at
            at += 1


@kernel
def count_along(workers: int, way: Any, start: Any) -> None:
    for worker in prange(workers):
        _count_along(worker, workers, way, start)


@kernel
def place_along(workers: int, way: Any, start: Any, order: Any) -> None:
    """Where each agent goes, and the order of the cells once all have gone there."""
    for worker in prange(workers):
        _place_along(worker, workers, way, start, order)


class Sorted(Buckets):
    """The place's grid, whose order, or a curve through whose cells, the agents take."""

    REORDERS = True

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._curve = "row"
        self._ways: dict[str, Way] = {}

    def along(self, curve: str) -> tuple[Call, ...]:
        self._curve = curve
        if curve == "row":
            return ()
        grid, workers = self.place.grid, self.place.workers
        find = () if curve in self._ways else (self._new_way(curve),)  # once a grid and curve
        way = self._ways[curve]
        return (*find, Call(count_along, (workers, way, grid.start)),
                Call(place_along, (workers, way, grid.start, grid.order)))

    def _new_way(self, curve: str) -> Call:
        grid, room = self.place.grid, self.place.agents.capacity + 16
        cells = np.zeros(grid.cells, np.int32)
        self._ways[curve] = Way(cells, np.zeros(room, np.int32), np.zeros(room, np.int32),
                                np.zeros(self.place.workers, np.int64))
        return Call(find_way, (cells, CURVES[curve], grid.columns, grid.rows))

    @property
    def order(self) -> Any:
        return self.place.grid.order if self._curve == "row" else self._ways[self._curve].target

    def reordered(self) -> None:
        grid = self.place.grid
        self.layout = self.place.agents.layout
        grid.reordered(grid.identity if self._curve == "row" else self._ways[self._curve].order)
