"""Colours by cell: a chessboard of the cells of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call, device
from crowd_demo.compute.simd import bits, select, splat, to_int
from crowd_demo.compute.simd_memory import take
from crowd_demo.render.colours.base import RGB, ColourMode, Legend
from crowd_demo.render.numbering import number_of, numbering
from crowd_demo.sim.simulation import Simulation

BOARD: tuple[RGB, ...] = (0, 114, 178), (240, 228, 66)


class Board(NamedTuple):
    """Columns by slot, and the cells."""

    x: Floats
    y: Floats
    inv_cell: np.float32
    columns: int
    rows: int


@device
def _place(position: Register, inv_cell: np.float32, count: int) -> Register:
    place = to_int(position * inv_cell)
    return select(place < count, place, splat(np.int32(count - 1), place))


@implements(number_of, Board)
def parity(board: Board, slots: Int, register: Register) -> Register:
    column = _place(take(board.x, slots), board.inv_cell, board.columns)
    return bits(column + _place(take(board.y, slots), board.inv_cell, board.rows), 0, 1)


class CellColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return BOARD

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        columns, floor = sim.agents.columns, sim.world.grid.floor
        board = Board(columns.x, columns.y, floor.inv_cell, floor.columns, floor.rows)
        return (numbering(sim.world.workers, slots, board, number),)

    def legend(self, sim: Simulation) -> Legend:
        structure = sim.situation.structure
        title = "cell of the grid" if "cell_size" in structure else "cell of a grid that the present search does not use"
        return Legend(title, BOARD, (f"even, {sim.world.grid.cell:.4g} units wide", "odd"))
