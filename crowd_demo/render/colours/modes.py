"""Colours of what agents do: their state, heading and speed; and of what the program does with them: their last and next
update, place in memory, grid cell and thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Register
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.jit import Launch, device, launch
from crowd_demo.compute.simd import LANES, bits, quotient, root, select, to_int
from crowd_demo.compute.simd_memory import gather
from crowd_demo.config.resources import assets_folder
from crowd_demo.grid.cells import Floor
from crowd_demo.render.colours.base import LEVELS, ON_DARK, ColourMode, Legend, ramp, scales_of
from crowd_demo.render.drawing import number_agents, number_of
from crowd_demo.render.figures.sprites import load_manifest, state_colours
from crowd_demo.render.inks import RGB
from crowd_demo.sim.behaviours.people_rules import PeopleColumns, stands
from crowd_demo.sim.behaviours.steering import Move
from crowd_demo.sim.inspection import speed_text
from crowd_demo.sim.neighbours.schedule import LONGEST
from crowd_demo.sim.simulation import Simulation

KINDS = "prey", "predator"
ROLES: dict[str, RGB] = {"leader": (255, 240, 120), "follower": (60, 116, 210)}  # of columns
FULL_STRETCH = 0.5  # of a link's length at rest, at the end of the ramp of tension
TURN = 128  # shades once around the wheel of headings


def around(wheel: tuple[RGB, ...]) -> tuple[RGB, ...]:
    return ramp((*wheel, wheel[0]), TURN + 1)[:TURN]


SHADES = around(ON_DARK.wheel)  # of overlays


# --- state -----------------------------------------------------------------------------------------------------------

class StateMode(NamedTuple):
    """A column by slot."""

    state: Ints


@implements(number_of, StateMode)
def number_states(mode: StateMode, slots: Int, register: Register) -> Register:
    return gather(mode.state, slots)


class StateColours(ColourMode):
    """Walking, waiting, stuck, queuing, in the colours that the HUD counts people by; predators and prey; the leaders of
    columns; or all alike.
    """

    def __init__(self) -> None:
        self._known = state_colours(load_manifest(assets_folder())) | ROLES

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return [self._known.get(name, scales_of(sim).categories[number]) for number, name in enumerate(_names(sim))]

    def launches(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        columns = sim.agents.view
        state: Ints | None = getattr(columns, "state", getattr(columns, "kind", None))
        if state is None:
            number[:len(slots)] = columns.id[slots] % sim.config.links.length > 0 if _has_leaders(sim) else 0
            return ()
        return (launch(number_agents, sim.workers, slots, StateMode(state), number),)

    def legend(self, sim: Simulation) -> Legend:
        known = dict(zip(_names(sim), self.colours(sim), strict=True))
        return Legend("state", tuple(known.values()), tuple(known))


def _names(sim: Simulation) -> tuple[str, ...]:
    if sim.behaviour.states or hasattr(sim.agents.view, "kind"):
        return sim.behaviour.states or KINDS
    return tuple(ROLES) if _has_leaders(sim) else ("agents without states",)


def _has_leaders(sim: Simulation) -> bool:
    return sim.links.active and sim.config.links.pattern == "column"


# --- heading: a wheel that can be told apart by people who are colour-blind ---------------------------------------------

class HeadingMode(NamedTuple):
    """Columns by slot."""

    vx: Floats
    vy: Floats


@formula
def shade_of(vx: Float, vy: Float) -> Int:
    """Index on the wheel, clockwise from up; an agent that stands goes right.

    The angle is that on the diamond |x| + |y| = 1, which costs one division and no arc tangent.
    """
    length = abs(vx) + abs(vy)
    down = select(length > 0, vy / length, 0)
    half = to_int((down + 1) * (TURN / 4))
    other = select(half > 0, TURN - half, half)
    return select(vx >= 0, half, other)


def shades_of(vx: Floats, vy: Floats) -> Ints:
    length = np.abs(vx) + np.abs(vy)
    down = np.divide(vy, length, out=np.zeros_like(length), where=length > 0)
    half = ((down + np.float32(1.0)) * np.float32(TURN / 4)).astype(np.int32)
    return np.where((vx < 0) & (half > 0), TURN - half, half)


@implements(number_of, HeadingMode)
def number_headings(mode: HeadingMode, slots: Int, register: Register) -> Register:
    return shade_of(gather(mode.vx, slots), gather(mode.vy, slots))


class HeadingColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return around(scales_of(sim).wheel)

    def mode(self, sim: Simulation) -> HeadingMode:
        return HeadingMode(sim.agents.view.vx, sim.agents.view.vy)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("heading", scales_of(sim).wheel, ("up", "right", "down", "left"))


# --- speed: from standing to the fastest preferred speed ----------------------------------------------------------------

class SpeedMode(NamedTuple):
    """Columns by slot, and the numbers of a unit/s."""

    vx: Floats
    vy: Floats
    per_unit: np.float32


@implements(number_of, SpeedMode)
def number_speeds(mode: SpeedMode, slots: Int, register: Register) -> Register:
    vx, vy = gather(mode.vx, slots), gather(mode.vy, slots)
    return to_int(min(LEVELS - 1, root(vx * vx + vy * vy) * mode.per_unit))


class SpeedColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return ramp(scales_of(sim).rising)

    def mode(self, sim: Simulation) -> SpeedMode:
        return SpeedMode(sim.agents.view.vx, sim.agents.view.vy, np.float32(LEVELS / fastest(sim)))

    def legend(self, sim: Simulation) -> Legend:
        return Legend("speed", ramp(scales_of(sim).rising, 24), ("standing", speed_text(sim, fastest(sim))))


def fastest(sim: Simulation) -> float:
    """The fastest preferred speed, or the top speed where there is none, in units/s."""
    return max(float(getattr(sim.settings.behaviour_settings, "speed_max", sim.needs.top_speed)), 1e-3)


# --- patience: how long people have made no progress ------------------------------------------------------------------

class PatienceMode(NamedTuple):
    """Columns by slot, and the numbers of a second without progress."""

    state: Ints
    timer: Floats
    per_second: np.float32


@implements(number_of, PatienceMode)
def number_patience(mode: PatienceMode, slots: Int, register: Register) -> Register:
    shade = to_int(min(LEVELS - 1, gather(mode.timer, slots) * mode.per_second))
    return select(stands(gather(mode.state, slots)), 0, shade)


class PatienceColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return ramp(scales_of(sim).rising) if self.tells(sim) else ON_DARK.rising[:1]

    def launches(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        if not self.tells(sim):
            number[:len(slots)] = 0
            return ()
        c, patience = cast(PeopleColumns, sim.agents.view), max(sim.settings.crowd.stuck_s, sim.dt)
        mode = PatienceMode(c.state, c.timer, np.float32(LEVELS / patience))
        return (launch(number_agents, sim.workers, slots, mode, number),)

    def legend(self, sim: Simulation) -> Legend:
        end = f"{sim.settings.crowd.stuck_s:g} s without progress"
        return Legend("patience", ramp(scales_of(sim).rising, 24), ("walks or waits", end))

    def tells(self, sim: Simulation) -> bool:
        return "stuck" in sim.behaviour.states


# --- tension: how far the links of an agent are stretched, on the mean ----------------------------------------------------

class TensionColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return ramp(scales_of(sim).rising)

    def launches(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        """Number agents without a kernel: there are few links."""
        number[:len(slots)] = 0
        if sim.links.active:
            columns, (a, b), count = sim.agents.view, sim.links.pairs, sim.agents.count
            length = np.hypot(columns.x[a] - columns.x[b], columns.y[a] - columns.y[b])
            links, lengths = (np.bincount(a, of, count) + np.bincount(b, of, count) for of in (None, length))
            stretch = lengths[slots] / np.maximum(links[slots], 1) / max(sim.settings.links.rest, 1e-9) - 1
            number[:len(slots)] = (stretch * (LEVELS / FULL_STRETCH)).clip(0, LEVELS - 1)
        return ()

    def legend(self, sim: Simulation) -> Legend:
        return Legend("tension", ramp(scales_of(sim).rising, 24), ("at rest", f"stretched by {FULL_STRETCH:.0%}"))

    def tells(self, sim: Simulation) -> bool:
        return sim.links.active


STEPS = LONGEST + 1  # 0 to 16 steps
SHIFT, TICKS, WAITS = 4, 0x7FFFFFF, LONGEST - 1  # a tick is packed above a wait of four bits
BOARD: tuple[RGB, ...] = (0, 114, 178), (240, 228, 66)


# --- staggering: how long ago an agent looked at its neighbours, and when it looks again (neighbours/schedule.py) ---------

class UpdateMode(NamedTuple):
    """A column by slot: steps from the last update to the step before `tick`, or from `tick` to the next update."""

    next_update: Ints
    tick: np.int32  # the next step
    is_age: bool


@implements(number_of, UpdateMode)
def number_updates(mode: UpdateMode, slots: Int, register: Register) -> Register:
    packed = gather(mode.next_update, slots)
    due = bits(packed, SHIFT, TICKS) - mode.tick
    steps = bits(packed, 0, WAITS) - due if mode.is_age else due
    return min(max(steps, 0), STEPS - 1)


def ages(sim: Simulation, slots: Ints) -> Bytes:
    """Steps since the last update of each of those agents: 0 for the last step, at most `LONGEST`. Runs a kernel."""
    number = np.zeros(len(slots), np.uint8)
    launch(number_agents, sim.workers, slots, AgeColours().mode(sim), number).run()
    return number


class AgeColours(ColourMode):
    IS_AGE = True
    TEXTS = "last update", "in the last step", "{} steps before"  # the legend's title, and its two ends

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        """From much for 0 steps to little for the period's last step and more."""
        shades = ramp(scales_of(sim).rising[::-1], max(sim.optimizations.stagger.avoidance, 2))
        return (*shades, *[shades[-1]] * STEPS)[:STEPS]

    def mode(self, sim: Simulation) -> UpdateMode:
        return UpdateMode(sim.agents.view.next_update, np.int32(sim.tick), self.IS_AGE)

    def legend(self, sim: Simulation) -> Legend:
        period, (title, first, last) = sim.optimizations.stagger.avoidance, self.TEXTS
        texts = first, *map(str, range(1, period - 1)), last.format(period - 1)
        return Legend(title, tuple(self.colours(sim)[:period]), texts[:period])


