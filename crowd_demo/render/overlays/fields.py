"""Overlays of the ground: heat maps of density and of candidates, streams, a flow field, and how people walk.

Flow and the fundamental diagram look at the 3 x 3 squares around each square of the ground
(`sim/fundamental_diagram.py`), which are parts of tiles or made of whole ones, so walls and water stay bare. Of squares
at the edge of the view the part in view counts. Speeds are those of velocities, so who is pushed back seems to walk.
O(agents in view + squares in view).
"""

from __future__ import annotations

import math
from functools import lru_cache, reduce
from typing import NamedTuple, cast

import numpy as np

from crowd_demo.compute.arrays import Doubles, Floats, Longs
from crowd_demo.config.section import UNITS_A_METRE
from crowd_demo.grid.cells import Cells
from crowd_demo.render.camera import Rect
from crowd_demo.render.colours.base import ON_DARK
from crowd_demo.render.colours.modes import SHADES, shades_of
from crowd_demo.render.colours.squares import FLOWS, NAMES
from crowd_demo.render.hud.status import Chart, Key
from crowd_demo.render.inks import BLACK, BLUE, GREEN, ORANGE, PURPLE, RGB, SHADOW, VERMILION, WHITE, ink
from crowd_demo.render.overlays.base import (
    NOT_BUILT,
    Edges,
    GroundSquares,
    Heat,
    OverlayView,
    Sketch,
    cells_in,
    draw_heat,
    squares_in,
)
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, PeopleColumns
from crowd_demo.sim.fundamental_diagram import JAM, SQUARE, around, free_ground, weidmann
from crowd_demo.sim.inspection import square_text
from crowd_demo.sim.neighbours.structure import Lists, Runs, Structure
from crowd_demo.sim.neighbours.trees import TreeStructure
from crowd_demo.sim.terrain.flow_fields import ARRIVED, STEP_COLUMN, STEP_ROW, UNREACHABLE
from crowd_demo.sim.terrain.tiles import Walls

LEAST_PX = 14.0  # side of a square
SMALLEST = 16.0  # units
CANDIDATES = "candidates: agents in the cells or leaves searched"
SQUARE_PX = 15.0  # least side of a square
USUAL = 12  # agents on a square, if they stood evenly: fewer agree by chance
MAX = 40_000  # agents that are looked at
LEAST = 0.35  # of agreement: below it, there is no stream
FIXED = 256  # steps of a unit/s: sums of whole numbers do not depend on the order in memory
INKS = np.array([ink(colour) for colour in SHADES], np.uint32)

ARROW_PX = 22.0  # least distance from arrow to arrow of a flow field
ACROSS, DOWN = np.array(STEP_COLUMN), np.array(STEP_ROW)

MAX_SQUARES = 40_000  # of the overlays of how people walk
ALPHA = 150
FLOW_INKS = np.array([ink(colour, ALPHA) for colour in ON_DARK.levels], np.uint32)
SPEEDS: tuple[tuple[float, RGB, str], ...] = (  # the least share of Weidmann's speed
    (0, VERMILION, "jam, below 1/4"), (JAM, ORANGE, "below 1/2"), (0.5, GREEN, "usual"), (1.5, PURPLE, "above 3/2"))
SPEED_INKS = np.array([ink(colour, ALPHA) for _, colour, _ in SPEEDS], np.uint32)
DENSITY_BIN, DENSITIES, SPEED_BIN, MAX_SPEED = 0.14, 6.0, 0.05, 2.0  # of the chart: people/m^2 and m/s


# --- density ---------------------------------------------------------------------------------------------------------

def draw_density(sketch: Sketch, view: OverlayView) -> None:
    """Count the agents in squares of the world; walls and water stay bare."""
    walls = view.sim.terrain.walls
    side = side_of(sketch.zoom, float(walls.tile) if walls.blocked.any() else SMALLEST)
    squares = squares_in(sketch.rect, side)
    _, x, y = view.visible()
    counts = np.bincount(squares.number_at(x, y), minlength=squares.total)
    found = np.flatnonzero(counts)
    edges, which = free_parts(squares, found, walls)
    heat = edges, counts[found][which].astype(np.float64)
    draw_heat(sketch, heat, f"agents in {square_text(view.sim, side)}", view.scales)


