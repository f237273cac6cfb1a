"""Prefix-sum grid as an index only: agents stay where they are in memory, and each candidate is fetched through `order`."""

from __future__ import annotations

from ..agents import Agents
from ..grid import Cells, Grid

USES_GRID = True
REORDERS = False


def cells(grid: Grid, agents: Agents) -> Cells:
    return grid.view()
