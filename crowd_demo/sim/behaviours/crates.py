"""The crates: squares of many sizes that drift in whirling water and push each other apart: agents with extent (after Tay).

    reach       half_i + half_j + gap
    neighbours  j != i with max(|dx|, |dy|) < reach, where (dx, dy) = p_i - p_j
    apart       sum over neighbours of (reach - max(|dx|, |dy|)) * min(1, half_j / (2 half_i)), along the axis of the maximum
                and away from j, each term cut to 1/256
    wanted      water(p) + push * (apart + the part outside the world, inwards)
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
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import no_sum, root, select, splat, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import load, pick, store, take
from crowd_demo.config.model import Config
from crowd_demo.sim.behaviours import steering
from crowd_demo.sim.behaviours.base import Behaviour
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Seen, Strip, Sums
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
    push_x: Floats
    push_y: Floats
    look_at: Ints
    half: Floats  # half a side, world units; never changes


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


# --- see -------------------------------------------------------------------------------------------------------------

@implements(pairwise.copy_to_strip, CrateRules)
def copy_to_strip(rules: CrateRules, columns: CrateColumns, slots: Int, strip: Strip, at: Int) -> None:
    floats, _ = strip
    half = take(columns.half, slots)
    store(floats[0], at, take(columns.x, slots))
    store(floats[1], at, take(columns.y, slots))
    store(floats[2], at, half)
    store(floats[3], at, np.float32(0.5) / half)


@implements(pairwise.read_columns, CrateRules)
def read_columns(rules: CrateRules, columns: CrateColumns, slot: Int) -> Seen:
    half = columns.half[slot]
    return columns.x[slot], columns.y[slot], half, np.float32(0.5) / half


@implements(pairwise.read_strip, CrateRules)
def read_strip(rules: CrateRules, strip: Strip, at: Int) -> Seen:
    floats, _ = strip
    return floats[0, at], floats[1, at], floats[2, at], floats[3, at]


@implements(pairwise.load_register, CrateRules)
def load_register(rules: CrateRules, strip: Strip, at: Int) -> Seen:
    floats, _ = strip
    return load(floats[0], at), load(floats[1], at), load(floats[2], at), load(floats[3], at)


@implements(pairwise.no_sums, CrateRules)
def no_sums(rules: CrateRules, like: Float) -> Sums:
    none = no_sum(like)
    return none, none, none


@implements(pairwise.accumulate, CrateRules)
def accumulate(rules: CrateRules, me: Seen, other: Seen, sums: Sums) -> Sums:
    x, y, half, lightness = me
    count, sum_x, sum_y = sums
    one, none = splat(np.int32(1), x), splat(np.int32(0), x)
    dx, dy = x - other[0], y - other[1]
    away_x, away_y = _length(dx), _length(dy)
    sideways = away_x > away_y
    away = select(sideways, away_x, away_y)
    depth = half + (other[2] + rules.gap) - away
    touching = depth > np.float32(0)
    share = other[2] * lightness
    share = select(share < np.float32(1), share, splat(np.float32(1), x))
    offset = select(sideways, dx, dy)
    term = to_int(select(touching, depth, splat(np.float32(0), x)) * share * np.float32(FIXED))
    term = select(offset < np.float32(0), none - term, term)
    term = select(away > np.float32(0), term, none)  # no direction at the same position, as for the agent itself
    return (count + select(touching, one, none), sum_x + select(sideways, term, none),
            sum_y + select(sideways, none, term))


@implements(pairwise.finish, CrateRules)
def finish(rules: CrateRules, me: Seen, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y = sums
    unit = np.float32(1 / FIXED)
    neighbours = wrap32(count) - splat(np.int32(1), me[0])  # without the agent itself
    return to_float(wrap32(sum_x)) * unit, to_float(wrap32(sum_y)) * unit, wrap32(neighbours)


@implements(pairwise.perceive, CrateRules)
def perceive(rules: CrateRules, me: Seen, other: Seen) -> tuple[Mask, Float]:
    away = max(_length(me[0] - other[0]), _length(me[1] - other[1]))
    apart = away - (me[2] + (other[2] + rules.gap))
    return apart < np.float32(0), apart


@device
def _length(value: Float) -> Float:
    return select(value > np.float32(0), value, np.float32(0) - value)


# --- move ------------------------------------------------------------------------------------------------------------

@device
def _wave(turns: Float) -> Float:
    """Approximate sine of an angle in turns, at least 0: a parabola for each half."""
    z = (turns - to_float(to_int(turns))) * np.float32(2) - np.float32(1)
    return np.float32(4) * z * (_length(z) - np.float32(1))


@device
def _water(rules: CrateRules, x: Float, y: Float) -> tuple[Float, Float]:
    """Velocity of the water: neighbouring whirls turn in opposite directions; nothing flows across the edge of the world."""
    across, down, quarter = x * rules.turns_x, y * rules.turns_y, np.float32(0.25)
    return (rules.flow_x * (_wave(across) * _wave(down + quarter)), rules.flow_y * (_wave(across + quarter) * _wave(down)))


@device
def _outside(position: Float, half: Float, length: Float) -> Float:
    """How far a crate extends out of the world along one axis: positive at the near end, negative at the far one."""
    zero = splat(np.float32(0), position)
    near, far = half - position, half - (length - position)
    return select(near > zero, near, zero) - select(far > zero, far, zero)


@implements(steering.steer, CrateRules)
def steer(rules: CrateRules, ground: Ground, columns: CrateColumns, at: Int, x: Float, y: Float, vx: Float,
          vy: Float) -> tuple[Float, Float]:
    half, push_x, push_y = pick(columns.half, at, x), pick(columns.push_x, at, x), pick(columns.push_y, at, x)
    water_x, water_y = _water(rules, x, y)
    wanted_x = water_x + rules.push * (push_x + _outside(x, half, rules.width))
    wanted_y = water_y + rules.push * (push_y + _outside(y, half, rules.height))
    vx, vy = vx + (wanted_x - vx) * rules.follow, vy + (wanted_y - vy) * rules.follow
    speed_sq = vx * vx + vy * vy
    fast, one = speed_sq > rules.speed_max_sq, splat(np.float32(1), x)
    scale = select(fast, rules.speed_max / root(select(fast, speed_sq, one)), one)
    return vx * scale, vy * scale


# --- the behaviour ---------------------------------------------------------------------------------------------------

class Crates(Behaviour):
    """The behaviour *crates* (the interface is in base.py)."""

    seen = ("x", "y", "half")

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
        width, height = float(walls.width), float(walls.height)
        return CrateRules(
            gap=f(settings.gap), push=f(settings.push), follow=f(min(1.0, settings.response * world.dt)),
            speed_max_sq=f(settings.speed_max) * f(settings.speed_max), speed_max=f(settings.speed_max),
            flow_x=f(settings.flow), flow_y=f(-settings.flow * height / width),
            turns_x=f(settings.whirls / (2 * width)), turns_y=f(settings.whirls / (2 * height)), dt=f(world.dt),
            width=walls.width, height=walls.height)
