"""Colours by speed, from standing to the fastest preferred speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Ints
from crowd_demo.compute.jit import Call, call, kernel
from crowd_demo.render.colours.base import LEVELS, RGB, RISING, Legend, ramp
from crowd_demo.sim.simulation import Simulation


@kernel
def number_speeds(worker: int, workers: int, slots: Ints, vx: Floats, vy: Floats, per_unit: np.float32, number: Bytes) -> None:
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        speed = np.sqrt(vx[slot] * vx[slot] + vy[slot] * vy[slot])
        number[k] = int(min(speed * per_unit, np.float32(LEVELS - 1)))


class SpeedColours:
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return ramp(RISING)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        columns = sim.agents.columns
        per_unit = np.float32(LEVELS / fastest(sim))
        return (call(number_speeds, sim.world.workers, slots, columns.vx, columns.vy, per_unit, number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("speed", ramp(RISING, 24), ("standing", f"{fastest(sim):.4g} units/s"))


def fastest(sim: Simulation) -> float:
    """The fastest preferred speed, or the top speed where there is none, in units/s."""
    settings = getattr(sim.config, sim.config.behaviour, None)
    return max(float(getattr(settings, "speed_max", sim.world.needs.top_speed)), 1e-3)
