"""The flock (rules of Ihaa21's SIMD boids): align, cohere, separate, wander, turn back at edges and walls, limit the speed.

    neighbours  j != i with |p_j - p_i|^2 < sight^2, not in the blind angle; close ones with |p_j - p_i|^2 < separation^2
    push        align * (mean v_j - v_i) + cohere * (1 - n / crowding) * (mean p_j - p_i) + separate * apart
    apart       sum over the close ones of (p_i - p_j) * (separation / |p_i - p_j| - 1); or of (p_i - p_j) alone
    v'          v + dt * (push + wander + border + forces), its length clamped to [speed_min, speed_max]
    p'          p + dt * v', sliding along walls

Cohesion changes its sign beyond `crowding` neighbours, which keeps a flock loose however long it runs.
"""

from __future__ import annotations

from typing import TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Doubles, Float, Floats, Int, Ints
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.packed import sum_capacity
from crowd_demo.compute.simd import chance, root, select
from crowd_demo.compute.simd_memory import gather, pick
from crowd_demo.config.behaviours import FlockSettings
from crowd_demo.config.model import Config
from crowd_demo.sim.behaviours import steering
from crowd_demo.sim.behaviours.base import Behaviour
from crowd_demo.sim.behaviours.flock_field import FieldGrid
from crowd_demo.sim.behaviours.flock_rules import (
    FIXED,
    AheadOnly,
    AllAround,
    ByContact,
    ByOffset,
    FlockRules,
    NearestRules,
)
from crowd_demo.sim.neighbours.schedule import BAND_RADII
from crowd_demo.sim.store.state import Columns, MovingColumns
from crowd_demo.sim.terrain.forces import pull
from crowd_demo.sim.terrain.ground import Ground, tile_of
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.world import Needs, World

NIMBLE = 2  # 1/s: a force of 1 turns a bird as fast as if that changed its speed by twice the top speed a second

# --- move ------------------------------------------------------------------------------------------------------------

@formula
def _edge(position: Float, length: Float, rules: FlockRules) -> Float:
    """Return the strength of turning back: 1 at the near end of the world, -1 at the far one, 0 a margin away from both."""
    return max(0, 1 - position * rules.inv_margin) - max(0, 1 - (length - position) * rules.inv_margin)


@formula
def _home(x: Float, y: Float, rules: FlockRules) -> tuple[Float, Float]:
    """Return the pull back to the roost: 0 within it, and beyond it in proportion to the distance from its edge."""
    if rules.roost == 0:
        return 0, 0
    out_x, out_y = x - rules.width * 0.5, y - rules.height * 0.5
    radius_sq = max(1e-12, rules.roost_radius * rules.roost_radius)
    outside = 1 - rules.roost_radius / root(max(radius_sq, out_x * out_x + out_y * out_y))
    pull = rules.roost * outside
    return pull * out_x, pull * out_y


@formula
def urge(rules: FlockRules, ground: Ground, columns: Columns, at: Int, x: Float, y: Float) -> tuple[Float, Float]:
    """Return the acceleration that a bird, or each of sixteen from slot `at` on, wants."""
    identity, avoidance_x, avoidance_y = pick(columns.id, at, x), pick(columns.avoidance_x, at, x), pick(columns.avoidance_y,
                                                                                                         at, x)
    turn_x, turn_y = _edge(x, rules.width, rules), _edge(y, rules.height, rules)
    if ground.any_solid:
        tile = tile_of(ground, x, y)
        turn_x, turn_y = turn_x + gather(ground.away_x, tile), turn_y + gather(ground.away_y, tile)
    home_x, home_y = _home(x, y, rules)
    ax = avoidance_x + rules.wander * chance(identity, rules.wander_key_x) + rules.border * turn_x - home_x
    ay = avoidance_y + rules.wander * chance(identity, rules.wander_key_y) + rules.border * turn_y - home_y
    if ground.forces.total > 0:
        pull_x, pull_y = pull(ground.forces, 0, ground.forces.total, x, y)
        ax, ay = ax + NIMBLE * rules.speed_max * pull_x, ay + NIMBLE * rules.speed_max * pull_y
    return ax, ay


@formula
def limited(vx: Float, vy: Float, low: Float, high: Float) -> tuple[Float, Float]:
    """Return the velocity with its length cut to [low, high]; a velocity of 0 stays."""
    speed_sq = vx * vx + vy * vy
    speed = root(select(speed_sq > 1e-12, speed_sq, 1))
    wanted = select(speed < low, low, speed)
    scale = select(wanted > high, high, wanted) / speed
    return vx * scale, vy * scale


