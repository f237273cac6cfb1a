"""The third model of avoidance: people slow down by the room ahead (docs/model.md, "Slowing down").

    ways      where one is going, and that turned by `swerve` to the left and to the right
    in a way  j is ahead, less than `in_way` beside it, and goes more or less the same way
    room      of a way: the least distance along it to who is in it, less `standing`; at most wanted = speed * headway_s
    swerve    to the way with more room: the more room that gains, the farther
    pace      room / wanted, at least `creep`: what part of its speed one walks at

Whoever comes towards one or crosses at more than 75 degrees is stepped aside for, as in `anticipate`, and never slowed
down for: two streams that wait for each other never start again. The room is a minimum of values made pair by pair, so it
is the same in any order.

Sources: speed by the gap ahead, Tordeux, Chraibi and Seyfried 2016 (collision-free speed model); turning to where there is
room, Moussaïd, Helbing and Theraulaz 2011.
"""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.compute.arrays import Float, Int, Mask
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.simd import any_set, no_sum, root, select, splat, to_float, wrap32
from crowd_demo.compute.simd_memory import gather
from crowd_demo.sim.behaviours.avoidance import STEPS, add_near, observe_walker, others, turned
from crowd_demo.sim.behaviours.people_rules import PeopleColumns, PeopleRules
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Sums

FAR = 1e6  # units: the distance to somebody in a way where nobody is
WISH = 0.1  # of the preferred velocity is added to the velocity, so that who stands still has a way, too
SAME_WAY = 0.25  # least cosine between one's way and the heading of who is slowed down for


class PacedWalker(NamedTuple):
    """What others can observe of a person: a `Walker`, and the preferred speed."""

    x: Float
    y: Float
    vx: Float
    vy: Float
    ahead_x: Float
    ahead_y: Float
    speed: Float


class SlowDownRules(PeopleRules):
    """The constants of people who look ahead and slow down."""


@implements(pairwise.observe, SlowDownRules)
def observe(rules: SlowDownRules, columns: PeopleColumns, slots: Int) -> PacedWalker:
    walker = observe_walker(rules, columns, slots)
    return PacedWalker(walker.x, walker.y, walker.vx, walker.vy, walker.ahead_x, walker.ahead_y, gather(columns.speed, slots))


@implements(pairwise.no_sums, SlowDownRules)
def no_sums(rules: SlowDownRules, like: Float) -> Sums:
    none, far = no_sum(like), splat(FAR, like)
    return none, none, none, none, far, far, far


@formula
def _way(me: PacedWalker) -> tuple[Float, Float]:
    """Return where somebody is going, a vector of length 1; (0, 0) for who neither moves nor wants to."""
    x, y = me.vx + WISH * me.speed * me.ahead_x, me.vy + WISH * me.speed * me.ahead_y
    scale = 1 / root(x * x + y * y + 1e-6)
    return x * scale, y * scale


@formula
def _nearest_in_way(rules: SlowDownRules, same_way: Mask, along: Float, across: Float, nearest: Float) -> Float:
    """Return the least distance along a way to who is in it, with one more person `along` ahead and `across` beside it."""
    return select(same_way & (along > 0) & (across * across < rules.in_way_sq), min(nearest, along), nearest)


@implements(pairwise.accumulate, SlowDownRules)
def accumulate(rules: SlowDownRules, me: PacedWalker, other: PacedWalker, sums: Sums) -> Sums:
    dx, dy = other.x - me.x, other.y - me.y
    distance_sq = dx * dx + dy * dy
    within_reach = distance_sq < rules.radius_sq
    if any_set(within_reach):
        count, sum_x, sum_y, turn, straight, left, right = sums
        near = count, sum_x, sum_y, turn
        count, sum_x, sum_y, turn = add_near(rules, rules.slow_aside, me, other, dx, dy, distance_sq, near)
        x, y = _way(me)
        same_way = within_reach & (other.ahead_x * x + other.ahead_y * y > SAME_WAY)
        along, across = dx * x + dy * y, dx * y - dy * x
        straight = _nearest_in_way(rules, same_way, along, across, straight)
        along_c, across_s = along * rules.swerve_cos, across * rules.swerve_sin
        across_c, along_s = across * rules.swerve_cos, along * rules.swerve_sin
        left = _nearest_in_way(rules, same_way, along_c + across_s, across_c - along_s, left)
        right = _nearest_in_way(rules, same_way, along_c - across_s, across_c + along_s, right)
        sums = count, sum_x, sum_y, turn, straight, left, right
    return sums


@formula
def _swerved(rules: SlowDownRules, x: Float, y: Float, part: Float, to_right: Mask) -> tuple[Float, Float]:
    """Return a vector turned to the right or to the left by a part, 0 to 1, of the angle `swerve`."""
    sin = select(to_right, rules.swerve_sin, -rules.swerve_sin) * part
    cos = 1 - (1 - rules.swerve_cos) * part
    scale = 1 / root(cos * cos + sin * sin)
    return (x * cos - y * sin) * scale, (y * cos + x * sin) * scale


@implements(pairwise.finish, SlowDownRules)
def finish(rules: SlowDownRules, me: PacedWalker, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y, turn, straight, left, right = sums
    x, y = turned(me, turn)
    wanted = me.speed * rules.headway
    room, best = min(straight - rules.standing, wanted), min(max(left, right) - rules.standing, wanted)
    part = max(0, min(1, (best * rules.swerve_cos - room) / max(rules.swerve_ramp * wanted, 1e-6)))
    x, y = _swerved(rules, x, y, part, right > left)
    room = room + rules.swerve_gain * part * (best - room)
    walks = me.ahead_x * me.ahead_x + me.ahead_y * me.ahead_y > 0
    pace = select(walks, max(rules.creep, min(1, room / max(wanted, 1e-6))), 1)
    share = rules.away * (1 / STEPS)
    x, y = (x + to_float(wrap32(sum_x)) * share) * pace, (y + to_float(wrap32(sum_y)) * share) * pace
    length = root(x * x + y * y)
    cut = select(walks & (length > pace), pace / max(length, 1e-6), 1)
    return x * cut - me.ahead_x, y * cut - me.ahead_y, others(rules, count)
