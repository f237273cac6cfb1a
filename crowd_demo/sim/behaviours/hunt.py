"""Predators and prey: prey flock and flee, predators chase the densest cell that they see.

    push        of prey that of a flock (flock.py) among prey; of predators the chase, or nothing without prey in sight
    chase       response * (speed_max * direction to the middle of the densest cell in sight - v)
    densest     of the cells of side `square` that with most prey, counted; of equals the first in reading order
    flee        sum over the predators nearer than fear of (p - p_j) * (fear / |p - p_j| - 1), for both kinds
    v', p'      as in flock.py, with `flee` among the forces, and the speeds of each kind

So nobody is eaten; predators keep apart as prey keep from them. Those with the lowest ids are the predators. Both kinds
observe what birds observe of each other, and the kind: each function of the interaction asks the flock's, and those of
the other kind do not count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import inverse_root, root, select
from crowd_demo.compute.simd_memory import gather, pick
from crowd_demo.config.model import Config
from crowd_demo.sim.behaviours import steering
from crowd_demo.sim.behaviours.flock import Flock, limited, urge
from crowd_demo.sim.behaviours.flock_rules import Bird, FlockRules
from crowd_demo.sim.behaviours.steering import Glide
from crowd_demo.sim.interaction import nearest, pairwise
from crowd_demo.sim.interaction.pairwise import Sums
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.terrain.ground import Ground
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.world import World

PREY, PREDATOR = 0, 1
MAX_PREDATORS = 64
MAX_SQUARES = 256  # along a side
FAR = 1e6  # world units: beyond any sight, and still a number in fixed point


class HuntColumns(NamedTuple):
    """Columns of predators and prey: those of a flock, and a kind."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    avoidance_x: Floats
    avoidance_y: Floats
    next_update: Ints
    kind: Ints  # PREY or PREDATOR, for life


class Animal(NamedTuple):
    """What others can observe of an animal: a `Bird`, and its kind."""

    x: Float
    y: Float
    px: Int
    py: Int
    vx: Int
    vy: Int
    kind: Int


class HuntRules(NamedTuple):
    """Constants of one step, and the positions of the predators by id: infinitely far away if there is none."""

    flock: FlockRules
    predators: int
    x: Floats  # [MAX_PREDATORS]
    y: Floats
    fear: np.float32
    fear_sq: np.float32
    flee: np.float32
    predator_speed_min: np.float32
    predator_speed_max: np.float32
    dt: np.float32


# --- the interaction: a flock among its own kind ----------------------------------------------------------------------

@implements(pairwise.observe, HuntRules)
def observe(rules: HuntRules, columns: HuntColumns, slots: Int) -> Animal:
    bird = pairwise.observe(rules.flock, columns, slots)
    return Animal(bird.x, bird.y, bird.px, bird.py, bird.vx, bird.vy, gather(columns.kind, slots))


@implements(pairwise.no_sums, HuntRules)
def no_sums(rules: HuntRules, like: Float) -> Sums:
    return pairwise.no_sums(rules.flock, like)


@implements(pairwise.accumulate, HuntRules)
def accumulate(rules: HuntRules, me: Animal, other: Animal, sums: Sums) -> Sums:
    """Treat one of the other kind as out of sight."""
    x = select(me.kind != other.kind, FAR, other.x)
    return pairwise.accumulate(rules.flock, me, Bird(x, other.y, other.px, other.py, other.vx, other.vy), sums)


@implements(pairwise.sum_capacity, HuntRules)
def sum_capacity(rules: HuntRules) -> Int:
    return pairwise.sum_capacity(rules.flock)


@implements(pairwise.settle, HuntRules)
def settle(rules: HuntRules, me: Animal, sums: Sums) -> Sums:
    return pairwise.settle(rules.flock, me, sums)


@implements(pairwise.finish, HuntRules)
def finish(rules: HuntRules, me: Animal, sums: Sums) -> tuple[Float, Float, Int]:
    return pairwise.finish(rules.flock, me, sums)


@implements(pairwise.perceive, HuntRules)
def perceive(rules: HuntRules, me: Animal, other: Animal) -> tuple[Mask, Float]:
    perceived, distance = pairwise.perceive(rules.flock, me, other)
    return perceived & (other.kind == me.kind), distance


