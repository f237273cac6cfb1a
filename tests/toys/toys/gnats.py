"""A behaviour that others observe as a plain tuple, whose fields have no names."""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.simd import no_sum, select, splat, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import gather, pick
from crowd_demo.sim.behaviours import steering
from crowd_demo.sim.behaviours.base import Behaviour
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.store.state import MovingColumns
from crowd_demo.sim.world import Needs
from toys import mishaps


class GnatRules(NamedTuple):
    """Gnats fly as their neighbours with lower ids do, and a little to the right."""

    radius_sq: np.float32
    dt: np.float32


@implements(pairwise.observe, GnatRules)
def observe(rules, columns, slots):
    x, y, vx = gather(columns.x, slots), gather(columns.y, slots), gather(columns.vx, slots)
    return x, y, to_int(vx * 256), gather(columns.id, slots)


@implements(pairwise.no_sums, GnatRules)
def no_sums(rules, like):
    return no_sum(like), no_sum(like)


@implements(pairwise.accumulate, GnatRules)
def accumulate(rules, me, other, sums):
    dx, dy = me[0] - other[0], me[1] - other[1]
    near = (dx * dx + dy * dy < rules.radius_sq) & (other[3] < me[3])
    return sums[0] + select(near, 1, 0), sums[1] + select(near, other[2], 0)


@implements(pairwise.finish, GnatRules)
def finish(rules, me, sums):
    return to_float(wrap32(sums[1] - sums[0] * me[2])) * (1 / 256), splat(0.0, me[0]), wrap32(sums[0])


@implements(pairwise.perceive, GnatRules)
def perceive(rules, me, other):
    dx, dy = me[0] - other[0], me[1] - other[1]
    distance_sq = dx * dx + dy * dy
    return (distance_sq < rules.radius_sq) & (other[3] < me[3]), distance_sq


@implements(steering.steer, GnatRules)
def steer(rules, ground, columns, at, x, y, vx, vy):
    identity = to_float(pick(columns.id, at, x))
    return vx + rules.dt * (pick(columns.avoidance_x, at, x) + 1 - identity * 0.01), vy


class Gnats(Behaviour):
    def __init__(self, config):
        self.radius = config.behaviour_settings.radius
        self.needs = Needs(MovingColumns, self.radius, contact=self.radius, band=8 * self.radius, top_speed=100.0)

    def rules(self, world):
        dt = mishaps.wrong[1] if mishaps.wrong[0] == "dt" else world.dt
        return GnatRules(np.float32(self.radius) * np.float32(self.radius), np.float32(dt))
