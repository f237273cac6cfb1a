"""A kd-tree: the world is cut in two at the median, again and again; a leaf is a rectangle of the world and who stands there.

The rectangles leave no gaps, so a leaf at the edge of a crowd reaches far into the void and is asked for in vain: the boxes
of aabb_tree.py do not. Where agents have an extent, a rectangle is grown by the largest of its own.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.jit import Call
from crowd_demo.sim.neighbours.boxes import POINTS, extents
from crowd_demo.sim.neighbours.structure import Domain
from crowd_demo.sim.neighbours.trees import TreeStructure


class KdTree(TreeStructure):
    """Boxes are the regions that were cut, and what sticks out of them."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.stick_out = extents(domain.agents.columns) is not POINTS
        if self.stick_out:
            self.box = np.zeros_like(self.tree.region)

    def index(self, tick: int) -> tuple[Call, ...]:
        return (*super().index(tick), *(self.boxes(shrunk=False) if self.stick_out else ()))