class NearestHuntRules(HuntRules):
    """The same constants, where each follows its nearest."""


@implements(nearest.solve, NearestHuntRules)
def solve(rules: NearestHuntRules, columns: HuntColumns, slot: int, near: Ints, size: int) -> tuple[Float, Float, Int]:
    return nearest.solve(rules.flock, columns, slot, near, size)


# --- move ------------------------------------------------------------------------------------------------------------

@formula
def _flight(rules: HuntRules, x: Float, y: Float) -> tuple[Float, Float]:
    """Return the sum of the ways from the predators that are near, by their ids; a predator itself adds nothing."""
    way_x, way_y = 0, 0
    for predator in range(rules.predators):
        dx, dy = x - rules.x[predator], y - rules.y[predator]
        distance_sq = dx * dx + dy * dy
        near = distance_sq < rules.fear_sq
        weight = rules.fear * inverse_root(distance_sq) - 1
        way_x, way_y = way_x + select(near, weight * dx, 0), way_y + select(near, weight * dy, 0)
    return way_x, way_y


@implements(steering.steer, HuntRules)
def steer(rules: HuntRules, ground: Ground, columns: HuntColumns, at: Int, x: Float, y: Float, vx: Float,
          vy: Float) -> tuple[Float, Float]:
    ax, ay = urge(rules.flock, ground, columns, at, x, y)
    way_x, way_y = _flight(rules, x, y)
    vx, vy = vx + rules.dt * (ax + rules.flee * way_x), vy + rules.dt * (ay + rules.flee * way_y)
    hunts = pick(columns.kind, at, x) > 0
    low = select(hunts, rules.predator_speed_min, rules.flock.speed_min)
    high = select(hunts, rules.predator_speed_max, rules.flock.speed_max)
    return limited(vx, vy, low, high)


class PreyCounts(NamedTuple):
    """The squares in which prey is counted; they belong to the model, unlike the cells of a structure, whose size is free."""

    side: np.float32
    inv_side: np.float32
    columns: int
    rows: int
    prey: Ints  # [workers, rows * columns]: counted by each worker


class Chase(NamedTuple):
    sight: np.float32
    speed: np.float32
    response: np.float32


# --- the chase -------------------------------------------------------------------------------------------------------

@device
def _square_along(position: np.float32, count: int, squares: PreyCounts) -> int:
    return min(max(int(position * squares.inv_side), 0), count - 1)


@kernel
def count_prey(worker: int, workers: int, columns: HuntColumns, agents: int, squares: PreyCounts, x: Floats,
               y: Floats) -> None:
    prey = squares.prey[worker]
    prey[:] = 0
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        if columns.kind[slot] == PREY:
            row = _square_along(columns.y[slot], squares.rows, squares)
            prey[row * squares.columns + _square_along(columns.x[slot], squares.columns, squares)] += 1
        elif columns.id[slot] < x.shape[0]:
            x[columns.id[slot]], y[columns.id[slot]] = columns.x[slot], columns.y[slot]


@formula
def _middle(number: int, squares: PreyCounts) -> np.float32:
    return (np.float32(number) + 0.5) * squares.side


@device
def _densest(squares: PreyCounts, workers: int, x: np.float32, y: np.float32, sight: np.float32) -> tuple[int, int]:
    """Return (most, square) of those whose middles are in sight."""
    most, best = 0, 0
    left, right = _square_along(x - sight, squares.columns, squares), _square_along(x + sight, squares.columns, squares)
    top, bottom = _square_along(y - sight, squares.rows, squares), _square_along(y + sight, squares.rows, squares)
    for row in range(top, bottom + 1):
        for column in range(left, right + 1):
            dx, dy = _middle(column, squares) - x, _middle(row, squares) - y
            if dx * dx + dy * dy < sight * sight:
                square, count = row * squares.columns + column, 0
                for worker in range(workers):
                    count += squares.prey[worker, square]
                if count > most:
                    most, best = count, square
    return most, best


