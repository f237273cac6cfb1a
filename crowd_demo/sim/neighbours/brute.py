"""No structure: everybody is a candidate of everybody, O(n^2). The baseline that all others are compared with.

The agents are cut into rows of 64 by slot, so that workers have something to share, and every row reaches all others.
"""

from __future__ import annotations

import numpy as np

from ..agents import Agents
from ..grid import Cells, Grid

USES_GRID = False
REORDERS = False
ROW = 64


def cells(grid: Grid, agents: Agents) -> Cells:
    rows = max(1, -(-agents.count // ROW))
    start = np.minimum(np.arange(rows + 1) * ROW, agents.count).astype(np.int32)
    return Cells(grid.identity, start, 1, rows, rows)
