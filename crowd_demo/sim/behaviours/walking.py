"""How people walk: the part of a crowd's step that reads and writes only an agent's own state (docs/model.md, "Move").

A formula is written once, for one agent and for sixteen. Choosing a goal is rare and is done one agent at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Mask
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd import LANES, any_set, chance, lane_numbers, root, select, splat
from crowd_demo.compute.simd_memory import gather, load, store
from crowd_demo.sim.behaviours.destinations import (
    Destinations,
    choose_around,
    choose_destination,
    choose_place,
    has_no_place,
    is_let_in,
)
from crowd_demo.sim.behaviours.people_columns import QUEUING, STUCK, WAITING, WALKING, PeopleColumns, stands
from crowd_demo.sim.behaviours.positions import sees_positions
from crowd_demo.sim.terrain.ground import Ground, longer, slide
from crowd_demo.sim.terrain.tiles import Walls

SLOW = 0.25  # of the preferred speed towards the goal: below that an agent makes no progress
NEARLY = 4.0  # times `arrive`: an agent stuck within that distance has arrived, because the place is taken


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
    disc: np.float32  # what one adds to a queue's radius squared; 0: destinations have no areas
    goal_key: np.int32
    wiggle_key_x: np.int32
    wiggle_key_y: np.int32


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
    reach_sq: Float  # squared reach of the queue to join; 0: the agent has a place, or needs none


@device
def _leaves(state: Int, timer: Float, rules: PeopleRules) -> Mask:
    """Which agents have waited long enough."""
    return (state == WAITING) & (timer - rules.dt <= np.float32(0))


@device
def _sets_out(c: PeopleColumns, slot: int, destinations: Destinations, ground: Ground, walls: Walls,
              rules: PeopleRules) -> None:
    """Give a goal to one who has waited long enough, or who has queued and is let in."""
    if _leaves(c.state[slot], c.timer[slot], rules):
        if rules.disc > 0:
            choose_destination(c, slot, destinations, rules.goal_key)
        else:
            choose_around(c, slot, destinations, ground, rules.goal_key)
    elif c.state[slot] == QUEUING and is_let_in(c, slot, destinations):
        choose_place(c, slot, destinations, ground, walls, rules.goal_key)


@device
def _queue_reach(destinations: Destinations, goal: Int, goal_x: Float, goal_y: Float) -> Float:
    """Return the squared reach of the queue that has to be joined, 0 for none."""
    reach_sq = gather(destinations.reach_sq, goal)
    point_x, point_y = gather(destinations.x, goal), gather(destinations.y, goal)
    outside = has_no_place(goal_x, goal_y, point_x, point_y, reach_sq)
    return select(outside, reach_sq, splat(np.float32(0), goal_x))


@device
def _next_state(a: Walker, rules: PeopleRules, leaves: Mask) -> tuple[Int, Float]:
    """(state, timer) before the move: people leave, are let in, arrive, or come to the end of the queue."""
    waiting, walking = splat(np.int32(WAITING), a.x), splat(np.int32(WALKING), a.x)
    queuing, none = splat(np.int32(QUEUING), a.x), splat(np.float32(0), a.x)
    dx, dy = a.goal_x - a.x, a.goal_y - a.y
    distance_sq, waits, outside = dx * dx + dy * dy, a.state == WAITING, a.reach_sq > none
    near_sq = select(a.state == STUCK, splat(rules.arrive_sq * np.float32(NEARLY * NEARLY), a.x), splat(rules.arrive_sq, a.x))
    near_sq = select(outside, none, near_sq)
    arrives = (a.state != WAITING) & (distance_sq < near_sq)
    queues = (a.state != WAITING) & (distance_sq < a.reach_sq)
    timer = select(waits, a.timer - rules.dt, a.timer)
    timer = select(arrives, splat(rules.wait, a.x), select(leaves | queues, none, timer))
    state = select(leaves | (a.state == QUEUING), walking, a.state)
    return select(arrives, waiting, select(queues, queuing, state)), timer


@device
def _wanted(a: Walker, rules: PeopleRules, state: Int) -> tuple[Float, Float]:
    """Return the preferred velocity."""
    still, stuck = stands(state), state == STUCK
    x, y = rules.push * a.push_x, rules.push * a.push_y
    x, y = select(still, x, x + a.heading_x) * a.speed, select(still, y, y + a.heading_y) * a.speed
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
    still = stands(state)
    return select(still, state, becomes), select(still, timer, counted)


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
        _sets_out(c, slot, destinations, ground, walls, rules)
        walker = Walker(c.id[slot], c.x[slot], c.y[slot], c.vx[slot], c.vy[slot], c.push_x[slot], c.push_y[slot],
                        c.speed[slot], c.goal_x[slot], c.goal_y[slot], c.heading_x[slot], c.heading_y[slot], c.state[slot],
                        c.timer[slot], _queue_reach(destinations, c.goal[slot], c.goal_x[slot], c.goal_y[slot]))
        x, y = walker.x, walker.y
        c.x[slot], c.y[slot], c.vx[slot], c.vy[slot], c.state[slot], c.timer[slot] = stride(walker, rules, ground, leaves)
        farthest_sq[worker, 0] = longer(farthest_sq[worker, 0], c.x[slot] - x, c.y[slot] - y)


@kernel
def walk_lanes(worker: int, workers: int, c: PeopleColumns, agents: int, rules: PeopleRules, destinations: Destinations,
               ground: Ground, walls: Walls, farthest_sq: Floats) -> None:
    """The same, sixteen agents at a time."""
    far_sq = load(farthest_sq[worker], 0)
    registers = (agents + LANES - 1) // LANES
    for register in range(registers * worker // workers, registers * (worker + 1) // workers):
        at = register * LANES
        state = load(c.state, at)
        leaves = _leaves(state, load(c.timer, at), rules)
        if any_set(leaves | (state == QUEUING)):  # rare, so one agent at a time
            for slot in range(at, min(at + LANES, agents)):
                _sets_out(c, slot, destinations, ground, walls, rules)
        goal_x, goal_y = load(c.goal_x, at), load(c.goal_y, at)
        reach_sq = _queue_reach(destinations, load(c.goal, at), goal_x, goal_y)
        walker = Walker(load(c.id, at), load(c.x, at), load(c.y, at), load(c.vx, at), load(c.vy, at),
                        load(c.push_x, at), load(c.push_y, at), load(c.speed, at), goal_x, goal_y,
                        load(c.heading_x, at), load(c.heading_y, at), state, load(c.timer, at), reach_sq)
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
