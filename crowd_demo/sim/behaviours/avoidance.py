"""Three models of avoidance (docs/model_people.md, "Avoidance").

    neighbours  j != i with d = |p_i - p_j| < radius
    push        sum over neighbours of (1 - d / radius)^2 * (p_i - p_j) / d, each term cut to 1/4096

    anticipate  that push, weaker, and `aside`
    meet        t = when i and j are nearest if both walk on, within `ahead_s`; m = where j is then, seen from i
    aside       sum over those with |m| < gap of (1 - t / ahead_s) * (1 - |m| / gap)^2 * (which side of the way m is on, a bit
                to the left where it is straight ahead): how far to turn from the heading; those behind count little

The turn keeps the length of the wanted velocity, so people go around each other instead of slowing down. Sums are integers.

    slow_down   that, and a slower pace where there is little room ahead
    ways        where one is going, and that turned by `swerve` to the left and to the right
    in a way    j is ahead, less than `in_way` beside it, and goes more or less the same way
    room        of a way: the least distance along it to who is in it, less `standing`; at most wanted = speed * headway_s
    swerve      to the way with more room: the more room that gains, the farther
    pace        room / wanted, at least `creep`: what part of its speed one walks at

Whoever comes towards one or crosses at more than 75 degrees is stepped aside for, as in `anticipate`, and never
slowed down for: two streams that wait for each other never start again. The room is a minimum of values made pair by
pair, so it is the same in any order.

Sources: nearest approach, Karamouzas and others 2009 ("A predictive collision avoidance model"); a signed sideways
push by the predicted side, Xu and others 2021 (anticipation velocity model); speed by the gap ahead, Tordeux, Chraibi
and Seyfried 2016 (collision-free speed model); turning to where there is room, Moussaïd, Helbing and Theraulaz 2011.
"""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.compute.arrays import Float, Int, Mask
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.simd import any_set, no_sum, root, select, splat, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import gather
from crowd_demo.sim.behaviours.people_rules import PeopleColumns, PeopleRules, stands
from crowd_demo.sim.interaction import pairwise, strips
from crowd_demo.sim.interaction.pairwise import Observed, Position, Strip, Sums
from crowd_demo.sim.interaction.strips import InteractionInput, accumulate_near

STEPS = 4096  # of 1, in the sums
SOFT_SQ = 16.0  # units^2: the side is half taken at 2.3 units from straight ahead
LEFT = 0.2  # part of a step aside that goes to the left (y grows downwards), whatever the side
SHARPEST = 1.0  # turn, as a part of straight on: at most 45 degrees
FAR = 1e6  # units: the distance to somebody in a way where nobody is
WISH = 0.1  # of the preferred velocity is added to the velocity, so that who stands still has a way, too
SAME_WAY = 0.25  # least cosine between one's way and the heading of who is slowed down for


@formula
def others(rules: PeopleRules, count: Int) -> Int:
    """Return the number of neighbours: a count of all within reach, without the agent itself."""
    return wrap32(wrap32(count) - select(rules.radius_sq > 0, 1, 0))


# --- push: by the distance alone -------------------------------------------------------------------------------------

class PushRules(PeopleRules):
    """The constants of people who keep apart by the distance alone."""


@implements(pairwise.accumulate, PushRules)
def accumulate_push(rules: PushRules, me: Position, other: Position, sums: Sums) -> Sums:
    count, sum_x, sum_y = sums
    dx, dy = me.x - other.x, me.y - other.y
    distance_sq = dx * dx + dy * dy
    within_reach = distance_sq < rules.radius_sq
    apart = within_reach & (distance_sq > 0)  # at the same position there is no direction
    distance = root(select(apart, distance_sq, 1))
    near = 1 - distance * rules.inv_radius
    weight = near * near / distance * STEPS
    return (count + select(within_reach, 1, 0),
            sum_x + select(apart, to_int(weight * dx), 0), sum_y + select(apart, to_int(weight * dy), 0))


