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
from numba.extending import overload

from ..jit import Call, device, kernel, prange
from . import noise, see
from .agents import STUCK, WAITING, WALKING, CrowdColumns
from .lanes import (
    LANES,
    Lanes,
    bits_xor,
    chance,
    count_set,
    lane_numbers,
    load,
    root,
    scramble,
    select,
    splat,
    store,
    take,
    to_float,
    to_int,
    wrap32,
)
from .motion import is_solid, longer, slide
from .paths import heading
from .sight import sees
from .stagger import due_by_id

if TYPE_CHECKING:
    from ..config.model import Config
    from .step import Simulation, Stages

WIGGLE_STEPS = 30  # a stuck agent keeps to one direction for so many steps
FIXED = 4096  # steps of 1 in the sums of avoidance
SLOW = 0.25  # of the preferred speed towards the goal: below that an agent counts as held up
NEARLY = 4.0  # times `arrive`: who is stuck that close has arrived, the place is taken


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


def _is_crowd(rules: Any) -> bool:
    return getattr(rules, "instance_class", None) is CrowdRules


# --- see -------------------------------------------------------------------------------------------------------------

@overload(see.copy_in)
def _copy_in(rules, columns, slots, strip, at):
    if not _is_crowd(rules):
        return None

    def code(rules, columns, slots, strip, at):
        floats, _ = strip
        store(floats[0], at, take(columns.x, slots))
        store(floats[1], at, take(columns.y, slots))
    return code


@overload(see.from_columns)
def _from_columns(rules, columns, slot):
    return (lambda rules, columns, slot: (columns.x[slot], columns.y[slot])) if _is_crowd(rules) else None


@overload(see.from_strip)
def _from_strip(rules, strip, at):
    return (lambda rules, strip, at: (strip[0][0, at], strip[0][1, at])) if _is_crowd(rules) else None


@overload(see.register)
def _register(rules, strip, at):
    return (lambda rules, strip, at: (load(strip[0][0], at), load(strip[0][1], at))) if _is_crowd(rules) else None


@overload(see.nobody)
def _nobody(rules, like):
    if not _is_crowd(rules):
        return None
    if isinstance(like, Lanes):
        def code(rules, like):
            none = splat(np.int32(0), like)
            return none, none, none
    else:
        def code(rules, like):
            return np.int64(0), np.int64(0), np.int64(0)
    return code


@overload(see.meet)
def _meet(rules, me, other, sums):
    if not _is_crowd(rules):
        return None

    def code(rules, me, other, sums):
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
    return code


@overload(see.answer)
def _answer(rules, me, sums):
    if not _is_crowd(rules):
        return None

    def code(rules, me, sums):
        count, sum_x, sum_y = sums
        unit = np.float32(1 / FIXED)
        neighbours = wrap32(count) - splat(np.int32(rules.radius_sq > 0), me[0])  # oneself is seen too, if anybody is
        return to_float(wrap32(sum_x)) * unit, to_float(wrap32(sum_y)) * unit, wrap32(neighbours)
    return code


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


# --- act -------------------------------------------------------------------------------------------------------------

@device
def choose_goal(columns: Any, slot: int, places: Any, ground: Any, key: Any) -> None:
    """Another destination, and a free place somewhere in its square."""
    count = places.x.shape[0]
    if count == 0:
        return
    identity = columns.id[slot]
    draw = np.uint32(scramble(bits_xor(identity, key)))
    goal = (columns.goal[slot] + 1 + draw % np.uint32(max(count - 1, 1))) % count
    x, y = places.x[goal], places.y[goal]
    key = scramble(key)
    place_x = x + places.spread[goal] * chance(identity, key)
    place_y = y + places.spread[goal] * chance(identity, scramble(key))
    inside = 0 <= place_x <= ground.limit_x and 0 <= place_y <= ground.limit_y
    if inside and not is_solid(ground, place_x, place_y):
        x, y = place_x, place_y
    columns.goal[slot], columns.goal_x[slot], columns.goal_y[slot] = goal, x, y
    columns.sees[slot] = 0


