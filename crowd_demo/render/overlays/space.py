"""Overlays of how techniques divide space: neighbour structure, curve, culling, frozen frustum, depth bands."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Doubles, Ints, Longs
from crowd_demo.render.hud.canvas import WARM
from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import BLACK, ORANGE, SCALE, SHADOW, SKY, WHITE, ink, scale_inks
from crowd_demo.render.overlays.base import NOT_BUILT, OverlayView, Sketch, cells_between, cells_in
from crowd_demo.sim.inspection import length_text
from crowd_demo.sim.neighbours.cell_structures import Sorted
from crowd_demo.sim.neighbours.trees import TreeStructure
from crowd_demo.sim.neighbours.z_grid import ZGrid

LEAST_PX = 9.0  # side of a cell that can be read; of smaller ones only some lines are drawn
PALE, STRONG = ink(BLACK, 120), ink(BLACK, 215)
UPPER = 3  # levels between the boxes and the larger ones that are drawn thick
TINTS = np.array([ink(SKY, 70), ink(ORANGE, 70)], np.uint32)  # of every other band
ENDS = Key(SCALE[0], "start of memory"), Key(SCALE[-1], "its end")


# --- cells and boxes -------------------------------------------------------------------------------------------------

def draw_cells(sketch: Sketch, view: OverlayView) -> None:
    structure = view.sim.built_structure
    if structure is None:
        sketch.explain(NOT_BUILT)
    elif isinstance(structure, TreeStructure):
        # the boxes of one level, the leaves' if these can be read, and those some levels above, thick
        rect, box, depth, level = sketch.rect, structure.box, structure.depth, structure.depth
        sides = np.minimum(box[:, 2] - box[:, 0], box[:, 3] - box[:, 1])  # the shorter ones
        while level > 0 and float(np.median(sides[1 << level:2 << level])) * sketch.zoom < LEAST_PX:
            level -= 1
        for upper, line, width in ((level, STRONG, 1), (max(level - UPPER, 0), ink(WHITE, 190), 2)):
            boxes = box[1 << upper:2 << upper]
            shown = ((boxes[:, 0] <= rect.right) & (boxes[:, 2] >= rect.left)
                     & (boxes[:, 1] <= rect.bottom) & (boxes[:, 3] >= rect.top))
            left, top, right, bottom = boxes[shown].T
            sketch.boxes(left, top, right, bottom, line, width)
        sketch.explain(f"{1 << depth:,} leaves of up to {structure.domain.leaf} agents, {depth} levels below the whole"
                       + ("" if level == depth else f" (boxes of level {level}: leaves are too small to be seen)"),
                       Key(BLACK, "leaves" if level == depth else f"level {level}"),
                       Key(WHITE, f"level {max(level - UPPER, 0)}"))
    elif isinstance(structure, ZGrid):
        level = structure.level(view.sim.optimizations.simd)
        text = _draw_grid(sketch, structure.cell, structure.floor.columns, structure.floor.rows, PALE, 1)
        if level:
            _draw_grid(sketch, structure.cell * (1 << level), structure.floor.columns / (1 << level),
                       structure.floor.rows / (1 << level), STRONG, 2)
        sketch.explain(f"{text}, {length_text(view.sim, structure.cell)} wide",
                       Key(BLACK, f"squares of {1 << level} x {1 << level} cells share their candidates"))
    else:
        grid = structure.domain.grid
        text = _draw_grid(sketch, grid.cell, grid.columns, grid.rows, ink(BLACK, 160), 1)
        sketch.explain(f"{text}, {length_text(view.sim, grid.cell)} wide, search radius {grid.reach} cells")


def _draw_grid(sketch: Sketch, cell: float, columns: float, rows: float, line: int, width: int) -> str:
    """Draw the lines that are on the screen, or every n-th of them; return what they are."""
    view, every = sketch.rect, 1 << sketch.doublings(cell, LEAST_PX)
    right, bottom = columns * cell, rows * cell
    x = _between(view.left, view.right, every * cell, right)
    y = _between(view.top, view.bottom, every * cell, bottom)
    sketch.lines(x, 0, x, bottom, line, width)
    sketch.lines(0, y, right, y, line, width)
    text = f"{columns} x {rows} cells"
    return text if every == 1 else f"{text} (one line in {every})"


def _between(low: float, high: float, step: float, end: float) -> Doubles:
    """The multiples of a step in the view and in the world."""
    first, last = max(np.ceil(low / step), 0), min(np.floor(high / step), np.ceil(end / step))
    return np.arange(first, last + 1) * step


# --- the order of the cells ------------------------------------------------------------------------------------------

def draw_curve(sketch: Sketch, view: OverlayView) -> None:
    """Draw the part of the curve that is on the screen; its colour says how far along memory it is."""
    structure = view.sim.built_structure
    match structure:
        case None:
            sketch.explain(NOT_BUILT)
        case TreeStructure():
            boxes = structure.box[1 << structure.depth:2 << structure.depth].astype(np.float64)
            boxes = boxes[np.isfinite(boxes[:, 0])]  # a leaf of nobody has no box
            x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
            _join(sketch, np.arange(len(boxes)), x, y, len(boxes) - 1)
            sketch.explain("from leaf to leaf of the tree", *ENDS)
        case ZGrid():
            columns, rows = structure.floor.columns, structure.floor.rows
            _draw_along(sketch, _z_cells(columns, rows), columns, rows, structure.cell, "Morton's curve")
        case Sorted() if structure.curve_cells is not None:
            grid, name = structure.domain.grid, f"{structure.curve.capitalize()}'s curve"
            _draw_along(sketch, structure.curve_cells, grid.columns, grid.rows, grid.cell, name)
        case _:
            grid = structure.domain.grid  # row by row, each from left to right, and back to the start of the next one
            cell, rows, level = grid.cell, grid.rows, sketch.doublings(grid.cell, LEAST_PX)
            step, right = cell * (1 << level), (grid.columns - 0.5) * cell
            row = cells_between(sketch.rect.top, sketch.rect.bottom, step, -(-rows >> level), 1)
            middle, inks = (row + 0.5) * step, scale_inks(row * (1 << level) / max(rows - 1, 1), 255, 255)
            sketch.lines(cell / 2, middle, right, middle, inks, width=2, shadow=SHADOW)
            sketch.lines(right, middle, cell / 2, middle + step, inks, dash=6)
            sketch.explain("row by row" if level == 0 else f"row by row, one row in {1 << level}", *ENDS)


def _join(sketch: Sketch, rank: Longs, x: NDArray[np.floating], y: NDArray[np.floating], last: int) -> None:
    """Draw from each square to the next one on the curve, where both are known; `rank` is their number along the curve."""
    order = np.argsort(rank)
    rank, x, y = rank[order], x[order], y[order]
    follows = np.flatnonzero(np.diff(rank) == 1)
    sketch.lines(x[follows], y[follows], x[follows + 1], y[follows + 1], scale_inks(rank[follows] / max(last, 1), 255, 255),
                 width=2, shadow=SHADOW)


@lru_cache(maxsize=1)
def _z_cells(columns: int, rows: int) -> Ints:
    """The cells of a grid in Morton's order, int32[cells]: by numbers whose bits are those of column and row in turn."""
    row, column = np.divmod(np.arange(columns * rows), columns)
    bits = range((max(columns, rows) - 1).bit_length())
    numbers = sum(((column >> bit & 1) << 2 * bit | (row >> bit & 1) << 2 * bit + 1 for bit in bits), column * 0)
    return np.argsort(numbers).astype(np.int32)


