"""How people leave a scene: through its exits, or never, because the corridor is closed to a ring."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Bools, Ints
from crowd_demo.lab.validate.ground import Ground
from crowd_demo.lab.validate.scene import RING_MARGIN, Scene
from crowd_demo.measure.trajectories.table import Recorder
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.columns import views


class Exits:
    """Whoever is on an exit is taken out."""

    def __init__(self, sim: Simulation, scene: Scene, ground: Ground) -> None:
        self.sim, self.scene, self.ground = sim, scene, ground

    def before_step(self) -> None:
        """Nothing has to be done."""

    def look(self, recorder: Recorder) -> bool:
        """Record where everybody is, and take out who has arrived; return whether anybody is left."""
        c = self.sim.agents.by_id()
        x, y = self.ground.metres(c.x, c.y)
        recorder.add(c.id, x, y)
        out = np.zeros(len(x), bool)
        for each in self.scene.exits:
            out |= each.area.holds(x, y)
        if out.any():
            self.sim.agents.remove(c.id[out])
        return self.sim.agents.count > 0


class Ring:
    """The corridor's right end is its left end.

    Before each step, who has left it on one side comes in on the other, and copies of those near an end stand beyond the other
    one, so that nobody sees a seam. Copies have ids of their own and live for one step. Everybody's goal is straight ahead.
    """

    def __init__(self, sim: Simulation, scene: Scene, ground: Ground) -> None:
        floor = scene.floor[0]
        self.sim, self.ground, self.metres, self.people = sim, ground, floor.width, sim.agents.count
        (self.left, self.right), _ = ground.units([floor.left, floor.right], [0, 0])
        self.length = self.right - self.left
        self.margin = ground.length(RING_MARGIN)
        self.laps = np.zeros(self.people, np.int64)

    def before_step(self) -> None:
        """Bring everybody back between the ends, and make the copies anew."""
        before = self.sim.state()
        rows = before.columns[:, before.columns[0] < self.people]
        c = views(PeopleColumns, rows)
        self._bring_back(c)
        c.goal_y[:] = c.y
        first = self._copies(rows, c.x < self.left + self.margin, self.length, self.people)
        last = self._copies(rows, c.x >= self.right - self.margin, -self.length, 2 * self.people)
        self.sim.restore(before._replace(columns=np.concatenate([rows, first, last], axis=1),
                                         generations=np.zeros(3 * self.people, np.int32)))

    def look(self, recorder: Recorder) -> bool:
        """Record where everybody but the copies is, as if the corridor went on for ever."""
        c = self.sim.agents.by_id()
        x, y = self.ground.metres(c.x[:self.people], c.y[:self.people])
        recorder.add(c.id[:self.people], x + self.laps * self.metres, y)
        return True

    def _bring_back(self, c: PeopleColumns) -> None:
        beyond = (c.x >= self.right).astype(np.int64) - (c.x < self.left)
        self.laps[c.id] += beyond
        c.x[:] -= beyond.astype(np.float32) * self.length

    def _copies(self, rows: Ints, chosen: Bools, shift: np.float32, first_id: int) -> Ints:
        copies = rows[:, chosen]
        c = views(PeopleColumns, copies)
        c.id[:] += first_id
        c.x[:] += shift
        return copies
