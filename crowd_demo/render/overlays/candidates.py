"""A heat map of candidates: at how many agents one has to look there to find its neighbours, by the present structure."""

from __future__ import annotations

from itertools import product

import numpy as np

from crowd_demo.compute.arrays import Doubles, Ints, Longs
from crowd_demo.render.overlays.base import NOT_BUILT, Looking
from crowd_demo.render.overlays.heat import Heat, draw_heat
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.overlays.squares import cells_between
from crowd_demo.sim.neighbours.candidates import Cells, Lists, Runs
from crowd_demo.sim.neighbours.structure import Structure
from crowd_demo.sim.neighbours.trees import TreeStructure

WHAT = "agents in the cells or leaves that one looks at"


def draw_candidates(sketch: Sketch, looking: Looking) -> None:
    """Fill each cell, or the box of each group that looks together, by the candidates of its agents."""
    structure = looking.structure
    if structure is None:
        sketch.explain(NOT_BUILT)
        return
    match structure.candidates():
        case Cells() as cells:
            heat = _of_cells(sketch, cells, structure.domain.grid.cell)
        case Lists() as lists:
            heat = _of_lists(sketch, lists, structure.domain.grid.cell)
        case Runs() as runs:
            heat = _of_groups(looking, structure, runs)
    draw_heat(sketch, heat, WHAT, looking.scales)


def _window(sketch: Sketch, cell: float, columns: int, rows: int) -> tuple[Longs, Longs]:
    """Rows and columns of the cells on the screen."""
    view = sketch.rect
    return cells_between(view.top, view.bottom, cell, rows), cells_between(view.left, view.right, cell, columns)


def _where_somebody_is(sketch: Sketch, cell: float, rows: Longs, columns: Longs, agents: Longs, candidates: Longs) -> Heat:
    """The cells in which somebody stands; smaller than a pixel, only one of each pixel counts."""
    every = max(int(1 / (cell * sketch.zoom)), 1)
    row, column = np.nonzero(agents[::every, ::every])
    amounts = candidates[::every, ::every][row, column].astype(np.float64)
    left, top = columns[::every][column] * cell, rows[::every][row] * cell
    return Heat(left, top, left + every * cell, top + every * cell, amounts)


def _of_cells(sketch: Sketch, cells: Cells, cell: float) -> Heat:
    rows, columns = _window(sketch, cell, cells.columns, cells.rows)
    start = cells.start[:cells.rows * cells.columns + 1].astype(np.int64)
    left, right = np.maximum(columns - cells.reach, 0), np.minimum(columns + cells.reach, cells.columns - 1) + 1
    found = np.zeros((len(rows), len(columns)), np.int64)
    for near in range(-cells.reach, cells.reach + 1):
        inside = (rows + near >= 0) & (rows + near < cells.rows)
        base = (rows[inside] + near)[:, None] * cells.columns
        found[inside] += start[base + right] - start[base + left]
    own = rows[:, None] * cells.columns + columns
    return _where_somebody_is(sketch, cell, rows, columns, start[own + 1] - start[own], found)


def _of_lists(sketch: Sketch, lists: Lists, cell: float) -> Heat:
    """Follow the lists of all cells on the screen and around it at once, as long as the longest one goes on."""
    rows, columns = _window(sketch, cell, lists.columns, lists.rows)
    reach = lists.reach
    near_rows, near_columns = (np.arange(each[0] - reach, each[-1] + reach + 1) if len(each) else each
                               for each in (rows, columns))
    counts = np.zeros((len(near_rows), len(near_columns)), np.int64)
    inside = np.ix_((near_rows >= 0) & (near_rows < lists.rows), (near_columns >= 0) & (near_columns < lists.columns))
    row, column = near_rows.clip(0, lists.rows - 1)[:, None], near_columns.clip(0, lists.columns - 1)
    slot = lists.head[row * lists.columns + column][inside]
    long = np.zeros_like(slot, np.int64)
    while (slot >= 0).any():
        long += slot >= 0
        slot = np.where(slot >= 0, lists.next[slot], -1)
    counts[inside] = long
    found = np.zeros((len(rows), len(columns)), np.int64)
    for down, across in product(range(2 * reach + 1), repeat=2):
        found += counts[down:down + len(rows), across:across + len(columns)]
    return _where_somebody_is(sketch, cell, rows, columns, counts[reach:reach + len(rows), reach:reach + len(columns)], found)


def _of_groups(looking: Looking, structure: Structure, runs: Runs) -> Heat:
    """Groups in which nobody was due have asked for no candidates, and stay empty."""
    groups = int(runs.groups[0])
    length = np.where(np.arange(runs.first.shape[1]) < runs.count[:groups, None], runs.last[:groups] - runs.first[:groups], 0)
    amounts = length.sum(axis=1).astype(np.float64)
    if isinstance(structure, TreeStructure):
        box = structure.box[1 << structure.depth:2 << structure.depth][:groups].astype(np.float64)
    else:
        box = _boxes_of(runs, groups, looking)
    asked = amounts > 0
    left, top, right, bottom = box[asked].T
    return Heat(left, top, right, bottom, amounts[asked])


def _boxes_of(runs: Runs, groups: int, looking: Looking) -> Doubles:
    """The bounds of the agents of each group, where they are now."""
    order: Ints = runs.order[:int(runs.start[groups])]
    columns, starts = looking.sim.agents.columns, runs.start[:groups]
    return np.stack([reduce.reduceat(column[order], starts) for reduce, column in (
        (np.minimum, columns.x), (np.minimum, columns.y), (np.maximum, columns.x), (np.maximum, columns.y))],
        axis=1).astype(np.float64) if groups else np.zeros((0, 4))
