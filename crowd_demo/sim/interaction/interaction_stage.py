"""The stage of the interaction: which kernels process the candidates of a structure, and their working memory.

A step allocates only when the crowd has grown or condensed: strips then grow by half, so rarely.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Launch, launch
from crowd_demo.compute.simd import LANES
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.interaction.nearest import KeptNeighbours, NeighbourLimits, interact_limited, kept_of, limit_counters
from crowd_demo.sim.interaction.runs import (
    Blocks,
    ListLayout,
    blocks_of,
    interact_lanes,
    interact_lists_lanes,
    interact_lists_scalar,
    interact_runs_lanes,
    interact_runs_scalar,
    interact_scalar,
    largest,
    layout_of_lists,
    rows_of,
    snapshot_of,
    take_snapshot,
)
from crowd_demo.sim.interaction.strips import (
    CANDIDATES,
    COPIES,
    DUE,
    NEIGHBOURS,
    REGISTERS,
    ROOM,
    RUNS,
    InteractionInput,
    Strips,
    strips_of,
)
from crowd_demo.sim.neighbours.structure import Candidates, Lists, Runs
from crowd_demo.sim.stage import Stage
from crowd_demo.sim.world import Sizes, World

SMALL = 32_768  # agents: strips have room for all of a smaller crowd
LANES_NS, SCALAR_NS = 40.0, 150.0  # time of the interaction for each agent that is due, with a structure
PAIR_LANES_NS, PAIR_NS = 0.1, 1.0  # and for each candidate, without one


class Interaction(Stage):
    """Interaction of all agents that are due with the candidates of the structure, or with the few that are kept."""

    name = "interaction"
    ahead = True

    def __init__(self) -> None:
        self._made_for: Sizes | None = None
        self._memory: InteractionMemory

    def memory(self, world: World) -> InteractionMemory:
        """Return the kernels' working memory; make it again when the sizes of memory have changed."""
        if self._made_for is not world.sizes:
            self._made_for = world.sizes
            self._memory = InteractionMemory(world.workers, world.agents.capacity)
        return self._memory

    def limits(self, world: World) -> NeighbourLimits:
        settings = world.settings.behaviour_settings
        return NeighbourLimits(bool(world.neighbour_limit == "nearest"), settings.limit_scanned, settings.limit_kept)

    def kept_only(self, world: World) -> NeighbourLimits | None:
        """Return the limits that the behaviour or else the technique sets; None if an agent interacts with all neighbours."""
        if nearest := world.needs.nearest:
            return NeighbourLimits(nearest=True, scanned=0, neighbours=nearest)
        return None if world.neighbour_limit == "none" else self.limits(world)

    def launches(self, world: World) -> tuple[Launch, ...]:
        if not (limits := self.kept_only(world)):
            return self.all_launches(world, exact=False)
        memory = self.memory(world).for_workers(self._workers(world, SCALAR_NS))
        given = InteractionInput(world.agents.columns, world.rules, world.schedule)
        return (launch(interact_limited, memory.workers, world.grid.view(), given, limits, memory.kept, memory.begin()),)

    def all_launches(self, world: World, exact: bool) -> tuple[Launch, ...]:
        """Return the launches without a limit; with `exact` also without a structure's own rules, so nothing approximates."""
        if world.needs.nearest:
            return self.launches(world)
        structure = world.structure
        rules = world.rules if exact else structure.rules(world.rules)
        simd = world.options.simd
        ns = LANES_NS if simd else SCALAR_NS
        if world.options.neighbours == "none":
            ns = world.agents.count * (PAIR_LANES_NS if simd else PAIR_NS)
        memory = self.memory(world).for_workers(self._workers(world, ns))
        given = InteractionInput(world.agents.columns, rules, world.schedule)
        return memory.launches(structure.candidates(), given, world.agents.count, simd)

    def _workers(self, world: World, ns: float) -> int:
        """Return how many workers share the work, which takes `ns` nanoseconds for each agent that is due."""
        return world.workers_for(ns / world.options.stagger.avoidance)

    def counters(self, world: World) -> dict[str, float]:
        """Return the counters of the work in this step; they do not depend on the machine's speed or load."""
        memory = self.memory(world)
        by_worker = memory.strips.counters[:memory.workers].tolist()  # Python's sums: NumPy would need longer to begin
        counted = [sum(column) for column in zip(*by_worker, strict=True)]
        due = max(counted[DUE], 1)
        return {
            "due": float(counted[DUE]),
            "candidates_per_agent": counted[CANDIDATES] / due,
            "neighbours_per_agent": counted[NEIGHBOURS] / due,
            "registers": float(counted[REGISTERS]),
            "contiguous_copies": counted[RUNS] / max(counted[COPIES], 1),
            "imbalance": imbalance([counts[CANDIDATES] for counts in by_worker]),
        }

    def structure_counters(self, world: World) -> dict[str, float]:
        """Return the counters that only the present structure or neighbour limit has."""
        counters = world.structure.counters()
        if world.neighbour_limit != "none":
            memory = self.memory(world)
            counters |= limit_counters(memory.kept, int(memory.strips.counters[:, DUE].sum()))
        return counters


