"""Colours by speed, from standing to the fastest preferred speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call
from crowd_demo.compute.simd import root, select, splat, to_int
from crowd_demo.compute.simd_memory import take
from crowd_demo.render.colours.base import LEVELS, RGB, RISING, ColourMode, Legend, ramp
from crowd_demo.render.numbering import number_of, numbering
from crowd_demo.sim.measures import speed_text
from crowd_demo.sim.simulation import Simulation


class Speeds(NamedTuple):
    """Columns by slot, and the numbers of a unit/s."""

    vx: Floats
    vy: Floats
    per_unit: np.float32


@implements(number_of, Speeds)
def number_speeds(mode: Speeds, slots: Int, register: Register) -> Register:
    vx, vy = take(mode.vx, slots), take(mode.vy, slots)
    shade, most = root(vx * vx + vy * vy) * mode.per_unit, splat(np.float32(LEVELS - 1), vx)
    return to_int(select(shade < most, shade, most))


class SpeedColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return ramp(RISING)

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        columns = sim.agents.columns
        mode = Speeds(columns.vx, columns.vy, np.float32(LEVELS / fastest(sim)))
        return (numbering(sim.world.workers, slots, mode, number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("speed", ramp(RISING, 24), ("standing", speed_text(sim, fastest(sim))))


def fastest(sim: Simulation) -> float:
    """The fastest preferred speed, or the top speed where there is none, in units/s."""
    return max(float(getattr(sim.config.behaviour_settings, "speed_max", sim.world.needs.top_speed)), 1e-3)