def _draw_along(sketch: Sketch, cells: Ints, columns: int, rows: int, cell: float, name: str) -> None:
    level = sketch.doublings(cell, LEAST_PX)
    ranks, side = _ranks(cells, columns, rows, level), cell * (1 << level)
    near = cells_in(sketch.rect, side, ranks.shape[1], ranks.shape[0], 1)
    row, column = (each.ravel() for each in np.meshgrid(*near, indexing="ij"))
    _join(sketch, ranks[row, column].astype(np.int64), (column + 0.5) * side, (row + 0.5) * side, ranks.size - 1)
    text = name if level == 0 else f"{name}, from square to square of {1 << level} x {1 << level} cells"
    sketch.explain(text, *ENDS)


def _ranks(cells: Ints, columns: int, rows: int, level: int) -> Ints:
    """The number along the curve of each square of cells, int32[rows, columns] of squares; kept for a curve and a level."""
    kept = _RANKS.get(level)
    if kept is None or kept[0] is not cells:
        row, column = np.divmod(cells, columns)
        wide, high = -(-columns >> level), -(-rows >> level)
        square = (row >> level) * wide + (column >> level)
        firsts = np.flatnonzero(np.diff(square, prepend=-1))
        ranks = np.zeros(wide * high, np.int32)
        ranks[square[firsts]] = np.arange(len(firsts))
        kept = _RANKS[level] = cells, ranks.reshape(high, wide)
    return kept[1]


