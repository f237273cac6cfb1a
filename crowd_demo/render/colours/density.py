"""Colours by density: how many agents there are in the 3 x 3 squares around each one.

For people these are Fruin's levels of service of walkways, A (free) to F (jammed), by people a square metre: a person, who is
22 units high, is taken for 1.75 m. Other agents are compared with the mean of their world. The squares are the picture's own,
so the colours depend on neither the neighbour structure nor culling.

Agents are counted in three kernels, only in squares that drawn agents lie in or beside; then each drawn agent reads the shade
of its square. Where few are drawn, only the agents in the cells around them are looked at, if culling goes by cells. O(agents
looked at + squares that are shown).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.compute.simd import LANES, any_set, lane_numbers, select, splat, to_int
from crowd_demo.compute.simd_memory import load, store
from crowd_demo.render.colours.base import LEVELS, RGB, RISING, Legend, ramp
from crowd_demo.render.cull import Cull, Found
from crowd_demo.render.numbering import registers
from crowd_demo.render.projection import Bounds, moving
from crowd_demo.sim.simulation import Simulation

METRE = 22 / 1.75  # world units
SQUARE = 16.0  # world units, for people: nine of them are 15 square metres
SERVICE = 0.308, 0.431, 0.718, 1.076, 2.174  # people a square metre, at which B to F begin: Fruin 1971
SERVICE_COLOURS: tuple[RGB, ...] = (
    (49, 54, 149), (116, 173, 209), (224, 243, 248), (254, 224, 144), (244, 109, 67), (165, 0, 38))
NAMES = "A free", "B", "C", "D", "E", "F jammed"
USUAL, TIMES = 36.0, 4.0  # agents in nine squares of the usual density; the ramp ends at so many times that
MOST_SQUARES = 1 << 20
AROUND, FAR = 1.1, 1e9  # squares around the window that count too, and some more for rounding; units beyond the world
ROUNDING = 2.0**-20  # of the world's side: more than the rounding error of a position in float32
SHARE = 4  # where more than one in so many agents is drawn, all of them are counted


class Window(NamedTuple):
    """The squares of rows [row0, row1) and columns [column0, column1): those that need a shade."""

    row0: int
    row1: int
    column0: int
    column1: int


class Squares(NamedTuple):
    """`counts` has a row for each worker, and a frame of empty squares around the world."""

    inv_side: np.float32
    columns: int
    rows: int
    counts: Ints  # [workers, (rows + 2) * (columns + 2) + 1]: the last is for agents elsewhere
    shade: Bytes  # [(rows + 2) * (columns + 2)]
    square: Ints  # of each slot in the window


@device
def _place(place: Float, count: int) -> Int:
    """The row or column, of so many, that a place in rows or columns lies in."""
    least, most = splat(np.float32(0), place), splat(np.float32(count - 1), place)
    place = select(place > least, place, least)
    return to_int(select(place < most, place, most))


@device
def _square(row: Int, column: Int, squares: Squares) -> Int:
    return (row + 1) * (squares.columns + 2) + column + 1


@device
def _reach(first: int, last: int, count: int) -> tuple[np.float32, np.float32]:
    """Where the rows [first - 1, last + 1) begin and end, in rows; the outermost ones hold all that lies beyond."""
    return (np.float32(first - 1 if first > 1 else -np.inf), np.float32(last + 1 if last + 1 < count else np.inf))


@kernel
def count_squares(worker: int, workers: int, x: Floats, y: Floats, agents: int, squares: Squares, window: Window) -> None:
    """Count the agents of the window and of the squares around it, and note the square of each."""
    counts, stride = squares.counts[worker], squares.columns + 2
    counts[window.row0 * stride:(window.row1 + 2) * stride] = 0
    top, bottom = _reach(window.row0, window.row1, squares.rows)
    left, right = _reach(window.column0, window.column1, squares.columns)
    nowhere = np.int32(counts.shape[0] - 1)
    first, last = registers(agents, worker, workers)
    for at in range(first, last, LANES):
        down, across = load(y, at) * squares.inv_side, load(x, at) * squares.inv_side
        inside = (down >= top) & (down < bottom) & (across >= left) & (across < right) & (lane_numbers() < agents - at)
        square = _square(_place(down, squares.rows), _place(across, squares.columns), squares)
        store(squares.square, at, select(inside, square, splat(nowhere, square)))
        if any_set(inside):
            for slot in range(at, at + LANES):
                counts[np.uintp(squares.square[np.uintp(slot)])] += 1


@kernel
def count_found(worker: int, workers: int, x: Floats, y: Floats, found: Found, squares: Squares, window: Window) -> None:
    """The same of the agents that culling has found near the window, which are all that count."""
    counts, stride = squares.counts[worker], squares.columns + 2
    counts[window.row0 * stride:(window.row1 + 2) * stride] = 0
    top, bottom = _reach(window.row0, window.row1, squares.rows)
    left, right = _reach(window.column0, window.column1, squares.columns)
    for k in range(found.first[worker], found.first[worker] + found.size[worker]):
        slot = np.uintp(found.region[np.uintp(k)])
        down, across = y[slot] * squares.inv_side, x[slot] * squares.inv_side
        if (down >= top) & (down < bottom) & (across >= left) & (across < right):
            square = _square(_place(down, squares.rows), _place(across, squares.columns), squares)
            squares.square[slot] = square
            counts[np.uintp(square)] += 1


@kernel
def add_squares(worker: int, workers: int, squares: Squares, window: Window) -> None:
    """Add the counts of all workers to those of the first."""
    stride, counts = squares.columns + 2, squares.counts
    first, listed = window.row0 * stride, (window.row1 + 2 - window.row0) * stride
    for other in range(1, workers):
        for square in range(first + listed * worker // workers, first + listed * (worker + 1) // workers):
            counts[0, square] += counts[other, square]


@kernel
def shade_squares(worker: int, workers: int, squares: Squares, window: Window, shades: Bytes) -> None:
    """Choose the shade of each square by the agents in nine: `shades[agents]`, or the last one."""
    stride, counts, most = squares.columns + 2, squares.counts[0], shades.shape[0] - 1
    rows = window.row1 - window.row0
    for row in range(window.row0 + rows * worker // workers, window.row0 + rows * (worker + 1) // workers):
        first, last = _square(row, window.column0, squares), _square(row, window.column1, squares)
        left = counts[first - 1 - stride] + counts[first - 1] + counts[first - 1 + stride]
        middle = counts[first - stride] + counts[first] + counts[first + stride]
        for square in range(first, last):
            right = counts[square + 1 - stride] + counts[square + 1] + counts[square + 1 + stride]
            squares.shade[square] = shades[min(left + middle + right, most)]
            left, middle = middle, right


@kernel
def number_squares(worker: int, workers: int, slots: Ints, squares: Squares, number: Bytes) -> None:
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        number[k] = squares.shade[np.uintp(squares.square[np.uintp(slots[k])])]


class DensityColours:
    def __init__(self) -> None:
        self._made_for: tuple[int, float, float, float] | None = None
        self._squares: Squares
        self._square: Ints = np.zeros(0, np.int32)
        self._cull = Cull()

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return SERVICE_COLOURS if _is_people(sim) else ramp(RISING)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        columns, workers, agents = sim.agents.columns, sim.world.workers, sim.agents.count
        side = side_of(sim)
        squares = self._fit(sim, workers, side)._replace(square=self._room(agents))
        window = window_of(columns.x, columns.y, slots, agents, squares)
        return (*self._counting(sim, squares, window, side, len(slots)),
                call(add_squares, workers, squares, window),
                call(shade_squares, workers, squares, window, shades(_is_people(sim), side, _mean(sim))),
                call(number_squares, workers, slots, squares, number))

    def _counting(self, sim: Simulation, squares: Squares, window: Window, side: float, listed: int) -> tuple[Call, ...]:
        """Count all agents, or, where few of them are shown, those in the cells around; with no agents, both."""
        world, columns, agents = sim.world, sim.agents.columns, sim.agents.count
        workers, by_cells = world.workers, sim.optimizations.cull == "grid" and world.grid.fresh and listed * SHARE <= agents
        calls: list[Call] = []
        if by_cells:
            slack = world.max_step + ROUNDING * max(float(sim.terrain.walls.width), float(sim.terrain.walls.height))
            visit, _ = self._cull.calls("grid", workers, agents, moving(columns), np.float32(0), near(window, squares, side),
                                        world.grid, slack)
            calls += visit, call(count_found, workers, columns.x, columns.y, self._cull.found, squares, window)
        if listed == 0 or not by_cells:
            calls.append(call(count_squares, workers, columns.x, columns.y, agents, squares, window))
        return tuple(calls)

    def legend(self, sim: Simulation) -> Legend:
        if _is_people(sim):
            return Legend("density, level of service", SERVICE_COLOURS, NAMES)
        return Legend("density", ramp(RISING, 24), ("empty", f"{TIMES:g} times the mean"))

    def _fit(self, sim: Simulation, workers: int, side: float) -> Squares:
        walls = sim.terrain.walls
        made_for = workers, side, float(walls.width), float(walls.height)
        if made_for != self._made_for:
            self._made_for = made_for
            columns, rows = (max(1, math.ceil(length / side)) for length in made_for[2:])
            counts = np.zeros((workers, (rows + 2) * (columns + 2) + 1), np.int32)
            self._squares = Squares(np.float32(1 / side), columns, rows, counts, np.zeros(counts.shape[1], np.uint8),
                                    self._square)
        return self._squares

    def _room(self, agents: int) -> Ints:
        """Memory for a square of each agent."""
        if agents + LANES > len(self._square):
            self._square = np.zeros(agents + LANES, np.int32)
        return self._square


def window_of(x: Floats, y: Floats, slots: Ints, agents: int, squares: Squares) -> Window:
    """The squares around those slots, or all of them where looking for less costs more than it saves."""
    if len(slots) == 0:
        return Window(0, 0, 0, 0)
    if len(slots) * SHARE > agents:
        return Window(0, squares.rows, 0, squares.columns)
    return Window(*(int(min(max(end * squares.inv_side, 0), count - 1)) + beyond
                    for places, count in ((y[slots], squares.rows), (x[slots], squares.columns))
                    for end, beyond in ((places.min(), 0), (places.max(), 1))))


def near(window: Window, squares: Squares, side: float) -> Bounds:
    """Where agents are that may count: in the window and a square around it, or beyond the world beside it."""
    top, bottom = (FAR if end in (0, squares.rows) else 0.0 for end in (window.row0, window.row1))
    left, right = (FAR if end in (0, squares.columns) else 0.0 for end in (window.column0, window.column1))
    return Bounds(np.float32((window.column0 - AROUND) * side - left), np.float32((window.row0 - AROUND) * side - top),
                  np.float32((window.column1 + AROUND) * side + right), np.float32((window.row1 + AROUND) * side + bottom))


@lru_cache(maxsize=8)  # asked in each frame
def shades(people: bool, side: float, mean: float) -> Bytes:
    """The shade by the number of agents in nine squares of that side; `mean` is how many there are on average."""
    if people:
        per_metre = np.arange(256) / (9 * (side / METRE) ** 2)
        return np.searchsorted(SERVICE, per_metre, "right").astype(np.uint8)
    most = max(2, math.ceil(TIMES * mean))
    return np.linspace(0, LEVELS - 1, most + 1).round().astype(np.uint8)


def side_of(sim: Simulation) -> float:
    """The side of a square: fixed for people, else such that nine hold 36 agents on average."""
    area = float(sim.terrain.walls.width) * float(sim.terrain.walls.height)
    usual = SQUARE if _is_people(sim) else math.sqrt(area * USUAL / 9 / max(sim.config.agents, 1))
    return max(usual, math.sqrt(area / MOST_SQUARES))


def _mean(sim: Simulation) -> float:
    area = float(sim.terrain.walls.width) * float(sim.terrain.walls.height)
    return max(sim.config.agents, 1) * 9 * side_of(sim) ** 2 / area


def _is_people(sim: Simulation) -> bool:
    return "stuck" in sim.behaviour.states