def side_of(zoom: float, tile: float) -> float:
    """The side of a square: a tile's, halved or doubled, so that each is part of one tile or is made of whole ones."""
    side = tile
    while side >= 2 * SMALLEST:
        side /= 2
    while side * zoom < LEAST_PX:
        side *= 2
    return side


def free_parts(squares: GroundSquares, found: Longs, walls: Walls) -> tuple[Edges, Longs]:
    """The free ground of some squares: left, top, right and bottom of its parts, and of which square each is one."""
    (column, row), side, which = squares.cell_of(found), squares.side, np.arange(len(found))
    if walls.blocked.any():
        row, column, which = on_free_tiles(row, column, side, walls)
        side = min(side, float(walls.tile))
    return (column * side, row * side, (column + 1) * side, (row + 1) * side), which


def on_free_tiles(row: Longs, column: Longs, side: float, walls: Walls) -> tuple[Longs, Longs, Longs]:
    """The parts of squares on free tiles, each a square or a tile of a larger one: row, column, and of which square."""
    tile, which = float(walls.tile), np.arange(len(row))
    if side > tile:
        each = round(side / tile)
        down, across = np.divmod(np.arange(each * each), each)
        row, column = (row[:, None] * each + down).ravel(), (column[:, None] * each + across).ravel()
        which = np.repeat(which, each * each)
    parts_a_tile = max(round(tile / side), 1)
    down, across = row // parts_a_tile, column // parts_a_tile
    height, width = walls.blocked.shape
    free = np.flatnonzero((down >= 0) & (across >= 0) & (down < height) & (across < width))
    free = free[walls.blocked[down[free], across[free]] == 0]
    return row[free], column[free], which[free]


# --- candidates ------------------------------------------------------------------------------------------------------

def draw_candidates(sketch: Sketch, view: OverlayView) -> None:
    """Fill each cell, or the box of each group that looks together, by the candidates of its agents."""
    structure = view.sim.built_structure
    if structure is None:
        sketch.explain(NOT_BUILT)
        return
    match structure.candidates():
        case Cells() | Lists() as cells:
            heat = _of_cells(sketch, cells, structure.domain.grid.cell)
        case Runs() as runs:
            heat = _of_groups(view, structure, runs)
    draw_heat(sketch, heat, CANDIDATES, view.scales)


def _of_cells(sketch: Sketch, cells: Cells | Lists, cell: float) -> Heat:
    """Add up the agents around each cell on the screen in which somebody stands.

    Of cells smaller than a pixel only one of each pixel counts.
    """
    rows, columns = cells_in(sketch.rect, cell, cells.columns, cells.rows)
    if len(rows) == 0 or len(columns) == 0:
        nothing = np.zeros(0)
        return (nothing, nothing, nothing, nothing), nothing
    reach, high, wide = cells.reach, len(rows), len(columns)
    near = cells_in(sketch.rect, cell, cells.columns, cells.rows, reach)
    outside = [(reach - shown[0] + around[0], reach + shown[-1] - around[-1])
               for shown, around in zip((rows, columns), near, strict=True)]  # of the world
    count, shape = cells.rows * cells.columns, (cells.rows, cells.columns)
    window = np.s_[near[0][0]:near[0][-1] + 1, near[1][0]:near[1][-1] + 1]
    if isinstance(cells, Cells):
        within = cells.start[1:count + 1].reshape(shape)[window] - cells.start[:count].reshape(shape)[window]
    else:  # all lists are followed at once, as long as the longest one goes on
        slot = cells.head[:count].reshape(shape)[window]
        within = np.zeros_like(slot)
        while (slot >= 0).any():
            within += slot >= 0
            slot = np.where(slot >= 0, cells.next[slot], -1)
    agents = np.pad(within, outside)
    of_columns = reduce(np.add, (agents[first:first + high] for first in range(2 * reach + 1)))
    candidates = reduce(np.add, (of_columns[:, first:first + wide] for first in range(2 * reach + 1)))
    every = max(int(1 / (cell * sketch.zoom)), 1)
    row, column = np.nonzero(agents[reach:reach + high:every, reach:reach + wide:every])
    left, top = columns[::every][column] * cell, rows[::every][row] * cell
    amounts = candidates[::every, ::every][row, column].astype(np.float64)
    return (left, top, left + every * cell, top + every * cell), amounts