class DueColours(AgeColours):
    IS_AGE = False
    TEXTS = "next update", "in the next step", "{} steps later"


# --- memory: slot 0 is red, the last slot violet ------------------------------------------------------------------------

class MemoryMode(NamedTuple):
    agents: int


@implements(number_of, MemoryMode)
def number_slots(mode: MemoryMode, slots: Int, register: Register) -> Register:
    return quotient(register * LEVELS, mode.agents)


class MemoryColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return ramp(scales_of(sim).rainbow)

    def mode(self, sim: Simulation) -> MemoryMode:
        return MemoryMode(max(sim.agents.count, 1))

    def legend(self, sim: Simulation) -> Legend:
        return Legend("place in memory", ramp(scales_of(sim).rainbow, 24), ("first slot", "last slot"))


# --- cells of the grid: a chessboard ------------------------------------------------------------------------------------

class CellMode(NamedTuple):
    """Columns by slot, and the cells of the grid."""

    x: Floats
    y: Floats
    floor: Floor


@device
def _cell(position: Register, inv_cell: np.float32, count: int) -> Register:
    return min(to_int(position * inv_cell), count - 1)


@implements(number_of, CellMode)
def number_cells(mode: CellMode, slots: Int, register: Register) -> Register:
    column = _cell(gather(mode.x, slots), mode.floor.inv_cell, mode.floor.columns)
    return bits(column + _cell(gather(mode.y, slots), mode.floor.inv_cell, mode.floor.rows), 0, 1)


