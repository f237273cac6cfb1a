"""The squares of the ground, or the cells of a grid, that are in view. They stay where they are when the camera moves."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Longs
from crowd_demo.render.camera import Rect


class Squares(NamedTuple):
    """The squares of the world that are in view, numbered row by row; `left` and `top` are column and row of the first."""

    side: float  # units
    left: int
    top: int
    columns: int
    rows: int

    @property
    def total(self) -> int:
        return self.columns * self.rows

    def number_at(self, x: Doubles, y: Doubles) -> Longs:
        """The number of the square of each place in view."""
        column, row = (np.floor(place / self.side).astype(np.int64) for place in (x, y))
        return (row - self.top) * self.columns + (column - self.left)

    def place_of(self, number: Longs) -> tuple[Longs, Longs]:
        """Column and row in the world."""
        row, column = np.divmod(number, self.columns)
        return column + self.left, row + self.top


def squares_in(view: Rect, side: float) -> Squares:
    left, top, right, bottom = (math.floor(edge / side) for edge in view)
    return Squares(side, left, top, right - left + 1, bottom - top + 1)


def cells_between(low: float, high: float, cell: float, cells: int, more: int = 0) -> Longs:
    """The columns, or the rows, of a grid between two edges of the view, and so many more on each side, if there are any."""
    return np.arange(max(math.floor(low / cell) - more, 0), min(math.floor(high / cell) + 1 + more, cells))
