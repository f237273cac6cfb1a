"""The crowd: walk to a goal, wait there, choose another, avoid others, wiggle when stuck.

    neighbours  j != i with d = |p_i - p_j| < radius
    avoidance   sum over neighbours of (1 - d / radius)^2 * (p_i - p_j) / d, each term cut to 1/4096
    wanted      heading * speed + push * speed * avoidance (+ wiggle), its length at most cap * speed
    v'          v + (wanted - v) * min(1, response * dt)
    p'          p + dt * v', sliding along walls

WALKING becomes QUEUING where the destination has no room yet (destinations.py), WAITING within `arrive` of the goal, and STUCK
after `stuck_s` seconds with less than a quarter of the progress its speed would give; WAITING ends after `wait_s` with a new
goal; STUCK ends as progress returns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Call, call
from crowd_demo.compute.simd import no_sum, root, select, splat, to_float, to_int, wrap32
from crowd_demo.config.model import Config
from crowd_demo.sim.behaviours.anticipate import AnticipateRules
from crowd_demo.sim.behaviours.base import Behaviour
from crowd_demo.sim.behaviours.contact import SHIFT_PARTS, contact_passes
from crowd_demo.sim.behaviours.destinations import Places, count_people, open_destinations
from crowd_demo.sim.behaviours.exits import Exits
from crowd_demo.sim.behaviours.people_columns import WAITING, PeopleColumns
from crowd_demo.sim.behaviours.steering import SCALAR_NS, Move
from crowd_demo.sim.behaviours.walking import PeopleRules, walk_lanes, walk_scalar
from crowd_demo.sim.behaviours.wayfinding import CheckSight, LookForCrowds, MakeFlowFields, TakeHeadings, people_of
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Seen, Sums
from crowd_demo.sim.neighbours.schedule import BAND_RADII
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.stages import Index
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.world import LIGHT_NS, Needs, World

WIGGLE_STEPS = 30  # a stuck agent keeps to one direction for so many steps
COUNT_NS = 2.0
FIXED = 4096  # steps of 1 in the sums of avoidance


# --- see -------------------------------------------------------------------------------------------------------------

@implements(pairwise.no_sums, PeopleRules)
def no_sums(rules: PeopleRules, like: Float) -> Sums:
    none = no_sum(like)
    return none, none, none


@implements(pairwise.accumulate, PeopleRules)
def accumulate(rules: PeopleRules, me: Seen, other: Seen, sums: Sums) -> Sums:
    x, y = me
    count, sum_x, sum_y = sums
    dx, dy = x - other[0], y - other[1]
    distance_sq = dx * dx + dy * dy
    seen = distance_sq < rules.radius_sq
    apart = seen & (distance_sq > np.float32(0))  # at the same position there is no direction
    distance = root(select(apart, distance_sq, splat(np.float32(1), x)))
    near = np.float32(1) - distance * rules.inv_radius
    weight = near * near / distance * np.float32(FIXED)
    none = splat(np.int32(0), x)
    return (count + select(seen, splat(np.int32(1), x), none),
            sum_x + select(apart, to_int(weight * dx), none), sum_y + select(apart, to_int(weight * dy), none))


@implements(pairwise.finish, PeopleRules)
def finish(rules: PeopleRules, me: Seen, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y = sums
    unit = np.float32(1 / FIXED)
    neighbours = wrap32(count) - splat(np.int32(rules.radius_sq > 0), me[0])  # without itself, seen if radius > 0
    return to_float(wrap32(sum_x)) * unit, to_float(wrap32(sum_y)) * unit, wrap32(neighbours)


@implements(pairwise.perceive, PeopleRules)
def perceive(rules: PeopleRules, me: Seen, other: Seen) -> tuple[Mask, Float]:
    dx, dy = other[0] - me[0], other[1] - me[1]
    distance_sq = dx * dx + dy * dy
    return distance_sq < rules.radius_sq, distance_sq


# --- its stages ------------------------------------------------------------------------------------------------------

class Admit(Stage):
    """Decide for every destination whom it lets in."""

    name = "admit"

    def __init__(self, places: Places) -> None:
        self.places = places

    def wanted(self, world: World) -> bool:
        return self.places.limited

    def calls(self, world: World) -> tuple[Call, ...]:
        agents, destinations, workers = people_of(world), self.places.refreshed(), world.workers_for(COUNT_NS)
        counts = self.places.counts_of(workers)
        return (call(count_people, workers, agents.columns, agents.count, destinations, counts),
                call(open_destinations, 1, destinations, counts, rules_of(world).disc))


class Walk(Move):
    """All agents move, and start or end waiting."""

    def __init__(self, places: Places) -> None:
        self.places = places

    def move(self, world: World) -> Call:
        walk, ns = (walk_lanes, LIGHT_NS) if world.options.simd else (walk_scalar, SCALAR_NS)
        workers = world.workers_for(ns)
        agents = people_of(world)
        return call(walk, workers, agents.columns, agents.count, PeopleRules(*rules_of(world)), self.places.refreshed(),
                    world.ground, world.terrain.walls, world.farthest_sq)


def rules_of(world: World) -> PeopleRules:
    return cast(PeopleRules, world.rules)


# --- the behaviour ---------------------------------------------------------------------------------------------------

class People(Behaviour):
    """The behaviour *crowd* (the interface is in base.py)."""

    states: tuple[str, ...] = ("walking", "waiting", "stuck", "queuing")
    techniques = frozenset({"stagger.sight", "stagger.paths", "contact", "avoidance"})

    def __init__(self, config: Config) -> None:
        self.seed = config.seed
        self.settings = settings = config.crowd
        self.agents = config.agents
        self._rules: PeopleRules | None = None
        top_speed = settings.speed_max * max(settings.cap, settings.stuck_cap)
        self.needs = Needs(PeopleColumns, settings.radius, settings.radius, BAND_RADII * settings.radius, top_speed,
                           body=settings.body, shift=SHIFT_PARTS * settings.body, destinations=settings.destinations,
                           paths=True, detour=settings.detour, detour_s=settings.detour_s)

    def stages(self, world: World, index: Index) -> Sequence[Stage]:
        places = Places(world.terrain, world.flow_fields, self.settings, self.agents)
        return (Exits(places, self.settings, self.seed), CheckSight(), LookForCrowds(), MakeFlowFields(places),
                TakeHeadings(), Admit(places), Walk(places), *contact_passes(index, self.settings.body))

    def spawn_columns(self, ids: Ints, x: Floats, y: Floats, seed: int, terrain: Terrain) -> dict[str, ArrayLike]:
        """Return the columns of newcomers: a speed, and the state in which the first step chooses a goal."""
        low, high = self.settings.speed_min, self.settings.speed_max
        parts, key = np.zeros(len(ids)), hashing.key(seed, 0, hashing.SPEED)
        for _ in range(self.settings.speed_draws):
            parts, key = parts + hashing.unit(ids, key), hashing.next_key(key)
        speed = low + (high - low) * (parts / self.settings.speed_draws)
        goal = hashing.scramble(ids.astype(np.uint32)) % np.uint32(max(len(terrain.destinations), 1))
        return {"speed": speed, "goal": goal.astype(np.int32), "state": WAITING}

    def bounds(self, terrain: Terrain) -> dict[str, tuple[float, float]]:
        settings, walls = self.settings, terrain.walls
        return {"goal": (0, max(len(terrain.destinations) - 1, 0)), "sees": (0, 1), "state": (0, len(self.states) - 1),
                "goal_x": (0, float(walls.width)), "goal_y": (0, float(walls.height)),
                "speed": (settings.speed_min, settings.speed_max)}

    def rules(self, world: World) -> PeopleRules:
        self._rules = self._rules or self._first_rules(world)
        kind = AnticipateRules if world.options.avoidance == "anticipate" else PeopleRules
        wiggle = hashing.key(self.seed, world.tick // WIGGLE_STEPS, hashing.WIGGLE)
        return kind(*self._rules._replace(goal_key=hashing.key(self.seed, world.tick, hashing.GOAL), wiggle_key_x=wiggle,
                                          wiggle_key_y=hashing.next_key(wiggle)))

    def _first_rules(self, world: World) -> PeopleRules:
        """The constants of all steps, without keys."""
        settings, f, none = self.settings, np.float32, np.int32(0)
        return PeopleRules(
            radius_sq=f(settings.radius) * f(settings.radius),
            inv_radius=f(1 / settings.radius if settings.radius > 0 else 0), push=f(settings.push), wiggle=f(settings.wiggle),
            top_factor=f(settings.cap), stuck_top_factor=f(settings.stuck_cap),
            arrive_sq=f(settings.arrive) * f(settings.arrive), wait=f(settings.wait_s), patience=f(settings.stuck_s),
            follow=f(min(1.0, settings.response * world.dt)), dt=f(world.dt),
            ahead=f(settings.ahead_s), inv_ahead=f(1 / settings.ahead_s if settings.ahead_s > 0 else 0),
            gap_sq=f(settings.gap) * f(settings.gap), inv_gap=f(1 / settings.gap if settings.gap > 0 else 0),
            aside=f(settings.aside), behind=f(settings.behind), away=f(settings.away),
            disc=f(settings.place / math.pi if settings.room > 0 else 0),
            goal_key=none, wiggle_key_x=none, wiggle_key_y=none)