def _of_groups(view: OverlayView, structure: Structure, runs: Runs) -> Heat:
    """Groups in which nobody was due have asked for no candidates, and stay empty."""
    groups = int(runs.groups[0])
    length = np.where(np.arange(runs.first.shape[1]) < runs.count[:groups, None], runs.last[:groups] - runs.first[:groups], 0)
    amounts = length.sum(axis=1).astype(np.float64)
    if isinstance(structure, TreeStructure):
        box = structure.box[1 << structure.depth:2 << structure.depth][:groups].astype(np.float64)
    else:
        order, columns = runs.order[:int(runs.start[groups])], view.sim.agents.view  # their bounds, where they are now
        box = np.stack([reduce.reduceat(column[order], runs.start[:groups]) for reduce, column in (
            (np.minimum, columns.x), (np.minimum, columns.y), (np.maximum, columns.x), (np.maximum, columns.y))],
            axis=1).astype(np.float64) if groups else np.zeros((0, 4))
    left, top, right, bottom = box[amounts > 0].T
    return (left, top, right, bottom), amounts[amounts > 0]


# --- streams ------------------------------------------------------------------------------------------------------------

def draw_streams(sketch: Sketch, view: OverlayView) -> None:
    """Draw an arrow on each square that has a stream, the longer the more its agents agree: |sum of v| / sum of |v|."""
    drawn, ids = view.used.slots, view.used.now.agents.id
    every = 1 << (max(len(drawn) - 1, 0) // MAX).bit_length()  # one agent of so many is looked at, always the same ones
    slots, x, y = view.visible(drawn[ids[drawn] & (every - 1) == 0] if every > 1 else drawn)
    walls, side = view.sim.terrain.walls, SMALLEST
    area = float(walls.width) * float(walls.height) * every / max(view.sim.agents.count, 1)  # of an agent that is counted
    while side * sketch.zoom < SQUARE_PX or side * side < USUAL * area:
        side *= 2
    squares = squares_in(sketch.rect, side)
    square = squares.number_at(x, y)
    agents = view.used.now.agents
    vx, vy = np.rint(agents.vx[slots] * FIXED), np.rint(agents.vy[slots] * FIXED)
    speed = np.rint(np.hypot(vx, vy))
    count, speeds, sum_x, sum_y = (np.bincount(square, each, squares.total) for each in (None, speed, vx, vy))
    found = np.flatnonzero((count >= USUAL / 3) & (np.hypot(sum_x, sum_y) > LEAST * speeds))
    column, row = squares.cell_of(found)
    half = 0.45 * side / speeds[found]
    way_x, way_y = sum_x[found] * half, sum_y[found] * half
    to_x, to_y = (column + 0.5) * side + way_x, (row + 0.5) * side + way_y
    inks = INKS[shades_of(way_x.astype(np.float32), way_y.astype(np.float32))]
    sketch.arrows(to_x - 2 * way_x, to_y - 2 * way_y, to_x, to_y, inks, width=2, shadow=SHADOW)
    keys = (Key(colour, text) for colour, text in zip(ON_DARK.wheel, ("up", "right", "down", "left"), strict=True))
    thinned = f" (1 in {every} agents)" if every > 1 else ""
    sketch.explain(f"mean direction on {square_text(view.sim, side)}{thinned}, long arrows: all agree", *keys)


# --- flow fields -----------------------------------------------------------------------------------------------------

def draw_flow(sketch: Sketch, view: OverlayView) -> None:
    """Draw an arrow in each tile on the screen, or in every n-th one; a box where people have arrived."""
    flow, walls = view.sim.flow_fields, view.sim.terrain.walls
    if not len(flow.made):
        sketch.explain("no destinations")
        return
    fields, camera = flow.fields, view.camera
    at_x, at_y = camera.screen_to_world(*view.cursor) if view.cursor else (camera.x, camera.y)
    goal = int(np.argmin((fields.goal_x - at_x) ** 2 + (fields.goal_y - at_y) ** 2))
    sketch.label(f"destination {goal}", float(fields.goal_x[goal]), float(fields.goal_y[goal]))
    if not flow.made[goal]:
        sketch.explain(f"no agent has needed the flow field of destination {goal} yet, so it is not made")
        return
    tile = float(walls.tile)
    every = 1 << sketch.doublings(tile, ARROW_PX)
    tiles_down, tiles_across = fields.direction[goal].shape
    rows, columns = cells_in(sketch.rect, every * tile, -(-tiles_across // every), -(-tiles_down // every))
    row, column = (every * each.ravel() for each in np.meshgrid(rows, columns, indexing="ij"))
    free = walls.blocked[row, column] == 0
    row, column = row[free], column[free]
    step = fields.direction[goal][row, column].astype(np.int64)
    x, y = (column + 0.5) * tile, (row + 0.5) * tile
    leads, there, lost = step < ARRIVED, step == ARRIVED, step == UNREACHABLE
    across, down = ACROSS[step[leads]], DOWN[step[leads]]
    length = 0.36 * every * tile / np.hypot(across, down)
    sketch.arrows(x[leads] - across * length, y[leads] - down * length, x[leads] + across * length, y[leads] + down * length,
                  ink(BLUE), shadow=ink(WHITE, 150))
    half = tile / 2 - 2
    sketch.boxes(x[there] - half, y[there] - half, x[there] + half, y[there] + half, ink(BLACK, 220), width=2,
                 shadow=ink(WHITE, 110))
    x, y, half = x[lost], y[lost], 0.2 * every * tile
    sketch.lines(x - half, y - half, x + half, y + half, ink(VERMILION, 225))
    sketch.lines(x - half, y + half, x + half, y - half, ink(VERMILION, 225))
    thinned = f" (one tile in {every} x {every})" if every > 1 else ""
    sketch.explain(f"to destination {goal}, the nearest to the cursor{thinned}",
                   Key(BLUE, "next tile"), Key(BLACK, "arrived"), Key(VERMILION, "no way there"))


# --- how people walk -------------------------------------------------------------------------------------------------

class PeopleOnGround(NamedTuple):
    """What is on the squares in view, float64[rows, columns]: of the 3 x 3 around each, but for `here`."""

    squares: GroundSquares
    here: Doubles  # people who want to walk
    walkers: Doubles  # those, too
    speeds: Doubles  # of them, added up, m/s
    people: Doubles  # all
    flow: Doubles  # of all, people/(m s)
    density: Doubles  # of all, people/m^2


def ground_in(sketch: Sketch, view: OverlayView) -> PeopleOnGround:
    """Count people and add up their speeds in the squares in view."""
    walls, (slots, x, y), columns = view.sim.terrain.walls, view.visible(), cast(PeopleColumns, view.sim.agents.view)
    ends = (float(walls.width), float(walls.height)) * 2  # of the view the part in the world; a point if there is none
    left, top, right, bottom = rect = Rect(*(min(max(edge, 0.0), end) for edge, end in zip(sketch.rect, ends, strict=True)))
    squares = squares_in(rect, _side(rect, walls))
    number, state = squares.number_at(x.clip(left, right), y.clip(top, bottom)), columns.state[slots]
    speed = np.rint(np.hypot(columns.vx[slots], columns.vy[slots]) * np.float32(FIXED))
    stand = np.flatnonzero((state == WAITING) | (state == QUEUING))

    def added(chosen: Longs | slice, amounts: Floats | None) -> Doubles:
        sums = np.bincount(number[chosen], amounts, squares.total).astype(np.float64)
        return sums.reshape(squares.rows, squares.columns)

    everybody, speeds = added(slice(None), None), around(added(slice(None), speed))
    here = everybody - added(stand, None)
    edges = ((np.arange(first, first + count + 1) * squares.side).clip(low, high) for first, count, low, high in (
        (squares.left, squares.columns, left, right), (squares.top, squares.rows, top, bottom)))
    area = np.maximum(around(free_ground(walls, *edges)), squares.side**2) / UNITS_A_METRE**2
    per_step, people = 1 / (FIXED * UNITS_A_METRE), around(everybody)
    return PeopleOnGround(squares, here, around(here), (speeds - around(added(stand, speed[stand]))) * per_step, people,
                  speeds * per_step / area, people / area)


def _side(rect: Rect, walls: Walls) -> float:
    """The side of squares, about SQUARE: part of a tile or whole ones, and more where the view would have too many."""
    side = side_of(np.inf, float(walls.tile) if walls.blocked.any() else SMALLEST)
    while side < SQUARE / np.sqrt(2) or squares_in(rect, side).total > MAX_SQUARES:
        side *= 2
    return side


# --- flow ------------------------------------------------------------------------------------------------------------

def draw_throughput(sketch: Sketch, view: OverlayView) -> None:
    """Fill squares by the flow around them, in the colours of the mode *flow*."""
    ground = ground_in(sketch, view)
    found = np.flatnonzero(ground.people)
    flow = ground.flow.ravel()[found]
    edges, which = free_parts(ground.squares, found, view.sim.terrain.walls)
    sketch.areas(*edges, FLOW_INKS[np.searchsorted(FLOWS, flow, "right")][which])
    keys = (Key(colour, text) for colour, text in zip(ON_DARK.levels, NAMES, strict=True))
    sketch.explain(f"people per second and metre of width, around {square_text(view.sim, ground.squares.side)}"
                   f" (maximum {flow.max(initial=0):.1f})", *keys)


# --- the fundamental diagram -----------------------------------------------------------------------------------------

def draw_fundamental(sketch: Sketch, view: OverlayView) -> None:
    """Fill squares by their people's mean speed as a share of Weidmann's, and chart it against density."""
    ground = ground_in(sketch, view)
    found = np.flatnonzero(ground.here)
    density, speed = ground.density.ravel()[found], ground.speeds.ravel()[found] / ground.walkers.ravel()[found]
    edges, which = free_parts(ground.squares, found, view.sim.terrain.walls)
    sketch.areas(*edges, SPEED_INKS[speed_class(density, speed)][which])
    quantum = (UNITS_A_METRE / (3 * ground.squares.side)) ** 2  # where there are no walls densities are multiples of it
    density_bin = quantum * max(round(DENSITY_BIN / quantum), 1)
    empty = empty_chart(density_bin)
    rows, columns = empty.counts.shape
    column, row = ((values / size).astype(np.int64).clip(0, most - 1)  # the last bins also count what lies beyond
                   for values, size, most in ((density, density_bin, columns), (speed, SPEED_BIN, rows)))
    counts = np.bincount(row * columns + column, minlength=rows * columns)
    sketch.explain("mean speed, as a share of Weidmann's for the density around",
                   *(Key(colour, text) for _, colour, text in SPEEDS),
                   chart=empty._replace(counts=counts.reshape(rows, columns)))


def speed_class(density: Doubles, speed: Doubles) -> Longs:
    """Return the index into SPEEDS for each density, people/m^2, and mean speed, m/s."""
    expected = weidmann(density)
    jam, slow, fast = (speed >= share * expected for share, _, _ in SPEEDS[1:])
    return jam.astype(np.int64) + slow + fast


@lru_cache(maxsize=8)  # asked in each frame
def empty_chart(density_bin: float) -> Chart:
    columns, rows = math.ceil(DENSITIES / density_bin), round(MAX_SPEED / SPEED_BIN)
    density, speed = np.meshgrid((np.arange(columns) + 0.5) * density_bin, (np.arange(rows) + 0.5) * SPEED_BIN)
    curve = np.linspace(0, DENSITIES, 61)
    return Chart("speed by density", ("people/m²", "m/s"), (columns * density_bin, MAX_SPEED),
                 np.zeros((rows, columns), np.int64), tuple(colour for _, colour, _ in SPEEDS), speed_class(density, speed),
                 (("Weidmann 1993", curve, weidmann(curve)), ("a quarter of it", curve, JAM * weidmann(curve))))
