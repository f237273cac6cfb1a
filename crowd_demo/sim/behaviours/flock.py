"""The flock (seed 004's rules): align, cohere, separate, wander, turn back at edges and walls, keep to a range of speed.

    neighbours  j != i with |p_j - p_i|^2 < sight^2; close ones with |p_j - p_i|^2 < separation^2
    push        align * (mean v_j - v_i) + cohere * (1 - n / crowding) * (mean p_j - p_i) + separate * sum of (p_i - p_j)
    v'          v + dt * (push + wander + border), its length clamped to [speed_min, speed_max]
    p'          p + dt * v', sliding along walls

Cohesion changes its sign beyond `crowding` neighbours, which keeps a flock loose however long it runs. Positions and
velocities enter the sums in fixed point (1/256), so the order of the neighbours cannot change a bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crowd_demo.compute import hashing as noise
from crowd_demo.compute.dispatch import of
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import (
    chance,
    gather,
    load,
    no_sum,
    pick,
    root,
    select,
    splat,
    store,
    take,
    to_float,
    to_int,
    wrap32,
)
from crowd_demo.sim.behaviours.steering import glide
from crowd_demo.sim.neighbours.schedule import BAND_RADII
from crowd_demo.sim.store.agents import FlockColumns
from crowd_demo.sim.terrain.ground import tile_of

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.sim.simulation import Simulation, Stages

FIXED = 256  # steps of a unit in the sums


class FlockRules(NamedTuple):
    """Constants of one step; weights in 1/s and 1/s^2, lengths in world units."""

    sight_sq: np.float32
    separation_sq: np.float32
    align: np.float32
    cohere: np.float32
    separate: np.float32
    inv_crowding: np.float32
    wander: np.float32
    border: np.float32
    inv_margin: np.float32
    speed_min: np.float32
    speed_max: np.float32
    dt: np.float32
    width: np.float32
    height: np.float32
    wander_key_x: np.int32
    wander_key_y: np.int32


# --- see -------------------------------------------------------------------------------------------------------------

@of(FlockRules)
def copy_in(rules: Any, columns: Any, slots: Any, strip: Any, at: Any) -> None:
    floats, ints = strip
    x, y = take(columns.x, slots), take(columns.y, slots)
    store(floats[0], at, x)
    store(floats[1], at, y)
    store(ints[0], at, to_int(x * np.float32(FIXED)))
    store(ints[1], at, to_int(y * np.float32(FIXED)))
    store(ints[2], at, to_int(take(columns.vx, slots) * np.float32(FIXED)))
    store(ints[3], at, to_int(take(columns.vy, slots) * np.float32(FIXED)))


@of(FlockRules)
def from_columns(rules: Any, columns: Any, slot: Any) -> Any:
    x, y = columns.x[slot], columns.y[slot]
    return (x, y, to_int(x * np.float32(FIXED)), to_int(y * np.float32(FIXED)),
            to_int(columns.vx[slot] * np.float32(FIXED)), to_int(columns.vy[slot] * np.float32(FIXED)))


@of(FlockRules)
def from_strip(rules: Any, strip: Any, at: Any) -> Any:
    floats, ints = strip
    return floats[0, at], floats[1, at], ints[0, at], ints[1, at], ints[2, at], ints[3, at]


@of(FlockRules)
def register(rules: Any, strip: Any, at: Any) -> Any:
    floats, ints = strip
    return (load(floats[0], at), load(floats[1], at), load(ints[0], at), load(ints[1], at),
            load(ints[2], at), load(ints[3], at))


@of(FlockRules)
def nobody(rules: Any, like: Any) -> Any:
    none = no_sum(like)
    return none, none, none, none, none, none, none, none


@of(FlockRules)
def meet(rules: Any, me: Any, other: Any, sums: Any) -> Any:
    x, y = me[0], me[1]
    ox, oy, px, py, vx, vy = other
    count, close, sum_px, sum_py, sum_vx, sum_vy, close_px, close_py = sums
    dx, dy = ox - x, oy - y
    distance_sq = dx * dx + dy * dy
    seen, near = distance_sq < rules.sight_sq, distance_sq < rules.separation_sq
    one, none = splat(np.int32(1), x), splat(np.int32(0), x)
    wide_px, wide_py = splat(px, x), splat(py, x)
    return (count + select(seen, one, none), close + select(near, one, none),
            sum_px + select(seen, wide_px, none), sum_py + select(seen, wide_py, none),
            sum_vx + select(seen, splat(vx, x), none), sum_vy + select(seen, splat(vy, x), none),
            close_px + select(near, wide_px, none), close_py + select(near, wide_py, none))


@of(FlockRules)
def answer(rules: Any, me: Any, sums: Any) -> Any:
    x, _, px, py, vx, vy = me
    count, close, sum_px, sum_py, sum_vx, sum_vy, close_px, close_py = sums
    unit = np.float32(1 / FIXED)
    neighbours = wrap32(count) - splat(np.int32(rules.sight_sq > 0), x)  # oneself is seen too, if anybody is
    some = neighbours > 0
    alone = splat(np.float32(0), x)
    inverse = splat(unit, x) / select(some, to_float(wrap32(neighbours)), splat(np.float32(1), x))
    room = np.float32(1) - to_float(wrap32(neighbours)) * rules.inv_crowding
    cohere = rules.cohere * select(room > np.float32(-1), room, splat(np.float32(-1), x))
    mean_x, mean_y = _mean(sum_px, count, px, inverse), _mean(sum_py, count, py, inverse)
    match_x = to_float(wrap32(sum_vx - vx)) * inverse - to_float(vx) * unit
    match_y = to_float(wrap32(sum_vy - vy)) * inverse - to_float(vy) * unit
    apart_x = to_float(wrap32(close * px - close_px)) * unit
    apart_y = to_float(wrap32(close * py - close_py)) * unit
    push_x = rules.align * match_x + cohere * mean_x + rules.separate * apart_x
    push_y = rules.align * match_y + cohere * mean_y + rules.separate * apart_y
    return select(some, push_x, alone), select(some, push_y, alone), wrap32(neighbours)


@of(FlockRules)
def perceive(rules: Any, me: Any, other: Any) -> Any:
    dx, dy = other[0] - me[0], other[1] - me[1]
    distance_sq = dx * dx + dy * dy
    return distance_sq < max(rules.sight_sq, rules.separation_sq), distance_sq


@device
def _mean(total: Any, count: Any, own: Any, inverse: Any) -> Any:
    """Mean offset of the neighbours; modulo 2**32 oneself drops out."""
    return to_float(wrap32(total - count * own)) * inverse


# --- act -------------------------------------------------------------------------------------------------------------

@device
def _edge(position: Any, length: Any, rules: Any) -> Any:
    """How hard to turn back: 0 a margin away from both ends of the world, 1 at the near end, -1 at the far one."""
    zero = splat(np.float32(0), position)
    low = np.float32(1) - position * rules.inv_margin
    high = np.float32(1) - (length - position) * rules.inv_margin
    return select(low > zero, low, zero) - select(high > zero, high, zero)


@of(FlockRules)
def steer(rules: Any, ground: Any, columns: Any, at: Any, x: Any, y: Any, vx: Any, vy: Any) -> Any:
    identity, push_x, push_y = pick(columns.id, at, x), pick(columns.push_x, at, x), pick(columns.push_y, at, x)
    turn_x, turn_y = _edge(x, rules.width, rules), _edge(y, rules.height, rules)
    if ground.any_solid:
        tile = tile_of(ground, x, y)
        turn_x, turn_y = turn_x + gather(ground.away_x, tile), turn_y + gather(ground.away_y, tile)
    ax = push_x + rules.wander * chance(identity, rules.wander_key_x) + rules.border * turn_x
    ay = push_y + rules.wander * chance(identity, rules.wander_key_y) + rules.border * turn_y
    vx, vy = vx + rules.dt * ax, vy + rules.dt * ay
    speed_sq = vx * vx + vy * vy
    moving = speed_sq > np.float32(1e-12)
    speed = root(select(moving, speed_sq, splat(np.float32(1), x)))
    wanted = select(speed < rules.speed_min, splat(rules.speed_min, x), speed)
    wanted = select(wanted > rules.speed_max, splat(rules.speed_max, x), wanted)
    scale = wanted / speed
    return vx * scale, vy * scale


# --- the behaviour ---------------------------------------------------------------------------------------------------

class Flock:
    """What `Simulation` asks of a behaviour: its columns, how agents are born, and its part of a step."""

    columns = FlockColumns
    USES_PATHS = False
    SEEN = ("x", "y", "vx", "vy")  # columns that others read

    def __init__(self, config: Config) -> None:
        self.config = config
        self.settings = config.flock
        self.radius = self.contact = max(self.settings.sight, self.settings.separation)
        self.band = BAND_RADII * self.radius
        self.top_speed = self.settings.speed_max
        self.body, self.margin, self.destinations = 0.0, self.settings.margin, 0

    def born(self, ids: Any, x: Any, y: Any, seed: int, terrain: Any) -> dict[str, Any]:
        """Velocities of newcomers: a random speed, in a wind that whirls over the world, give or take an eighth of a turn."""
        low, high = self.settings.speed_min, self.settings.speed_max
        speed = low + (high - low) * noise.unit(ids, noise.key(seed, 0, noise.SPEED)).astype(np.float64)
        whirl = max(float(terrain.walls.width), float(terrain.walls.height)) / 2
        across, down = x.astype(np.float64) / whirl, y.astype(np.float64) / whirl
        wind = cosine(across + 0.3 * cosine(down)) + cosine(down * 1.3 - across * 0.4 + 0.2)  # in half turns
        turn = wind / 2 + (noise.unit(ids, noise.key(seed, 0, noise.HEADING)).astype(np.float64) - 0.5) / 4
        return {"vx": cosine(turn) * speed, "vy": cosine(turn - 0.25) * speed}

    def rules(self, sim: Simulation) -> FlockRules:
        settings, f = self.settings, np.float32
        key = noise.key(self.config.seed, sim.tick, noise.WANDER)
        return FlockRules(
            sight_sq=f(settings.sight) ** 2, separation_sq=f(settings.separation) ** 2, align=f(settings.align),
            cohere=f(settings.cohere), separate=f(settings.separate), inv_crowding=f(1 / settings.crowding),
            wander=f(settings.wander), border=f(settings.border if settings.margin > 0 else 0),
            inv_margin=f(1 / settings.margin if settings.margin > 0 else 0), speed_min=f(settings.speed_min),
            speed_max=f(settings.speed_max), dt=f(sim.dt), width=sim.terrain.walls.width,
            height=sim.terrain.walls.height, wander_key_x=key, wander_key_y=noise.next_key(key))

    def act(self, sim: Simulation, rules: FlockRules) -> Stages:
        return glide(sim, rules)


def cosine(turns: Any) -> Any:
    """Cosine of so many turns, by plain multiplications and additions: every machine starts with the same flock."""
    x = np.abs(turns - np.round(turns)) * 4 - 1  # -1 at the peak, 1 at the trough
    return -x * (1.5706268 - x * x * (0.6432292 - x * x * 0.0727102))
