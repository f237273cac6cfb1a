"""Colours by staggering: how long ago an agent looked at its neighbours, and when it looks again (neighbours/schedule.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.compute.arrays import Bytes, Ints
from crowd_demo.compute.jit import Call, call, kernel
from crowd_demo.render.colours.base import FALLING, RGB, Legend, ramp
from crowd_demo.sim.neighbours.schedule import LONGEST
from crowd_demo.sim.simulation import Simulation

STEPS = LONGEST + 1  # 0 to 16 steps


@kernel
def number_ages(worker: int, workers: int, slots: Ints, look_at: Ints, tick: int, number: Bytes) -> None:
    """Steps since the last look, in the step before `tick`."""
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        packed = look_at[np.uintp(slots[k])]
        looked = packed // LONGEST - packed % LONGEST - 1
        number[k] = min(max(tick - 1 - looked, 0), STEPS - 1)


@kernel
def number_turns(worker: int, workers: int, slots: Ints, look_at: Ints, tick: int, number: Bytes) -> None:
    """Steps from `tick`, the next one, to the next look."""
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        number[k] = min(max(look_at[np.uintp(slots[k])] // LONGEST - tick, 0), STEPS - 1)


def _colours(sim: Simulation) -> tuple[RGB, ...]:
    """The brightest for 0, the darkest for the last step of the present period and beyond."""
    period = sim.optimizations.stagger.avoidance
    shades = ramp(FALLING, max(period, 2))
    return (*shades, *[shades[-1]] * STEPS)[:STEPS]


class AgeColours:
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return _colours(sim)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        return (call(number_ages, sim.world.workers, slots, sim.agents.columns.look_at, sim.tick, number),)

    def legend(self, sim: Simulation) -> Legend:
        return _legend(sim, "last look at neighbours", "in the last step", "{} steps before")


class TurnColours:
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return _colours(sim)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        return (call(number_turns, sim.world.workers, slots, sim.agents.columns.look_at, sim.tick, number),)

    def legend(self, sim: Simulation) -> Legend:
        return _legend(sim, "next look at neighbours", "in the next step", "{} steps later")


def _legend(sim: Simulation, title: str, first: str, last: str) -> Legend:
    period = sim.optimizations.stagger.avoidance
    colours = _colours(sim)[:period]
    texts = (first, *map(str, range(1, period - 1)), last.format(period - 1))[:period]
    return Legend(title, colours, texts)
