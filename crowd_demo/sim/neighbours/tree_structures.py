"""The structures that are trees (trees.py): a kd-tree, and a tree of boxes that fit the agents in them."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.jit import Launch, launch
from crowd_demo.sim.neighbours.candidates import Runs, runs_of
from crowd_demo.sim.neighbours.schedule import UpdateSchedule
from crowd_demo.sim.neighbours.structure import Domain, Structure
from crowd_demo.sim.neighbours.trees import (
    GROWN,
    JOINED,
    POINTS,
    SHRUNK,
    Tree,
    bound_nodes,
    cut_subtrees,
    depth_of,
    extents,
    find_leaves,
    load_agents,
    tree_of,
)

SLACK = 1e-3  # of the radius, and
ROUNDING = 2.0**-22  # of the world: more than the rounding error of a distance and of an edge


class TreeStructure(Structure):
    """A tree whose nodes have the boxes `box`."""

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
        """Build the tree."""
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
