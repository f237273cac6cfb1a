"""Births and deaths: how many is due by the clock, and who is drawn by a hash of (seed, tick).

    born by tick t       floor(births_per_s * t * dt), while there are fewer than `most`
    dying by tick t      floor(deaths_per_s * t * dt), while anybody lives
    with `season_s`      births come 1.5 times as fast in the first half of each season and 0.5 times in the second,
                         deaths the other way round: the population swings by a quarter of rate * season_s to each side

The dead are drawn by id, not by slot: of the ids that a hash yields, one after another, those that somebody bears. Ids are
dense (newcomers take the lowest free ones), so that is O(deaths) a step. Newcomers draw place and velocity with the tick
as part of their seed, so a recycled id does not lead the same life again. Nothing here depends on the order in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute import hashing as noise
from crowd_demo.profile import HISTORY

if TYPE_CHECKING:
    from crowd_demo.config.model import Config
    from crowd_demo.sim.simulation import Simulation

Ints = NDArray[np.int32]


class Life:
    """What `life:` of the configuration asks for; `population` is its record."""

    def __init__(self, config: Config) -> None:
        self.settings = config.life
        self.active = self.settings.births_per_s > 0 or self.settings.deaths_per_s > 0
        self._config = config
        self._population: Ints = np.zeros(HISTORY, np.int32)
        self._steps = 0

    @property
    def room(self) -> int:
        """Agents to keep memory for: as many as the season brings, if births and deaths are in balance."""
        swing = self.settings.births_per_s * max(self.settings.season_s, 2) / 2
        return min(self._config.agents + int(swing), max(self.settings.most, self._config.agents))

    def pass_on(self, sim: Simulation) -> None:
        """Who dies this step dies, then who is born is born; the gaps of deferred removals are still open."""
        if self.active:
            dead = who_dies(sim, self._due(sim, self.settings.deaths_per_s, late=True))
            for part in np.array_split(dead, self.settings.causes):
                sim.agents.remove(part, sim.optimizations.removal, sim.workers)
            room = max(self.settings.most - len(sim.agents.handles), 0)
            born = min(self._due(sim, self.settings.births_per_s, late=False), room)
            self._bear(sim, born)
            sim.profile.counters.update(births=float(born), deaths=float(len(dead)))

    def record(self, count: int) -> None:
        """To be said at the end of each step."""
        self._population[self._steps % HISTORY] = count
        self._steps += 1

    def population(self, last: int = HISTORY) -> Ints:
        """int32[at most `last`]: how many lived after each of the last steps, oldest first."""
        size = min(last, self._steps, HISTORY)
        return self._population[np.arange(self._steps - size, self._steps) % HISTORY]

    def _due(self, sim: Simulation, rate: float, late: bool) -> int:
        return int(self._rates(sim, rate, late, sim.tick + 1)) - int(self._rates(sim, rate, late, sim.tick))

    def _rates(self, sim: Simulation, rate: float, late: bool, tick: int) -> float:
        """How many in all up to a tick."""
        season = self.settings.season_s
        seconds = tick / self._config.time.step_hz
        if season == 0:
            return rate * seconds
        whole, rest = divmod(seconds, season)
        early = min(rest, season / 2)
        fast, slow = (rest - early, early) if late else (early, rest - early)
        return rate * (whole * season + 1.5 * fast + 0.5 * slow)

    def _bear(self, sim: Simulation, count: int) -> None:
        if count:
            ids = sim.agents.handles.free_ids(count)
            sim.bear(ids, seed=int(noise.key(self._config.seed, sim.tick, noise.BIRTH)) & 0x7FFFFFFF)


def who_dies(sim: Simulation, count: int) -> Ints:
    """`count` different ids that somebody bears (or all of them), drawn in an order that the seed and the tick decide."""
    handles = sim.agents.handles
    count = min(count, len(handles))
    limit = np.uint32(max(handles.limit, 1))
    key = np.uint32(int(noise.key(sim.config.seed, sim.tick, noise.DEATH)) & 0xFFFFFFFF)
    drawn = np.zeros(0, np.int32)
    draws, more = 0, 2 * count + 16
    while len(drawn) < count:
        numbers = np.arange(draws, draws + more, dtype=np.uint32)
        ids = (noise.scramble(numbers ^ key) % limit).astype(np.int32)
        drawn = _first_of_each(np.concatenate((drawn, ids[handles.living(ids)])))
        draws, more = draws + more, more * 2
    return drawn[:count]


def _first_of_each(ids: Ints) -> Ints:
    _, first = np.unique(ids, return_index=True)
    return ids[np.sort(first)]
