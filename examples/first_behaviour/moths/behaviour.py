"""Moths: each flies around the lamp that is nearest, at one speed, and keeps clear of others."""

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.simd import root, select, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import pick
from crowd_demo.sim.behaviours import steering
from crowd_demo.sim.behaviours.base import Behaviour
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.store.state import MovingColumns
from crowd_demo.sim.world import Needs

# --- rules -----------------------------------------------------------------------------------------------------------

class MothRules(NamedTuple):
    radius_sq: np.float32
    lamps: np.float32
    inv_lamps: np.float32
    pull: np.float32
    separate: np.float32
    speed: np.float32
    dt: np.float32


# --- neighbours ------------------------------------------------------------------------------------------------------

@implements(pairwise.accumulate, MothRules)
def accumulate(rules, me, other, sums):
    count, sum_x, sum_y = sums
    dx, dy = me.x - other.x, me.y - other.y
    near = dx * dx + dy * dy < rules.radius_sq
    return (count + select(near, 1, 0), sum_x + select(near, to_int(dx * 256), 0), sum_y + select(near, to_int(dy * 256), 0))


@implements(pairwise.finish, MothRules)
def finish(rules, me, sums):
    neighbours = wrap32(sums[0]) - select(rules.radius_sq > 0, 1, 0)  # a moth has met itself too
    return to_float(wrap32(sums[1])) * (1 / 256), to_float(wrap32(sums[2])) * (1 / 256), wrap32(neighbours)


@implements(pairwise.perceive, MothRules)
def perceive(rules, me, other):
    dx, dy = me.x - other.x, me.y - other.y
    distance_sq = dx * dx + dy * dy
    return distance_sq < rules.radius_sq, distance_sq


# --- flight ----------------------------------------------------------------------------------------------------------

@implements(steering.steer, MothRules)
def steer(rules, ground, columns, at, x, y, vx, vy):
    to_x = (to_float(to_int(x * rules.inv_lamps)) + 0.5) * rules.lamps - x  # to the middle of a square, where a lamp is
    to_y = (to_float(to_int(y * rules.inv_lamps)) + 0.5) * rules.lamps - y
    avoidance_x, avoidance_y = pick(columns.avoidance_x, at, x), pick(columns.avoidance_y, at, x)
    vx = vx + rules.dt * (rules.pull * (to_x - 0.5 * to_y) + rules.separate * avoidance_x)
    vy = vy + rules.dt * (rules.pull * (to_y + 0.5 * to_x) + rules.separate * avoidance_y)
    speed_sq = vx * vx + vy * vy
    scale = rules.speed / root(select(speed_sq > 1e-6, speed_sq, 1))
    return vx * scale, vy * scale


# --- behaviour -------------------------------------------------------------------------------------------------------

class Moths(Behaviour):
    def __init__(self, config):
        self.settings = config.behaviour_settings
        radius = self.settings.radius
        self.needs = Needs(MovingColumns, radius, contact=radius, band=8 * radius, top_speed=self.settings.speed)

    def rules(self, world):
        s, f = self.settings, np.float32
        return MothRules(radius_sq=f(s.radius) * f(s.radius), lamps=f(s.lamps), inv_lamps=f(1 / s.lamps), pull=f(s.pull),
                         separate=f(s.separate), speed=f(s.speed), dt=f(world.dt))
