"""Colours by the place in memory: slot 0 is red, the last slot violet."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.compute.arrays import Bytes, Ints
from crowd_demo.compute.jit import Call, call, kernel
from crowd_demo.render.colours.base import LEVELS, RAINBOW, RGB, Legend, ramp
from crowd_demo.sim.simulation import Simulation


@kernel
def number_slots(worker: int, workers: int, slots: Ints, agents: int, number: Bytes) -> None:
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        number[k] = int(slots[k]) * LEVELS // agents


class MemoryColours:
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return ramp(RAINBOW)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        return (call(number_slots, sim.world.workers, slots, max(sim.agents.count, 1), number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("place in memory", ramp(RAINBOW, 24), ("first slot", "last slot"))
