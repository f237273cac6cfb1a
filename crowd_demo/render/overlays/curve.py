"""The curve through the cells: the order in which agents lie in memory, from the start of memory to its end."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Ints, Longs
from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import SCALE, SHADOW, scale_inks
from crowd_demo.render.overlays.base import NOT_BUILT, Looking
from crowd_demo.render.overlays.cells import LEAST_PX
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.overlays.squares import cells_between
from crowd_demo.sim.neighbours.sorted import Sorted
from crowd_demo.sim.neighbours.trees import TreeStructure
from crowd_demo.sim.neighbours.z_grid import ZGrid

ENDS = Key(SCALE[0], "start of memory"), Key(SCALE[-1], "its end")


def draw_curve(sketch: Sketch, looking: Looking) -> None:
    """Draw the part of the curve that is on the screen; its colour says how far along memory it is."""
    structure = looking.structure
    match structure:
        case None:
            sketch.explain(NOT_BUILT)
        case TreeStructure():
            _draw_leaves(sketch, structure)
        case ZGrid():
            _draw_z(sketch, structure)
        case Sorted() if structure.curve_cells is not None:
            _draw_listed(sketch, structure, structure.curve_cells)
        case _:
            _draw_rows(sketch, structure.domain.grid.cell, structure.domain.grid.columns, structure.domain.grid.rows)


def _blocks(sketch: Sketch, cell: float) -> int:
    """Halvings of the number of cells a side until they can be read: the curve is then drawn from square to square."""
    level = 0
    while (cell * sketch.zoom) * (1 << level) < LEAST_PX:
        level += 1
    return level


def _words(text: str, level: int) -> str:
    return text if level == 0 else f"{text}, from square to square of {1 << level} x {1 << level} cells"


def _in_view(sketch: Sketch, side: float, columns: int, rows: int) -> tuple[Longs, Longs]:
    """Column and row of each square on the screen, or just outside of it."""
    view = sketch.rect
    column, row = np.meshgrid(cells_between(view.left, view.right, side, columns, 1),
                              cells_between(view.top, view.bottom, side, rows, 1))
    return column.ravel(), row.ravel()


def _join(sketch: Sketch, place: Longs, x: NDArray[np.floating], y: NDArray[np.floating], last: int) -> None:
    """Draw from each place on the curve to the next one, where both are known."""
    order = np.argsort(place)
    place, x, y = place[order], x[order], y[order]
    follows = np.flatnonzero(np.diff(place) == 1)
    sketch.lines(x[follows], y[follows], x[follows + 1], y[follows + 1], scale_inks(place[follows] / max(last, 1), 255, 255),
                 width=2, shadow=SHADOW)


# --- where the order comes from --------------------------------------------------------------------------------------

def _draw_leaves(sketch: Sketch, tree: TreeStructure) -> None:
    """From leaf to leaf of a tree, whose order is that of memory."""
    boxes = tree.box[1 << tree.depth:2 << tree.depth].astype(np.float64)
    boxes = boxes[np.isfinite(boxes[:, 0])]  # a leaf of nobody has no box
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    _join(sketch, np.arange(len(boxes)), x, y, len(boxes) - 1)
    sketch.explain("from leaf to leaf of the tree", *ENDS)


def _draw_z(sketch: Sketch, grid: ZGrid) -> None:
    """Morton's curve: numbers of squares whose bits are those of column and row in turn."""
    columns, rows = grid.floor.columns, grid.floor.rows
    _draw_places(sketch, _z_cells(columns, rows), columns, rows, grid.cell, "Morton's curve")


@lru_cache(maxsize=1)
def _z_cells(columns: int, rows: int) -> Ints:
    """The cells of a grid in Morton's order, int32[cells]."""
    row, column = np.divmod(np.arange(columns * rows), columns)
    bits = range((max(columns, rows) - 1).bit_length())
    numbers = sum(((column >> bit & 1) << 2 * bit | (row >> bit & 1) << 2 * bit + 1 for bit in bits), column * 0)
    return np.argsort(numbers).astype(np.int32)


def _draw_listed(sketch: Sketch, structure: Sorted, cells: Ints) -> None:
    """The curve along which the last sort has put the cells."""
    grid = structure.domain.grid
    _draw_places(sketch, cells, grid.columns, grid.rows, grid.cell, f"{structure.curve.capitalize()}'s curve")


def _draw_places(sketch: Sketch, cells: Ints, columns: int, rows: int, cell: float, name: str) -> None:
    level = _blocks(sketch, cell)
    places, side = _places(cells, columns, rows, level), cell * (1 << level)
    column, row = _in_view(sketch, side, places.shape[1], places.shape[0])
    _join(sketch, places[row, column].astype(np.int64), (column + 0.5) * side, (row + 0.5) * side, places.size - 1)
    sketch.explain(_words(name, level), *ENDS)


def _places(cells: Ints, columns: int, rows: int, level: int) -> Ints:
    """The place on the curve of each square of cells, int32[rows, columns] of squares. Found once for a curve and a level."""
    kept = _KEPT.get(level)
    if kept is None or kept[0] is not cells:
        row, column = np.divmod(cells, columns)
        wide, high = -(-columns >> level), -(-rows >> level)
        square = (row >> level) * wide + (column >> level)
        firsts = np.flatnonzero(np.diff(square, prepend=-1))
        places = np.zeros(wide * high, np.int32)
        places[square[firsts]] = np.arange(len(firsts))
        kept = _KEPT[level] = cells, places.reshape(high, wide)
    return kept[1]


_KEPT: dict[int, tuple[Ints, Ints]] = {}


def _draw_rows(sketch: Sketch, cell: float, columns: int, rows: int) -> None:
    """Row by row, each from left to right, and back to the start of the next one."""
    level = _blocks(sketch, cell)
    view, step = sketch.rect, cell * (1 << level)
    row = cells_between(view.top, view.bottom, step, -(-rows >> level), 1)
    y, inks = (row + 0.5) * step, scale_inks(row * (1 << level) / max(rows - 1, 1), 255, 255)
    sketch.lines(cell / 2, y, (columns - 0.5) * cell, y, inks, width=2, shadow=SHADOW)
    sketch.lines((columns - 0.5) * cell, y, cell / 2, y + step, inks, dash=6)
    sketch.explain("row by row" if level == 0 else f"row by row, one row in {1 << level}", *ENDS)
