"""A tree of axis-aligned boxes: the same leaves as in kd_tree.py, but every box is shrunk to the agents in it.

So a query skips empty space, and all boxes that do not overlap its own. The leaves may be some steps old, because the boxes
are fitted to their agents in every step: agents that have drifted apart since then cost candidates, but no neighbour is
missed. A new tree is built beside the one in use, a part of the work in each of `rebuild` steps, so no step is long.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.jit import Launch
from crowd_demo.sim.neighbours.boxes import SHRUNK
from crowd_demo.sim.neighbours.structure import Domain
from crowd_demo.sim.neighbours.trees import TreeStructure, tree_of


class AabbTree(TreeStructure):
    """Boxes are the bounds of the agents."""

    OBEYS = TreeStructure.OBEYS | {"rebuild"}

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.box = np.zeros_like(self.tree.region)
        self.next = tree_of(domain.agents.capacity, len(self.box) // 2, domain.workers, domain.width, domain.height)
        self.agents = -1  # number in the leaves
        self.begun_at = self.indexed_at = 0  # ticks: when the next tree was begun, and of the last call of `index`

    def index(self, tick: int) -> tuple[Launch, ...]:
        if not self.fresh or self.agents != self.domain.agents.count:
            self.agents, self.begun_at, self.indexed_at = self.domain.agents.count, tick, tick
            return (*super().index(tick), *self.boxes(SHRUNK))
        again, self.indexed_at = tick == self.indexed_at, tick
        return (*(() if again else self._build_on(tick - self.begun_at)), *self.boxes(SHRUNK))

    def _build_on(self, step: int) -> tuple[Launch, ...]:
        """Return the work of step 1, 2, ... on the next tree, which replaces the present one at the last step."""
        steps = self.domain.rebuild
        launches = self.build(self.next, self.parts * (step - 1) // steps, self.parts * step // steps)
        if step == steps:
            self.tree, self.next = self.next, self.tree
            self.order, self.begun_at = self.tree.order, self.indexed_at
        return launches

    def reordered(self) -> None:
        """Begin the next tree again: its slots are no longer right."""
        super().reordered()
        self.begun_at = self.indexed_at
