"""Colours by worker: whose share an agent belongs to in the stage *move*, which gives each thread a run of slots.

With lanes a share is whole registers of sixteen. The other stages share out pieces of space, as workers become free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from crowd_demo.compute.arrays import Bytes, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call
from crowd_demo.compute.simd import LANES, quotient
from crowd_demo.render.colours.base import CATEGORIES, RGB, ColourMode, Legend
from crowd_demo.render.numbering import number_of, numbering
from crowd_demo.sim.behaviours.steering import Move
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.stage import unchecked


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
        return CATEGORIES

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        unit = LANES if sim.optimizations.simd else 1
        units = max(1, -(-sim.agents.count // unit))
        return (numbering(sim.world.workers, slots, Movers(movers(sim), units, unit, len(CATEGORIES)), number),)

    def legend(self, sim: Simulation) -> Legend:
        count = movers(sim)
        shown = min(count, len(CATEGORIES))
        more = f" and every {len(CATEGORIES)}th more" if count > len(CATEGORIES) else ""
        return Legend("moved by", CATEGORIES[:shown], tuple(f"thread {k + 1}{more}" for k in range(shown)))


def movers(sim: Simulation) -> int:
    """How many workers share the stage *move*."""
    for stage in map(unchecked, sim.stages):
        if isinstance(stage, Move):
            return cast(int, stage.move(sim.world).args[0])
    return 1
