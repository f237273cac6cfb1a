"""Ids that go over to somebody else at an exit, which no generation tells (docs/model.md, "Destinations").

Who has arrived at an exit waits there for one state, and is somebody else in the next: no longer waiting, and with a preferred
speed drawn anew.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Ints
from crowd_demo.sim.behaviours.people_rules import WAITING, PeopleColumns
from crowd_demo.sim.simulation import Simulation


class Exchanges:
    """Counts how often each id went over. Call `look` for every state of a crowd, one step after the other."""

    def __init__(self) -> None:
        self._counts, self._speed = np.zeros(0, np.int32), np.zeros(0, np.float32)  # by id
        self._leaves = np.zeros(0, bool)

    def look(self, sim: Simulation) -> None:
        settings, agents = sim.config.crowd, sim.agents.count
        people, ways = sim.agents.view, sim.world.ways
        if not ways or not isinstance(people, PeopleColumns) or not (ways.exits or self._leaves.any()):
            return
        self._fit(sim.agents.handles.limit)
        ids, state, speed = people.id[:agents], people.state[:agents], people.speed[:agents]
        came = self._leaves[ids] & (state != WAITING)
        if settings.speed_min != settings.speed_max:
            came &= speed != self._speed[ids]
        self._counts[ids[came]] += 1
        self._leaves[:], self._speed[ids] = False, speed
        self._leaves[ids] = (state == WAITING) & (people.timer[:agents] > 0) & np.isin(
            people.goal[:agents], list(ways.exits))

    def count(self, ids: Ints) -> Ints:
        """Return int32[n]: how often each of these ids went over."""
        self._fit(int(ids.max(initial=-1)) + 1)
        return self._counts[ids]

    def _fit(self, limit: int) -> None:
        if more := max(limit - len(self._counts), 0):
            self._counts, self._speed, self._leaves = (
                np.pad(each, (0, more)) for each in (self._counts, self._speed, self._leaves))
