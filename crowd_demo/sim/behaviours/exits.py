"""Exits: destinations where people leave the world and others come in (docs/model.md, "Exits").

Who has arrived at an exit is somebody else in the next step, with the same id: at rest, in the area of an exit, with another
speed and on the way to another destination. So the number of people stays the same, and memory has no gaps. It is done before
agents are indexed, because after that nobody may move farther than a step.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Int
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.compute.simd import bits_xor, scramble
from crowd_demo.config.behaviours import PeopleSettings
from crowd_demo.sim.behaviours.destinations import Destinations, Places, choose_destination, draw_place
from crowd_demo.sim.behaviours.people_columns import WAITING, WALKING, PeopleColumns
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.terrain.ground import Ground
from crowd_demo.sim.terrain.tiles import Walls
from crowd_demo.sim.world import World

ARRIVED_NS = 1.0  # time to test whether an agent has arrived


class ExitRules(NamedTuple):
    """Constants of one step."""

    exits: np.int64  # how many destinations are exits: the first ones
    speed_min: np.float64
    speed_range: np.float64
    speed_draws: np.int64
    goal_key: np.int32
    place_key: np.int32
    speed_key: np.int32


@device
def _draw_speed(identity: Int, rules: ExitRules) -> np.float64:
    """Return a preferred speed, distributed as at birth."""
    parts, key = np.float64(0), rules.speed_key
    for _ in range(rules.speed_draws):
        parts += np.float64(np.uint32(scramble(bits_xor(identity, key))) >> np.uint32(8)) * np.float64(2.0**-24)
        key = scramble(key)
    return rules.speed_min + rules.speed_range * (parts / np.float64(rules.speed_draws))


@device
def _come_in(c: PeopleColumns, slot: int, d: Destinations, last: int, ground: Ground, walls: Walls, rules: ExitRules) -> None:
    """Replace the person in a slot by another, in one of the tiles [0, last)."""
    identity = c.id[slot]
    c.x[slot], c.y[slot], c.goal[slot] = draw_place(d, 0, last, identity, ground, walls, rules.place_key)
    choose_destination(c, slot, d, rules.goal_key)
    c.speed[slot], c.state[slot], c.timer[slot] = _draw_speed(identity, rules), WALKING, 0
    c.vx[slot], c.vy[slot], c.push_x[slot], c.push_y[slot] = 0, 0, 0, 0
    c.heading_x[slot], c.heading_y[slot], c.look_at[slot] = 0, 0, 0


@kernel
def exchange_people(worker: int, workers: int, c: PeopleColumns, agents: int, d: Destinations, ground: Ground, walls: Walls,
                    rules: ExitRules) -> None:
    """Replace everybody who has arrived at an exit; newborn people wait too, but with a timer of 0."""
    exits = min(rules.exits, d.first.shape[0] - 1)
    last = d.first[exits]
    if last == 0:  # no exit has an area
        return
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        if c.state[slot] == WAITING and c.timer[slot] > 0 and c.goal[slot] < exits:
            _come_in(c, slot, d, last, ground, walls, rules)


class Exits(Stage):
    """People who have arrived at an exit leave, and as many others come in."""

    name = "exits"
    before_index = True

    def __init__(self, places: Places, settings: PeopleSettings, seed: int) -> None:
        self.places, self.settings, self.seed = places, settings, seed

    def wanted(self, world: World) -> bool:
        return self.settings.exits > 0

    def calls(self, world: World) -> tuple[Call, ...]:
        columns, workers = cast(PeopleColumns, world.agents.columns), world.workers_for(ARRIVED_NS)
        return (call(exchange_people, workers, columns, world.agents.count, self.places.refreshed(), world.ground,
                     world.terrain.walls, self.rules(world.tick)),)

    def rules(self, tick: int) -> ExitRules:
        settings = self.settings
        goal, place, speed = (hashing.key(self.seed, tick, use) for use in (hashing.GOAL, hashing.ENTRY, hashing.SPEED))
        low, extent = np.float64(settings.speed_min), np.float64(settings.speed_max - settings.speed_min)
        return ExitRules(np.int64(settings.exits), low, extent, np.int64(settings.speed_draws), goal, place, speed)