@implements(pairwise.finish, PushRules)
def finish_push(rules: PushRules, me: Position, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y = sums
    return to_float(wrap32(sum_x)) * (1 / STEPS), to_float(wrap32(sum_y)) * (1 / STEPS), others(rules, count)


# --- anticipate: stepping aside in time for whom one would meet ------------------------------------------------------

class Walker(NamedTuple):
    """What others can observe of a person: where they are, how they move, and their heading; (0, 0) of those who stand."""

    x: Float
    y: Float
    vx: Float
    vy: Float
    ahead_x: Float
    ahead_y: Float


class AnticipateRules(PeopleRules):
    """The constants of people who look ahead."""


@implements(pairwise.observe, AnticipateRules)
@formula
def observe_walker(rules: PeopleRules, columns: PeopleColumns, slots: Int) -> Walker:
    still = stands(gather(columns.state, slots))
    return Walker(gather(columns.x, slots), gather(columns.y, slots), gather(columns.vx, slots), gather(columns.vy, slots),
                  select(still, 0, gather(columns.heading_x, slots)), select(still, 0, gather(columns.heading_y, slots)))


@implements(pairwise.no_sums, AnticipateRules)
def no_sums(rules: AnticipateRules, like: Float) -> Sums:
    none = no_sum(like)
    return none, none, none, none


@formula
def _aside(rules: PeopleRules, strongest: Float, me: Observed, other: Observed, apart: Mask, dx: Float, dy: Float,
           view: Float) -> tuple[Float, Mask]:
    """Return the turn for one other person in 1/4096, above 0 to the right, and whether the two would meet."""
    closing_x, closing_y = me.vx - other.vx, me.vy - other.vy
    time = (dx * closing_x + dy * closing_y) / (closing_x * closing_x + closing_y * closing_y + 1)
    soon = apart & (time > 0) & (time < rules.ahead)
    then_x, then_y = dx - closing_x * time, dy - closing_y * time
    miss_sq = then_x * then_x + then_y * then_y
    meets = soon & (miss_sq < rules.gap_sq)
    miss_sq = select(meets, miss_sq, 0)
    close = 1 - root(miss_sq) * rules.inv_gap
    strength = strongest * (1 - select(meets, time, 0) * rules.inv_ahead) * (close * close) * view
    right = select(meets, then_y * me.ahead_x - then_x * me.ahead_y, 0) / root(miss_sq + SOFT_SQ)
    return strength * (right + LEFT) * -STEPS, meets


@formula
def add_near(rules: PeopleRules, aside: Float, me: Observed, other: Observed, dx: Float, dy: Float, distance_sq: Float,
             sums: Sums) -> Sums:
    """Return `sums` with one more person added; `aside` is the strongest turn for that person."""
    count, sum_x, sum_y, turn = sums
    within_reach = distance_sq < rules.radius_sq
    apart = within_reach & (distance_sq > 0)
    distance = root(select(apart, distance_sq, 1))
    front = (dx * me.ahead_x + dy * me.ahead_y) / distance  # 1 straight ahead, -1 straight behind
    view = rules.behind + (1 - rules.behind) * (0.5 + 0.5 * front)
    near = 1 - distance * rules.inv_radius
    weight = near * near / distance * -STEPS
    term, meets = _aside(rules, aside, me, other, apart, dx, dy, view)
    return (count + select(within_reach, 1, 0), sum_x + select(apart, to_int(weight * dx), 0),
            sum_y + select(apart, to_int(weight * dy), 0), turn + select(meets, to_int(term), 0))


@formula
def turned(me: Observed, turn: Int) -> tuple[Float, Float]:
    """Return the heading turned by the sum of what asks to step aside, at most 45 degrees; (0, 0) of those who stand."""
    side = to_float(wrap32(turn)) * (1 / STEPS)
    side = select(side > SHARPEST, SHARPEST, select(side < -SHARPEST, -SHARPEST, side))
    scale = 1 / root(1 + side * side)
    return (me.ahead_x - me.ahead_y * side) * scale, (me.ahead_y + me.ahead_x * side) * scale


@implements(pairwise.accumulate, AnticipateRules)
def accumulate(rules: AnticipateRules, me: Walker, other: Walker, sums: Sums) -> Sums:
    dx, dy = other.x - me.x, other.y - me.y
    distance_sq = dx * dx + dy * dy
    if any_set(distance_sq < rules.radius_sq):
        sums = add_near(rules, rules.aside, me, other, dx, dy, distance_sq, sums)
    return sums


@implements(pairwise.finish, AnticipateRules)
def finish(rules: AnticipateRules, me: Walker, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y, turn = sums
    turned_x, turned_y = turned(me, turn)
    share = rules.away * (1 / STEPS)
    return (to_float(wrap32(sum_x)) * share + (turned_x - me.ahead_x),
            to_float(wrap32(sum_y)) * share + (turned_y - me.ahead_y), others(rules, count))


# --- slow_down: a pace by the room ahead -----------------------------------------------------------------------------

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


@implements(strips.add_up, AnticipateRules, SlowDownRules)
def add_up(rules: PeopleRules, given: InteractionInput, me: Observed, strip: Strip, first: int, last: int, sums: Sums,
           left: int) -> tuple[Sums, int]:
    return accumulate_near(given, me, strip, first, last, sums), left


@implements(pairwise.observe, SlowDownRules)
def observe_paced(rules: SlowDownRules, columns: PeopleColumns, slots: Int) -> PacedWalker:
    walker = observe_walker(rules, columns, slots)
    return PacedWalker(walker.x, walker.y, walker.vx, walker.vy, walker.ahead_x, walker.ahead_y, gather(columns.speed, slots))


@implements(pairwise.no_sums, SlowDownRules)
def no_sums_paced(rules: SlowDownRules, like: Float) -> Sums:
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


@formula
def _passed_by(rules: SlowDownRules, me: PacedWalker, other: PacedWalker, dx: Float, dy: Float, distance_sq: Float,
               sums: Sums) -> Sums:
    """Return `sums` without the part of the push that is against one's heading, of somebody who comes towards one."""
    if rules.pass_by > 0:
        count, sum_x, sum_y, turn = sums
        facing, ahead = other.ahead_x * me.ahead_x + other.ahead_y * me.ahead_y, dx * me.ahead_x + dy * me.ahead_y
        comes = (distance_sq < rules.radius_sq) & (facing < -SAME_WAY) & (ahead > 0)
        distance = root(select((distance_sq < rules.radius_sq) & (distance_sq > 0), distance_sq, 1))  # as in `add_near`
        near = 1 - distance * rules.inv_radius
        back = near * near / distance * ahead * (rules.pass_by * STEPS)
        sums = (count, sum_x + select(comes, to_int(back * me.ahead_x), 0),
                sum_y + select(comes, to_int(back * me.ahead_y), 0), turn)
    return sums


@implements(pairwise.accumulate, SlowDownRules)
def accumulate_paced(rules: SlowDownRules, me: PacedWalker, other: PacedWalker, sums: Sums) -> Sums:
    dx, dy = other.x - me.x, other.y - me.y
    distance_sq = dx * dx + dy * dy
    within_reach = distance_sq < rules.radius_sq
    if any_set(within_reach):
        count, sum_x, sum_y, turn, straight, left, right = sums
        near = add_near(rules, rules.slow_aside, me, other, dx, dy, distance_sq, (count, sum_x, sum_y, turn))
        count, sum_x, sum_y, turn = _passed_by(rules, me, other, dx, dy, distance_sq, near)
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
def finish_paced(rules: SlowDownRules, me: PacedWalker, sums: Sums) -> tuple[Float, Float, Int]:
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
