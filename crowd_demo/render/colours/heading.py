"""Colours by heading: a wheel that can be told apart by people who are colour-blind.

The angle is that on the diamond |x| + |y| = 1, which costs one division and no arc tangent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Ints
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.render.colours.base import RGB, Legend, ramp
from crowd_demo.sim.simulation import Simulation

WHEEL: tuple[RGB, ...] = (255, 248, 232), (255, 196, 70), (188, 96, 150), (86, 168, 255)  # going up, right, down, left
TURN = 128  # shades once around


@device
def shade_of(vx: Float, vy: Float) -> int:
    """Index on the wheel, clockwise from up; an agent that stands goes right."""
    length = abs(vx) + abs(vy)
    down = vy / length if length > np.float32(0.0) else np.float32(0.0)
    half = int((down + np.float32(1.0)) * np.float32(TURN / 4))
    return half if vx >= np.float32(0.0) else (TURN - half) % TURN


@kernel
def number_headings(worker: int, workers: int, slots: Ints, vx: Floats, vy: Floats, number: Bytes) -> None:
    listed = slots.shape[0]
    for k in range(listed * worker // workers, listed * (worker + 1) // workers):
        slot = np.uintp(slots[k])
        number[k] = shade_of(vx[slot], vy[slot])


class HeadingColours:
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return ramp((*WHEEL, WHEEL[0]), TURN + 1)[:TURN]

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        columns = sim.agents.columns
        return (call(number_headings, sim.world.workers, slots, columns.vx, columns.vy, number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("heading", WHEEL, ("up", "right", "down", "left"))
