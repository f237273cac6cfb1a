"""The cells or boxes of the present neighbour structure: in them the last step has looked for neighbours."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Floats
from crowd_demo.render.camera import Rect
from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import BLACK, WHITE, ink
from crowd_demo.render.overlays.base import NOT_BUILT, Looking
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.sim.neighbours.trees import TreeStructure
from crowd_demo.sim.neighbours.z_grid import ZGrid

LEAST_PX = 9.0  # side of a cell that can be read; of smaller ones only some lines are drawn
PALE, STRONG = ink(BLACK, 120), ink(BLACK, 215)
UPPER = 3  # levels between the boxes and the larger ones that are drawn thick


def draw_cells(sketch: Sketch, looking: Looking) -> None:
    """Draw the part of the structure that is on the screen."""
    structure = looking.structure
    if structure is None:
        sketch.explain(NOT_BUILT)
    elif isinstance(structure, TreeStructure):
        _draw_tree(sketch, structure)
    elif isinstance(structure, ZGrid):
        level = structure.level(looking.sim.optimizations.simd)
        every = _draw_grid(sketch, structure.cell, structure.floor.columns, structure.floor.rows, PALE, 1)
        if level:
            _draw_grid(sketch, structure.cell * (1 << level), structure.floor.columns / (1 << level),
                       structure.floor.rows / (1 << level), STRONG, 2)
        sketch.explain(_words(structure.cell, structure.floor.columns, structure.floor.rows, every),
                    Key(BLACK, f"squares of {1 << level} x {1 << level} cells look together"))
    else:
        grid = structure.domain.grid
        every = _draw_grid(sketch, grid.cell, grid.columns, grid.rows, ink(BLACK, 160), 1)
        text = _words(grid.cell, grid.columns, grid.rows, every)
        sketch.explain(f"{text}; an agent looks {grid.reach} farther on each side")


def _words(cell: float, columns: int, rows: int, every: int) -> str:
    text = f"{columns} x {rows} cells of {cell:.3g} units"
    return text if every == 1 else f"{text}; one line in {every}"


def _draw_grid(sketch: Sketch, cell: float, columns: float, rows: float, line: int, width: int) -> int:
    """Draw the lines that are on the screen, or every n-th of them; return n."""
    view, every = sketch.rect, 1
    while every * cell * sketch.zoom < LEAST_PX:
        every *= 2
    right, bottom = columns * cell, rows * cell
    x = _between(view.left, view.right, every * cell, right)
    y = _between(view.top, view.bottom, every * cell, bottom)
    sketch.lines(x, 0, x, bottom, line, width)
    sketch.lines(0, y, right, y, line, width)
    return every


def _between(low: float, high: float, step: float, end: float) -> Doubles:
    """The multiples of a step in the view and in the world."""
    first, last = max(np.ceil(low / step), 0), min(np.floor(high / step), np.ceil(end / step))
    return np.arange(first, last + 1) * step


def _draw_tree(sketch: Sketch, tree: TreeStructure) -> None:
    """Draw the boxes of one level, the leaves' if these can be read, and those some levels above, thick."""
    depth = level = tree.depth
    while level > 0 and _side(tree.box, level) * sketch.zoom < LEAST_PX:
        level -= 1
    for upper, line, width in ((level, STRONG, 1), (max(level - UPPER, 0), ink(WHITE, 190), 2)):
        boxes = tree.box[1 << upper:2 << upper]
        left, top, right, bottom = boxes[_meets(boxes, sketch.rect)].T
        sketch.boxes(left, top, right, bottom, line, width)
    sketch.explain(f"{1 << depth:,} leaves of up to {tree.domain.leaf} agents, {depth} levels below the whole"
                + ("" if level == depth else f"; boxes of level {level}: leaves are too small to be seen"),
                Key(BLACK, "leaves" if level == depth else f"level {level}"), Key(WHITE, f"level {max(level - UPPER, 0)}"))


def _side(box: Floats, level: int) -> float:
    """The usual shorter side of a box of that level."""
    boxes = box[1 << level:2 << level]
    return float(np.median(np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])))


def _meets(boxes: Floats, view: Rect) -> Bools:
    return ((boxes[:, 0] <= view.right) & (boxes[:, 2] >= view.left)
            & (boxes[:, 1] <= view.bottom) & (boxes[:, 3] >= view.top))
