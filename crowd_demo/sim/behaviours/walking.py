"""How people walk: the part of a crowd's step that reads and writes only an agent's own state (docs/model.md, "Move").

A formula is written once, for one agent and for sixteen. Choosing a goal is rare and is done one agent at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd import (
    LANES,
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
)
from crowd_demo.sim.behaviours.positions import sees_positions
from crowd_demo.sim.terrain.ground import Ground, is_solid, longer, slide
from crowd_demo.sim.terrain.line_of_sight import sees
from crowd_demo.sim.terrain.tiles import Walls

WALKING, WAITING, STUCK = range(3)
SLOW = 0.25  # of the preferred speed towards the goal: below that an agent makes no progress
NEARLY = 4.0  # times `arrive`: an agent stuck within that distance has arrived, because the place is taken


class PeopleColumns(NamedTuple):
    """Columns of a crowd: `Columns`, and what walking to a goal needs."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    push_x: Floats
    push_y: Floats
    look_at: Ints
    speed: Floats  # preferred, units/s
    goal: Ints  # destination
    goal_x: Floats  # the position inside it
    goal_y: Floats
    heading_x: Floats  # unit heading towards the goal, from sight or from the flow field
    heading_y: Floats
    sees: Ints  # 1 when the goal is in sight
    state: Ints  # WALKING, WAITING, STUCK
    timer: Floats  # seconds: waiting left, or stuck so far


@sees_positions
class PeopleRules(NamedTuple):
    """Constants of one step; lengths in world units, times in seconds."""

    radius_sq: np.float32
    inv_radius: np.float32
    push: np.float32
    wiggle: np.float32
    top_factor: np.float32  # top speed as a multiple of the preferred speed
    stuck_top_factor: np.float32
    arrive_sq: np.float32
    wait: np.float32
    patience: np.float32
    follow: np.float32  # min(1, response * dt)
    dt: np.float32
    ahead: np.float32  # what follows is used by those who look ahead (anticipate.py)
    inv_ahead: np.float32
    gap_sq: np.float32
    inv_gap: np.float32
    aside: np.float32
    behind: np.float32
    away: np.float32
    goal_draws: np.int32
    goal_key: np.int32
    wiggle_key_x: np.int32
    wiggle_key_y: np.int32


class Destinations(NamedTuple):
    """The destinations; float32[D] each."""

    x: Floats
    y: Floats
    spread: Floats


@device
def choose_goal(columns: PeopleColumns, slot: int, destinations: Destinations, ground: Ground, walls: Walls, draws: Int,
                key: Int) -> None:
    """Choose another destination and a free position in its square that its point sees: the first of so many draws.

    Each draw draws both anew, so a destination is chosen as often as it has room in sight. If none will do, the goal is the
    point of the last one. With no draws it is one position, in sight or not.
    """
    count = destinations.x.shape[0]
    if count == 0:
        return
    identity, last = columns.id[slot], columns.goal[slot]
    goal, x, y = last, np.float32(0), np.float32(0)
    for _ in range(max(draws, 1)):
        draw = np.uint32(scramble(bits_xor(identity, key)))
        goal = (last + 1 + draw % np.uint32(max(count - 1, 1))) % count
        point_x, point_y, spread = destinations.x[goal], destinations.y[goal], destinations.spread[goal]
        key = scramble(key)
        spot_x = point_x + spread * chance(identity, key)
        key = scramble(key)
        spot_y = point_y + spread * chance(identity, key)
        key = scramble(key)
        x, y = point_x, point_y
        if not (0 <= spot_x <= ground.limit_x and 0 <= spot_y <= ground.limit_y) or is_solid(ground, spot_x, spot_y):
            continue
        if draws == 0 or not ground.any_solid or sees(walls, point_x, point_y, spot_x, spot_y):
            x, y = spot_x, spot_y
            break
    columns.goal[slot], columns.goal_x[slot], columns.goal_y[slot] = goal, x, y
    columns.sees[slot] = 0


class Walker(NamedTuple):
    """The fields of one agent, or of sixteen, that `stride` reads."""

    id: Int
    x: Float
    y: Float
    vx: Float
    vy: Float
    push_x: Float
    push_y: Float
    speed: Float
    goal_x: Float
    goal_y: Float
    heading_x: Float
    heading_y: Float
    state: Int
    timer: Float


@device
def _leaves(state: Int, timer: Float, rules: PeopleRules) -> Mask:
    """Which agents have waited long enough."""
    return (state == WAITING) & (timer - rules.dt <= np.float32(0))


@device
def _next_state(a: Walker, rules: PeopleRules, leaves: Mask) -> tuple[Int, Float]:
    """(state, timer) before the move: agents that have waited long enough start, agents that have arrived wait."""
    waiting, walking = splat(np.int32(WAITING), a.x), splat(np.int32(WALKING), a.x)
    dx, dy = a.goal_x - a.x, a.goal_y - a.y
    near_sq = select(a.state == STUCK, splat(rules.arrive_sq * np.float32(NEARLY * NEARLY), a.x), splat(rules.arrive_sq, a.x))
    arrives = (a.state != WAITING) & (dx * dx + dy * dy < near_sq)
    timer = select(a.state == WAITING, a.timer - rules.dt, a.timer)
    timer = select(arrives, splat(rules.wait, a.x), select(leaves, splat(np.float32(0), a.x), timer))
    return select(arrives, waiting, select(leaves, walking, a.state)), timer


