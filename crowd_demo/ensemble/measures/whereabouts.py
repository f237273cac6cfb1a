"""Where everybody is at one look, so that the next one knows who went where."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Longs
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.simulation import Simulation


class Whereabouts:
    """Places by agent: one is known by its id and by how often that was given up before, a person by the speed too."""

    def __init__(self, sim: Simulation) -> None:
        self.columns = sim.agents.by_id()
        self.x, self.y = self.columns.x.astype(np.float64), self.columns.y.astype(np.float64)  # world units
        self.tick, self._dt = sim.tick, sim.dt
        self._generations = sim.agents.handles.generations[self.columns.id]

    def seconds_since(self, before: Whereabouts) -> float:
        return (self.tick - before.tick) * self._dt

    def same_since(self, before: Whereabouts) -> tuple[Longs, Longs]:
        """Return where those who lived then and now stand in the columns of then, and in those of now; in the order of ids."""
        _, then, now = np.intersect1d(before.columns.id, self.columns.id, assume_unique=True, return_indices=True)
        same = before._generations[then] == self._generations[now]
        if isinstance(self.columns, PeopleColumns) and isinstance(before.columns, PeopleColumns):
            same &= before.columns.speed[then] == self.columns.speed[now]  # another has come in by an exit
        return then[same], now[same]