class CellColours(ColourMode):
    COLOURS = BOARD

    def mode(self, sim: Simulation) -> CellMode:
        return CellMode(sim.agents.view.x, sim.agents.view.y, sim.grid.floor)

    def legend(self, sim: Simulation) -> Legend:
        structure = sim.situation.structure
        title = "cell of the grid" if "cell_size" in structure else "cell of a grid that the present search does not use"
        return Legend(title, BOARD, (f"even, {sim.grid.cell:.4g} units wide", "odd"))

    def tells(self, sim: Simulation) -> bool:
        return "cell_size" in sim.situation.structure


# --- the thread in whose share an agent is moved ------------------------------------------------------------------------

# The stage *move* gives each thread a run of slots; with lanes a share is whole registers of sixteen. The other
# stages share out pieces of space, as workers become free.

class Movers(NamedTuple):
    """Worker w has the units [units * w // shares, units * (w + 1) // shares), of `unit` slots each."""

    shares: int
    units: int
    unit: int
    colours: int


@implements(number_of, Movers)
def number_workers(movers: Movers, slots: Int, register: Register) -> Register:
    unit = quotient(register, movers.unit) if movers.unit > 1 else register
    worker = quotient((unit + 1) * movers.shares - 1, movers.units)
    return worker - quotient(worker, movers.colours) * movers.colours


class WorkerColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return scales_of(sim).categories

    def launches(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        unit = LANES if sim.optimizations.simd else 1
        units = max(1, -(-sim.agents.count // unit))
        mode = Movers(movers(sim), units, unit, len(ON_DARK.categories))
        return (launch(number_agents, sim.workers, slots, mode, number),)

    def legend(self, sim: Simulation) -> Legend:
        count = movers(sim)
        categories = scales_of(sim).categories
        shown = min(count, len(categories))
        more = f" and every {len(categories)}th more" if count > len(categories) else ""
        return Legend("moved by", categories[:shown], tuple(f"thread {k + 1}{more}" for k in range(shown)))


def movers(sim: Simulation) -> int:
    """How many workers share the stage *move*."""
    for stage in (getattr(each, "stage", each) for each in sim.stages):  # also one of a plugin
        if isinstance(stage, Move):
            return cast(int, stage.move(sim).args[0])
    return 1
