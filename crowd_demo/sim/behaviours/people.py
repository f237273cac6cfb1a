"""The crowd: walk to a goal, wait there, choose another, avoid others, wiggle when stuck (docs/model_people.md).

    neighbours  j != i with |p_i - p_j| < radius
    avoidance   as the model of avoidance says (avoidance.py)
    wanted      (heading + forces) * speed + avoid_weight * speed * avoidance (+ wiggle), at most max_speed_factor * speed
                long; who is scared has another heading and speed
    v'          v + (wanted - v) * min(1, response * dt)
    p'          p + dt * v', sliding along walls

WALKING becomes QUEUING where the destination has no room yet (destinations.py), WAITING within `arrive` of the goal, and STUCK
after `stuck_s` seconds with less than a quarter of the progress its speed would give; WAITING ends after `wait_s` with a new
goal; STUCK ends as progress returns. Formulas are written once, for one agent and for sixteen; choosing a goal is rare and is
done one agent at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask, Values
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.jit import Launch, device
from crowd_demo.compute.simd import any_set, chance, root, select, width_of
from crowd_demo.compute.simd_memory import pick, store
from crowd_demo.config.model import Config
from crowd_demo.sim.behaviours.avoidance import AnticipateRules, PushRules, SlowDownRules
from crowd_demo.sim.behaviours.base import Behaviour
from crowd_demo.sim.behaviours.contact import SHIFT_PARTS, contact_passes
from crowd_demo.sim.behaviours.destinations import (
    Admit,
    DestinationAreas,
    Destinations,
    ExchangePeople,
    choose_around,
    choose_destination,
    choose_place,
    is_let_in,
    queue_reach_sq,
)
from crowd_demo.sim.behaviours.people_rules import (
    CREEPING,
    QUEUING,
    STUCK,
    WAITING,
    WALKING,
    PeopleColumns,
    PeopleRules,
    is_held_up,
    people_of,
    rules_of,
    stands,
)
from crowd_demo.sim.behaviours.routes import Routes, choose_by_route, half_cost
from crowd_demo.sim.behaviours.steering import Move, advance, move_launch
from crowd_demo.sim.behaviours.wayfinding import CheckSight, FollowWalls, LookForCrowds, MakeFlowFields, TakeHeadings, WaysOut
from crowd_demo.sim.neighbours.schedule import BAND_RADII
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.terrain.forces import pull
from crowd_demo.sim.terrain.ground import Ground, slide
from crowd_demo.sim.terrain.tiles import GONE, Terrain, Walls
from crowd_demo.sim.world import Needs, World

AVOIDANCE: dict[str, Callable[..., PeopleRules]] = {  # by the technique's value
    "push": PushRules, "anticipate": AnticipateRules, "slow_down": SlowDownRules}
QUEUE_PACE, STILL_QUEUES = 0.5, 0.75  # of the preferred speed: who is held up and wants to walk more slowly queues
SLOW = 0.25  # of the preferred speed towards the goal: below that an agent makes no progress
NEARLY = 4.0  # times `arrive`: an agent stuck within that distance has arrived, because the place is taken
WIGGLE_STEPS = 30  # a stuck agent keeps to one direction for so many steps


# --- move ------------------------------------------------------------------------------------------------------------
# `at` is the slot of one agent, or the first one of sixteen; `x` is where it is, or they are, and says which.

@formula
def _leaves(state: Int, timer: Float, rules: PeopleRules) -> Mask:
    """Return whether agents have waited long enough."""
    return (state == WAITING) & (timer - rules.dt <= 0)


@formula
def _reconsiders(c: PeopleColumns, at: Int, x: Float, state: Int, timer: Float, rules: PeopleRules) -> Mask:
    """Return whether agents have made no progress for so long that they choose another destination, by chance."""
    return is_held_up(state) & (timer >= rules.patience) & (chance(pick(c.id, at, x), rules.tire_key) < rules.tires)


@device
def _choose_goal(c: PeopleColumns, slot: int, rules: PeopleRules, destinations: Destinations, ground: Ground, walls: Walls,
                 routes: Routes) -> None:
    """Choose a goal for who has waited long enough, reconsiders, or has queued and is let in."""
    leaves, free = _leaves(c.state[slot], c.timer[slot], rules), not destinations.fixed[c.goal[slot]]
    if leaves or (free and _reconsiders(c, slot, c.x[slot], c.state[slot], c.timer[slot], rules)):
        if rules.disc > 0 and rules.half_cost > 0:
            choose_by_route(c, slot, destinations, routes, walls, rules, not leaves)
        elif rules.disc > 0:
            choose_destination(c, slot, destinations, rules.goal_key)
        else:
            choose_around(c, slot, destinations, ground, rules.goal_key)
    elif c.state[slot] == QUEUING and is_let_in(c, slot, destinations):
        choose_place(c, slot, destinations, ground, walls, rules.goal_key)


@formula
def _next_state(c: PeopleColumns, at: Int, x: Float, y: Float, state: Int, timer: Float, leaves: Mask,
                destinations: Destinations, rules: PeopleRules) -> tuple[Int, Float]:
    """Return (state, timer) before the move: people leave, are let in, arrive, or come to the end of the queue."""
    goal_x, goal_y = pick(c.goal_x, at, x), pick(c.goal_y, at, x)
    reach_sq = queue_reach_sq(destinations, pick(c.goal, at, x), goal_x, goal_y)
    dx, dy = goal_x - x, goal_y - y
    distance_sq = dx * dx + dy * dy
    near_sq = select(is_held_up(state), rules.arrive_sq * (NEARLY * NEARLY), rules.arrive_sq)
    arrives = (state != WAITING) & (distance_sq < select(reach_sq > 0, 0, near_sq))
    queues = (state != WAITING) & (distance_sq < reach_sq)
    timer = select(state == WAITING, timer - rules.dt, timer)
    timer = select(arrives, rules.wait, select(leaves | queues, 0, timer))
    state = select(leaves | (state == QUEUING), WALKING, state)
    return select(arrives, WAITING, select(queues, QUEUING, state)), timer


@formula
def _way(c: PeopleColumns, at: Int, x: Float, y: Float, state: Int, ground: Ground,
         rules: PeopleRules) -> tuple[Float, Float, Float]:
    """Return the preferred velocity as a multiple of the preferred speed, and that speed; who is scared runs."""
    still, speed, forces = stands(state), pick(c.speed, at, x), ground.forces
    aside_x, aside_y = rules.push * pick(c.avoidance_x, at, x), rules.push * pick(c.avoidance_y, at, x)
    way_x = select(still, aside_x, aside_x + pick(c.heading_x, at, x))
    way_y = select(still, aside_y, aside_y + pick(c.heading_y, at, x))
    if forces.total > 0:
        pull_x, pull_y = pull(forces, 0, forces.lasting, x, y)
        away_x, away_y = pull(forces, forces.lasting, forces.total, x, y)
        fear = root(away_x * away_x + away_y * away_y)
        flees = fear > 0
        inverse = 1 / select(flees, fear, 1)
        way_x = select(flees, aside_x + away_x * inverse, way_x + pull_x)
        way_y = select(flees, aside_y + away_y * inverse, way_y + pull_y)
        speed = select(flees, max(speed, min(rules.flight, speed * (1 + fear))), speed)
    return way_x, way_y, speed


@formula
def _wanted(c: PeopleColumns, at: Int, x: Float, y: Float, state: Int, ground: Ground,
            rules: PeopleRules) -> tuple[Float, Float, Mask]:
    """Return the preferred velocity, and whether people themselves want to walk slowly: behind those who go their way."""
    identity, stuck = pick(c.id, at, x), is_held_up(state)
    way_x, way_y, speed = _way(c, at, x, y, state, ground, rules)
    along = way_x * pick(c.heading_x, at, x) + way_y * pick(c.heading_y, at, x)
    slow = along < select(state == CREEPING, STILL_QUEUES, QUEUE_PACE)
    vx, vy = way_x * speed, way_y * speed
    vx = select(stuck, vx + rules.wiggle * chance(identity, rules.wiggle_key_x), vx)
    vy = select(stuck, vy + rules.wiggle * chance(identity, rules.wiggle_key_y), vy)
    limit = speed * select(stuck, rules.stuck_top_factor, rules.top_factor)
    length = root(vx * vx + vy * vy)
    return select(length > limit, vx * (limit / length), vx), select(length > limit, vy * (limit / length), vy), slow


@formula
def _progress(c: PeopleColumns, at: Int, x: Float, state: Int, timer: Float, slow: Mask, moved_x: Float, moved_y: Float,
              rules: PeopleRules) -> tuple[Int, Float]:
    """Return (state, timer) after the move: the timer runs while an agent makes no progress, else back twice as fast."""
    along = moved_x * pick(c.heading_x, at, x) + moved_y * pick(c.heading_y, at, x)
    blocked = along < SLOW * pick(c.speed, at, x) * rules.dt
    counted = select(blocked, min(2 * rules.patience, timer + rules.dt), max(0, timer - 2 * rules.dt))
    held_up = select(state == WALKING, counted > rules.patience, counted > 0)
    becomes = select(held_up, select(slow, CREEPING, STUCK), WALKING)
    return select(stands(state), state, becomes), select(stands(state), timer, counted)


class WalkRules(NamedTuple):
    """Everything besides the agents that walking reads."""

    people: PeopleRules
    destinations: Destinations
    walls: Walls
    routes: Routes


@implements(advance, WalkRules)
def walk(rules: WalkRules, ground: Ground, c: PeopleColumns, at: Int, x: Float, y: Float, agents: int) -> tuple[Float, Float]:
    people, destinations = rules.people, rules.destinations
    state, timer = pick(c.state, at, x), pick(c.timer, at, x)
    leaves = _leaves(state, timer, people)
    if any_set(leaves | (state == QUEUING) | _reconsiders(c, at, x, state, timer, people)):  # rare, so one agent at a time
        for slot in range(at, min(at + width_of(x), agents)):
            _choose_goal(c, slot, people, destinations, ground, rules.walls, rules.routes)
    state, timer = _next_state(c, at, x, y, state, timer, leaves, destinations, people)
    wanted_x, wanted_y, slow = _wanted(c, at, x, y, state, ground, people)
    vx, vy = pick(c.vx, at, x), pick(c.vy, at, x)
    vx, vy = vx + (wanted_x - vx) * people.follow, vy + (wanted_y - vy) * people.follow
    to_x, to_y = slide(ground, x, y, people.dt * vx, people.dt * vy)
    state, timer = _progress(c, at, x, state, timer, slow, to_x - x, to_y - y, people)
    store(c.vx, at, select(to_x != x, vx, 0))
    store(c.vy, at, select(to_y != y, vy, 0))
    store(c.state, at, state)
    store(c.timer, at, timer)
    return to_x, to_y


class Walk(Move):
    """Move all agents; they start or end waiting, queuing and being stuck."""

    def __init__(self, areas: DestinationAreas) -> None:
        self.areas = areas

    def move(self, world: World) -> Launch:
        people = PeopleRules(*rules_of(world))  # one kernel for all models of avoidance
        routes = Routes(world.flow_fields.fields, world.crowding.prices(world.tick), world.crowding.empty(world.tick))
        return move_launch(world, WalkRules(people, self.areas.refreshed(), world.terrain.walls, routes))


# --- the behaviour ---------------------------------------------------------------------------------------------------

class People(Behaviour):
    """The behaviour *crowd* (the interface is in base.py)."""

    states: tuple[str, ...] = ("walking", "waiting", "stuck", "queuing", "queuing")
    techniques = frozenset({"stagger.sight", "stagger.paths", "overlap_passes", "avoidance"})

    def __init__(self, config: Config) -> None:
        self.seed = config.seed
        self.settings = settings = config.crowd
        self.agents = config.agents
        self._rules: Values = ()  # without the four keys of a step
        top_speed = settings.speed_max * max(settings.max_speed_factor, settings.stuck_max_speed_factor)
        self.needs = Needs(PeopleColumns, settings.radius, settings.radius, BAND_RADII * settings.radius, top_speed,
                           body=settings.body, shift=SHIFT_PARTS * settings.body, destinations=settings.destinations,
                           paths=True, detour=settings.detour, detour_s=settings.detour_s)
        self.on_gpu = type(self) is People

    def stages(self, world: World) -> Sequence[Stage]:
        areas = DestinationAreas(world, self.settings, self.agents)
        world.ways, ways_out = areas.ways, WaysOut(areas)
        world.parts += areas.ways, ways_out
        return (FollowWalls(areas), ways_out, ExchangePeople(areas), CheckSight(), LookForCrowds(areas.ways),
                MakeFlowFields(areas), TakeHeadings(), Admit(areas), Walk(areas),
                *contact_passes(self.settings.body, self.settings.shoulders))

    def spawn_columns(self, ids: Ints, x: Floats, y: Floats, seed: int, terrain: Terrain) -> dict[str, ArrayLike]:
        """Return the columns of newcomers: a speed, and the state in which the first step chooses a goal."""
        low, high = self.settings.speed_min, self.settings.speed_max
        parts, key = np.zeros(len(ids)), hashing.key(seed, 0, hashing.SPEED)
        for _ in range(self.settings.speed_draws):
            parts, key = parts + hashing.unit(ids, key), hashing.next_key(key)
        speed = low + (high - low) * (parts / self.settings.speed_draws)
        goal = hashing.scramble(ids.astype(np.uint32)) % np.uint32(max(len(terrain.destinations), 1))
        return {"speed": speed, "goal": goal.astype(np.int32), "state": WAITING}

    def send_on(self, world: World, number: int) -> None:
        """Send whoever is on the way to a destination to where it now is, or elsewhere if it is gone; who waits stays."""
        c, terrain = people_of(world).columns, world.terrain
        mine = np.flatnonzero((c.goal[:world.agents.count] == number) & (c.state[:world.agents.count] != WAITING))
        if terrain.goals.get(number) == GONE:
            c.state[mine], c.timer[mine] = WAITING, 0
        else:
            point = terrain.destinations[number]
            c.goal_x[mine], c.goal_y[mine], c.goal_visible[mine], c.state[mine] = point.x, point.y, 0, WALKING

    def bounds(self, terrain: Terrain) -> dict[str, tuple[float, float]]:
        settings, walls = self.settings, terrain.walls
        return {"goal": (0, max(len(terrain.destinations) - 1, 0)), "goal_visible": (0, 1), "state": (0, len(self.states) - 1),
                "goal_x": (0, float(walls.width)), "goal_y": (0, float(walls.height)),
                "speed": (settings.speed_min, settings.speed_max)}

    def rules(self, world: World) -> PeopleRules:
        self._rules = self._rules or self._first_rules(world)[:-4]
        wiggle = hashing.key(self.seed, world.tick // WIGGLE_STEPS, hashing.WIGGLE)
        return AVOIDANCE[world.options.avoidance](
            *self._rules, hashing.key(self.seed, world.tick, hashing.GOAL), wiggle, hashing.next_key(wiggle),
            hashing.key(self.seed, world.tick, hashing.RECONSIDER))

    def _first_rules(self, world: World) -> PeopleRules:
        settings, f, none = self.settings, np.float32, np.int32(0)
        radius, arrive, gap, in_way = map(f, (settings.radius, settings.arrive, settings.gap, settings.in_way))
        swerve = math.radians(settings.swerve)
        return PeopleRules(
            radius_sq=radius * radius, inv_radius=f(1 / settings.radius if settings.radius > 0 else 0),
            push=f(settings.avoid_weight), wiggle=f(settings.wiggle), top_factor=f(settings.max_speed_factor),
            stuck_top_factor=f(settings.stuck_max_speed_factor), arrive_sq=arrive * arrive, wait=f(settings.wait_s),
            patience=f(settings.stuck_s),
            follow=f(min(1.0, settings.response * world.dt)), dt=f(world.dt),
            ahead=f(settings.ahead_s), inv_ahead=f(1 / settings.ahead_s if settings.ahead_s > 0 else 0),
            gap_sq=gap * gap, inv_gap=f(1 / settings.gap if settings.gap > 0 else 0), aside=f(settings.aside),
            behind=f(settings.behind), away=f(settings.repulsion), slow_aside=f(settings.slow_aside),
            headway=f(max(settings.headway_s, 1e-6)), standing=f(settings.standing), in_way_sq=in_way * in_way,
            creep=f(settings.creep), swerve_cos=f(math.cos(swerve)), swerve_sin=f(math.sin(swerve)),
            swerve_ramp=f(settings.swerve_ramp), swerve_gain=f(settings.swerve_gain),
            pass_by=f(settings.pass_by), half_cost=half_cost(settings, world.terrain.walls),
            tires=f(2 * world.dt / settings.reconsider_s - 1 if settings.reconsider_s > 0 else -1),
            disc=f(settings.area_per_person / math.pi if settings.room > 0 else 0), flight=f(settings.speed_max),
            goal_key=none, wiggle_key_x=none, wiggle_key_y=none, tire_key=none)
