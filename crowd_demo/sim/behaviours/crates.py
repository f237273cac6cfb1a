"""The crates: squares of many sizes that drift in whirling water and push each other apart: agents with extent (after Tay).

    reach       half_i + half_j + gap
    neighbours  j != i with max(|dx|, |dy|) < reach, where (dx, dy) = p_i - p_j
    apart       sum over neighbours of (reach - max(|dx|, |dy|)) * min(1, half_j / (2 half_i)), along the axis of the maximum
                and away from j, each term cut to 1/256
    wanted      water(p) + push * (apart + the part outside the world, inwards) + speed_max * forces
    v'          v + (wanted - v) * min(1, response * dt), its length at most speed_max
    p'          p + dt * v', sliding along walls

The smaller of two crates yields more. Sizes are drawn from half_min to half_max by the `rarity`-th power of a random number,
so large ones are rare. That matters for the structures: the cells of a grid must be as wide as two of the largest crates,
whereas the boxes of a tree fit the crates in them (docs/findings.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.simd import root, select, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import gather, pick
from crowd_demo.config.model import Config
from crowd_demo.sim.behaviours import steering
from crowd_demo.sim.behaviours.base import Behaviour
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Sums
from crowd_demo.sim.terrain.forces import pull
from crowd_demo.sim.terrain.ground import Ground
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.world import Needs, World

FIXED = 256  # steps of a unit in the sums


class CrateColumns(NamedTuple):
    """Columns of crates: those of a flock and how large each is."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    avoidance_x: Floats
    avoidance_y: Floats
    next_update: Ints
    half: Floats  # half a side, world units; never changes


class Crate(NamedTuple):
    """What others can observe of a crate."""

    x: Float
    y: Float
    half: Float
    lightness: Float  # the factor by which a neighbour's half side becomes the share of the overlap that a crate yields


class CrateRules(NamedTuple):
    """Constants of one step; lengths in world units, speeds in units/s."""

    gap: np.float32
    push: np.float32  # 1/s
    follow: np.float32  # min(1, response * dt)
    speed_max_sq: np.float32
    speed_max: np.float32
    flow_x: np.float32
    flow_y: np.float32
    turns_x: np.float32  # of a whirl, in a unit along x
    turns_y: np.float32
    dt: np.float32
    width: np.float32
    height: np.float32


# --- the interaction -------------------------------------------------------------------------------------------------

@implements(pairwise.observe, CrateRules)
def observe(rules: CrateRules, columns: CrateColumns, slots: Int) -> Crate:
    half = gather(columns.half, slots)
    return Crate(gather(columns.x, slots), gather(columns.y, slots), half, 0.5 / half)


@implements(pairwise.accumulate, CrateRules)
def accumulate(rules: CrateRules, me: Crate, other: Crate, sums: Sums) -> Sums:
    count, sum_x, sum_y = sums
    dx, dy = me.x - other.x, me.y - other.y
    length_x, length_y = abs(dx), abs(dy)
    sideways = length_x > length_y
    length = select(sideways, length_x, length_y)
    depth = me.half + (other.half + rules.gap) - length
    touching = depth > 0
    share = min(1, other.half * me.lightness)
    offset = select(sideways, dx, dy)
    term = to_int(select(touching, depth, 0) * share * FIXED)
    term = select(offset < 0, 0 - term, term)
    term = select(length > 0, term, 0)  # no direction at the same position, as for the agent itself
    return (count + select(touching, 1, 0), sum_x + select(sideways, term, 0), sum_y + select(sideways, 0, term))


