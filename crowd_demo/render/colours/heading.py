"""Colours by heading: a wheel that can be told apart by people who are colour-blind.

The angle is that on the diamond |x| + |y| = 1, which costs one division and no arc tangent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call, device
from crowd_demo.compute.simd import select, splat, to_int
from crowd_demo.compute.simd_memory import take
from crowd_demo.render.colours.base import RGB, ColourMode, Legend, ramp
from crowd_demo.render.numbering import number_of, numbering
from crowd_demo.sim.simulation import Simulation

WHEEL: tuple[RGB, ...] = (255, 248, 232), (255, 196, 70), (188, 96, 150), (86, 168, 255)  # going up, right, down, left
TURN = 128  # shades once around
SHADES = ramp((*WHEEL, WHEEL[0]), TURN + 1)[:TURN]


class Headings(NamedTuple):
    """Columns by slot."""

    vx: Floats
    vy: Floats


@device
def _size(value: Float) -> Float:
    return select(value < np.float32(0.0), np.float32(0.0) - value, value)


@device
def shade_of(vx: Float, vy: Float) -> Int:
    """Index on the wheel, clockwise from up; an agent that stands goes right."""
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


@implements(number_of, Headings)
def number_headings(mode: Headings, slots: Int, register: Register) -> Register:
    return shade_of(take(mode.vx, slots), take(mode.vy, slots))


class HeadingColours(ColourMode):
    def colours(self, sim: Simulation) -> Sequence[RGB]:
        return SHADES

    def calls(self, sim: Simulation, slots: Ints, number: Bytes) -> tuple[Call, ...]:
        columns = sim.agents.columns
        return (numbering(sim.world.workers, slots, Headings(columns.vx, columns.vy), number),)

    def legend(self, sim: Simulation) -> Legend:
        return Legend("heading", WHEEL, ("up", "right", "down", "left"))