@implements(steering.steer, FlockRules)
def steer(rules: FlockRules, ground: Ground, columns: Columns, at: Int, x: Float, y: Float, vx: Float,
          vy: Float) -> tuple[Float, Float]:
    ax, ay = urge(rules, ground, columns, at, x, y)
    return limited(vx + rules.dt * ax, vy + rules.dt * ay, rules.speed_min, rules.speed_max)


# --- the behaviour ---------------------------------------------------------------------------------------------------

class Flock(Behaviour):
    """The behaviour *flock* (the interface is in base.py)."""

    observed: tuple[str, ...] = "x", "y", "vx", "vy"

    def __init__(self, config: Config) -> None:
        self.seed = config.seed
        self.settings = settings = cast(FlockSettings, config.behaviour_settings)
        self._rules: FlockRules | None = None
        radius = max(settings.sight, settings.separation)
        nearest = settings.follow_nearest if settings.follow == "nearest" else 0
        self.needs = Needs(MovingColumns, radius, radius, BAND_RADII * radius, settings.speed_max, margin=settings.margin,
                           nearest=nearest)
        self.structures = {} if nearest else {"field": FieldGrid}
        self.on_gpu = type(self) is Flock

    def spawn_columns(self, ids: Ints, x: Floats, y: Floats, seed: int, terrain: Terrain) -> dict[str, ArrayLike]:
        """Return the velocities of newcomers: a random speed along a smooth wind field, up to an eighth of a turn off."""
        low, high = self.settings.speed_min, self.settings.speed_max
        speed = low + (high - low) * hashing.unit(ids, hashing.key(seed, 0, hashing.SPEED)).astype(np.float64)
        whirl = max(float(terrain.walls.width), float(terrain.walls.height)) / 2
        across, down = x.astype(np.float64) / whirl, y.astype(np.float64) / whirl
        wind = cosine(across + 0.3 * cosine(down)) + cosine(down * 1.3 - across * 0.4 + 0.2)  # in half turns
        turn = wind / 2 + (hashing.unit(ids, hashing.key(seed, 0, hashing.HEADING)).astype(np.float64) - 0.5) / 4
        return {"vx": cosine(turn) * speed, "vy": cosine(turn - 0.25) * speed}

    def rules(self, world: World) -> object:
        return self.flock_rules(world)

    def flock_rules(self, world: World) -> FlockRules:
        self._rules = self._rules or self._first_rules(world)
        key = hashing.key(self.seed, world.tick, hashing.WANDER)
        return self._rules._replace(wander_key_x=key, wander_key_y=hashing.next_key(key))

    def _first_rules(self, world: World) -> FlockRules:
        settings, walls, f = self.settings, world.terrain.walls, np.float32
        sight, separation = f(settings.sight), f(settings.separation)
        farthest = max(settings.sight, settings.separation) * FIXED * 1.001 + 2  # of whom it heeds, positions rounded
        kind, half = NearestRules if self.needs.nearest else FlockRules, cosine(settings.blind / 720)
        return kind(
            eyes=AheadOnly(f(half * half)) if settings.blind > 0 else AllAround(),
            apart=ByContact(f(settings.separation * FIXED)) if settings.separate_by == "contact" else ByOffset(),
            sight_sq=sight * sight, separation_sq=separation * separation, align=f(settings.align),
            cohere=f(settings.cohere), separate=f(settings.separate), inv_crowding=f(1 / settings.crowding),
            wander=f(settings.wander), roost=f(settings.roost), roost_radius=f(settings.roost_radius),
            border=f(settings.border if settings.margin > 0 else 0),
            inv_margin=f(1 / settings.margin if settings.margin > 0 else 0), speed_min=f(settings.speed_min),
            speed_max=f(settings.speed_max), dt=f(world.dt), width=walls.width, height=walls.height,
            wander_key_x=np.int32(0), wander_key_y=np.int32(0), sum_capacity=np.int32(sum_capacity(farthest)))


Turns = TypeVar("Turns", float, Doubles)


def cosine(turns: Turns) -> Turns:
    """Return the cosine of angles in turns, from multiplications and additions alone: the same bits on every machine."""
    x = abs(turns - np.round(turns)) * 4 - 1  # -1 at the peak, 1 at the trough
    return -x * (1.5706268 - x * x * (0.6432292 - x * x * 0.0727102))
