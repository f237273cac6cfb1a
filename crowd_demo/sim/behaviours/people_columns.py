"""The columns of people, and their states."""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.compute.arrays import Floats, Int, Ints, Mask
from crowd_demo.compute.jit import device

WALKING, WAITING, STUCK, QUEUING = range(4)


class PeopleColumns(NamedTuple):
    """Columns of a crowd: `Columns`, and what walking to a goal needs."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    push_x: Floats
    push_y: Floats
    look_at: Ints
    speed: Floats  # preferred, units/s
    goal: Ints  # destination
    goal_x: Floats  # the position inside it
    goal_y: Floats
    heading_x: Floats  # unit heading towards the goal, from sight or from the flow field
    heading_y: Floats
    sees: Ints  # 1 when the goal is in sight
    state: Ints  # WALKING, WAITING, STUCK, QUEUING
    timer: Floats  # seconds: waiting left, or stuck so far


@device
def stands(state: Int) -> Mask:
    """Who does not want to walk: those who wait at their goal, and those who queue for one."""
    return (state == WAITING) | (state == QUEUING)
