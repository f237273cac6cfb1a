"""A kd-tree: the world is cut in two at the median, recursively; a leaf is a rectangle of the world and the agents in it.

The rectangles leave no gaps, so a leaf at the edge of a crowd covers much empty space and is found by queries for nothing; the
boxes of aabb_tree.py avoid that. Where agents have an extent, a rectangle is grown by the largest one in it.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.jit import Launch
from crowd_demo.sim.neighbours.boxes import GROWN, POINTS, extents
from crowd_demo.sim.neighbours.structure import Domain
from crowd_demo.sim.neighbours.trees import TreeStructure


class KdTree(TreeStructure):
    """Boxes are the regions that were cut, grown by the extents of agents."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.has_extents = extents(domain.agents.columns) is not POINTS
        if self.has_extents:
            self.box = np.zeros_like(self.tree.region)

    def index(self, tick: int) -> tuple[Launch, ...]:
        return (*super().index(tick), *(self.boxes(GROWN) if self.has_extents else ()))