@device
def _wanted(a: Walker, rules: PeopleRules, state: Int) -> tuple[Float, Float]:
    """The preferred velocity."""
    walks, stuck = state != WAITING, state == STUCK
    x, y = rules.push * a.push_x, rules.push * a.push_y
    x, y = select(walks, x + a.heading_x, x) * a.speed, select(walks, y + a.heading_y, y) * a.speed
    x = select(stuck, x + rules.wiggle * chance(a.id, rules.wiggle_key_x), x)
    y = select(stuck, y + rules.wiggle * chance(a.id, rules.wiggle_key_y), y)
    limit = a.speed * select(stuck, splat(rules.stuck_top_factor, x), splat(rules.top_factor, x))
    length = root(x * x + y * y)
    return select(length > limit, x * (limit / length), x), select(length > limit, y * (limit / length), y)


@device
def _progress(a: Walker, rules: PeopleRules, state: Int, timer: Float, moved_x: Float, moved_y: Float) -> tuple[Int, Float]:
    """(state, timer) after the move: the timer runs while an agent makes no progress, and back twice as fast while it does."""
    blocked = moved_x * a.heading_x + moved_y * a.heading_y < np.float32(SLOW) * a.speed * rules.dt
    most, none = splat(np.float32(2) * rules.patience, a.x), splat(np.float32(0), a.x)
    up, down = timer + rules.dt, timer - np.float32(2) * rules.dt
    counted = select(blocked, select(up < most, up, most), select(down > none, down, none))
    becomes = select((state == WALKING) & (counted > rules.patience), splat(np.int32(STUCK), a.x), state)
    becomes = select((state == STUCK) & (counted <= none), splat(np.int32(WALKING), a.x), becomes)
    walks = state != WAITING
    return select(walks, becomes, state), select(walks, counted, timer)


@device
def stride(a: Walker, rules: PeopleRules, ground: Ground, leaves: Mask) -> tuple[Float, Float, Float, Float, Int, Float]:
    """(x, y, vx, vy, state, timer) of the next step; for one agent or for sixteen."""
    state, timer = _next_state(a, rules, leaves)
    wanted_x, wanted_y = _wanted(a, rules, state)
    vx, vy = a.vx + (wanted_x - a.vx) * rules.follow, a.vy + (wanted_y - a.vy) * rules.follow
    x, y = slide(ground, a.x, a.y, rules.dt * vx, rules.dt * vy)
    state, timer = _progress(a, rules, state, timer, x - a.x, y - a.y)
    still = splat(np.float32(0), a.x)
    return x, y, select(x != a.x, vx, still), select(y != a.y, vy, still), state, timer


@kernel
def walk_scalar(worker: int, workers: int, c: PeopleColumns, agents: int, rules: PeopleRules, destinations: Destinations,
                ground: Ground, walls: Walls, farthest_sq: Floats) -> None:
    """Update goal, state, velocity and position of all agents."""
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        leaves = _leaves(c.state[slot], c.timer[slot], rules)
        if leaves:
            choose_goal(c, slot, destinations, ground, walls, rules.goal_draws, rules.goal_key)
        walker = Walker(c.id[slot], c.x[slot], c.y[slot], c.vx[slot], c.vy[slot], c.push_x[slot], c.push_y[slot],
                        c.speed[slot], c.goal_x[slot], c.goal_y[slot], c.heading_x[slot], c.heading_y[slot], c.state[slot],
                        c.timer[slot])
        x, y = walker.x, walker.y
        c.x[slot], c.y[slot], c.vx[slot], c.vy[slot], c.state[slot], c.timer[slot] = stride(walker, rules, ground, leaves)
        farthest_sq[worker, 0] = longer(farthest_sq[worker, 0], c.x[slot] - x, c.y[slot] - y)


@kernel
def walk_lanes(worker: int, workers: int, c: PeopleColumns, agents: int, rules: PeopleRules, destinations: Destinations,
               ground: Ground, walls: Walls, farthest_sq: Floats) -> None:
    far_sq = load(farthest_sq[worker], 0)
    registers = (agents + LANES - 1) // LANES
    for register in range(registers * worker // workers, registers * (worker + 1) // workers):
        at = register * LANES
        leaves = _leaves(load(c.state, at), load(c.timer, at), rules)
        if count_set(leaves) > 0:  # rare, so one agent at a time
            for slot in range(at, min(at + LANES, agents)):
                if _leaves(c.state[slot], c.timer[slot], rules):
                    choose_goal(c, slot, destinations, ground, walls, rules.goal_draws, rules.goal_key)
        walker = Walker(load(c.id, at), load(c.x, at), load(c.y, at), load(c.vx, at), load(c.vy, at),
                        load(c.push_x, at), load(c.push_y, at), load(c.speed, at), load(c.goal_x, at),
                        load(c.goal_y, at), load(c.heading_x, at), load(c.heading_y, at), load(c.state, at), load(c.timer, at))
        x, y, vx, vy, state, timer = stride(walker, rules, ground, leaves)
        further_sq = longer(far_sq, x - walker.x, y - walker.y)
        far_sq = select(lane_numbers() < agents - at, further_sq, far_sq)  # the last register may extend beyond the agents
        store(c.x, at, x)
        store(c.y, at, y)
        store(c.vx, at, vx)
        store(c.vy, at, vy)
        store(c.state, at, state)
        store(c.timer, at, timer)
    store(farthest_sq[worker], 0, far_sq)
