"""Colours by what there is in the 3 x 3 squares around each agent: their density and their flow.

What each agent adds to its square is a whole number (`amount_of`), and what nine squares have together chooses the shade
(`level_of`, and a table). The squares are the picture's own, so the colours depend on neither the neighbour structure nor
culling.

Agents are added up in three kernels, each worker's share on a layer of its own, only in squares that drawn agents lie
in or beside; then each drawn agent reads the shade of its square. Where few are drawn, only the agents in the cells
around them are looked at, if culling goes by cells. O(agents looked at + squares that are shown).

Density is how many agents there are. For people these are Fruin's levels of service of walkways, A (free) to F (jammed), by
people per square metre. Flow is the speeds of these agents over the free ground there, which is density times mean speed: so
many people pass through a metre of way in a second. Where it is more than a way carries (`CAPACITY`), people walk faster than
so dense a crowd can; where people stand, it is nothing.

Other agents are compared with the mean of their world, or with a crowd that goes everywhere at its top speed and the mean
density, on a logarithmic scale. Speeds are added up in whole parts of a unit/s, so the order in memory does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Register, Rules
from crowd_demo.compute.dispatch import formula, generic, implements
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import LANES, any_set, lane_numbers, root, select, share_of_registers, splat, to_float, to_int
from crowd_demo.compute.simd_memory import gather, load, store
from crowd_demo.config.section import metres, per_square_metre
from crowd_demo.render.colours.base import LEVELS, ColourMode, Legend, ramp, scales_of
from crowd_demo.render.colours.modes import fastest
from crowd_demo.render.cull import CellRange, Cull, FoundSlots
from crowd_demo.render.drawing import ROUNDING, Bounds, moving, number_agents, number_of, sixteen
from crowd_demo.render.inks import RGB
from crowd_demo.sim.fundamental_diagram import CAPACITY, SQUARE, ground_around
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Terrain

USUAL = 36.0  # agents in nine squares of the usual density
LEAST, MAX = 0.25, 100.0  # times the mean, where a ramp begins and ends; between them it is logarithmic
MAX_SQUARES = 1 << 20
AROUND, FAR = 1.1, 1e9  # squares around the window that count too, and some more for rounding; units beyond the world
SHARE = 4  # where more than one in so many agents is drawn, all of them are looked at
BATCH, STREAMS = 512, 4  # agents that are added up at a time, in so many streams
Adds = Rules  # what agents add: the type of the record decides
SERVICE = 0.308, 0.431, 0.718, 1.076, 2.174  # people per square metre, at which B to F begin: Fruin 1971
FLOWS = tuple(CAPACITY * share for share in (1 / 4, 1 / 2, 3 / 4, 1, 3 / 2))  # people/(m s), at which colours begin
NAMES = "free", *(f"{flow:.2g}{word}" for flow, word in zip(FLOWS, ("", "", "", " too full", ""), strict=True))  # of flows
STEPS = 4.0  # of a unit/s, for people
STEPS_OF_FASTEST = 8.0  # for others
TABLE = 1 << 12  # entries for people: to 2.9 people/(m s), more than the last colour begins at
HIGHEST = 1 << 30


@generic
def amount_of(adds: Adds, slot: Int) -> Int:
    """Return what the agent in a slot adds to its square, int32; of a slot behind the last one anything."""


@generic
def level_of(adds: Adds, squares: Int, sums: Register) -> Register:
    """Return the index into the table of shades, from the sums of nine squares; `squares` is the first of the sixteen."""


class CountedSquares(NamedTuple):
    """`counts` has a row for each worker, and a frame of empty squares around the world."""

    inv_side: np.float32
    columns: int
    rows: int
    counts: Ints  # [workers, padded squares]: sums of what agents add
    shade: Ints  # [padded squares]
    batch: Ints  # [workers, BATCH]: squares of agents that are being added up
    ends: Floats  # [workers, 4, LANES]: of the agents that are drawn


class SquareMode(NamedTuple):
    """What numbers agents: columns by slot, the shade of each square, and what agents add."""

    x: Floats
    y: Floats
    squares: CountedSquares
    adds: Adds


@formula
def _cell(position: Float, count: int) -> Int:
    """The row or column, of so many, that a position in rows or columns lies in."""
    return to_int(min(np.float32(count - 1), max(0, position)))


@device
def _square(row: Int, column: Int, squares: CountedSquares) -> Int:
    return (row + 1) * (squares.columns + 2) + column + 1


@device
def _square_at(x: Float, y: Float, squares: CountedSquares) -> Int:
    row, column = _cell(y * squares.inv_side, squares.rows), _cell(x * squares.inv_side, squares.columns)
    return _square(row, column, squares)


# --- where agents are ------------------------------------------------------------------------------------------------

INFINITE = np.float32(np.inf)


@kernel
def find_ends(worker: int, workers: int, x: Floats, y: Floats, slots: Ints, ends: Floats) -> None:
    """The least and the greatest y and x of this worker's share of the slots, lane by lane: `ends[worker]`."""
    first, last = share_of_registers(slots.shape[0], worker, workers)
    left, right = splat(INFINITE, lane_numbers()), splat(-INFINITE, lane_numbers())
    top, bottom = left, right
    for at in range(first, last, LANES):
        across, down = gather(x, sixteen(slots, at)), gather(y, sixteen(slots, at))
        left, right = select(across < left, across, left), select(across > right, across, right)
        top, bottom = select(down < top, down, top), select(down > bottom, down, bottom)
    for side, lanes in enumerate((top, bottom, left, right)):
        store(ends[worker, side], 0, lanes)


