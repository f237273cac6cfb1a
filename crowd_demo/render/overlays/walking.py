"""Overlays of how people walk: the flow through squares of the ground, and their fundamental diagram.

Both look at the 3 x 3 squares around each square of the ground (`sim/fundamental_diagram.py`), which are parts of tiles
or made of whole ones, so walls and water stay bare. Of squares at the edge of the view the part in view counts. Speeds
are those of velocities, so who is pushed back seems to walk. O(agents in view + squares in view).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple, cast

import numpy as np

from crowd_demo.compute.arrays import Doubles, Floats, Longs, Words
from crowd_demo.config.section import UNITS_A_METRE
from crowd_demo.render.camera import Rect
from crowd_demo.render.colours.base import ON_DARK
from crowd_demo.render.colours.squares import FLOWS, NAMES
from crowd_demo.render.hud.status import Chart, Key
from crowd_demo.render.inks import GREEN, ORANGE, PURPLE, RGB, VERMILION, ink
from crowd_demo.render.overlays.base import OverlayView
from crowd_demo.render.overlays.fields import SMALLEST, on_free_tiles, side_of
from crowd_demo.render.overlays.sketch import GroundSquares, Sketch, squares_in
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, PeopleColumns
from crowd_demo.sim.fundamental_diagram import JAM, SQUARE, around, free_ground, weidmann
from crowd_demo.sim.inspection import square_text
from crowd_demo.sim.terrain.tiles import Walls

MAX_SQUARES = 40_000
FIXED = 256  # steps of a unit/s: sums of whole numbers do not depend on the order in memory
ALPHA = 150
FLOW_INKS = np.array([ink(colour, ALPHA) for colour in ON_DARK.levels], np.uint32)
SPEEDS: tuple[tuple[float, RGB, str], ...] = (  # the least share of Weidmann's speed
    (0, VERMILION, "jam, below 1/4"), (JAM, ORANGE, "below 1/2"), (0.5, GREEN, "usual"), (1.5, PURPLE, "above 3/2"))
SPEED_INKS = np.array([ink(colour, ALPHA) for _, colour, _ in SPEEDS], np.uint32)
DENSITY_BIN, DENSITIES, SPEED_BIN, MAX_SPEED = 0.14, 6.0, 0.05, 2.0  # of the chart: people/m^2 and m/s


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
    walls, (slots, x, y) = view.sim.terrain.walls, view.visible()
    left, top, right, bottom = rect = _within(sketch.rect, walls)
    squares, columns = squares_in(rect, _side(rect, walls)), cast(PeopleColumns, view.sim.agents.view)
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


def _within(view: Rect, walls: Walls) -> Rect:
    """The part of the view that lies in the world; a point of it if there is none."""
    width, height = float(walls.width), float(walls.height)
    left, right = min(max(view.left, 0.0), width), min(max(view.right, 0.0), width)
    return Rect(left, min(max(view.top, 0.0), height), right, min(max(view.bottom, 0.0), height))


def _side(rect: Rect, walls: Walls) -> float:
    """The side of squares, about SQUARE: part of a tile or whole ones, and more where the view would have too many."""
    side = side_of(np.inf, float(walls.tile) if walls.blocked.any() else SMALLEST)
    while side < SQUARE / np.sqrt(2) or squares_in(rect, side).total > MAX_SQUARES:
        side *= 2
    return side


def _paint(sketch: Sketch, view: OverlayView, ground: PeopleOnGround, found: Longs, inks: Words) -> None:
    """Fill the free ground of some squares."""
    column, row = ground.squares.cell_of(found)
    walls, side = view.sim.terrain.walls, ground.squares.side
    if walls.blocked.any():
        row, column, which = on_free_tiles(row, column, side, walls)
        side, inks = min(side, float(walls.tile)), inks[which]
    sketch.areas(column * side, row * side, (column + 1) * side, (row + 1) * side, inks)


# --- flow ------------------------------------------------------------------------------------------------------------

def draw_throughput(sketch: Sketch, view: OverlayView) -> None:
    """Fill squares by the flow around them, in the colours of the mode *flow*."""
    ground = ground_in(sketch, view)
    found = np.flatnonzero(ground.people)
    flow = ground.flow.ravel()[found]
    _paint(sketch, view, ground, found, FLOW_INKS[np.searchsorted(FLOWS, flow, "right")])
    keys = (Key(colour, text) for colour, text in zip(ON_DARK.levels, NAMES, strict=True))
    sketch.explain(f"people per second and metre of width, around {square_text(view.sim, ground.squares.side)}"
                   f" (maximum {flow.max(initial=0):.1f})", *keys)


# --- the fundamental diagram -----------------------------------------------------------------------------------------

def draw_fundamental(sketch: Sketch, view: OverlayView) -> None:
    """Fill squares by their people's mean speed as a share of Weidmann's, and chart it against density."""
    ground = ground_in(sketch, view)
    found = np.flatnonzero(ground.here)
    density, speed = ground.density.ravel()[found], ground.speeds.ravel()[found] / ground.walkers.ravel()[found]
    _paint(sketch, view, ground, found, SPEED_INKS[speed_class(density, speed)])
    quantum = (UNITS_A_METRE / (3 * ground.squares.side)) ** 2  # where there are no walls densities are multiples of it
    sketch.explain("mean speed, as a share of Weidmann's for the density around",
                   *(Key(colour, text) for _, colour, text in SPEEDS),
                   chart=chart_of(density, speed, quantum * max(round(DENSITY_BIN / quantum), 1)))


def speed_class(density: Doubles, speed: Doubles) -> Longs:
    """Return the index into SPEEDS for each density, people/m^2, and mean speed, m/s."""
    expected = weidmann(density)
    jam, slow, fast = (speed >= share * expected for share, _, _ in SPEEDS[1:])
    return jam.astype(np.int64) + slow + fast


def chart_of(density: Doubles, speed: Doubles, density_bin: float) -> Chart:
    """Count squares by density and speed; the last bins also count what lies beyond."""
    empty = empty_chart(density_bin)
    rows, columns = empty.counts.shape
    column, row = ((values / size).astype(np.int64).clip(0, most - 1)
                   for values, size, most in ((density, density_bin, columns), (speed, SPEED_BIN, rows)))
    return empty._replace(counts=np.bincount(row * columns + column, minlength=rows * columns).reshape(rows, columns))


@lru_cache(maxsize=8)  # asked in each frame
def empty_chart(density_bin: float) -> Chart:
    columns, rows = math.ceil(DENSITIES / density_bin), round(MAX_SPEED / SPEED_BIN)
    density, speed = np.meshgrid((np.arange(columns) + 0.5) * density_bin, (np.arange(rows) + 0.5) * SPEED_BIN)
    curve = np.linspace(0, DENSITIES, 61)
    return Chart("speed by density", ("people/m²", "m/s"), (columns * density_bin, MAX_SPEED),
                 np.zeros((rows, columns), np.int64), tuple(colour for _, colour, _ in SPEEDS), speed_class(density, speed),
                 (("Weidmann 1993", curve, weidmann(curve)), ("a quarter of it", curve, JAM * weidmann(curve))))
