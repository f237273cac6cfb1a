"""Push: people keep apart by the distance alone (docs/model.md, "The crowd").

    neighbours  j != i with d = |p_i - p_j| < radius
    push        sum over neighbours of (1 - d / radius)^2 * (p_i - p_j) / d, each term cut to 1/4096
"""

from __future__ import annotations

from crowd_demo.compute.arrays import Float, Int
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.simd import no_sum, root, select, to_float, to_int, wrap32
from crowd_demo.sim.behaviours.people_rules import PeopleRules
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Observed, Sums, observes

STEPS = 4096  # of 1, in the sums


@observes("x", "y")
class PushRules(PeopleRules):
    """The constants of people who keep apart by the distance alone."""


@implements(pairwise.no_sums, PushRules)
def no_sums(rules: PushRules, like: Float) -> Sums:
    none = no_sum(like)
    return none, none, none


@implements(pairwise.accumulate, PushRules)
def accumulate(rules: PushRules, me: Observed, other: Observed, sums: Sums) -> Sums:
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
def finish(rules: PushRules, me: Observed, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y = sums
    neighbours = wrap32(count) - select(rules.radius_sq > 0, 1, 0)  # without the agent itself
    return to_float(wrap32(sum_x)) * (1 / STEPS), to_float(wrap32(sum_y)) * (1 / STEPS), wrap32(neighbours)