# --- counts ----------------------------------------------------------------------------------------------------------

@device
def _reach(first: int, last: int, count: int) -> tuple[np.float32, np.float32]:
    """Where the rows [first - 1, last + 1) begin and end; the first and the last row of the world have no outer end."""
    return (np.float32(first - 1 if first > 1 else -np.inf), np.float32(last + 1 if last + 1 < count else np.inf))


@kernel
def count_squares(worker: int, workers: int, mode: SquareMode, agents: int, window: CellRange) -> None:
    """Add up the agents of the window and of the squares around it: squares are found in lanes, agents added one by one."""
    x, y, squares = mode.x, mode.y, mode.squares
    counts, batch, stride = squares.counts[worker], squares.batch[worker], squares.columns + 2
    counts[window.row0 * stride:(window.row1 + 2) * stride] = 0
    top, bottom = _reach(window.row0, window.row1, squares.rows)
    left, right = _reach(window.column0, window.column1, squares.columns)
    nowhere = counts.shape[0] - 1
    first, last = share_of_registers(agents, worker, workers)
    for begin in range(first, last, BATCH):
        end, some = min(begin + BATCH, last), False
        for at in range(begin, end, LANES):
            down, across = load(y, at) * squares.inv_side, load(x, at) * squares.inv_side
            inside = (down >= top) & (down < bottom) & (across >= left) & (across < right) & (lane_numbers() < agents - at)
            square = _square_at(load(x, at), load(y, at), squares)
            store(batch, at - begin, select(inside, square, nowhere))
            some |= any_set(inside)
        if some:
            apart = (end - begin) // STREAMS
            for k in range(apart):  # those next to each other in memory often share a square: each would wait for the last
                for stream in range(STREAMS):
                    nth = np.uintp(stream * apart + k)
                    counts[np.uintp(batch[nth])] += amount_of(mode.adds, np.uintp(begin) + nth)


@kernel
def count_found(worker: int, workers: int, mode: SquareMode, found: FoundSlots, window: CellRange) -> None:
    """Add up the same among the agents that culling has found near the window."""
    x, y, squares = mode.x, mode.y, mode.squares
    counts, stride = squares.counts[worker], squares.columns + 2
    counts[window.row0 * stride:(window.row1 + 2) * stride] = 0
    top, bottom = _reach(window.row0, window.row1, squares.rows)
    left, right = _reach(window.column0, window.column1, squares.columns)
    for k in range(found.first[worker], found.first[worker] + found.size[worker]):
        slot = np.uintp(found.region[np.uintp(k)])
        down, across = y[slot] * squares.inv_side, x[slot] * squares.inv_side
        if (down >= top) & (down < bottom) & (across >= left) & (across < right):
            counts[np.uintp(_square_at(x[slot], y[slot], squares))] += amount_of(mode.adds, slot)


