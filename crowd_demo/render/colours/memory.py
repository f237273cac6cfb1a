"""Colours by the place in memory: slot 0 is red, the last slot violet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from crowd_demo.compute.arrays import Bytes, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call
from crowd_demo.compute.simd import quotient
from crowd_demo.render.colours.base import LEVELS, RAINBOW, RGB, ColourMode, Legend, ramp
from crowd_demo.render.numbering import number_of, numbering
from crowd_demo.sim.simulation import Simulation


class Memory(NamedTuple):
    """How many agents there are."""

    agents: int


@implements(number_of, Memory)
def number_slots(memory: Memory, slots: Int, register: Register) -> Register:
    return quotient(register * LEVELS, memory.agents)


class MemoryColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return ramp(RAINBOW)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        return (numbering(sim.world.workers, slots, Memory(max(sim.agents.count, 1)), number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("place in memory", ramp(RAINBOW, 24), ("first slot", "last slot"))
