"""Colours by density: how many agents there are in the 3 x 3 squares around each one.

For people these are Fruin's levels of service of walkways, A (free) to F (jammed), by people a square metre. Other agents are
compared with the mean of their world, on a logarithmic scale. The squares are the picture's own, so the colours depend on
neither the neighbour structure nor culling.

Agents are counted in three kernels, only in squares that drawn agents lie in or beside; then each drawn agent reads the shade
of its square. Where few are drawn, only the agents in the cells around them are looked at, if culling goes by cells. O(agents
looked at + squares that are shown).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Ints
from crowd_demo.compute.jit import Call, call, run
from crowd_demo.compute.simd import LANES
from crowd_demo.config.metres import per_square_metre
from crowd_demo.render.colours.base import LEVELS, RGB, RISING, ColourMode, Legend, ramp
from crowd_demo.render.colours.squares import (
    BATCH,
    Densities,
    Squares,
    Window,
    add_squares,
    count_found,
    count_squares,
    find_ends,
    shade_squares,
)
from crowd_demo.render.cull import Cull
from crowd_demo.render.numbering import numbering
from crowd_demo.render.projection import ROUNDING, Bounds, moving
from crowd_demo.sim.simulation import Simulation

SQUARE = 32.0  # world units, for people: nine of them are 13.6 square metres
SERVICE = 0.308, 0.431, 0.718, 1.076, 2.174  # people a square metre, at which B to F begin: Fruin 1971
SERVICE_COLOURS: tuple[RGB, ...] = (
    (66, 116, 236), (52, 152, 226), (56, 190, 172), (250, 216, 70), (252, 134, 40), (228, 36, 64))
NAMES = "A free", *(f"{level} {least:.2g}" for level, least in zip("BCDEF", SERVICE, strict=True))
USUAL = 36.0  # agents in nine squares of the usual density
LEAST, MOST = 0.25, 100.0  # times the mean, where the ramp begins and ends; between them it is logarithmic
MOST_SQUARES = 1 << 20
AROUND, FAR = 1.1, 1e9  # squares around the window that count too, and some more for rounding; units beyond the world
SHARE = 4  # where more than one in so many agents is drawn, all of them are counted


class DensityColours(ColourMode):
    def __init__(self) -> None:
        self._made_for: tuple[int, float, float, float] | None = None
        self._squares: Squares
        self._ends: Floats  # of the agents that are drawn
        self._cull = Cull()

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return SERVICE_COLOURS if _is_people(sim) else ramp(RISING)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        if len(slots) == 0:
            return ()
        squares, are_few = self._fit(sim), len(slots) * SHARE <= sim.agents.count
        window = self._window_of(sim, squares, slots) if are_few else Window(0, squares.rows, 0, squares.columns)
        count = self._count_near if are_few and _has_cells(sim) else self._count_all
        return (*count(sim, squares, window), *self._shading(sim, squares, window, slots, number))

    def calls_ahead(self, sim: Simulation, number: Bytes) -> tuple[Call, ...]:
        squares, window, none = self._fit(sim), Window(0, 0, 0, 0), np.zeros(0, np.int32)
        return (self._finding_ends(sim, none), *(self._count_near(sim, squares, window) if _has_cells(sim) else ()),
                *self._count_all(sim, squares, window), *self._shading(sim, squares, window, none, number))

    def _finding_ends(self, sim: Simulation, slots: Ints) -> Call:
        columns = sim.agents.columns
        return call(find_ends, sim.world.workers, columns.x, columns.y, slots, self._ends)

    def _window_of(self, sim: Simulation, squares: Squares, slots: Ints) -> Window:
        """The squares that those slots lie in."""
        run((self._finding_ends(sim, slots),))
        least, most = self._ends.min(axis=(0, 2)), self._ends.max(axis=(0, 2))
        return Window(*(int(min(max(end * squares.inv_side, 0), count - 1)) + beyond
                        for end, count, beyond in ((least[0], squares.rows, 0), (most[1], squares.rows, 1),
                                                   (least[2], squares.columns, 0), (most[3], squares.columns, 1))))

    def _count_near(self, sim: Simulation, squares: Squares, window: Window) -> tuple[Call, ...]:
        """Count the agents in the cells around the window."""
        world, columns = sim.world, sim.agents.columns
        slack = world.max_step + ROUNDING * max(float(sim.terrain.walls.width), float(sim.terrain.walls.height))
        visit, _ = self._cull.calls("grid", world.workers, sim.agents.count, moving(columns), np.float32(0),
                                    near(window, squares, side_of(sim)), world.grid, slack)
        return visit, call(count_found, world.workers, columns.x, columns.y, self._cull.found, squares, window)

    def _count_all(self, sim: Simulation, squares: Squares, window: Window) -> tuple[Call, ...]:
        columns = sim.agents.columns
        return (call(count_squares, sim.world.workers, columns.x, columns.y, sim.agents.count, squares, window),)

    def _shading(self, sim: Simulation, squares: Squares, window: Window, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        """Once agents are counted: find the shade of each square, and give it to the agents that are drawn."""
        columns, workers = sim.agents.columns, sim.world.workers
        shade_by_count = shades(_is_people(sim), side_of(sim), _mean(sim))
        return (call(add_squares, workers, squares, window), call(shade_squares, workers, squares, window, shade_by_count),
                numbering(workers, slots, Densities(columns.x, columns.y, squares), number))

    def legend(self, sim: Simulation) -> Legend:
        if _is_people(sim):
            return Legend("people a square metre", SERVICE_COLOURS, NAMES)
        return Legend("density", ramp(RISING, 24), (f"{LEAST:g}", f"{MOST:g} times the mean"))

    def _fit(self, sim: Simulation) -> Squares:
        walls, workers, side = sim.terrain.walls, sim.world.workers, side_of(sim)
        made_for = workers, side, float(walls.width), float(walls.height)
        if made_for != self._made_for:
            self._made_for = made_for
            columns, rows = (max(1, math.ceil(length / side)) for length in made_for[2:])
            padded = (rows + 2) * (columns + 2) + LANES
            self._squares = Squares(np.float32(1 / side), columns, rows, np.zeros((workers, padded), np.int32),
                                    np.zeros(padded, np.int32), np.zeros((workers, BATCH), np.int32))
            self._ends = np.zeros((workers, 4, LANES), np.float32)
        return self._squares


def near(window: Window, squares: Squares, side: float) -> Bounds:
    """Where agents are that may count: in the window and a square around it, or beyond the world beside it."""
    top, bottom = (FAR if end in (0, squares.rows) else 0.0 for end in (window.row0, window.row1))
    left, right = (FAR if end in (0, squares.columns) else 0.0 for end in (window.column0, window.column1))
    return Bounds(np.float32((window.column0 - AROUND) * side - left), np.float32((window.row0 - AROUND) * side - top),
                  np.float32((window.column1 + AROUND) * side + right), np.float32((window.row1 + AROUND) * side + bottom))


@lru_cache(maxsize=8)  # asked in each frame
def shades(people: bool, side: float, mean: float) -> Ints:
    """The shade by the number of agents in nine squares of that side; `mean` is how many there are on average."""
    if people:
        per_metre = np.arange(256) * per_square_metre(1 / (9 * side**2))
        return np.searchsorted(SERVICE, per_metre, "right").astype(np.int32)
    times = np.arange(max(2, math.ceil(MOST * mean)) + 1) / mean
    share = np.log(np.clip(times, LEAST, MOST) / LEAST) / np.log(MOST / LEAST)
    shade: Ints = (share * (LEVELS - 1)).round().astype(np.int32)
    return shade


def side_of(sim: Simulation) -> float:
    """The side of a square: fixed for people, else such that nine hold 36 agents on average."""
    area = float(sim.terrain.walls.width) * float(sim.terrain.walls.height)
    usual = SQUARE if _is_people(sim) else math.sqrt(area * USUAL / 9 / max(sim.config.agents, 1))
    return max(usual, math.sqrt(area / MOST_SQUARES))


def _mean(sim: Simulation) -> float:
    area = float(sim.terrain.walls.width) * float(sim.terrain.walls.height)
    return max(sim.config.agents, 1) * 9 * side_of(sim) ** 2 / area


def _has_cells(sim: Simulation) -> bool:
    """Does culling know which agents are in which cells now?"""
    return sim.optimizations.cull == "grid" and sim.world.grid.fresh


def _is_people(sim: Simulation) -> bool:
    return "stuck" in sim.behaviour.states
