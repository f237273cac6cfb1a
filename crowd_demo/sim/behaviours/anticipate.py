"""Looking ahead: people step aside in time for whom they would meet (docs/model.md, "Looking ahead").

    away     as `push`, weaker
    meet     t = when i and j are nearest if both walk on, within `ahead_s`; m = where j is then, seen from i
    aside    sum over those with |m| < gap of (1 - t / ahead_s) * (1 - |m| / gap)^2 * (which side of the way m is on, a bit
             to the right where it is straight ahead): how far to turn from the heading; those behind count little

The turn keeps the length of the wanted velocity, so people go around each other instead of slowing down. Sums are integers.

Sources: nearest approach, Karamouzas and others 2009 ("A predictive collision avoidance model"); a signed sideways push by the
predicted side, Xu and others 2021 (anticipation velocity model).
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Float, Int, Mask
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import any_set, no_sum, root, select, splat, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import load, store, take
from crowd_demo.sim.behaviours.people_columns import PeopleColumns, stands
from crowd_demo.sim.behaviours.walking import PeopleRules
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Seen, Strip, Sums

FIXED = 4096  # steps of 1 in the sums
SOFT_SQ = 16.0  # units^2: the side is half taken at 2.3 units from straight ahead
RIGHT = 0.2  # part of a step aside that goes to the right, whatever the side
SHARPEST = 1.0  # turn, as a part of straight on: at most 45 degrees


class AnticipateRules(PeopleRules):
    """The same constants; this type chooses the functions below."""


@implements(pairwise.copy_to_strip, AnticipateRules)
def copy_to_strip(rules: AnticipateRules, columns: PeopleColumns, slots: Int, strip: Strip, at: int) -> None:
    floats, _ = strip
    store(floats[0], at, take(columns.x, slots))
    store(floats[1], at, take(columns.y, slots))
    store(floats[2], at, take(columns.vx, slots))
    store(floats[3], at, take(columns.vy, slots))
    waits, heading_x = stands(take(columns.state, slots)), take(columns.heading_x, slots)
    none = splat(np.float32(0), heading_x)
    store(floats[4], at, select(waits, none, heading_x))
    store(floats[5], at, select(waits, none, take(columns.heading_y, slots)))


@implements(pairwise.read_columns, AnticipateRules)
def read_columns(rules: AnticipateRules, columns: PeopleColumns, slot: Int) -> Seen:
    waits, none = stands(columns.state[slot]), np.float32(0)
    return (columns.x[slot], columns.y[slot], columns.vx[slot], columns.vy[slot],
            select(waits, none, columns.heading_x[slot]), select(waits, none, columns.heading_y[slot]))


@implements(pairwise.read_strip, AnticipateRules)
def read_strip(rules: AnticipateRules, strip: Strip, at: Int) -> Seen:
    floats, _ = strip
    return floats[0, at], floats[1, at], floats[2, at], floats[3, at], floats[4, at], floats[5, at]


@implements(pairwise.load_register, AnticipateRules)
def load_register(rules: AnticipateRules, strip: Strip, at: Int) -> Seen:
    floats, _ = strip
    return (load(floats[0], at), load(floats[1], at), load(floats[2], at), load(floats[3], at), load(floats[4], at),
            load(floats[5], at))


@implements(pairwise.no_sums, AnticipateRules)
def no_sums(rules: AnticipateRules, like: Float) -> Sums:
    none = no_sum(like)
    return none, none, none, none


@device
def _aside(rules: AnticipateRules, apart: Mask, dx: Float, dy: Float, closing_x: Float, closing_y: Float, ahead_x: Float,
           ahead_y: Float, view: Float) -> tuple[Float, Mask]:
    """Return (how far to turn for one other, to the right, in steps; whether they would meet)."""
    one, none = np.float32(1), splat(np.float32(0), dx)
    time = (dx * closing_x + dy * closing_y) / (closing_x * closing_x + closing_y * closing_y + one)
    soon = apart & (time > np.float32(0)) & (time < rules.ahead)
    then_x, then_y = dx - closing_x * time, dy - closing_y * time
    miss_sq = then_x * then_x + then_y * then_y
    meets = soon & (miss_sq < rules.gap_sq)
    miss_sq = select(meets, miss_sq, none)
    close = one - root(miss_sq) * rules.inv_gap
    strength = rules.aside * (one - select(meets, time, none) * rules.inv_ahead) * (close * close) * view
    right = select(meets, then_y * ahead_x - then_x * ahead_y, none) / root(miss_sq + np.float32(SOFT_SQ))
    return strength * (right + np.float32(RIGHT)) * np.float32(-FIXED), meets


@implements(pairwise.accumulate, AnticipateRules)
def accumulate(rules: AnticipateRules, me: Seen, other: Seen, sums: Sums) -> Sums:
    x, y, vx, vy, ahead_x, ahead_y = me
    count, sum_x, sum_y, turn = sums
    dx, dy = other[0] - x, other[1] - y
    distance_sq = dx * dx + dy * dy
    seen = distance_sq < rules.radius_sq
    if any_set(seen):
        one, none = np.float32(1), splat(np.int32(0), x)
        apart = seen & (distance_sq > np.float32(0))
        distance = root(select(apart, distance_sq, splat(one, x)))
        front = (dx * ahead_x + dy * ahead_y) / distance  # 1 straight ahead, -1 straight behind
        view = rules.behind + (one - rules.behind) * (np.float32(0.5) + np.float32(0.5) * front)
        near = one - distance * rules.inv_radius
        weight = near * near / distance * np.float32(-FIXED)
        count = count + select(seen, splat(np.int32(1), x), none)
        sum_x = sum_x + select(apart, to_int(weight * dx), none)
        sum_y = sum_y + select(apart, to_int(weight * dy), none)
        term, meets = _aside(rules, apart, dx, dy, vx - other[2], vy - other[3], ahead_x, ahead_y, view)
        turn = turn + select(meets, to_int(term), none)
    return count, sum_x, sum_y, turn


@implements(pairwise.finish, AnticipateRules)
def finish(rules: AnticipateRules, me: Seen, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y, turn = sums
    ahead_x, ahead_y = me[4], me[5]
    unit, most = np.float32(1 / FIXED), np.float32(SHARPEST)
    side = to_float(wrap32(turn)) * unit
    side = select(side > most, splat(most, side), select(side < -most, splat(-most, side), side))
    scale = np.float32(1) / root(np.float32(1) + side * side)
    turned_x, turned_y = (ahead_x - ahead_y * side) * scale, (ahead_y + ahead_x * side) * scale
    neighbours = wrap32(count) - splat(np.int32(rules.radius_sq > 0), me[0])  # without itself, seen if radius > 0
    share = rules.away * unit
    return (to_float(wrap32(sum_x)) * share + (turned_x - ahead_x), to_float(wrap32(sum_y)) * share + (turned_y - ahead_y),
            wrap32(neighbours))


@implements(pairwise.perceive, AnticipateRules)
def perceive(rules: AnticipateRules, me: Seen, other: Seen) -> tuple[Mask, Float]:
    dx, dy = other[0] - me[0], other[1] - me[1]
    distance_sq = dx * dx + dy * dy
    return distance_sq < rules.radius_sq, distance_sq
