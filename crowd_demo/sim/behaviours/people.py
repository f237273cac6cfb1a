"""The crowd (seed 000's rules): walk to a goal, wait there, choose another; keep clear of others; wiggle when stuck.

    neighbours  j != i with d = |p_i - p_j| < radius
    avoidance   sum over neighbours of (1 - d / radius)^2 * (p_i - p_j) / d, each term cut to 1/4096
    wanted      way * speed + push * speed * avoidance (+ wiggle), its length at most cap * speed
    v'          v + (wanted - v) * min(1, response * dt)
    p'          p + dt * v', sliding along walls

WALKING becomes WAITING within `arrive` of the goal, and STUCK after `stuck_s` seconds with less than a quarter of the
progress its speed would give; WAITING ends after `wait_s` with a new goal; STUCK ends as progress returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crowd_demo.compute import hashing as noise
from crowd_demo.compute.dispatch import of
from crowd_demo.compute.jit import Call, device, kernel, prange
from crowd_demo.compute.simd import load, no_sum, root, select, splat, store, take, to_float, to_int, wrap32
from crowd_demo.sim.behaviours.walking import walk_lanes, walk_scalar
from crowd_demo.sim.neighbours.schedule import BAND_RADII, due_by_id
from crowd_demo.sim.store.agents import WAITING, CrowdColumns
from crowd_demo.sim.terrain.flow_fields import heading
from crowd_demo.sim.terrain.line_of_sight import sees

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.sim.simulation import Simulation, Stages

WIGGLE_STEPS = 30  # a stuck agent keeps to one direction for so many steps
FIXED = 4096  # steps of 1 in the sums of avoidance


class CrowdRules(NamedTuple):
    """Constants of one step; lengths in world units, times in seconds."""

    radius_sq: np.float32
    inv_radius: np.float32
    push: np.float32
    wiggle: np.float32
    cap: np.float32
    stuck_cap: np.float32
    arrive_sq: np.float32
    wait: np.float32
    patience: np.float32
    follow: np.float32  # min(1, response * dt)
    dt: np.float32
    goal_key: np.int32
    wiggle_key_x: np.int32
    wiggle_key_y: np.int32


class Places(NamedTuple):
    """The destinations; float32[D] each."""

    x: Any
    y: Any
    spread: Any


# --- see -------------------------------------------------------------------------------------------------------------

@of(CrowdRules)
def copy_in(rules: Any, columns: Any, slots: Any, strip: Any, at: Any) -> None:
    floats, _ = strip
    store(floats[0], at, take(columns.x, slots))
    store(floats[1], at, take(columns.y, slots))


@of(CrowdRules)
def from_columns(rules: Any, columns: Any, slot: Any) -> Any:
    return columns.x[slot], columns.y[slot]


@of(CrowdRules)
def from_strip(rules: Any, strip: Any, at: Any) -> Any:
    return strip[0][0, at], strip[0][1, at]


@of(CrowdRules)
def register(rules: Any, strip: Any, at: Any) -> Any:
    return load(strip[0][0], at), load(strip[0][1], at)


@of(CrowdRules)
def nobody(rules: Any, like: Any) -> Any:
    none = no_sum(like)
    return none, none, none


@of(CrowdRules)
def meet(rules: Any, me: Any, other: Any, sums: Any) -> Any:
    x, y = me
    count, sum_x, sum_y = sums
    dx, dy = x - other[0], y - other[1]
    distance_sq = dx * dx + dy * dy
    seen = distance_sq < rules.radius_sq
    apart = seen & (distance_sq > np.float32(0))  # on one spot there is no direction to go
    distance = root(select(apart, distance_sq, splat(np.float32(1), x)))
    near = np.float32(1) - distance * rules.inv_radius
    weight = near * near / distance * np.float32(FIXED)
    none = splat(np.int32(0), x)
    return (count + select(seen, splat(np.int32(1), x), none),
            sum_x + select(apart, to_int(weight * dx), none), sum_y + select(apart, to_int(weight * dy), none))


@of(CrowdRules)
def answer(rules: Any, me: Any, sums: Any) -> Any:
    count, sum_x, sum_y = sums
    unit = np.float32(1 / FIXED)
    neighbours = wrap32(count) - splat(np.int32(rules.radius_sq > 0), me[0])  # oneself is seen too, if anybody is
    return to_float(wrap32(sum_x)) * unit, to_float(wrap32(sum_y)) * unit, wrap32(neighbours)


@of(CrowdRules)
def perceive(rules: Any, me: Any, other: Any) -> Any:
    dx, dy = other[0] - me[0], other[1] - me[1]
    distance_sq = dx * dx + dy * dy
    return distance_sq < rules.radius_sq, distance_sq


# --- sight and paths -------------------------------------------------------------------------------------------------

@device
def _check_sight(worker: int, workers: int, columns: Any, agents: int, walls: Any, any_solid: bool, tick: int,
                 period: int) -> None:
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        if due_by_id(columns.id[slot], tick, period) and columns.state[slot] != WAITING:
            clear = True
            if any_solid:
                clear = sees(walls, columns.x[slot], columns.y[slot], columns.goal_x[slot], columns.goal_y[slot])
            columns.sees[slot] = np.int32(clear)


@kernel
def check_sight(workers: int, columns: Any, agents: int, walls: Any, any_solid: bool, tick: int, period: int) -> None:
    """Who is due finds out whether its goal is in sight."""
    for worker in prange(workers):
        _check_sight(worker, workers, columns, agents, walls, any_solid, tick, period)


@device
def _find_way(worker: int, workers: int, columns: Any, agents: int, walls: Any, fields: Any, tick: int, period: int) -> None:
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        if due_by_id(columns.id[slot], tick, period):
            x, y = columns.x[slot], columns.y[slot]
            if columns.sees[slot]:
                dx, dy = columns.goal_x[slot] - x, columns.goal_y[slot] - y
                length = root(dx * dx + dy * dy)
                if length > np.float32(0):
                    columns.way_x[slot], columns.way_y[slot] = dx / length, dy / length
            else:
                columns.way_x[slot], columns.way_y[slot] = heading(fields, walls, columns.goal[slot], x, y)


@kernel
def find_way(workers: int, columns: Any, agents: int, walls: Any, fields: Any, tick: int, period: int) -> None:
    """Who is due takes a new heading: straight at a goal in sight, else along the flow field."""
    for worker in prange(workers):
        _find_way(worker, workers, columns, agents, walls, fields, tick, period)


# --- the behaviour ---------------------------------------------------------------------------------------------------

class Crowd:
    """What `Simulation` asks of a behaviour: its columns, how agents are born, and its part of a step."""

    columns = CrowdColumns
    USES_PATHS = True
    SEEN = ("x", "y")  # columns that others read

    def __init__(self, config: Config) -> None:
        self.config = config
        self.settings = config.crowd
        self.radius = self.contact = self.settings.radius
        self.band = BAND_RADII * self.radius
        self.body, self.margin, self.destinations = self.settings.body, 0.0, self.settings.destinations
        self.top_speed = self.settings.speed_max * max(self.settings.cap, self.settings.stuck_cap)

    def born(self, ids: Any, x: Any, y: Any, seed: int, terrain: Any) -> dict[str, Any]:
        """Columns of newcomers beside their place: a speed, and a goal chosen at their first step."""
        low, high = self.settings.speed_min, self.settings.speed_max
        speed = low + (high - low) * noise.unit(ids, noise.key(seed, 0, noise.SPEED)).astype(np.float64)
        goal = noise.scramble(ids.astype(np.uint32)) % np.uint32(max(len(terrain.destinations), 1))
        return {"speed": speed, "goal": goal.astype(np.int32), "state": WAITING}

    def rules(self, sim: Simulation) -> CrowdRules:
        settings, f = self.settings, np.float32
        wiggle = noise.key(self.config.seed, sim.tick // WIGGLE_STEPS, noise.WIGGLE)
        return CrowdRules(
            radius_sq=f(settings.radius) ** 2, inv_radius=f(1 / settings.radius if settings.radius > 0 else 0),
            push=f(settings.push), wiggle=f(settings.wiggle), cap=f(settings.cap), stuck_cap=f(settings.stuck_cap),
            arrive_sq=f(settings.arrive) ** 2, wait=f(settings.wait_s), patience=f(settings.stuck_s),
            follow=f(min(1.0, settings.response * sim.dt)), dt=f(sim.dt),
            goal_key=noise.key(self.config.seed, sim.tick, noise.GOAL), wiggle_key_x=wiggle,
            wiggle_key_y=noise.next_key(wiggle))

    def act(self, sim: Simulation, rules: CrowdRules) -> Stages:
        agents, ground, walls, stagger = sim.agents, sim.ground, sim.terrain.walls, sim.optimizations.stagger
        shared = agents.columns, agents.count
        yield "sight", (Call(check_sight, (sim.workers, *shared, walls, ground.any_solid, sim.tick, stagger.sight)),)
        yield "paths", (Call(find_way, (sim.workers, *shared, walls, sim.fields.fields, sim.tick, stagger.paths)),)
        walk, workers = (walk_lanes, sim.light_workers) if sim.optimizations.simd else (walk_scalar, sim.workers)
        yield "move", (Call(walk, (workers, *shared, rules, sim.places, ground, sim.farthest_sq)),)


def places_of(terrain: Any, spread: float) -> Places:
    """The destinations of a terrain as columns; `spread` is that of places which no map marks."""
    table = np.array([(d.x, d.y, spread if terrain.drawn else d.spread) for d in terrain.destinations], np.float32)
    table = table.reshape(-1, 3)
    return Places(*(np.ascontiguousarray(column) for column in table.T))