class InteractionMemory:
    """Working memory of `workers` workers for at most `capacity` agents."""

    def __init__(self, workers: int, capacity: int) -> None:
        self.most_workers = self.workers = workers
        self.capacity = capacity
        self.strips: Strips = strips_of(min(capacity, SMALL), workers)
        self.kept: KeptNeighbours = kept_of(workers)
        self._snapshot: Ints | None = None
        self._layout: ListLayout | None = None

    def for_workers(self, workers: int) -> InteractionMemory:
        """Set the number of workers of the next launches, at most those that there is memory for."""
        self.workers = min(workers, self.most_workers)
        return self

    def launches(self, candidates: Candidates, given: InteractionInput, count: int, simd: bool) -> tuple[Launch, ...]:
        """Return the interaction of all agents that are due with the candidates; resets the counters."""
        self.begin()
        match candidates:
            case Cells() if simd:
                return (launch(interact_lanes, self.workers, candidates, given, self.row_blocks(candidates), self.strips),)
            case Cells():
                blocks = blocks_of(candidates, self.workers)
                return (launch(interact_scalar, self.workers, candidates, given, blocks, self.strips),)
            case Runs() if simd:
                snapshot = self._snapshot = snapshot_of(self.capacity) if self._snapshot is None else self._snapshot
                return (launch(take_snapshot, self.workers, candidates.order, count, given.columns, given.rules, snapshot,
                               self.strips.counters),
                        launch(interact_runs_lanes, self.workers, candidates, given, snapshot, self.strips))
            case Runs():
                return (launch(interact_runs_scalar, self.workers, candidates, given, self.strips),)
            case Lists() if simd:
                self._make_room(self.capacity)
                layout = self._layout  # arrays to which lists are written out, of at least as many cells
                if layout is None or layout.start.shape[1] <= rows_of(candidates) * candidates.columns + LANES:
                    layout = self._layout = layout_of_lists(candidates, self.capacity, self.most_workers)
                return (launch(interact_lists_lanes, self.workers, candidates, given, layout, self.strips),)
            case Lists():
                return (launch(interact_lists_scalar, self.workers, candidates, given, self.strips),)

    def row_blocks(self, cells: Cells) -> Blocks:
        """Return the blocks that the workers share, and make room for the largest."""
        blocks = blocks_of(cells, self.workers)
        if blocks.start[-1] > self.strips.rows.shape[2] - ROOM:
            self._make_room(largest(blocks, cells))
        return blocks

    def begin(self) -> Strips:
        """Return the working memory with all work still to do and nothing counted; others may still wait."""
        self.strips = Strips(*self.strips[:3], np.zeros(1, np.int64), np.zeros((self.most_workers, 8), np.int64))
        return self.strips

    def _make_room(self, needed: int) -> None:
        if needed > self.strips.rows.shape[2] - ROOM:
            self.strips = strips_of(needed + needed // 2, self.most_workers)


def imbalance(work: Sequence[int]) -> float:
    """Return the largest work of a worker over the mean: 1 when they share it evenly."""
    return max(work) * len(work) / sum(work) if any(work) else 1.0
