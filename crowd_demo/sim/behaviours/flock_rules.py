"""What a bird asks of its neighbours: alignment, cohesion, separation. The formulas are in flock.py.

Positions and velocities enter the sums in fixed point (1/256), so the result does not depend on the order of the neighbours.
The sums of x also count (compute/packed.py): in lanes each count would take an instruction of its own.
Whom a bird follows, and how it keeps away from those too near, are records of their own (flock_parts.py): kernels are compiled
for their types, so what is not chosen costs nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.packed import counted, nothing_counted, settled
from crowd_demo.compute.simd import no_sum, select, splat, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import load, store, take
from crowd_demo.sim.behaviours.flock_parts import FIXED, Apart, Eyes, drive_apart, follows, meet_close, no_apart, settle_apart
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Seen, Strip, Sums


class FlockColumns(NamedTuple):
    """Columns of a flock; positions in world units, velocities in units/s."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    push_x: Floats  # the neighbours' push, kept until the agent is due again
    push_y: Floats
    look_at: Ints  # when it is due again, and after how long a wait (neighbours/schedule.py)


class FlockRules(NamedTuple):
    """Constants of one step; weights in 1/s and 1/s^2, lengths in world units."""

    eyes: Eyes  # whom it follows
    apart: Apart  # how it keeps away
    sight_sq: np.float32
    separation_sq: np.float32
    align: np.float32
    cohere: np.float32
    separate: np.float32
    inv_crowding: np.float32
    wander: np.float32
    roost: np.float32
    roost_radius: np.float32
    border: np.float32
    inv_margin: np.float32
    speed_min: np.float32
    speed_max: np.float32
    dt: np.float32
    width: np.float32
    height: np.float32
    wander_key_x: np.int32
    wander_key_y: np.int32
    sum_capacity: np.int32  # how many candidates a register's sums can count before they are settled


@implements(pairwise.copy_to_strip, FlockRules)
def copy_to_strip(rules: FlockRules, columns: FlockColumns, slots: Int, strip: Strip, at: Int) -> None:
    floats, ints = strip
    x, y = take(columns.x, slots), take(columns.y, slots)
    store(floats[0], at, x)
    store(floats[1], at, y)
    store(ints[0], at, counted(to_int(x * np.float32(FIXED))))
    store(ints[1], at, to_int(y * np.float32(FIXED)))
    store(ints[2], at, to_int(take(columns.vx, slots) * np.float32(FIXED)))
    store(ints[3], at, to_int(take(columns.vy, slots) * np.float32(FIXED)))


@implements(pairwise.read_columns, FlockRules)
def read_columns(rules: FlockRules, columns: FlockColumns, slot: Int) -> Seen:
    x, y = columns.x[slot], columns.y[slot]
    return (x, y, counted(to_int(x * np.float32(FIXED))), to_int(y * np.float32(FIXED)),
            to_int(columns.vx[slot] * np.float32(FIXED)), to_int(columns.vy[slot] * np.float32(FIXED)))


@implements(pairwise.read_strip, FlockRules)
def read_strip(rules: FlockRules, strip: Strip, at: Int) -> Seen:
    floats, ints = strip
    return floats[0, at], floats[1, at], ints[0, at], ints[1, at], ints[2, at], ints[3, at]


@implements(pairwise.load_register, FlockRules)
def load_register(rules: FlockRules, strip: Strip, at: Int) -> Seen:
    floats, ints = strip
    return (load(floats[0], at), load(floats[1], at), load(ints[0], at), load(ints[1], at),
            load(ints[2], at), load(ints[3], at))


# --- order-free sums over all neighbours -----------------------------------------------------------------------------

@implements(pairwise.no_sums, FlockRules)
def no_sums(rules: FlockRules, like: Float) -> Sums:
    none = no_sum(like)
    return nothing_counted(like), none, none, none, no_apart(rules.apart, like)


@implements(pairwise.accumulate, FlockRules)
def accumulate(rules: FlockRules, me: Seen, other: Seen, sums: Sums) -> Sums:
    x, y = me[0], me[1]
    ox, oy, px, py, vx, vy = other
    (sum_px, count, offset), sum_py, sum_vx, sum_vy, apart = sums
    dx, dy = ox - x, oy - y
    distance_sq = dx * dx + dy * dy
    followed = follows(rules.eyes, me, dx, dy, distance_sq, rules.sight_sq)
    near, none = distance_sq < rules.separation_sq, splat(np.int32(0), x)
    return ((sum_px + select(followed, splat(px, x), none), count, offset), sum_py + select(followed, splat(py, x), none),
            sum_vx + select(followed, splat(vx, x), none), sum_vy + select(followed, splat(vy, x), none),
            meet_close(rules.apart, near, dx, dy, distance_sq, px, py, apart))


@implements(pairwise.sum_capacity, FlockRules)
def sum_capacity(rules: FlockRules) -> Int:
    return np.int64(rules.sum_capacity)


@implements(pairwise.settle, FlockRules)
def settle(rules: FlockRules, me: Seen, sums: Sums) -> Sums:
    x, sum_py, sum_vx, sum_vy, apart = sums
    return settled(x, me[2]), sum_py, sum_vx, sum_vy, settle_apart(rules.apart, me[2], apart)


@implements(pairwise.finish, FlockRules)
def finish(rules: FlockRules, me: Seen, sums: Sums) -> tuple[Float, Float, Int]:
    x, _, px, py, vx, vy = me
    sum_px, sum_py, sum_vx, sum_vy, apart = sums
    _, count, offset_x = settled(sum_px, px)
    unit = np.float32(1 / FIXED)
    neighbours = wrap32(count) - splat(np.int32(rules.sight_sq > 0), x)  # without itself, followed if sight > 0
    some = neighbours > 0
    alone = splat(np.float32(0), x)
    inverse = splat(unit, x) / select(some, to_float(wrap32(neighbours)), splat(np.float32(1), x))
    uncrowded = np.float32(1) - to_float(wrap32(neighbours)) * rules.inv_crowding
    cohere = rules.cohere * select(uncrowded > np.float32(-1), uncrowded, splat(np.float32(-1), x))
    mean_x, mean_y = to_float(wrap32(offset_x)) * inverse, to_float(wrap32(sum_py - count * py)) * inverse
    match_x = to_float(wrap32(sum_vx - vx)) * inverse - to_float(vx) * unit
    match_y = to_float(wrap32(sum_vy - vy)) * inverse - to_float(vy) * unit
    flock_x, flock_y = rules.align * match_x + cohere * mean_x, rules.align * match_y + cohere * mean_y
    away_x, away_y = drive_apart(rules.apart, px, py, apart)
    return (select(some, flock_x, alone) + rules.separate * away_x, select(some, flock_y, alone) + rules.separate * away_y,
            wrap32(neighbours))


# --- one at a time ---------------------------------------------------------------------------------------------------

@implements(pairwise.perceive, FlockRules)
def perceive(rules: FlockRules, me: Seen, other: Seen) -> tuple[Mask, Float]:
    dx, dy = other[0] - me[0], other[1] - me[1]
    distance_sq = dx * dx + dy * dy
    return distance_sq < max(rules.sight_sq, rules.separation_sq), distance_sq
