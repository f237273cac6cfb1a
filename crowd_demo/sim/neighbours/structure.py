"""The interface of all structures.

A step uses, in this order: `index`, which sorts the agents into cells or leaves; then, when agents are to be moved into the
order of the structure, `along`, `order` and `reordered`; then `query`, which finds the candidates of each group; and
`candidates`, in one of three forms (candidates.py). The candidates must include every neighbour of every agent, and may
include any others. `rules` is for structures that do a part of the behaviour's work.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Launch
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.neighbours.candidates import Candidates
from crowd_demo.sim.neighbours.grid import AgentGrid
from crowd_demo.sim.neighbours.schedule import UpdateSchedule
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.state import Columns


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
        """Return counters of the last step, for the profile."""
        return {}
