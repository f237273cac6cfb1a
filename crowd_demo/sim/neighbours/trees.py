"""Binary trees over the agents: how they are built, the boxes of their nodes, and who is near a leaf.

The tree is perfect: level l has 2^l nodes, node i has the children 2i and 2i + 1, and the j-th node of level l holds the
agents `order[n*j >> l : n*(j + 1) >> l]`. So its shape and depth depend on n alone, nothing is allocated, and
the order is that of its leaves depth-first. A node is cut at the median along the longer side of its region, by
quickselect: O(n log(n / leaf)) in all, and much less once agents are in this order in memory, because most are then in the
right half already. Workers share the nodes of the upper levels, level by level, and then take whole subtrees; the result does
not depend on which worker does which node.

Source: Bentley, "Multidimensional binary search trees" (1975); Hoare, "Algorithm 65: FIND" (1961).

A leaf's box is either the bounds of its agents with their extents, or the region that was cut, grown by the largest extent in
it. A node's box is the union of its children's. O(n), for whatever agents the leaves hold.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Longs
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd_memory import take_block
from crowd_demo.sim.neighbours.schedule import UpdateSchedule, count_due
from crowd_demo.sim.neighbours.structure import Domain, Runs, Structure, add_run, runs_of
from crowd_demo.sim.store.state import Columns

LEAF_BLOCK = 16  # consecutive leaves that a worker queries
POINTS = np.zeros(0, np.float32)  # the extents of agents that have none
NODES, PASSED, SWAPPED = range(3)  # counters of cutting
JOINED, SHRUNK, GROWN = range(3)  # boxes of the lowest nodes: there already, bounds of the agents, or of regions
SLACK = 1e-3  # of the radius, and
ROUNDING = 2.0**-22  # of the world: more than the rounding error of a distance and of an edge


class Tree(NamedTuple):
    """Agents being sorted into leaves, and the nodes; boxes are (left, top, right, bottom), closed."""

    x: Floats  # [n + 16], in the order of the leaves
    y: Floats
    order: Ints  # [n + 16]
    region: Floats  # [2 * leaves, 4]: the part of the world that a node was cut from
    queue: Longs  # [levels]: the next node of each level that a worker takes
    visited: Longs  # [workers, 3]: queries, nodes that they looked at, leaves found
    cut: Longs  # [workers, 3]: nodes cut, agents in passes over them, and those that were swapped, by the last kernel


def tree_of(agents: int, leaves: int, workers: int, width: float, height: float) -> Tree:
    tree = Tree(np.zeros(agents + 16, np.float32), np.zeros(agents + 16, np.float32), np.zeros(agents + 16, np.int32),
                np.zeros((2 * leaves, 4), np.float32), np.zeros(leaves.bit_length(), np.int64),
                np.zeros((workers, 3), np.int64), np.zeros((workers, 3), np.int64))
    tree.region[1] = 0, 0, width, height
    return tree


def depth_of(agents: int, leaf: int) -> int:
    """Return the levels above the leaves, so that no leaf holds more than `leaf` agents."""
    return (-(-agents // leaf) - 1).bit_length() if agents else 0


# --- building --------------------------------------------------------------------------------------------------------

@device
def _swap(array: Floats | Ints, i: int, j: int) -> None:
    array[np.uintp(i)], array[np.uintp(j)] = array[np.uintp(j)], array[np.uintp(i)]


@device
def select_nth(key: Floats, other: Floats, order: Ints, first: int, last: int, nth: int, counters: Longs) -> None:
    """Rearrange [first, last) so that key[nth] is what sorting would put there: none before is greater, none behind less."""
    left, right = first, last - 1
    while left < right:
        a, b, c = key[left], key[(left + right) // 2], key[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while key[np.uintp(i)] < pivot:
                i += 1
            while key[np.uintp(j)] > pivot:
                j -= 1
            if i <= j:
                _swap(key, i, j)
                _swap(other, i, j)
                _swap(order, i, j)
                counters[SWAPPED] += 1 + (i < j)
                i, j = i + 1, j - 1
        counters[PASSED] += right - left + 1
        if nth <= j:
            right = j
        elif nth >= i:
            left = i
        else:
            return


@device
def _cut(tree: Tree, agents: int, level: int, j: int, counters: Longs) -> None:
    """Divide the agents of a node between its children."""
    counters[NODES] += 1
    node = (1 << level) + j
    first, middle, last = agents * j >> level, agents * (2 * j + 1) >> level + 1, agents * (j + 1) >> level
    region, low, high = tree.region[node], tree.region[2 * node], tree.region[2 * node + 1]
    for side in range(4):
        low[side] = high[side] = region[side]
    if region[2] - region[0] > region[3] - region[1]:
        select_nth(tree.x, tree.y, tree.order, first, last, middle, counters)
        low[2] = high[0] = tree.x[middle]
    else:
        select_nth(tree.y, tree.x, tree.order, first, last, middle, counters)
        low[3] = high[1] = tree.y[middle]


@kernel
def load_agents(worker: int, workers: int, x: Floats, y: Floats, agents: int, tree: Tree) -> None:
    for slot in range(agents * worker // workers, agents * (worker + 1) // workers):
        tree.x[slot], tree.y[slot], tree.order[slot] = x[slot], y[slot], slot


@kernel
def cut_subtrees(worker: int, workers: int, tree: Tree, queue: Longs, agents: int, top: int, depth: int, end: int) -> None:
    """Cut the nodes of the levels from `top` to above `depth` that are below those of level `top` before `end`.

    One worker cuts all below one of these; the queue, int64[1], has the next.
    """
    counters = tree.cut[worker]
    counters[NODES] = counters[PASSED] = counters[SWAPPED] = 0
    subtree = take_block(queue, 1)
    while subtree < end:
        for level in range(top, depth):
            for j in range(subtree << level - top, subtree + 1 << level - top):
                _cut(tree, agents, level, j, counters)
        subtree = take_block(queue, 1)


# --- boxes of the nodes, from the leaves upwards ---------------------------------------------------------------------

def extents(columns: Columns) -> Floats:
    """Return float32[n + 16], half a side of the agent in each slot; empty where agents have no extent."""
    return getattr(columns, "half", POINTS)


@formula
def _extent(half: Floats, slot: Int) -> Float:
    return half[np.uintp(slot)] if half.shape[0] > 0 else 0


@formula
def _shrink_leaf(x: Floats, y: Floats, half: Floats, order: Ints, box: Floats, first: int, last: int) -> None:
    left, top, right, bottom = inf, inf, -inf, -inf
    for k in range(first, last):
        slot = np.uintp(order[k])
        extent = _extent(half, slot)
        left, top = min(left, x[slot] - extent), min(top, y[slot] - extent)
        right, bottom = max(right, x[slot] + extent), max(bottom, y[slot] + extent)
    box[0], box[1], box[2], box[3] = left, top, right, bottom


@formula
def _grow_leaf(region: Floats, half: Floats, order: Ints, box: Floats, first: int, last: int) -> None:
    extent: Float = 0
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


# --- querying --------------------------------------------------------------------------------------------------------

@device
def _apart(box: Floats, left: Float, top: Float, right: Float, bottom: Float) -> bool:
    return box[0] > right or box[2] < left or box[1] > bottom or box[3] < top


@device
def _find_runs(box: Floats, agents: int, depth: int, leaf: int, reach: Float, runs: Runs, visited: Longs) -> None:
    """Find the leaves within reach of a leaf, from left to right: without a stack, the next node follows from the bits."""
    mine = box[(1 << depth) + leaf]
    left, top, right, bottom = mine[0] - reach, mine[1] - reach, mine[2] + reach, mine[3] + reach
    node, looks, hits = 1, 0, 0
    while True:
        looks += 1
        hit = not _apart(box[np.uintp(node)], left, top, right, bottom)
        if hit and node < 1 << depth:
            node *= 2
            continue
        if hit:
            other = node - (1 << depth)
            hits += 1
            add_run(runs, leaf, agents * other >> depth, agents * (other + 1) >> depth)
        node += 1
        while node & 1 == 0:
            node >>= 1
        if node == 1:
            break
    visited[0] += 1
    visited[1] += looks
    visited[2] += hits


@kernel
def find_leaves(worker: int, workers: int, box: Floats, next_update: Ints, order: Ints, agents: int, depth: int,
                schedule: UpdateSchedule, reach: Float, runs: Runs, visited: Longs) -> None:
    """Find the candidates of each leaf with an agent that is due: the agents of all leaves with boxes in its reach."""
    visited = visited[worker]
    leaves = 1 << depth
    for count in range(visited.shape[0]):
        visited[count] = 0
    for block in range(worker * LEAF_BLOCK, leaves, workers * LEAF_BLOCK):  # agents that are due are near each other
        for leaf in range(block, min(block + LEAF_BLOCK, leaves)):
            first, last = agents * leaf >> depth, agents * (leaf + 1) >> depth
            runs.start[leaf], runs.count[leaf] = first, 0
            if count_due(next_update, order, first, last, schedule) > 0:
                _find_runs(box, agents, depth, leaf, reach, runs, visited)
    if worker == 0:
        runs.groups[0] = leaves
        runs.start[leaves] = agents


# --- the structures --------------------------------------------------------------------------------------------------

class TreeStructure(Structure):
    REORDERS = True
    OBEYS = frozenset({"leaf_size", "reorder.when"})

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        leaves = 1 << depth_of(domain.agents.capacity, domain.leaf)
        self.tree: Tree = tree_of(domain.agents.capacity, leaves, domain.workers, domain.width, domain.height)
        self.box = self.tree.region
        self.order = self.tree.order
        self.runs = runs_of(self.order, leaves)
        self.subtrees = (8 * domain.workers - 1).bit_length()  # log2 of their number: enough for an even end

    @property
    def depth(self) -> int:
        return depth_of(self.domain.agents.count, self.domain.leaf)

    @property
    def top(self) -> int:
        """Level of the subtrees that one worker builds alone."""
        return min(self.subtrees, self.depth)

    def index(self, tick: int) -> tuple[Launch, ...]:
        self.order = self.tree.order
        return self.build(self.tree, 0, self.parts)

    @property
    def parts(self) -> int:
        """Parts of building a tree, alike in cost: load the agents, cut the upper levels one by one, then the subtrees."""
        return 1 + self.top + (1 << self.top)

    def build(self, tree: Tree, first: int, last: int) -> tuple[Launch, ...]:
        """Return parts [first, last) of building a tree, for the positions at the time of loading."""
        agents, workers, top = self.domain.agents, self.domain.workers, self.top
        levels = range(max(first - 1, 0), min(last - 1, top))
        subtree, end = max(first - 1 - top, 0), last - 1 - top
        tree.queue[:] = 0
        tree.queue[top] = subtree
        load = launch(load_agents, workers, agents.columns.x, agents.columns.y, agents.count, tree)
        upper = (self._cut_below(tree, level, level + 1, 1 << level) for level in levels)
        lower = self._cut_below(tree, top, self.depth, end)
        return (*((load,) if first == 0 < last else ()), *upper, *((lower,) if end > subtree else ()))

    def _cut_below(self, tree: Tree, top: int, depth: int, end: int) -> Launch:
        """Return the kernel that cuts the nodes of some levels: below those of level `top` before `end`."""
        agents, workers = self.domain.agents, self.domain.workers
        return launch(cut_subtrees, workers, tree, tree.queue[top:top + 1], agents.count, top, depth, end)

    def boxes(self, fit: int) -> tuple[Launch, ...]:
        """Return the kernels that fit the boxes of leaves to their agents, and those of the other nodes to their children."""
        return (self._bound(self.domain.workers, fit, self.top, self.depth), self._bound(1, JOINED, 0, self.top))

    def _bound(self, workers: int, fit: int, top: int, depth: int) -> Launch:
        columns = self.domain.agents.columns
        return launch(bound_nodes, workers, columns.x, columns.y, extents(columns), self.order, self.tree.region, fit,
                      self.box, self.domain.agents.count, top, depth)

    def query(self, simd: bool, rules: object, schedule: UpdateSchedule) -> tuple[Launch, ...]:
        agents, domain = self.domain.agents, self.domain
        reach = domain.contact + SLACK * domain.radius
        return (launch(find_leaves, domain.workers, self.box, agents.columns.next_update, self.order, agents.count, self.depth,
                       schedule, np.float32(reach + ROUNDING * max(domain.width, domain.height)), self.runs,
                       self.tree.visited),)

    def candidates(self) -> Runs:
        return self.runs._replace(order=self.order)

    def counters(self) -> dict[str, float]:
        leaves = 1 << self.depth
        queries, nodes, found = self.tree.visited.sum(axis=0).tolist()
        asked = max(queries, 1)
        return {"leaves": leaves, "depth": self.depth, "queries": queries, "nodes_per_query": nodes / asked,
                "leaves_per_query": found / asked, "runs_per_group": float(self.runs.count[:leaves].sum()) / asked}


class KdTree(TreeStructure):
    """The world is cut in two at the median, recursively; a box is the region that was cut.

    The regions leave no gaps, so a leaf at the edge of a crowd covers much empty space and is found by queries for nothing.
    Where agents have an extent, a region is grown by the largest one in it.
    """

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.has_extents = extents(domain.agents.columns) is not POINTS
        if self.has_extents:
            self.box = np.zeros_like(self.tree.region)

    def index(self, tick: int) -> tuple[Launch, ...]:
        return (*super().index(tick), *(self.boxes(GROWN) if self.has_extents else ()))


class AabbTree(TreeStructure):
    """The same leaves, but every box is shrunk to the agents in it.

    So a query skips empty space, and all boxes that do not overlap its own. The leaves may be some steps old, because the
    boxes are fitted to their agents in every step: agents that have drifted apart since then cost candidates, but no neighbour
    is missed. A new tree is built beside the one in use, a part of the work in each of `rebuild` steps, so no step is long.
    """

    OBEYS = TreeStructure.OBEYS | {"rebuild"}

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.box = np.zeros_like(self.tree.region)
        self.next = tree_of(domain.agents.capacity, len(self.box) // 2, domain.workers, domain.width, domain.height)
        self.agents = -1  # number in the leaves
        self.begun_at = self.indexed_at = 0  # ticks: when the next tree was begun, and of the last call of `index`

    def index(self, tick: int) -> tuple[Launch, ...]:
        goes_on = tick - self.indexed_at in (0, 1)  # else other steps were made without this tree, on a GPU say
        if not (self.fresh and goes_on) or self.agents != self.domain.agents.count:
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
