"""Linked cell lists (as in Ihaa21's boids): each cell stores its first agent, each agent the next one of its cell.

Rebuilt every step and never sorted: the agents of a cell lie anywhere in memory, and the next one is known only after reading
the one before. Every worker links the cells of its own rows, so lists are in slot order for any number of workers; each
looks at all agents for that, O(n) a worker.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Floats
from crowd_demo.compute.jit import Launch, kernel, launch
from crowd_demo.sim.neighbours.candidates import Lists
from crowd_demo.sim.neighbours.grid import Floor, cell_of
from crowd_demo.sim.neighbours.structure import Domain, Structure


@kernel
def link_cells(worker: int, workers: int, x: Floats, y: Floats, agents: int, floor: Floor, lists: Lists) -> None:
    """Link the agents of the cells in this worker's rows."""
    first = floor.rows * worker // workers * floor.columns
    last = floor.rows * (worker + 1) // workers * floor.columns
    for cell in range(first, last):
        lists.head[cell] = -1
    for slot in range(agents - 1, -1, -1):
        cell = cell_of(x[slot], y[slot], floor)
        if first <= cell < last:
            lists.next[slot] = lists.head[cell]
            lists.head[cell] = slot


class Linked(Structure):
    """Lists over the cells of the domain's grid, which is not built itself."""

    OBEYS = frozenset({"cell_size"})

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        grid = domain.grid
        self.lists = Lists(np.zeros(grid.cells, np.int32), np.zeros(domain.agents.capacity, np.int32), grid.columns,
                           grid.rows, grid.reach)

    def index(self, tick: int) -> tuple[Launch, ...]:
        agents, workers = self.domain.agents, self.domain.workers
        columns = agents.columns
        return (launch(link_cells, workers, columns.x, columns.y, agents.count, self.domain.grid.floor, self.lists),)

    def candidates(self) -> Lists:
        return self.lists
