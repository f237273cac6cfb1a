"""A tree of axis-aligned boxes: the same leaves as in kd_tree.py, but every box is shrunk to the agents in it.

So a query passes by all that is empty, and by all that does not extend to where it asks. And whoever a leaf holds, its box is
true: the leaves may be some steps old, while boxes are fitted anew in each. What has drifted apart since then costs
candidates, never a neighbour. A new tree is built beside the one in use, a part of the work in each of `rebuild` steps, so no
step is long.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.jit import Call
from crowd_demo.sim.neighbours.structure import Domain
from crowd_demo.sim.neighbours.trees import TreeStructure, tree_of


class AabbTree(TreeStructure):
    """Boxes are the bounds of the agents."""

    OBEYS = TreeStructure.OBEYS | {"rebuild"}

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.box = np.zeros_like(self.tree.region)
        self.next = tree_of(domain.agents.capacity, len(self.box) // 2, domain.workers, domain.width, domain.height)
        self.agents = -1  # that the leaves hold
        self.begun_at = self.asked_at = 0  # ticks: when the next tree was begun, and of the last step

    def index(self, tick: int) -> tuple[Call, ...]:
        if not self.fresh or self.agents != self.domain.agents.count:
            self.agents, self.begun_at, self.asked_at = self.domain.agents.count, tick, tick
            return (*super().index(tick), *self.boxes(shrunk=True))
        again, self.asked_at = tick == self.asked_at, tick
        return (*(() if again else self._build_on(tick - self.begun_at)), *self.boxes(shrunk=True))

    def _build_on(self, step: int) -> tuple[Call, ...]:
        """The work of step 1, 2, ... on the next tree, which takes over with the last of them."""
        steps = self.domain.rebuild
        calls = self.build(self.next, self.parts * (step - 1) // steps, self.parts * step // steps)
        if step == steps:
            self.tree, self.next = self.next, self.tree
            self.order, self.begun_at = self.tree.order, self.asked_at
        return calls

    def reordered(self) -> None:
        """The next tree has to be begun again: its agents no longer are in the slots that it was told."""
        super().reordered()
        self.begun_at = self.asked_at