@implements(pairwise.finish, CrateRules)
def finish(rules: CrateRules, me: Crate, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y = sums
    neighbours = wrap32(count) - 1  # without the agent itself
    return to_float(wrap32(sum_x)) * (1 / FIXED), to_float(wrap32(sum_y)) * (1 / FIXED), wrap32(neighbours)


@implements(pairwise.perceive, CrateRules)
def perceive(rules: CrateRules, me: Crate, other: Crate) -> tuple[Mask, Float]:
    length = max(abs(me.x - other.x), abs(me.y - other.y))
    apart = length - (me.half + (other.half + rules.gap))
    return apart < 0, apart


# --- move ------------------------------------------------------------------------------------------------------------

@formula
def _wave(turns: Float) -> Float:
    """Return the approximate sine of an angle in turns, at least 0: a parabola for each half."""
    z = (turns - to_float(to_int(turns))) * 2 - 1
    return 4 * z * (abs(z) - 1)


@formula
def _water(rules: CrateRules, x: Float, y: Float) -> tuple[Float, Float]:
    """Return the velocity of the water: neighbouring whirls turn in opposite directions; nothing flows out of the world."""
    across, down = x * rules.turns_x, y * rules.turns_y
    return rules.flow_x * (_wave(across) * _wave(down + 0.25)), rules.flow_y * (_wave(across + 0.25) * _wave(down))


@formula
def _outside(position: Float, half: Float, length: Float) -> Float:
    """Return how far a crate extends out of the world along one axis: positive at the near end, negative at the far one."""
    return max(0, half - position) - max(0, half - (length - position))


@implements(steering.steer, CrateRules)
def steer(rules: CrateRules, ground: Ground, columns: CrateColumns, at: Int, x: Float, y: Float, vx: Float,
          vy: Float) -> tuple[Float, Float]:
    half, avoidance_x, avoidance_y = pick(columns.half, at, x), pick(columns.avoidance_x, at, x), pick(columns.avoidance_y, at,
                                                                                                       x)
    water_x, water_y = _water(rules, x, y)
    wanted_x = water_x + rules.push * (avoidance_x + _outside(x, half, rules.width))
    wanted_y = water_y + rules.push * (avoidance_y + _outside(y, half, rules.height))
    if ground.forces.total > 0:
        pull_x, pull_y = pull(ground.forces, 0, ground.forces.total, x, y)
        wanted_x, wanted_y = wanted_x + rules.speed_max * pull_x, wanted_y + rules.speed_max * pull_y
    vx, vy = vx + (wanted_x - vx) * rules.follow, vy + (wanted_y - vy) * rules.follow
    speed_sq = vx * vx + vy * vy
    fast = speed_sq > rules.speed_max_sq
    scale = select(fast, rules.speed_max / root(select(fast, speed_sq, 1)), 1)
    return vx * scale, vy * scale


# --- the behaviour ---------------------------------------------------------------------------------------------------

class Crates(Behaviour):
    """The behaviour *crates* (the interface is in base.py)."""

    observed = "x", "y", "half"

    def __init__(self, config: Config) -> None:
        self.settings = settings = config.crates
        self._rules: CrateRules | None = None
        radius = 2 * settings.half_max + settings.gap
        self.needs = Needs(CrateColumns, radius, contact=settings.gap, band=radius,  # most crates reach only a part of it
                           top_speed=settings.speed_max)

    def spawn_columns(self, ids: Ints, x: Floats, y: Floats, seed: int, terrain: Terrain) -> dict[str, ArrayLike]:
        """Return the sizes of newcomers, which start at rest; by products alone: the same on every machine."""
        low, high = self.settings.half_min, self.settings.half_max
        chance = hashing.unit(ids, hashing.key(seed, 0, hashing.SIZE)).astype(np.float64)
        rare = np.ones_like(chance)
        for _ in range(self.settings.rarity):
            rare *= chance
        return {"half": low + (high - low) * rare}

    def bounds(self, terrain: Terrain) -> dict[str, tuple[float, float]]:
        return {"half": (self.settings.half_min, self.settings.half_max)}

    def rules(self, world: World) -> CrateRules:
        self._rules = self._rules or self._all_rules(world)
        return self._rules

    def _all_rules(self, world: World) -> CrateRules:
        settings, walls, f = self.settings, world.terrain.walls, np.float32
        width, height, speed_max = float(walls.width), float(walls.height), f(settings.speed_max)
        return CrateRules(
            gap=f(settings.gap), push=f(settings.repulsion), follow=f(min(1.0, settings.response * world.dt)),
            speed_max_sq=speed_max * speed_max, speed_max=speed_max,
            flow_x=f(settings.flow), flow_y=f(-settings.flow * height / width),
            turns_x=f(settings.whirls / (2 * width)), turns_y=f(settings.whirls / (2 * height)), dt=f(world.dt),
            width=walls.width, height=walls.height)