@kernel
def chase_prey(worker: int, workers: int, columns: HuntColumns, agents: int, squares: PreyCounts, counters: int,
               chase: Chase) -> None:
    """Replace the push of predators by the chase; `counters` workers have counted."""
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        if columns.kind[slot] == PREDATOR:
            x, y = columns.x[slot], columns.y[slot]
            most, square = _densest(squares, counters, x, y, chase.sight)
            dx, dy = _middle(square % squares.columns, squares) - x, _middle(square // squares.columns, squares) - y
            distance = root(dx * dx + dy * dy)
            columns.avoidance_x[slot], columns.avoidance_y[slot] = 0, 0
            if most > 0 and distance > 0:
                speed = chase.speed / distance
                columns.avoidance_x[slot] = chase.response * (dx * speed - columns.vx[slot])
                columns.avoidance_y[slot] = chase.response * (dy * speed - columns.vy[slot])


# --- its stage -------------------------------------------------------------------------------------------------------

class Hunt(Stage):
    """Let predators chase the densest square that they see, and note where the predators are."""

    name = "hunt"

    def __init__(self, world: World) -> None:
        self.retune(world)

    def retune(self, world: World) -> None:
        settings, walls, f = world.settings.hunt, world.terrain.walls, np.float32
        width, height = float(walls.width), float(walls.height)
        side = f(max(settings.square, max(width, height) / MAX_SQUARES))
        shape = math.ceil(height / float(side)), math.ceil(width / float(side))
        self._squares = PreyCounts(side, f(1 / float(side)), shape[1], shape[0], np.zeros((0, 0), np.int32))
        self._chase = Chase(f(settings.predator_sight), f(settings.predator_speed_max), f(settings.predator_response))

    def launches(self, world: World) -> tuple[Launch, ...]:
        agents, rules, workers = cast(Agents[HuntColumns], world.agents), cast(HuntRules, world.rules), world.light_workers
        squares = self._squares = self._with_room(workers)
        rules.x[:], rules.y[:] = np.inf, np.inf
        return (launch(count_prey, workers, agents.columns, agents.count, squares, rules.x, rules.y),
                launch(chase_prey, workers, agents.columns, agents.count, squares, workers, self._chase))

    def _with_room(self, workers: int) -> PreyCounts:
        squares = self._squares
        if len(squares.prey) >= workers:
            return squares
        return squares._replace(prey=np.zeros((workers, squares.rows * squares.columns), np.int32))


# --- the behaviour ---------------------------------------------------------------------------------------------------

class Hunters(Flock):
    """The behaviour *hunt* (the interface is in base.py)."""

    observed = "x", "y", "kind", "vx", "vy"

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.hunt = settings = config.hunt
        top_speed = max(settings.speed_max, settings.predator_speed_max)
        self.needs = self.needs._replace(columns=HuntColumns, top_speed=top_speed)
        self.structures = {}  # no field: it would mix the kinds
        self._predators = np.full((2, MAX_PREDATORS), np.inf, np.float32)

    def stages(self, world: World) -> Sequence[Stage]:
        return Hunt(world), Glide()

    def spawn_columns(self, ids: Ints, x: Floats, y: Floats, seed: int, terrain: Terrain) -> dict[str, ArrayLike]:
        """Return the columns of newcomers: velocities as in a flock, and the kind."""
        kind = np.where(ids < self.hunt.predators, PREDATOR, PREY).astype(np.int32)
        return {**super().spawn_columns(ids, x, y, seed, terrain), "kind": kind}

    def bounds(self, terrain: Terrain) -> Mapping[str, tuple[float, float]]:
        return {"kind": (PREY, PREDATOR)}

    def rules(self, world: World) -> HuntRules:
        settings, f = self.hunt, np.float32
        fear, kind = f(settings.fear), NearestHuntRules if self.needs.nearest else HuntRules
        return kind(
            flock=self.flock_rules(world), predators=settings.predators, x=self._predators[0], y=self._predators[1],
            fear=fear, fear_sq=fear * fear, flee=f(settings.flee),
            predator_speed_min=f(settings.predator_speed_min), predator_speed_max=f(settings.predator_speed_max),
            dt=f(world.dt))
