"""The interface of all structures.

A step asks for, in this order: `index`, which finds out who stands where; then, when agents are to be moved into the order
of the structure, `order`, followed by `reordered`; then `query`, which finds the candidates of each group; and `candidates`,
from which the see stage chooses its way: rows of cells, runs of an order, or lists. What these calls find must hold every
neighbour of everybody, and may hold anyone else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...jit import Call
from ..agents import Agents
from ..grid import Cells, Grid
from ..see_lists import Lists
from ..see_runs import Runs

Candidates = Cells | Runs | Lists


class Place(NamedTuple):
    """What a structure is made for."""

    agents: Agents
    grid: Grid  # rows of cells over the world, built only when somebody asks for it
    width: float  # of the world
    height: float
    radius: float  # nobody farther away than this is a neighbour
    cell: float  # side of a cell, or 0 to fit the radius
    leaf: int  # most agents in a leaf
    workers: int


class Structure:
    """Base of all structures; one is made anew when a setting of its `Place` changes."""

    USES_GRID = False  # its index is the place's grid
    REORDERS = False  # agents are to be moved into its order, now and then
    order: Any  # int32[n + 16]: slots in the order of the structure

    def __init__(self, place: Place) -> None:
        self.place = place

    def index(self) -> tuple[Call, ...]:
        return ()

    def built(self) -> None:
        """To be said after `index` has run."""

    def along(self, curve: str) -> tuple[Call, ...]:
        """Calls that make `order` follow a curve through the structure's cells, if those can be in any order."""
        return ()

    def reordered(self) -> None:
        """To be said after the agents were moved into the order."""
        self.order = self.place.grid.identity

    def query(self, simd: bool) -> tuple[Call, ...]:
        return ()

    def candidates(self) -> Candidates:
        raise NotImplementedError

    def counters(self) -> dict[str, float]:
        """What the last step did, for the profile."""
        return {}