class Walker(NamedTuple):
    """One agent, or sixteen: what `stride` reads."""

    id: Any
    x: Any
    y: Any
    vx: Any
    vy: Any
    push_x: Any
    push_y: Any
    speed: Any
    goal_x: Any
    goal_y: Any
    way_x: Any
    way_y: Any
    state: Any
    timer: Any


@device
def _leaves(state: Any, timer: Any, rules: Any) -> Any:
    """Who has waited long enough."""
    return (state == WAITING) & (timer - rules.dt <= np.float32(0))


@device
def _next_state(a: Any, rules: Any, leaves: Any) -> Any:
    """(state, timer) before the move: who has waited long enough sets out, who is there waits."""
    waiting, walking = splat(np.int32(WAITING), a.x), splat(np.int32(WALKING), a.x)
    dx, dy = a.goal_x - a.x, a.goal_y - a.y
    near_sq = select(a.state == STUCK, splat(rules.arrive_sq * np.float32(NEARLY * NEARLY), a.x), splat(rules.arrive_sq, a.x))
    arrives = (a.state != WAITING) & (dx * dx + dy * dy < near_sq)
    timer = select(a.state == WAITING, a.timer - rules.dt, a.timer)
    timer = select(arrives, splat(rules.wait, a.x), select(leaves, splat(np.float32(0), a.x), timer))
    return select(arrives, waiting, select(leaves, walking, a.state)), timer


@device
def _wanted(a: Any, rules: Any, state: Any) -> Any:
    """The velocity an agent would like to have."""
    walks, stuck = state != WAITING, state == STUCK
    x, y = rules.push * a.push_x, rules.push * a.push_y
    x, y = select(walks, x + a.way_x, x) * a.speed, select(walks, y + a.way_y, y) * a.speed
    x = select(stuck, x + rules.wiggle * chance(a.id, rules.wiggle_key_x), x)
    y = select(stuck, y + rules.wiggle * chance(a.id, rules.wiggle_key_y), y)
    limit = a.speed * select(stuck, splat(rules.stuck_cap, x), splat(rules.cap, x))
    length = root(x * x + y * y)
    return select(length > limit, x * (limit / length), x), select(length > limit, y * (limit / length), y)


@device
def _progress(a: Any, rules: Any, state: Any, timer: Any, moved_x: Any, moved_y: Any) -> Any:
    """(state, timer) after the move: the timer runs while an agent is held up and twice as fast back when it is not."""
    held_up = moved_x * a.way_x + moved_y * a.way_y < np.float32(SLOW) * a.speed * rules.dt
    most, none = splat(np.float32(2) * rules.patience, a.x), splat(np.float32(0), a.x)
    up, down = timer + rules.dt, timer - np.float32(2) * rules.dt
    counted = select(held_up, select(up < most, up, most), select(down > none, down, none))
    becomes = select((state == WALKING) & (counted > rules.patience), splat(np.int32(STUCK), a.x), state)
    becomes = select((state == STUCK) & (counted <= none), splat(np.int32(WALKING), a.x), becomes)
    walks = state != WAITING
    return select(walks, becomes, state), select(walks, counted, timer)


@device
def stride(a: Any, rules: Any, ground: Any, leaves: Any) -> Any:
    """(x, y, vx, vy, state, timer) of the next step; the same code for one agent and for sixteen."""
    state, timer = _next_state(a, rules, leaves)
    wanted_x, wanted_y = _wanted(a, rules, state)
    vx, vy = a.vx + (wanted_x - a.vx) * rules.follow, a.vy + (wanted_y - a.vy) * rules.follow
    x, y = slide(ground, a.x, a.y, rules.dt * vx, rules.dt * vy)
    state, timer = _progress(a, rules, state, timer, x - a.x, y - a.y)
    still = splat(np.float32(0), a.x)
    return x, y, select(x != a.x, vx, still), select(y != a.y, vy, still), state, timer


