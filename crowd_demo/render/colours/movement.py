"""Colours of what agents do: their state, where they are going, and how fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Launch, device
from crowd_demo.compute.simd import root, select, splat, to_int
from crowd_demo.compute.simd_memory import take
from crowd_demo.config.resources import assets_folder
from crowd_demo.render.colours.base import CATEGORIES, LEVELS, RISING, ColourMode, Legend, ramp
from crowd_demo.render.figures.sprites import load_manifest, state_colours
from crowd_demo.render.formulas import number_of, numbering
from crowd_demo.render.inks import RGB
from crowd_demo.sim.inspection import speed_text
from crowd_demo.sim.simulation import Simulation

KINDS = "prey", "predator"
WHEEL: tuple[RGB, ...] = (255, 248, 232), (255, 196, 70), (188, 96, 150), (86, 168, 255)  # going up, right, down, left
TURN = 128  # shades once around
SHADES = ramp((*WHEEL, WHEEL[0]), TURN + 1)[:TURN]


# --- state -----------------------------------------------------------------------------------------------------------

class StateMode(NamedTuple):
    """A column by slot."""

    state: Ints


@implements(number_of, StateMode)
def number_states(mode: StateMode, slots: Int, register: Register) -> Register:
    return take(mode.state, slots)


class StateColours(ColourMode):
    """Walking, waiting, stuck, queuing, in the colours that the HUD counts people by; predators and prey; or all alike."""

    def __init__(self) -> None:
        self._known = state_colours(load_manifest(assets_folder()))

    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return [self._known.get(name, CATEGORIES[number]) for number, name in enumerate(_names(sim))]

    def launches(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Launch, ...]:
        columns = sim.agents.columns
        state: Ints | None = getattr(columns, "state", getattr(columns, "kind", None))
        if state is None:
            number[:len(slots)] = 0
            return ()
        return (numbering(sim.world.workers, slots, StateMode(state), number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("state", tuple(self.colours(sim)), _names(sim))


def _names(sim: Simulation) -> tuple[str, ...]:
    return sim.behaviour.states or (KINDS if hasattr(sim.agents.columns, "kind") else ("agents without states",))


# --- heading: a wheel that can be told apart by people who are colour-blind ---------------------------------------------

class HeadingMode(NamedTuple):
    """Columns by slot."""

    vx: Floats
    vy: Floats


@device
def _size(value: Float) -> Float:
    return select(value < np.float32(0.0), np.float32(0.0) - value, value)


@device
def shade_of(vx: Float, vy: Float) -> Int:
    """Index on the wheel, clockwise from up; an agent that stands goes right.

    The angle is that on the diamond |x| + |y| = 1, which costs one division and no arc tangent.
    """
    nothing = splat(np.float32(0.0), vx)
    length = _size(vx) + _size(vy)
    down = select(length > nothing, vy / length, nothing)
    half = to_int((down + np.float32(1.0)) * np.float32(TURN / 4))
    other = select(half > 0, TURN - half, half)
    return select(vx >= nothing, half, other)


def shades_of(vx: Floats, vy: Floats) -> Ints:
    """The same for arrays, without a kernel."""
    length = np.abs(vx) + np.abs(vy)
    down = np.divide(vy, length, out=np.zeros_like(length), where=length > 0)
    half = ((down + np.float32(1.0)) * np.float32(TURN / 4)).astype(np.int32)
    return np.where((vx < 0) & (half > 0), TURN - half, half)


@implements(number_of, HeadingMode)
def number_headings(mode: HeadingMode, slots: Int, register: Register) -> Register:
    return shade_of(take(mode.vx, slots), take(mode.vy, slots))


class HeadingColours(ColourMode):
    COLOURS = SHADES

    def mode(self, sim: Simulation) -> HeadingMode:
        return HeadingMode(sim.agents.columns.vx, sim.agents.columns.vy)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("heading", WHEEL, ("up", "right", "down", "left"))


# --- speed: from standing to the fastest preferred speed ----------------------------------------------------------------

class SpeedMode(NamedTuple):
    """Columns by slot, and the numbers of a unit/s."""

    vx: Floats
    vy: Floats
    per_unit: np.float32


@implements(number_of, SpeedMode)
def number_speeds(mode: SpeedMode, slots: Int, register: Register) -> Register:
    vx, vy = take(mode.vx, slots), take(mode.vy, slots)
    shade, most = root(vx * vx + vy * vy) * mode.per_unit, splat(np.float32(LEVELS - 1), vx)
    return to_int(select(shade < most, shade, most))


class SpeedColours(ColourMode):
    COLOURS = ramp(RISING)

    def mode(self, sim: Simulation) -> SpeedMode:
        return SpeedMode(sim.agents.columns.vx, sim.agents.columns.vy, np.float32(LEVELS / fastest(sim)))

    def legend(self, sim: Simulation) -> Legend:
        return Legend("speed", ramp(RISING, 24), ("standing", speed_text(sim, fastest(sim))))


def fastest(sim: Simulation) -> float:
    """The fastest preferred speed, or the top speed where there is none, in units/s."""
    return max(float(getattr(sim.config.behaviour_settings, "speed_max", sim.world.needs.top_speed)), 1e-3)
