"""Who may be near whom: one file a structure, one interface.

A structure gives `Cells` (rows of cells, each a run of `order`) whose candidates hold every neighbour, and says whether it
needs the grid and whether agents are to be moved into its order. The see stage does not know which one it was given.
"""

from __future__ import annotations

from typing import Protocol

from ..agents import Agents
from ..grid import Cells, Grid
from . import brute, buckets, sorted


class Structure(Protocol):
    """What a file of this package holds."""

    USES_GRID: bool
    REORDERS: bool

    @staticmethod
    def cells(grid: Grid, agents: Agents) -> Cells: ...


STRUCTURES: dict[str, Structure] = {"none": brute, "buckets": buckets, "sorted": sorted}  # type: ignore[dict-item]
