"""What people are: their columns, their states, and the constants of one step."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Observed
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.world import World

WALKING, WAITING, STUCK, QUEUING, CREEPING = range(5)  # CREEPING: in a queue that moves; shown as queuing, too


class PeopleColumns(NamedTuple):
    """Columns of a crowd: `Columns`, and what walking to a goal needs."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    avoidance_x: Floats
    avoidance_y: Floats
    next_update: Ints
    speed: Floats  # preferred, units/s
    goal: Ints  # destination
    goal_x: Floats  # the position inside it
    goal_y: Floats
    heading_x: Floats  # unit heading towards the goal, from sight or from the flow field
    heading_y: Floats
    goal_visible: Ints  # 1 when the goal is in sight
    state: Ints  # WALKING, WAITING, STUCK, QUEUING, CREEPING
    timer: Floats  # seconds: waiting left, or without progress so far


class PeopleRules(NamedTuple):
    """Constants of one step; lengths in world units, times in seconds. Each model of avoidance has a subclass of its own."""

    radius_sq: np.float32
    inv_radius: np.float32
    push: np.float32
    wiggle: np.float32
    top_factor: np.float32  # top speed as a multiple of the preferred speed
    stuck_top_factor: np.float32
    arrive_sq: np.float32
    wait: np.float32
    patience: np.float32
    follow: np.float32  # min(1, response * dt)
    dt: np.float32
    ahead: np.float32  # this one and those below are for looking ahead (avoidance.py)
    inv_ahead: np.float32
    gap_sq: np.float32
    inv_gap: np.float32
    aside: np.float32
    behind: np.float32
    away: np.float32
    slow_aside: np.float32  # this one and those below are for slowing down (avoidance.py)
    headway: np.float32
    standing: np.float32
    in_way_sq: np.float32
    creep: np.float32
    swerve_cos: np.float32
    swerve_sin: np.float32
    swerve_ramp: np.float32
    swerve_gain: np.float32
    pass_by: np.float32
    tires: np.float32  # chance below which somebody without progress reconsiders the destination in a step; -1: never
    half_cost: np.int64  # a way that costs so much more is chosen half as often; 0: destinations are chosen by area alone
    disc: np.float32  # what one person adds to a queue's radius squared; 0: destinations have no areas
    flight: np.float32  # preferred speed that a scare gives at most, units/s
    goal_key: np.int32
    wiggle_key_x: np.int32
    wiggle_key_y: np.int32
    tire_key: np.int32


@device
def stands(state: Int) -> Mask:
    """Return whether agents want to stay where they are: they wait at their goal, or queue for one."""
    return (state == WAITING) | (state == QUEUING)


@device
def is_held_up(state: Int) -> Mask:
    """Return whether agents make no progress, and not because they want to stay."""
    return (state == STUCK) | (state == CREEPING)


@implements(pairwise.perceive, PeopleRules)
def perceive(rules: PeopleRules, me: Observed, other: Observed) -> tuple[Mask, Float]:
    dx, dy = other.x - me.x, other.y - me.y
    distance_sq = dx * dx + dy * dy
    return distance_sq < rules.radius_sq, distance_sq


def people_of(world: World) -> Agents[PeopleColumns]:
    return cast(Agents[PeopleColumns], world.agents)


def rules_of(world: World) -> PeopleRules:
    """Return the constants of this step, with their type."""
    return cast(PeopleRules, world.rules)
