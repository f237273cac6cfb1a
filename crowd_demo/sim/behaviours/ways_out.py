"""Ways out: people are sent to the nearest of some destinations, and leave there for good (docs/model.md, "Sending people").

Nearest is by the shortest way over free tiles; who has no way to any of them goes on as before. A way out has a place for
everybody, and who arrives at one is removed before the next step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.sim.behaviours.destinations import DestinationAreas
from crowd_demo.sim.behaviours.people_rules import WAITING, WALKING, people_of
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.store.state import EMPTY, PartState
from crowd_demo.sim.terrain.tiles import Edges
from crowd_demo.sim.ways import MAX_GOALS
from crowd_demo.sim.world import World

NO_WAY = 2**31 - 1  # longer than any way


class WaysOut(Stage):
    """The stage in which people leave; and a part of the state: the destinations at which they do."""

    name = "exits"
    before_index = True

    def __init__(self, areas: DestinationAreas) -> None:
        self.areas = areas

    def wanted(self, world: World) -> bool:
        return bool(self.areas.ways_out)

    def commit(self, world: World) -> None:
        """Remove everybody who has arrived. Newborn people wait too, but with a timer of 0, and stay."""
        agents = people_of(world)
        c, count = agents.columns, agents.count
        arrived = (c.state[:count] == WAITING) & (c.timer[:count] > 0)
        leave = arrived & np.isin(c.goal[:count], list(self.areas.ways_out))
        if leave.any():
            world.leaving += np.bincount(c.goal[:count][leave], minlength=MAX_GOALS)
            agents.remove(np.sort(c.id[:count][leave]), world.options.removal, world.workers)
            agents.close_gaps(world.workers)
            world.fit()

    # --- sending -----------------------------------------------------------------------------------------------------

    def send(self, world: World, to: Sequence[int], leave: bool, within: Edges | None) -> None:
        """Send people to the nearest of these destinations, all or those within [left, top, right, bottom].

        With `leave` these are ways out from now on. Raises ValueError where there are no such destinations.
        """
        if not self.areas.limited:
            raise ValueError("nobody can be sent where crowd.room is 0")
        count = len(world.terrain.destinations)
        if max(to) >= count:
            raise ValueError(f"there is no destination {max(to)}: there are {count}, counted from 0")
        self._send(world, to, within)
        if leave:
            self.areas.ways_out |= frozenset(to)

    def _send(self, world: World, to: Sequence[int], within: Edges | None) -> None:
        agents, walls, points = people_of(world), world.terrain.walls, self.areas.refreshed()
        c, count = agents.columns, agents.count
        x, y = c.x[:count], c.y[:count]
        row, column = (y * walls.inv_tile).astype(np.int64), (x * walls.inv_tile).astype(np.int64)
        layout = self.areas.ways.at_present()
        lengths = [world.flow_fields.lengths(layout.targets, layout.steps, goal)[row, column] for goal in to]
        ways = np.stack([np.where(length < 0, NO_WAY, length) for length in lengths])
        sent = ways.min(axis=0) < NO_WAY
        if within is not None:
            left, top, right, bottom = within
            sent &= (left < x) & (x < right) & (top < y) & (y < bottom)
        slots = np.flatnonzero(sent)
        goal = np.array(to, np.int32)[ways.argmin(axis=0)[slots]]
        c.goal[slots], c.goal_x[slots], c.goal_y[slots] = goal, points.x[goal], points.y[goal]
        c.goal_visible[slots], c.state[slots], c.timer[slots] = 0, WALKING, 0

    # --- a part of the state -----------------------------------------------------------------------------------------

    def state(self) -> PartState:
        return PartState({"destinations": sorted(self.areas.ways_out)}) if self.areas.ways_out else EMPTY

    def restore(self, state: PartState) -> None:
        self.areas.ways_out = self._read(state)

    def check(self, state: PartState) -> None:
        if state.arrays or any(not 0 <= number < MAX_GOALS for number in self._read(state)):
            raise ValueError("not those of this map")

    def _read(self, state: PartState) -> frozenset[int]:
        numbers = state.values.get("destinations", [])
        if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
            raise ValueError("must be numbers of destinations")
        return frozenset(numbers)
