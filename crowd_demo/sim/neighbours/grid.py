"""The grid of a simulation: the agents of each cell, in slot order. It is rebuilt every step."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Launch, launch, run
from crowd_demo.grid.cells import CellIndex, reach_of
from crowd_demo.grid.counting_sort import sort_buckets
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.state import Columns


class AgentGrid(CellIndex):
    """The agents in cells over a world of `width` x `height` units. `cell` is a side, or 0 to fit the radius."""

    def __init__(self, agents: Agents[Columns], width: float, height: float, radius: float, cell: float,
                 workers: int) -> None:
        super().__init__(agents.capacity, width, height, radius, cell, workers)
        self.agents = agents
        self.identity = np.arange(agents.capacity + 16, dtype=np.int32)
        self.layout = -1
        self.by_id = False  # sort the agents of each cell by id

    def launches(self) -> tuple[Launch, ...]:
        columns = self.agents.columns
        ranks = (launch(sort_buckets, self.workers, self.space, self.cells, columns.id),) if self.by_id else ()
        return (*self.sorting(columns.x, columns.y, self.agents.count), *ranks)

    def built(self) -> None:
        """Call after the kernels of `launches` have run."""
        self.order = self.space.order
        self.layout = self.agents.layout

    def rebuild(self) -> None:
        """Build it for the present positions."""
        run(self.launches())
        self.built()

    def reordered(self, order: Ints) -> None:
        """Call after the agents were moved: cell c is now the slots order[start[c]:start[c + 1]]."""
        self.order = order
        self.layout = self.agents.layout

    def outdated(self) -> None:
        """Call after a step that moved agents without building this grid."""
        self.layout = -1

    @property
    def fresh(self) -> bool:
        """True while the order is right for the present slots, and the cells are at most one step old."""
        return self.layout == self.agents.layout

    def reach_of(self, distance: float) -> int:
        return min(reach_of(distance, self.cell, self.width, self.height), max(self.columns, self.rows))
