"""A tree of axis-aligned boxes: the same leaves as in kd_tree.py, but every box is shrunk to the agents in it.

Boxes are joined from the leaves upwards, O(n) more a step; then a query passes by all that is empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...jit import Call, device, kernel, prange
from .structure import Place
from .trees import TreeStructure


@device
def _shrink_leaf(tree: Any, box: Any, first: int, last: int) -> None:
    box[0], box[1] = tree.x[first], tree.y[first]
    box[2], box[3] = tree.x[first], tree.y[first]
    for k in range(first + 1, last):
        x, y = tree.x[np.uintp(k)], tree.y[np.uintp(k)]
        box[0], box[1] = min(box[0], x), min(box[1], y)
        box[2], box[3] = max(box[2], x), max(box[3], y)


@device
def _join(box: Any, node: int) -> None:
    """A node's box holds its children's."""
    low, high = box[2 * node], box[2 * node + 1]
    box[node, 0], box[node, 1] = min(low[0], high[0]), min(low[1], high[1])
    box[node, 2], box[node, 3] = max(low[2], high[2]), max(low[3], high[3])


@device
def _shrink(worker: int, workers: int, tree: Any, box: Any, agents: int, top: int, depth: int) -> None:
    for subtree in range(worker, 1 << top, workers):
        for leaf in range(subtree << depth - top, subtree + 1 << depth - top):
            _shrink_leaf(tree, box[(1 << depth) + leaf], agents * leaf >> depth, agents * (leaf + 1) >> depth)
        for level in range(depth - 1, top - 1, -1):
            for j in range(subtree << level - top, subtree + 1 << level - top):
                _join(box, (1 << level) + j)


@device
def _join_top(box: Any, top: int) -> None:
    for node in range((1 << top) - 1, 0, -1):
        _join(box, node)


@kernel
def shrink_boxes(workers: int, tree: Any, box: Any, agents: int, top: int, depth: int) -> None:
    """Boxes of the leaves and of all nodes from level `top` downwards."""
    for worker in prange(workers):
        _shrink(worker, workers, tree, box, agents, top, depth)


@kernel
def join_top(box: Any, top: int) -> None:
    """Boxes of the few nodes above, by one worker."""
    for _ in prange(1):
        _join_top(box, top)


class AabbTree(TreeStructure):
    """Boxes are the bounds of the agents."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.box = np.zeros_like(self.tree.region)

    def index(self) -> tuple[Call, ...]:
        count, top = self.place.agents.count, self.top
        return (*super().index(), Call(shrink_boxes, (self.place.workers, self.tree, self.box, count, top, self.depth)),
                Call(join_top, (self.box, top)))
