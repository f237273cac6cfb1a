"""Predators and prey: whom each of them meets, and how they fly. The formulas are in hunt.py.

Both kinds see what birds see of each other, and the kind: so each function here asks the flock's, and strangers do not count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import inverse_root, select, splat, to_float
from crowd_demo.compute.simd_memory import load, pick, store, take
from crowd_demo.sim.behaviours import steering
from crowd_demo.sim.behaviours.flock import limited, urge
from crowd_demo.sim.behaviours.flock_rules import FlockRules
from crowd_demo.sim.interaction import nearest, pairwise
from crowd_demo.sim.interaction.pairwise import Seen, Strip, Sums
from crowd_demo.sim.terrain.ground import Ground

PREY, PREDATOR = 0, 1
MOST_PREDATORS = 64
FAR = 1e6  # world units: beyond any sight, and still a number in fixed point


class HuntColumns(NamedTuple):
    """Columns of predators and prey: those of a flock, and a kind."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    push_x: Floats
    push_y: Floats
    look_at: Ints
    kind: Ints  # PREY or PREDATOR, for life


class HuntRules(NamedTuple):
    """Constants of one step; where the predators are, by id, infinitely far away if there is none."""

    flock: FlockRules
    predators: int
    x: Floats  # [MOST_PREDATORS]
    y: Floats
    fear: np.float32
    fear_sq: np.float32
    flee: np.float32
    predator_speed_min: np.float32
    predator_speed_max: np.float32
    dt: np.float32


# --- see: a flock among its own kind ---------------------------------------------------------------------------------

@implements(pairwise.copy_to_strip, HuntRules)
def copy_to_strip(rules: HuntRules, columns: HuntColumns, slots: Int, strip: Strip, at: int) -> None:
    pairwise.copy_to_strip(rules.flock, columns, slots, strip, at)
    store(strip[0][2], at, to_float(take(columns.kind, slots)))


@implements(pairwise.read_columns, HuntRules)
def read_columns(rules: HuntRules, columns: HuntColumns, slot: Int) -> Seen:
    x, y, px, py, vx, vy = pairwise.read_columns(rules.flock, columns, slot)
    return x, y, px, py, vx, vy, np.float32(columns.kind[slot])


@implements(pairwise.read_strip, HuntRules)
def read_strip(rules: HuntRules, strip: Strip, at: Int) -> Seen:
    x, y, px, py, vx, vy = pairwise.read_strip(rules.flock, strip, at)
    return x, y, px, py, vx, vy, strip[0][2, at]


@implements(pairwise.load_register, HuntRules)
def load_register(rules: HuntRules, strip: Strip, at: Int) -> Seen:
    x, y, px, py, vx, vy = pairwise.load_register(rules.flock, strip, at)
    return x, y, px, py, vx, vy, load(strip[0][2], at)


@implements(pairwise.no_sums, HuntRules)
def no_sums(rules: HuntRules, like: Float) -> Sums:
    return pairwise.no_sums(rules.flock, like)


@implements(pairwise.accumulate, HuntRules)
def accumulate(rules: HuntRules, me: Seen, other: Seen, sums: Sums) -> Sums:
    """One of the other kind is as good as out of sight."""
    stranger = splat(other[6], me[0]) != me[6]
    x = select(stranger, splat(np.float32(FAR), me[0]), splat(other[0], me[0]))
    return pairwise.accumulate(rules.flock, me[:6], (x, *other[1:6]), sums)


@implements(pairwise.sum_capacity, HuntRules)
def sum_capacity(rules: HuntRules) -> Int:
    return pairwise.sum_capacity(rules.flock)


@implements(pairwise.settle, HuntRules)
def settle(rules: HuntRules, me: Seen, sums: Sums) -> Sums:
    return pairwise.settle(rules.flock, me[:6], sums)


@implements(pairwise.finish, HuntRules)
def finish(rules: HuntRules, me: Seen, sums: Sums) -> tuple[Float, Float, Int]:
    return pairwise.finish(rules.flock, me[:6], sums)


@implements(pairwise.perceive, HuntRules)
def perceive(rules: HuntRules, me: Seen, other: Seen) -> tuple[Mask, Float]:
    perceived, distance = pairwise.perceive(rules.flock, me[:6], other[:6])
    return perceived & (other[6] == me[6]), distance


@implements(nearest.solve, HuntRules)
def solve(rules: HuntRules, columns: HuntColumns, slot: int, near: Ints, size: int) -> tuple[Float, Float, Int]:
    return nearest.solve(rules.flock, columns, slot, near, size)


# --- move ------------------------------------------------------------------------------------------------------------

@device
def _away(rules: HuntRules, x: Float, y: Float) -> tuple[Float, Float]:
    """The way from the predators that are near, in the order of their ids; one's own place adds nothing."""
    none = splat(np.float32(0), x)
    away_x, away_y = none, none
    for predator in range(rules.predators):
        dx, dy = x - rules.x[predator], y - rules.y[predator]
        distance_sq = dx * dx + dy * dy
        near = distance_sq < rules.fear_sq
        weight = rules.fear * inverse_root(distance_sq) - np.float32(1)
        away_x, away_y = away_x + select(near, weight * dx, none), away_y + select(near, weight * dy, none)
    return away_x, away_y


@implements(steering.steer, HuntRules)
def steer(rules: HuntRules, ground: Ground, columns: HuntColumns, at: Int, x: Float, y: Float, vx: Float,
          vy: Float) -> tuple[Float, Float]:
    ax, ay = urge(rules.flock, ground, columns, at, x, y)
    away_x, away_y = _away(rules, x, y)
    vx, vy = vx + rules.dt * (ax + rules.flee * away_x), vy + rules.dt * (ay + rules.flee * away_y)
    hunts = pick(columns.kind, at, x) > 0
    low = select(hunts, splat(rules.predator_speed_min, x), splat(rules.flock.speed_min, x))
    high = select(hunts, splat(rules.predator_speed_max, x), splat(rules.flock.speed_max, x))
    return limited(vx, vy, low, high)
