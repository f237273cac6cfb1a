"""A tree of axis-aligned boxes: the same leaves as in kd_tree.py, but every box is shrunk to the agents in it.

So a query passes by all that is empty, and by all that does not extend to where it asks. And whoever a leaf holds, its box is
true: the leaves may be built only every few steps, while boxes are fitted anew in each. What has drifted apart since then
costs candidates, never a neighbour.
"""

from __future__ import annotations

import numpy as np

from ...jit import Call
from .structure import Place
from .trees import TreeStructure


class AabbTree(TreeStructure):
    """Boxes are the bounds of the agents."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.box = np.zeros_like(self.tree.region)
        self.built_at = 0  # tick
        self.agents = -1  # that the leaves hold

    def index(self, tick: int) -> tuple[Call, ...]:
        still = self.fresh and self.agents == self.place.agents.count
        if still and tick - self.built_at < self.place.rebuild:
            return self.boxes(shrunk=True)
        self.built_at, self.agents = tick, self.place.agents.count
        return (*super().index(tick), *self.boxes(shrunk=True))
