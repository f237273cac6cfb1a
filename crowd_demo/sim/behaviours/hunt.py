"""Predators and prey: prey flock and flee, predators chase the densest cell that they see.

    push        of prey that of a flock (flock.py) among prey; of predators the chase, or nothing without prey in sight
    chase       response * (speed_max * direction to the middle of the densest cell in sight - v)
    densest     of the cells of side `square` that with most prey, counted; of equals the first in reading order
    flee        sum over the predators nearer than fear of (p - p_j) * (fear / |p - p_j| - 1), for both kinds
    v', p'      as in flock.py, with `flee` among the forces, and the speeds of each kind

So nobody is eaten; predators keep apart as prey keep from them. Those with the lowest ids are the predators.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.compute.simd import root
from crowd_demo.config.behaviours import HuntSettings
from crowd_demo.config.model import Config
from crowd_demo.sim.behaviours.flock import Flock
from crowd_demo.sim.behaviours.hunt_rules import MOST_PREDATORS, PREDATOR, PREY, HuntColumns, HuntRules
from crowd_demo.sim.behaviours.steering import Glide
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.stages import Index
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.world import World

MOST_SQUARES = 256  # along a side


class Squares(NamedTuple):
    """The cells of the model in which prey is counted: not those of a structure, whose size is free."""

    side: np.float32
    inv_side: np.float32
    columns: int
    rows: int
    prey: Ints  # [workers, rows * columns]: counted by each worker


class Chase(NamedTuple):
    """Constants of the chase."""

    sight: np.float32
    speed: np.float32
    response: np.float32


# --- kernels ---------------------------------------------------------------------------------------------------------

@device
def _square_along(position: np.float32, count: int, squares: Squares) -> int:
    return min(max(int(position * squares.inv_side), 0), count - 1)


@kernel
def count_prey(worker: int, workers: int, columns: HuntColumns, agents: int, squares: Squares, x: Floats, y: Floats) -> None:
    """Count the prey of each square, and note where the predators are, by id."""
    prey = squares.prey[worker]
    prey[:] = 0
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        if columns.kind[slot] == PREY:
            row = _square_along(columns.y[slot], squares.rows, squares)
            prey[row * squares.columns + _square_along(columns.x[slot], squares.columns, squares)] += 1
        elif columns.id[slot] < x.shape[0]:
            x[columns.id[slot]], y[columns.id[slot]] = columns.x[slot], columns.y[slot]


@device
def _densest(squares: Squares, workers: int, x: np.float32, y: np.float32, sight: np.float32) -> tuple[int, int]:
    """Return (most, square) of those whose middles are in sight."""
    most, best, half = 0, 0, np.float32(0.5)
    left, right = _square_along(x - sight, squares.columns, squares), _square_along(x + sight, squares.columns, squares)
    top, bottom = _square_along(y - sight, squares.rows, squares), _square_along(y + sight, squares.rows, squares)
    for row in range(top, bottom + 1):
        for column in range(left, right + 1):
            dx, dy = (np.float32(column) + half) * squares.side - x, (np.float32(row) + half) * squares.side - y
            if dx * dx + dy * dy < sight * sight:
                square, count = row * squares.columns + column, 0
                for worker in range(workers):
                    count += squares.prey[worker, square]
                if count > most:
                    most, best = count, square
    return most, best


@kernel
def chase_prey(worker: int, workers: int, columns: HuntColumns, agents: int, squares: Squares, counters: int,
               chase: Chase) -> None:
    """Replace the push of predators by the chase; `counters` workers have counted."""
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        if columns.kind[slot] == PREDATOR:
            x, y, half = columns.x[slot], columns.y[slot], np.float32(0.5)
            most, square = _densest(squares, counters, x, y, chase.sight)
            dx = (np.float32(square % squares.columns) + half) * squares.side - x
            dy = (np.float32(square // squares.columns) + half) * squares.side - y
            distance = root(dx * dx + dy * dy)
            columns.push_x[slot], columns.push_y[slot] = np.float32(0), np.float32(0)
            if most > 0 and distance > np.float32(0):
                speed = chase.speed / distance
                columns.push_x[slot] = chase.response * (dx * speed - columns.vx[slot])
                columns.push_y[slot] = chase.response * (dy * speed - columns.vy[slot])


# --- its stage -------------------------------------------------------------------------------------------------------

class Hunt(Stage):
    """Predators find the densest cell that they see, and everybody learns where the predators are."""

    name = "hunt"

    def __init__(self, world: World, settings: HuntSettings) -> None:
        walls, f = world.terrain.walls, np.float32
        width, height = float(walls.width), float(walls.height)
        side = f(max(settings.square, max(width, height) / MOST_SQUARES))
        shape = math.ceil(height / float(side)), math.ceil(width / float(side))
        self._squares = Squares(side, f(1 / float(side)), shape[1], shape[0], np.zeros((0, 0), np.int32))
        self._chase = Chase(f(settings.predator_sight), f(settings.predator_speed_max), f(settings.predator_response))

    def calls(self, world: World) -> tuple[Call, ...]:
        agents, rules, workers = cast(Agents[HuntColumns], world.agents), cast(HuntRules, world.rules), world.light_workers
        squares = self._squares = self._with_room(workers)
        rules.x[:], rules.y[:] = np.inf, np.inf
        return (call(count_prey, workers, agents.columns, agents.count, squares, rules.x, rules.y),
                call(chase_prey, workers, agents.columns, agents.count, squares, workers, self._chase))

    def _with_room(self, workers: int) -> Squares:
        squares = self._squares
        if len(squares.prey) >= workers:
            return squares
        return squares._replace(prey=np.zeros((workers, squares.rows * squares.columns), np.int32))


# --- the behaviour ---------------------------------------------------------------------------------------------------

class Hunters(Flock):
    """The behaviour *hunt* (the interface is in base.py)."""

    seen = (*Flock.seen, "kind")

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.hunt = settings = config.hunt
        top_speed = max(settings.speed_max, settings.predator_speed_max)
        self.needs = self.needs._replace(columns=HuntColumns, top_speed=top_speed)
        self.structures = {}  # no field: it would mix the kinds
        self._places = np.full((2, MOST_PREDATORS), np.inf, np.float32)

    def stages(self, world: World, index: Index) -> Sequence[Stage]:
        return Hunt(world, self.hunt), Glide()

    def spawn_columns(self, ids: Ints, x: Floats, y: Floats, seed: int, terrain: Terrain) -> dict[str, ArrayLike]:
        """Return the columns of newcomers: velocities as in a flock, and the kind."""
        kind = np.where(ids < self.hunt.predators, PREDATOR, PREY).astype(np.int32)
        return {**super().spawn_columns(ids, x, y, seed, terrain), "kind": kind}

    def bounds(self, terrain: Terrain) -> Mapping[str, tuple[float, float]]:
        return {"kind": (PREY, PREDATOR)}

    def rules(self, world: World) -> HuntRules:
        settings, f = self.hunt, np.float32
        return HuntRules(
            flock=self.flock_rules(world), predators=settings.predators, x=self._places[0], y=self._places[1],
            fear=f(settings.fear), fear_sq=f(settings.fear) * f(settings.fear), flee=f(settings.flee),
            predator_speed_min=f(settings.predator_speed_min), predator_speed_max=f(settings.predator_speed_max),
            dt=f(world.dt))
