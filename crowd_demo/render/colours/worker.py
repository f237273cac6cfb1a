"""Colours by worker: whose share an agent belongs to in the stage *move*, which gives each thread a run of slots.

With lanes a share is whole registers of sixteen. The other stages share out pieces of space, as workers become free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from crowd_demo.compute.arrays import Bytes, Ints
from crowd_demo.compute.jit import Call, call, kernel
from crowd_demo.compute.simd import LANES
from crowd_demo.render.colours.base import CATEGORIES, RGB, Legend
from crowd_demo.sim.behaviours.steering import Move
from crowd_demo.sim.simulation import Simulation


@kernel
def number_workers(worker: int, workers: int, slots: Ints, shares: int, units: int, unit: int, colours: int,
                   number: Bytes) -> None:
    """Worker w has the units [units * w // shares, units * (w + 1) // shares), of `unit` slots each."""
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        number[k] = ((np.int64(slots[k]) // unit + 1) * shares - 1) // units % colours


class WorkerColours:
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return CATEGORIES

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        unit = LANES if sim.optimizations.simd else 1
        units = max(1, -(-sim.agents.count // unit))
        return (call(number_workers, sim.world.workers, slots, movers(sim), units, unit, len(CATEGORIES), number),)

    def legend(self, sim: Simulation) -> Legend:
        count = movers(sim)
        shown = min(count, len(CATEGORIES))
        more = f" and every {len(CATEGORIES)}th more" if count > len(CATEGORIES) else ""
        return Legend("moved by", CATEGORIES[:shown], tuple(f"thread {k + 1}{more}" for k in range(shown)))


def movers(sim: Simulation) -> int:
    """How many workers share the stage *move*."""
    for stage in sim.stages:
        if isinstance(stage, Move):
            return cast(int, stage.move(sim.world).args[0])
    return 1