@device
def _walk_scalar(worker: int, workers: int, c: Any, agents: int, rules: Any, places: Any, ground: Any,
                 farthest_sq: Any) -> None:
    farthest_sq[worker] = 0
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        leaves = _leaves(c.state[slot], c.timer[slot], rules)
        if leaves:
            choose_goal(c, slot, places, ground, rules.goal_key)
        walker = Walker(c.id[slot], c.x[slot], c.y[slot], c.vx[slot], c.vy[slot], c.push_x[slot], c.push_y[slot],
                        c.speed[slot], c.goal_x[slot], c.goal_y[slot], c.way_x[slot], c.way_y[slot], c.state[slot],
                        c.timer[slot])
        x, y = walker.x, walker.y
        c.x[slot], c.y[slot], c.vx[slot], c.vy[slot], c.state[slot], c.timer[slot] = stride(walker, rules, ground, leaves)
        farthest_sq[worker, 0] = longer(farthest_sq[worker, 0], c.x[slot] - x, c.y[slot] - y)


@device
def _walk_lanes(worker: int, workers: int, c: Any, agents: int, rules: Any, places: Any, ground: Any,
                farthest_sq: Any) -> None:
    farthest_sq[worker] = 0
    far_sq = load(farthest_sq[worker], 0)
    registers = (agents + LANES - 1) // LANES
    for register in range(registers * worker // workers, registers * (worker + 1) // workers):
        at = register * LANES
        leaves = _leaves(load(c.state, at), load(c.timer, at), rules)
        if count_set(leaves) > 0:  # seldom: one by one
            for slot in range(at, min(at + LANES, agents)):
                if _leaves(c.state[slot], c.timer[slot], rules):
                    choose_goal(c, slot, places, ground, rules.goal_key)
        walker = Walker(load(c.id, at), load(c.x, at), load(c.y, at), load(c.vx, at), load(c.vy, at),
                        load(c.push_x, at), load(c.push_y, at), load(c.speed, at), load(c.goal_x, at),
                        load(c.goal_y, at), load(c.way_x, at), load(c.way_y, at), load(c.state, at), load(c.timer, at))
        x, y, vx, vy, state, timer = stride(walker, rules, ground, leaves)
        further_sq = longer(far_sq, x - walker.x, y - walker.y)
        far_sq = select(lane_numbers() < agents - at, further_sq, far_sq)  # the last register may end beyond the agents
        store(c.x, at, x)
        store(c.y, at, y)
        store(c.vx, at, vx)
        store(c.vy, at, vy)
        store(c.state, at, state)
        store(c.timer, at, timer)
    store(farthest_sq[worker], 0, far_sq)


@kernel
def walk_scalar(workers: int, columns: Any, agents: int, rules: Any, places: Any, ground: Any, farthest_sq: Any) -> None:
    """Own state only: goals, states, velocity, position."""
    for worker in prange(workers):
        _walk_scalar(worker, workers, columns, agents, rules, places, ground, farthest_sq)


@kernel
def walk_lanes(workers: int, columns: Any, agents: int, rules: Any, places: Any, ground: Any, farthest_sq: Any) -> None:
    for worker in prange(workers):
        _walk_lanes(worker, workers, columns, agents, rules, places, ground, farthest_sq)


# --- the behaviour ---------------------------------------------------------------------------------------------------

class Crowd:
    """What `Simulation` asks of a behaviour: its columns, how agents are born, and its part of a step."""

    columns = CrowdColumns
    USES_PATHS = True
    SEEN = ("x", "y")  # columns that others read

    def __init__(self, config: Config) -> None:
        self.config = config
        self.settings = config.crowd
        self.radius = self.settings.radius
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
        shared = sim.workers, agents.columns, agents.count
        yield "sight", (Call(check_sight, (*shared, walls, ground.any_solid, sim.tick, stagger.sight)),)
        yield "paths", (Call(find_way, (*shared, walls, sim.fields.fields, sim.tick, stagger.paths)),)
        walk = walk_lanes if sim.optimizations.simd else walk_scalar
        yield "move", (Call(walk, (*shared, rules, sim.places, ground, sim.farthest_sq)),)


def places_of(terrain: Any, spread: float) -> Places:
    """The destinations of a terrain as columns; `spread` is that of places which no map marks."""
    table = np.array([(d.x, d.y, spread if terrain.drawn else d.spread) for d in terrain.destinations], np.float32)
    table = table.reshape(-1, 3)
    return Places(*(np.ascontiguousarray(column) for column in table.T))
