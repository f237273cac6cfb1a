"""A behaviour written by hand: what others observe is a tuple, which four functions carry."""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.simd import no_sum, select, splat, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import load, pick, store, take
from crowd_demo.sim.behaviours import steering
from crowd_demo.sim.behaviours.base import Behaviour
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.store.columns import MovingColumns
from crowd_demo.sim.world import Needs


class GnatRules(NamedTuple):
    """Gnats fly as their neighbours with lower ids do, and a little to the right."""

    radius_sq: np.float32
    dt: np.float32


@implements(pairwise.copy_to_strip, GnatRules)
def copy_to_strip(rules, columns, slots, strip, at):
    floats, ints = strip
    store(floats[0], at, take(columns.x, slots))
    store(floats[1], at, take(columns.y, slots))
    store(ints[0], at, to_int(take(columns.vx, slots) * np.float32(256)))
    store(ints[1], at, take(columns.id, slots))


@implements(pairwise.read_columns, GnatRules)
def read_columns(rules, columns, slot):
    return columns.x[slot], columns.y[slot], to_int(columns.vx[slot] * np.float32(256)), columns.id[slot]


@implements(pairwise.read_strip, GnatRules)
def read_strip(rules, strip, at):
    floats, ints = strip
    return floats[0, at], floats[1, at], ints[0, at], ints[1, at]


@implements(pairwise.load_register, GnatRules)
def load_register(rules, strip, at):
    floats, ints = strip
    return load(floats[0], at), load(floats[1], at), load(ints[0], at), load(ints[1], at)


@implements(pairwise.no_sums, GnatRules)
def no_sums(rules, like):
    return no_sum(like), no_sum(like)


@implements(pairwise.accumulate, GnatRules)
def accumulate(rules, me, other, sums):
    dx, dy = me[0] - other[0], me[1] - other[1]
    near = (dx * dx + dy * dy < rules.radius_sq) & (other[3] < me[3])
    none = splat(np.int32(0), me[0])
    return sums[0] + select(near, splat(np.int32(1), me[0]), none), sums[1] + select(near, splat(other[2], me[0]), none)


@implements(pairwise.finish, GnatRules)
def finish(rules, me, sums):
    return to_float(wrap32(sums[1] - sums[0] * me[2])) * np.float32(1 / 256), splat(np.float32(0), me[0]), wrap32(sums[0])


@implements(pairwise.perceive, GnatRules)
def perceive(rules, me, other):
    dx, dy = me[0] - other[0], me[1] - other[1]
    distance_sq = dx * dx + dy * dy
    return (distance_sq < rules.radius_sq) & (other[3] < me[3]), distance_sq


@implements(steering.steer, GnatRules)
def steer(rules, ground, columns, at, x, y, vx, vy):
    identity = to_float(pick(columns.id, at, x))
    return vx + rules.dt * (pick(columns.avoidance_x, at, x) + np.float32(1) - identity * np.float32(0.01)), vy


class Gnats(Behaviour):
    def __init__(self, config):
        self.radius = config.behaviour_settings.radius
        self.needs = Needs(MovingColumns, self.radius, contact=self.radius, band=8 * self.radius, top_speed=100.0)

    def rules(self, world):
        return GnatRules(np.float32(self.radius) * np.float32(self.radius), np.float32(world.dt))
