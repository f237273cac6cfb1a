"""Boxes of a tree's nodes, from the leaves upwards: O(n), and for whatever agents the leaves hold.

A leaf's box is either the bounds of its agents with their extents, or the region that was cut, grown by the largest extent in
it. A node's box is the union of its children's.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Floats, Int, Ints
from crowd_demo.compute.jit import device, kernel
from crowd_demo.sim.store.columns import Columns

POINTS = np.zeros(0, np.float32)  # the extents of agents that have none
JOINED, SHRUNK, GROWN = range(3)  # boxes of the lowest nodes: there already, bounds of the agents, or of regions


def extents(columns: Columns) -> Floats:
    """Return float32[n + 16], half a side of the agent in each slot; empty where agents have no extent."""
    return getattr(columns, "half", POINTS)


@device
def _extent(half: Floats, slot: Int) -> np.float32:
    return half[np.uintp(slot)] if half.shape[0] > 0 else np.float32(0)


@device
def _shrink_leaf(x: Floats, y: Floats, half: Floats, order: Ints, box: Floats, first: int, last: int) -> None:
    left, top, right, bottom = np.float32(np.inf), np.float32(np.inf), np.float32(-np.inf), np.float32(-np.inf)
    for k in range(first, last):
        slot = np.uintp(order[k])
        extent = _extent(half, slot)
        left, top = min(left, x[slot] - extent), min(top, y[slot] - extent)
        right, bottom = max(right, x[slot] + extent), max(bottom, y[slot] + extent)
    box[0], box[1], box[2], box[3] = left, top, right, bottom


@device
def _grow_leaf(region: Floats, half: Floats, order: Ints, box: Floats, first: int, last: int) -> None:
    extent = np.float32(0)
    for k in range(first, last):
        extent = max(extent, _extent(half, np.uintp(order[k])))
    box[0], box[1] = region[0] - extent, region[1] - extent
    box[2], box[3] = region[2] + extent, region[3] + extent


@device
def _join(box: Floats, node: int) -> None:
    low, high = box[2 * node], box[2 * node + 1]
    box[node, 0], box[node, 1] = min(low[0], high[0]), min(low[1], high[1])
    box[node, 2], box[node, 3] = max(low[2], high[2]), max(low[3], high[3])


@kernel
def bound_nodes(worker: int, workers: int, x: Floats, y: Floats, half: Floats, order: Ints, region: Floats, fit: int,
                box: Floats, agents: int, top: int, depth: int) -> None:
    """Boxes of all nodes from level `top` down to `depth`, which are leaves unless they are JOINED already."""
    for subtree in range(worker, 1 << top, workers):
        for leaf in range(subtree << depth - top, subtree + 1 << depth - top):
            node, first, last = (1 << depth) + leaf, agents * leaf >> depth, agents * (leaf + 1) >> depth
            if fit == SHRUNK:
                _shrink_leaf(x, y, half, order, box[node], first, last)
            elif fit == GROWN:
                _grow_leaf(region[node], half, order, box[node], first, last)
        for level in range(depth - 1, top - 1, -1):
            for j in range(subtree << level - top, subtree + 1 << level - top):
                _join(box, (1 << level) + j)
