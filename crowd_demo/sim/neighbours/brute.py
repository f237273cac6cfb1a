"""No structure: all agents are candidates of all, O(n^2). The baseline of the comparison.

The agents are cut into rows of 64 slots, so that there is work to share, and every row reaches all others.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.simd import LANES
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.neighbours.structure import Structure

ROW = 64


class Brute(Structure):
    """Rows of one cell, which holds 64 slots."""

    def candidates(self) -> Cells:
        count = self.domain.agents.count
        rows = max(1, -(-count // ROW))
        start = np.minimum(np.arange(rows + 1 + LANES) * ROW, count).astype(np.int32)
        return Cells(self.domain.grid.identity, start, 1, rows, rows)

    def rows_within(self, distance: float) -> Cells:
        return self.candidates()
