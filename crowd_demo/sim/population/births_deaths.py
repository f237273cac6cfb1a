"""Births and deaths: their number follows from the tick, and the ids that die from a hash of (seed, tick).

    born by tick t       floor(births_per_s * t * dt), while there are fewer than `most`
    dying by tick t      floor(deaths_per_s * t * dt), while there are any agents
    with `season_s`      births come 1.5 times as fast in the first half of each season and 0.5 times in the second,
                         deaths the other way round: the population swings by a quarter of rate * season_s to each side

Agents that die are drawn by id, not by slot: a sequence of hashes yields ids, and those in use are taken. Ids are dense
(newcomers take the lowest free ones), so that is O(deaths) a step. Position and velocity of newcomers depend on the tick too,
so a recycled id starts differently. Nothing here depends on the order in memory.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.config.memory import TooManyError
from crowd_demo.config.model import Config
from crowd_demo.registry.texts import say_once
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.sparse_set import each_once
from crowd_demo.sim.world import World

LATELY = 12  # steps


class Turnover(NamedTuple):
    """Where agents died and were born in the step from a tick: float32[2, n], x and y."""

    tick: int
    died: Floats
    born: Floats


class BirthsDeaths(Stage):
    """The stage for `life:` of the configuration."""

    name = "life"

    def __init__(self, config: Config) -> None:
        self.settings = config.life
        self.active = self.settings.births_per_s > 0 or self.settings.deaths_per_s > 0
        self._config = config
        self.lately: deque[Turnover] = deque(maxlen=LATELY)  # for pictures

    def wanted(self, world: World) -> bool:
        return self.active

    def commit(self, world: World) -> None:
        """Remove the agents that die in this step, then add newcomers: as many as are due, while there is room and memory."""
        dead = who_dies(world, self._due(world.tick, self.settings.deaths_per_s, late=True))
        died = _places(world, dead)
        for part in np.array_split(dead, self.settings.causes):  # the gaps of deferred removals stay open
            world.agents.remove(part, world.options.removal, world.workers)
        count = len(world.agents.handles)
        born = min(self._due(world.tick, self.settings.births_per_s, late=False), max(self.settings.most - count, 0))
        try:
            world.check_room(count + born)
        except TooManyError as error:
            say_once(f"births stop: {error}", "births")
            born = 0
        newborn = world.agents.handles.free_ids(born)
        if born:
            seed = int(hashing.key(self._config.seed, world.tick, hashing.BIRTH)) & 0x7FFFFFFF
            world.add_agents(newborn, seed)
        self.lately.append(Turnover(world.tick, died, _places(world, newborn)))
        world.fit()
        world.profile.counters.update(births=float(len(newborn)), deaths=float(len(dead)))

    def _due(self, tick: int, rate: float, late: bool) -> int:
        return int(self._so_far(rate, late, tick + 1)) - int(self._so_far(rate, late, tick))

    def _so_far(self, rate: float, late: bool, tick: int) -> float:
        season = self.settings.season_s
        seconds = tick / self._config.time.step_hz
        if season == 0:
            return rate * seconds
        whole, rest = divmod(seconds, season)
        early = min(rest, season / 2)
        fast, slow = (rest - early, early) if late else (early, rest - early)
        return rate * (whole * season + 1.5 * fast + 0.5 * slow)


def _places(world: World, ids: Ints) -> Floats:
    columns, slots = world.agents.view, world.agents.handles.slots_of(ids)
    return np.stack((columns.x[slots], columns.y[slots]))


def who_dies(world: World, count: int) -> Ints:
    """Return `count` different ids in use (or all of them), drawn in an order that depends on the seed and the tick."""
    handles = world.agents.handles
    count = min(count, len(handles))
    limit = np.uint32(max(handles.limit, 1))
    key = np.uint32(int(hashing.key(world.config.seed, world.tick, hashing.DEATH)) & 0xFFFFFFFF)
    drawn = np.zeros(0, np.int32)
    draws, more = 0, 2 * count + 16
    while len(drawn) < count:
        numbers = np.arange(draws, draws + more, dtype=np.uint32)
        ids = (hashing.scramble(numbers ^ key) % limit).astype(np.int32)
        drawn = each_once(np.concatenate((drawn, ids[handles.has(ids)])))
        draws, more = draws + more, more * 2
    return drawn[:count]
