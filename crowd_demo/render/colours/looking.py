"""Colours by staggering: how long ago an agent looked at its neighbours, and when it looks again (neighbours/schedule.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call, device
from crowd_demo.compute.simd import bits, select, splat
from crowd_demo.compute.simd_memory import take
from crowd_demo.render.colours.base import FALLING, RGB, Legend, ramp
from crowd_demo.render.numbering import number_of, numbering
from crowd_demo.sim.neighbours.schedule import LONGEST
from crowd_demo.sim.simulation import Simulation

STEPS = LONGEST + 1  # 0 to 16 steps
SHIFT, TICKS, WAITS = 4, 0x7FFFFFF, LONGEST - 1  # a tick is packed above a wait of four bits


class Ages(NamedTuple):
    """A column by slot; steps since the last look, in the step before `tick`."""

    look_at: Ints
    tick: np.int32


class Turns(NamedTuple):
    """The same; steps from `tick`, the next one, to the next look."""

    look_at: Ints
    tick: np.int32


@device
def _between(steps: Register) -> Register:
    steps = select(steps > 0, steps, splat(np.int32(0), steps))
    return select(steps < STEPS, steps, splat(np.int32(STEPS - 1), steps))


@implements(number_of, Ages)
def number_ages(mode: Ages, slots: Int, register: Register) -> Register:
    packed = take(mode.look_at, slots)
    looked = bits(packed, SHIFT, TICKS) - bits(packed, 0, WAITS) - 1
    return _between(mode.tick - 1 - looked)


@implements(number_of, Turns)
def number_turns(mode: Turns, slots: Int, register: Register) -> Register:
    return _between(bits(take(mode.look_at, slots), SHIFT, TICKS) - mode.tick)


def _colours(sim: Simulation) -> tuple[RGB, ...]:
    """The brightest for 0, the darkest for the last step of the present period and beyond."""
    period = sim.optimizations.stagger.avoidance
    shades = ramp(FALLING, max(period, 2))
    return (*shades, *[shades[-1]] * STEPS)[:STEPS]


def ages(sim: Simulation, slots: Ints) -> Bytes:
    """Steps since each of those agents has looked, 0 for the last step, at most `LONGEST`. Runs a kernel."""
    number = np.zeros(len(slots), np.uint8)
    numbering(sim.world.workers, slots, Ages(sim.agents.columns.look_at, np.int32(sim.tick)), number).run()
    return number


class AgeColours:
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return _colours(sim)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        return (numbering(sim.world.workers, slots, Ages(sim.agents.columns.look_at, np.int32(sim.tick)), number),)

    def legend(self, sim: Simulation) -> Legend:
        return _legend(sim, "last look at neighbours", "in the last step", "{} steps before")


class TurnColours:
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return _colours(sim)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        return (numbering(sim.world.workers, slots, Turns(sim.agents.columns.look_at, np.int32(sim.tick)), number),)

    def legend(self, sim: Simulation) -> Legend:
        return _legend(sim, "next look at neighbours", "in the next step", "{} steps later")


def _legend(sim: Simulation, title: str, first: str, last: str) -> Legend:
    period = sim.optimizations.stagger.avoidance
    colours = _colours(sim)[:period]
    texts = (first, *map(str, range(1, period - 1)), last.format(period - 1))[:period]
    return Legend(title, colours, texts)
