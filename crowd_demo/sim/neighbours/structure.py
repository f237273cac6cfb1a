"""The interface of all structures.

A step asks for, in this order: `index`, which finds out who stands where; then, when agents are to be moved into the order
of the structure, `order`, followed by `reordered`; then `query`, which finds the candidates of each group; and `candidates`,
of which the stage *see* knows three forms (candidates.py). What these calls find must hold every
neighbour of everybody, and may hold anyone else. `rules` is for structures that do a part of the behaviour's work.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Call
from crowd_demo.sim.neighbours.candidates import Candidates
from crowd_demo.sim.neighbours.grid import Grid
from crowd_demo.sim.neighbours.schedule import Turn
from crowd_demo.sim.store.agents import Agents
from crowd_demo.sim.store.columns import Columns


class Domain(NamedTuple):
    """What a structure is made for."""

    agents: Agents[Columns]
    grid: Grid  # rows of cells over the world, built only when somebody asks for it
    width: float  # of the world
    height: float
    radius: float  # nobody farther away than this is a neighbour
    contact: float  # the same beyond the extents of both; the radius, where agents have none
    cell: float  # side of a cell, or 0 to fit the radius
    leaf: int  # most agents in a leaf
    rebuild: int  # steps from one building of a box tree to the next
    workers: int


class Structure(Protocol):
    """What all structures answer, and the usual answers; one is made anew when a setting of its `Domain` changes."""

    USES_GRID: bool = False  # its index is the domain's grid
    REORDERS: bool = False  # agents are to be moved into its order, now and then
    OBEYS: frozenset[str] = frozenset()  # techniques that change what it does, by their paths
    domain: Domain
    layout: int  # of the agents, when they were indexed
    order: Ints  # int32[n + 16]: slots in the order of the structure, where agents are to be moved into it

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.layout = -1

    def index(self, tick: int) -> tuple[Call, ...]:
        """Find out who stands where; whoever asks again in the same tick, nothing having changed, gets the same."""
        return ()

    def built(self) -> None:
        """Call after the kernels of `index` have run."""
        self.layout = self.domain.agents.layout

    def along(self, curve: str) -> tuple[Call, ...]:
        """Calls that make `order` follow a curve through the structure's cells, if those can be in any order."""
        return ()

    def reordered(self) -> None:
        """Call after the agents were moved into the order."""
        self.order = self.domain.grid.identity
        self.layout = self.domain.agents.layout

    @property
    def in_order(self) -> bool:
        """True while nobody would move: a tree stays what it is for some steps after a sort."""
        return self.order is self.domain.grid.identity

    @property
    def fresh(self) -> bool:
        """True while every agent is in the slot in which it was indexed."""
        return self.layout == self.domain.agents.layout

    def query(self, simd: bool, rules: object, turn: Turn) -> tuple[Call, ...]:
        return ()

    def rules(self, rules: object) -> object:
        """The rules by which agents are to meet the candidates: the behaviour's, unless the structure does a part itself."""
        return rules

    def candidates(self) -> Candidates:
        raise NotImplementedError

    def counters(self) -> dict[str, float]:
        """What the last step did, for the profile."""
        return {}
