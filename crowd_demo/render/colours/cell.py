"""Colours by cell: a chessboard of the cells of the grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Ints
from crowd_demo.compute.jit import Call, call, kernel
from crowd_demo.render.colours.base import RGB, Legend
from crowd_demo.sim.neighbours.grid import Floor
from crowd_demo.sim.simulation import Simulation

BOARD: tuple[RGB, ...] = (0, 114, 178), (240, 228, 66)


@kernel
def number_cells(worker: int, workers: int, slots: Ints, x: Floats, y: Floats, floor: Floor, number: Bytes) -> None:
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        column = min(int(x[slot] * floor.inv_cell), floor.columns - 1)
        row = min(int(y[slot] * floor.inv_cell), floor.rows - 1)
        number[k] = (column + row) & 1


class CellColours:
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return BOARD

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        columns = sim.agents.columns
        return (call(number_cells, sim.world.workers, slots, columns.x, columns.y, sim.world.grid.floor, number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("cell of the grid", BOARD, (f"even, {sim.world.grid.cell:.4g} units wide", "odd"))