@kernel
def add_squares(worker: int, workers: int, squares: CountedSquares, window: CellRange) -> None:
    stride, counts = squares.columns + 2, squares.counts
    first, listed = window.row0 * stride, (window.row1 + 2 - window.row0) * stride
    for other in range(1, workers):
        for square in range(first + listed * worker // workers, first + listed * (worker + 1) // workers):
            counts[0, square] += counts[other, square]


# --- shades ----------------------------------------------------------------------------------------------------------

@device
def _three(counts: Ints, square: int) -> Register:
    return load(counts, square - 1) + load(counts, square) + load(counts, square + 1)


@kernel
def shade_squares(worker: int, workers: int, mode: SquareMode, window: CellRange, shades: Ints) -> None:
    """Choose the shade of each square by the sum of nine: `shades[level]`, or the last one.

    Sixteen squares at a time; those behind the end of a row are shaded like others, and read by nobody or shaded again.
    """
    squares = mode.squares
    stride, counts = squares.columns + 2, squares.counts[0]
    rows, last = window.row1 - window.row0, shades.shape[0] - 1
    for row in range(window.row0 + rows * worker // workers, window.row0 + rows * (worker + 1) // workers):
        for square in range(_square(row, window.column0, squares), _square(row, window.column1, squares), LANES):
            around = _three(counts, square - stride) + _three(counts, square) + _three(counts, square + stride)
            level = level_of(mode.adds, square, around)
            store(squares.shade, square, gather(shades, min(level, last)))


@implements(number_of, SquareMode)
def number_squares(mode: SquareMode, slots: Int, register: Register) -> Register:
    return gather(mode.squares.shade, _square_at(gather(mode.x, slots), gather(mode.y, slots), mode.squares))


# --- modes -----------------------------------------------------------------------------------------------------------

class SquareColours(ColourMode):
    """Base class of modes that have a record by which agents add (`adds`), and a table of shades.

    People have six levels with `NAMES`, other agents a ramp up to so many times `MEAN`; `TITLES` are for these two.
    """

    TITLES: tuple[str, str]
    NAMES: tuple[str, ...]
    MEAN: str

    def __init__(self) -> None:
        self._squares_for = lru_cache(1)(squares_for)
        self._cull = Cull()

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return scales_of(sim).levels if is_people(sim) else ramp(scales_of(sim).rising)

    def legend(self, sim: Simulation) -> Legend:
        for_people, for_others = self.TITLES
        if is_people(sim):
            return Legend(for_people, scales_of(sim).levels, self.NAMES)
        return Legend(for_others, ramp(scales_of(sim).rising, 24), (f"{LEAST:g}", f"{MAX:g} times {self.MEAN}"))

    def adds(self, sim: Simulation, squares: CountedSquares) -> Adds:
        """Return the record of what agents add."""

    def shades(self, sim: Simulation) -> Ints:
        """Return the number of the colour by level, int32[levels]; the last one is that of all higher levels."""
        raise NotImplementedError

    def mode(self, sim: Simulation) -> SquareMode:
        walls = sim.terrain.walls
        squares = self._squares_for(sim.workers, side_of(sim), float(walls.width), float(walls.height))
        return SquareMode(sim.agents.view.x, sim.agents.view.y, squares, self.adds(sim, squares))

    def launches(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        if len(slots) == 0:
            return ()
        mode, are_few = self.mode(sim), len(slots) * SHARE <= sim.agents.count
        squares, window = mode.squares, CellRange(0, mode.squares.rows, 0, mode.squares.columns)
        if are_few:
            self._find_ends(sim, squares, slots).run()
            least, most = squares.ends.min(axis=(0, 2)), squares.ends.max(axis=(0, 2))
            window = CellRange(*(int(min(max(end * squares.inv_side, 0), count - 1)) + beyond for end, count, beyond in (
                (least[0], squares.rows, 0), (most[1], squares.rows, 1),
                (least[2], squares.columns, 0), (most[3], squares.columns, 1))))
        return (*self._count(sim, mode, window, are_few and _has_cells(sim)), *self._shading(sim, mode, window, slots, number))

    def launches_to_compile(self, sim: Simulation, number: Bytes) -> tuple[Launch, ...]:
        mode, window, none = self.mode(sim), CellRange(0, 0, 0, 0), np.zeros(0, np.int32)
        return (self._find_ends(sim, mode.squares, none),
                *(self._count(sim, mode, window, True) if _has_cells(sim) else ()),
                *self._count(sim, mode, window, False), *self._shading(sim, mode, window, none, number))

    def _find_ends(self, sim: Simulation, squares: CountedSquares, slots: Ints) -> Launch:
        return launch(find_ends, sim.workers, sim.agents.view.x, sim.agents.view.y, slots, squares.ends)

    def _count(self, sim: Simulation, mode: SquareMode, window: CellRange, near: bool) -> tuple[Launch, ...]:
        """Add up the agents of the window and the squares around it: all of them, or those in the cells near it."""
        if not near:
            return (launch(count_squares, sim.workers, mode, sim.agents.count, window),)
        slack = sim.max_step + ROUNDING * max(float(sim.terrain.walls.width), float(sim.terrain.walls.height))
        visit, _ = self._cull.launches("grid", sim.workers, sim.agents.count, moving(sim.agents.view), np.float32(0),
                                       around(window, mode.squares, side_of(sim)), sim.grid, slack)
        return visit, launch(count_found, sim.workers, mode, self._cull.found, window)

    def _shading(self, sim: Simulation, mode: SquareMode, window: CellRange, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        return (launch(add_squares, sim.workers, mode.squares, window),
                launch(shade_squares, sim.workers, mode, window, self.shades(sim)),
                launch(number_agents, sim.workers, slots, mode, number))


def squares_for(workers: int, side: float, width: float, height: float) -> CountedSquares:
    columns, rows = (max(1, math.ceil(length / side)) for length in (width, height))
    padded = (rows + 2) * (columns + 2) + LANES
    return CountedSquares(np.float32(1 / side), columns, rows, np.zeros((workers, padded), np.int32),
                          np.zeros(padded, np.int32), np.zeros((workers, BATCH), np.int32),
                          np.zeros((workers, 4, LANES), np.float32))


def around(window: CellRange, squares: CountedSquares, side: float) -> Bounds:
    """Where agents count: in the window, a square around it, and beyond the world where the window ends at its edge."""
    top, bottom = (FAR if end in (0, squares.rows) else 0.0 for end in (window.row0, window.row1))
    left, right = (FAR if end in (0, squares.columns) else 0.0 for end in (window.column0, window.column1))
    return Bounds(np.float32((window.column0 - AROUND) * side - left), np.float32((window.row0 - AROUND) * side - top),
                  np.float32((window.column1 + AROUND) * side + right), np.float32((window.row1 + AROUND) * side + bottom))


@lru_cache(maxsize=8)  # asked in each frame
def ramp_shades(mean: float) -> Ints:
    """The shade of a ramp by level, where `mean` is the usual level."""
    times = np.arange(max(2, math.ceil(MAX * mean)) + 1) / mean
    share = np.log(np.clip(times, LEAST, MAX) / LEAST) / np.log(MAX / LEAST)
    return (share * (LEVELS - 1)).round().astype(np.int32)


def side_of(sim: Simulation) -> float:
    """The side of a square: fixed for people, else such that nine hold 36 agents on average."""
    area = float(sim.terrain.walls.width) * float(sim.terrain.walls.height)
    usual = SQUARE if is_people(sim) else math.sqrt(area * USUAL / 9 / max(sim.config.agents, 1))
    return max(usual, math.sqrt(area / MAX_SQUARES))


def mean_of(sim: Simulation) -> float:
    """How many agents nine squares hold on average."""
    area = float(sim.terrain.walls.width) * float(sim.terrain.walls.height)
    return max(sim.config.agents, 1) * 9 * side_of(sim) ** 2 / area


def _has_cells(sim: Simulation) -> bool:
    return sim.optimizations.cull == "grid" and sim.grid.fresh


def is_people(sim: Simulation) -> bool:
    return "stuck" in sim.behaviour.states


# --- density ---------------------------------------------------------------------------------------------------------

class Heads(NamedTuple):
    """Everybody counts alike."""

    each: np.int32


@implements(amount_of, Heads)
def count_one(adds: Heads, slot: Int) -> Int:
    return adds.each


@implements(level_of, Heads)
def level_of_density(adds: Heads, squares: Int, sums: Register) -> Register:
    return sums


class DensityColours(SquareColours):
    TITLES, MEAN = ("people per square metre", "density"), "the mean"
    NAMES = "A free", *(f"{level} {least:.2g}" for level, least in zip("BCDEF", SERVICE, strict=True))

    def adds(self, sim: Simulation, squares: CountedSquares) -> Heads:
        return Heads(np.int32(1))

    def shades(self, sim: Simulation) -> Ints:
        return levels_of_service(side_of(sim)) if is_people(sim) else ramp_shades(mean_of(sim))


@lru_cache(maxsize=8)  # asked in each frame
def levels_of_service(side: float) -> Ints:
    """Return a table: the level of service, by how many people are on nine squares with that side."""
    return np.searchsorted(SERVICE, np.arange(256) * per_square_metre(1 / (9 * side**2)), "right").astype(np.int32)


# --- flow ------------------------------------------------------------------------------------------------------------

class Speeds(NamedTuple):
    """Columns by slot, steps of a unit/s, and for each padded square what nine free ones have over its ground."""

    vx: Floats
    vy: Floats
    steps: np.float32
    scarcity: Floats


@implements(amount_of, Speeds)
def speed_of(adds: Speeds, slot: Int) -> Int:
    vx, vy = adds.vx[slot], adds.vy[slot]
    return to_int(root(vx * vx + vy * vy) * adds.steps + 0.5)


@implements(level_of, Speeds)
def level_of_flow(adds: Speeds, squares: Int, sums: Register) -> Register:
    return to_int(min(HIGHEST, to_float(sums) * load(adds.scarcity, squares)))


class FlowColours(SquareColours):
    TITLES, MEAN = ("flow, people/(m s)", "flow"), "the mean density at top speed"
    NAMES = NAMES

    def __init__(self) -> None:
        super().__init__()
        self._scarcity_of = lru_cache(1)(scarcity_of)

    def adds(self, sim: Simulation, squares: CountedSquares) -> Speeds:
        columns, steps = sim.agents.view, STEPS if is_people(sim) else STEPS_OF_FASTEST / fastest(sim)
        scarcity = self._scarcity_of(sim.terrain, sim.terrain.version, side_of(sim), squares.columns, squares.rows)
        return Speeds(columns.vx, columns.vy, np.float32(steps), scarcity)

    def shades(self, sim: Simulation) -> Ints:
        return shades_of_flow(side_of(sim)) if is_people(sim) else ramp_shades(STEPS_OF_FASTEST * mean_of(sim))


@lru_cache(maxsize=8)  # asked in each frame
def shades_of_flow(side: float) -> Ints:
    """The number of the colour by the speeds of people in nine squares of that side, in steps."""
    flow = np.arange(TABLE) * metres(per_square_metre(1 / (STEPS * 9 * side**2)))
    return np.searchsorted(FLOWS, flow, "right").astype(np.int32)


def scarcity_of(terrain: Terrain, version: int, side: float, columns: int, rows: int) -> Floats:
    """The ground of nine squares without walls, by what is free of the nine around each padded square."""
    ground = ground_around(terrain.walls, side, np.arange(columns + 1.0) * side, np.arange(rows + 1.0) * side)
    scarcity = np.pad(9 * side**2 / ground, 1, constant_values=1)
    return np.append(scarcity.ravel(), np.ones(LANES)).astype(np.float32)