_RANKS: dict[int, tuple[Ints, Ints]] = {}


# --- how the picture is made --------------------------------------------------------------------------------------------

def draw_culling(sketch: Sketch, view: OverlayView) -> None:
    """Fill the cells that culling takes, tests and leaves out; from outside while the frustum is frozen."""
    used, count = view.used, view.sim.agents.count
    if used.cells is None:
        sketch.boxes(used.now.bounds.left, used.now.bounds.top, used.now.bounds.right, used.now.bounds.bottom,
                     ink(BLACK), width=2)
        sketch.explain(f"all {count:,} agents were tested, {len(used.slots):,} kept", Key(BLACK, "bounds of the test"))
        return
    cells, inner_cells, grid = used.cells.all, used.cells.inner, view.sim.grid
    side = grid.cell
    left, top, right, bottom = (number * side for number in (cells.column0, cells.row0, cells.column1, cells.row1))
    inner = [number * side for number in (inner_cells.column0, inner_cells.row0, inner_cells.column1, inner_cells.row1)]
    wide, high = grid.columns * side, grid.rows * side
    sketch.areas([0, 0, 0, right], [0, bottom, top, top], [wide, wide, left, wide], [top, high, bottom, bottom],
                 ink(BLACK, 110))
    sketch.areas([left, left, left, inner[2]], [top, inner[3], inner[1], inner[1]], [right, right, inner[0], right],
                 [inner[1], bottom, inner[3], inner[3]], ink(ORANGE, 110))
    sketch.areas(inner[0], inner[1], inner[2], inner[3], ink(SKY, 60))
    if side * sketch.zoom >= LEAST_PX:
        x, y = np.arange(cells.column0, cells.column1 + 1) * side, np.arange(cells.row0, cells.row1 + 1) * side
        sketch.lines(x, top, x, bottom, ink(BLACK, 90))
        sketch.lines(left, y, right, y, ink(BLACK, 90))
    hint = "" if view.frozen else " (freeze the view and zoom out to see it from outside)"
    sketch.explain(f"{view.sim.profile.counters['tested']:,.0f} of {count:,} agents tested{hint}",
                   Key(SKY, "taken without a test"), Key(ORANGE, "tested"), Key(BLACK, "left out"))


def draw_frustum(sketch: Sketch, view: OverlayView) -> None:
    """Draw the outline of the frozen frustum, with its name above it."""
    if frozen := view.frozen:
        sketch.boxes(*frozen, ink(BLACK), width=6)
        sketch.boxes(*frozen, ink(ORANGE), width=2)
        sketch.label("frozen frustum", (frozen.left + frozen.right) / 2, frozen.top - 16 / sketch.zoom, WARM)
        sketch.explain("only what touches the frozen frustum is drawn", Key(ORANGE, "frozen frustum"))


def draw_bands(sketch: Sketch, view: OverlayView) -> None:
    """Tint every other band, as this picture was sorted."""
    scale = view.used.bands
    if scale is None:
        sketch.explain("agents as light need no order: nothing is sorted at this zoom")
        return
    top, per_unit = float(scale.top), float(scale.per_unit)
    rect, band = sketch.rect, np.arange(scale.bands)
    upper, lower = top + band / per_unit, top + (band + 1) / per_unit
    shown = (lower > rect.top) & (upper < rect.bottom)
    band, upper, lower = band[shown], upper[shown], lower[shown]
    left, right = max(rect.left, 0.0), min(rect.right, float(view.sim.terrain.walls.width))
    sketch.areas(left, upper, right, lower, TINTS[band & 1])
    sketch.lines(left, upper, right, upper, ink(BLACK, 150))
    agents = np.diff(view.used.band_starts[:scale.bands + 1])
    high = length_text(view.sim, 1 / per_unit)
    sketch.explain(f"{scale.bands} bands of {high}, with {agents.min()} to {agents.max()} agents")
