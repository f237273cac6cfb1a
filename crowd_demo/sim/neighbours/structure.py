"""The interface of all structures.

A step uses, in this order: `index`, which sorts the agents into cells or leaves; then, when agents are to be moved into the
order of the structure, `along`, `order` and `reordered`; then `query`, which finds the candidates of each group; and
`candidates`. These must include every neighbour of every agent, and may include any others. `rules` is for structures
that do a part of the behaviour's work.

Structures return candidates, the agents that may be neighbours, in three forms:

    Cells    rows of cells: the agents of a row lie one after the other in `order`, so those within reach are a few runs
    Runs     groups (a leaf, a square of cells on a curve), each with a short list of runs that hold all within its reach
    Lists    each cell stores its first agent, each agent the next one of its cell

A list of runs has a fixed length: when it is full, the last run is stretched instead, over agents that are too far away.
That is slower and just as exact: a candidate that is no neighbour adds nothing.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from crowd_demo.compute.arrays import Ints, Longs
from crowd_demo.compute.jit import Launch, device, launch, run
from crowd_demo.compute.simd import first_at
from crowd_demo.grid.cells import CellIndex, Cells, find_cells, reach_of, sort_buckets, sort_items
from crowd_demo.sim.neighbours.schedule import UpdateSchedule
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.state import Columns

MAX_RUNS = 16  # a group: trees over a uniform crowd need 4 to 8
GAP = 6  # agents between two runs that are cheaper to test than to skip


class Runs(NamedTuple):
    """Candidates in groups."""

    order: Ints  # [n + 16]: slots by group
    groups: Longs  # [1]: how many there are
    start: Ints  # [groups + 1]: the agents of group g are order[start[g]:start[g + 1]]
    count: Ints  # type: ignore[assignment]  # [groups]: runs of each group; hides tuple.count
    first: Ints  # [groups, MAX_RUNS]: its candidates are order[first[g, r]:last[g, r]], ascending and apart
    last: Ints  # [groups, MAX_RUNS]


class Lists(NamedTuple):
    """Candidates in lists; -1 ends a list."""

    head: Ints  # [rows * columns]: first slot of each cell
    next: Ints  # [n]: the slot after each slot
    columns: int
    rows: int
    reach: int  # cells to look at on each side


Candidates = Cells | Runs | Lists


def runs_of(order: Ints, groups: int) -> Runs:
    return Runs(order, np.zeros(1, np.int64), np.zeros(groups + 1, np.int32), np.zeros(groups, np.int32),
                np.zeros((groups, MAX_RUNS), np.int32), np.zeros((groups, MAX_RUNS), np.int32))


@device
def holder_of(k: int, start: Ints, groups: int) -> int:
    """Return the group that holds order[k], the last one that starts there or before; k is below start[groups]."""
    return first_at(start[1:groups], k + 1)


@device
def add_run(runs: Runs, group: int, first: int, last: int) -> None:
    """Append order[first:last] to the candidates of a group; runs come in ascending order."""
    count = runs.count[group]
    if last <= first:
        return
    if count > 0 and (first - runs.last[group, count - 1] <= GAP or count == MAX_RUNS):
        runs.last[group, count - 1] = last
        return
    runs.first[group, count], runs.last[group, count] = first, last
    runs.count[group] = count + 1


# --- the grid of a simulation ----------------------------------------------------------------------------------------

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
        count, space = self.agents.count, self.space
        return (launch(find_cells, self.workers, columns.x, columns.y, count, self.floor, space),
                launch(sort_items, self.workers, space, count), *ranks)

    def built(self) -> None:
        """Call after the kernels of `launches` have run."""
        self.order = self.space.order
        self.layout = self.agents.layout

    def rebuild(self) -> None:
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


# --- the interface ---------------------------------------------------------------------------------------------------

class Domain(NamedTuple):
    """What a structure is made for."""

    agents: Agents[Columns]
    grid: AgentGrid  # rows of cells over the world, built only where it is needed
    width: float  # of the world
    height: float
    radius: float  # of perception: all neighbours are nearer
    contact: float  # the same beyond the extents of both; the radius, where agents have none
    cell: float  # side of a cell, or 0 to fit the radius
    leaf: int  # most agents in a leaf
    rebuild: int  # steps from one building of a box tree to the next
    workers: int


class Structure(Protocol):
    """The interface and its defaults. A structure is made again when a setting of its `Domain` changes."""

    USES_GRID: bool = False  # its index is the domain's grid
    REORDERS: bool = False  # agents are to be moved into its order from time to time
    OBEYS: frozenset[str] = frozenset()  # techniques that change what it does, by their paths
    domain: Domain
    layout: int  # of the agents, when they were indexed
    order: Ints  # int32[n + 16]: slots in the order of the structure, where agents are to be moved into it

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.layout = -1

    def index(self, tick: int) -> tuple[Launch, ...]:
        """Return the kernels that index the agents; a second call in the same tick repeats the first."""
        return ()

    def built(self) -> None:
        """Call after the kernels of `index` have run."""
        self.layout = self.domain.agents.layout

    def along(self, curve: str) -> tuple[Launch, ...]:
        """Return the kernels that make `order` follow a curve through the cells, where these can be in any order."""
        return ()

    def reordered(self) -> None:
        """Call after the agents were moved into the order."""
        self.order = self.domain.grid.identity
        self.layout = self.domain.agents.layout

    @property
    def in_order(self) -> bool:
        """True while a sort would move no agent: a tree is kept for some steps after a sort."""
        return self.order is self.domain.grid.identity

    @property
    def fresh(self) -> bool:
        """True while every agent is in the slot in which it was indexed."""
        return self.layout == self.domain.agents.layout

    def query(self, simd: bool, rules: object, schedule: UpdateSchedule) -> tuple[Launch, ...]:
        """Return the kernels that find the candidates of each group; a structure that does not define it has no such stage."""
        return ()

    def rules(self, rules: object) -> object:
        """Return the rules for the interaction: the behaviour's, unless the structure does a part of the work itself."""
        return rules

    def candidates(self) -> Candidates:
        raise NotImplementedError

    def rows_within(self, distance: float) -> Cells:
        """Return rows of cells that have all who were within `distance` of each agent when these were indexed.

        For the stages after *interaction*. By default they are those of the domain's grid, which is built for contact.
        """
        return self.domain.grid.view()._replace(reach=self.domain.grid.reach_of(distance))

    def counters(self) -> dict[str, float]:
        return {}
