"""The see stage: which kernels meet the candidates of a structure, and the memory they work in.

Nothing is allocated in a step but what a crowd that has grown or condensed asks for: strips grow by half, so seldom.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.jit import Call
from crowd_demo.compute.simd import LANES
from crowd_demo.sim.interaction.capped import Caps, Kept, kept_of, see_capped
from crowd_demo.sim.interaction.lists import Lists, Written, see_lists_lanes, see_lists_scalar, written_of
from crowd_demo.sim.interaction.pairwise import BLOCK, Strip, strip_of
from crowd_demo.sim.interaction.rows import see_lanes, see_scalar
from crowd_demo.sim.interaction.runs import Runs, Snapshot, see_runs_lanes, see_runs_scalar, snapshot_of, take_snapshot
from crowd_demo.sim.neighbours import Candidates
from crowd_demo.sim.neighbours.grid import Cells
from crowd_demo.sim.store.agents import Agents

HEAVY = 4  # a block that holds more than one in so many of a worker's agents is cut into its rows


class SeeStage:
    """Memory of so many workers for a crowd of at most `capacity`; made anew when either changes."""

    def __init__(self, workers: int, capacity: int) -> None:
        self.workers = workers
        self.capacity = capacity
        self.strip: Strip = strip_of(1024, workers)
        self.kept: Kept = kept_of(workers)
        self._snapshot: Snapshot | None = None
        self._written: Written | None = None

    def calls(self, candidates: Candidates, agents: Agents, rules: Any, turn: Any, simd: bool) -> tuple[Call, ...]:
        """Everybody who is due meets the candidates; counters start at zero."""
        self.strip.queue[0] = 0
        self.strip.counters[:] = 0
        columns = agents.columns
        shared = self.workers, candidates, columns, rules, turn
        if isinstance(candidates, Runs):
            if not simd:
                return (Call(see_runs_scalar, (*shared, self.strip)),)
            snapshot = self._snapshot = self._snapshot or snapshot_of(self.capacity)
            return (Call(take_snapshot, (self.workers, candidates.order, agents.count, columns, rules, snapshot, self.strip)),
                    Call(see_runs_lanes, (*shared, snapshot, self.strip)))
        if isinstance(candidates, Lists):
            if not simd:
                return (Call(see_lists_scalar, (*shared, self.strip)),)
            self._make_room(self.capacity)
            written = self._written = self._written or written_of(candidates, self.capacity, self.workers)
            return (Call(see_lists_lanes, (*shared, written, self.strip)),)
        blocks = blocks_of(candidates, self.workers)
        if simd:
            self._make_room(_largest(blocks, candidates))
        return (Call(see_lanes if simd else see_scalar, (*shared, blocks, self.strip)),)

    def capped(self, cells: Cells, agents: Agents, rules: Any, turn: Any, caps: Caps) -> tuple[Call, ...]:
        """Everybody who is due meets some of those around; one at a time, which is no work for lanes."""
        self.strip.queue[0] = 0
        self.strip.counters[:] = 0
        return (Call(see_capped, (self.workers, cells, agents.columns, rules, turn, caps, self.kept, self.strip)),)

    def _make_room(self, needed: int) -> None:
        if needed > self.strip.floats.shape[2] - 2 * LANES:
            self.strip = strip_of(needed + needed // 2, self.workers)


def blocks_of(cells: Cells, workers: int) -> NDArray[np.int32]:
    """Where each block of rows begins, and their end: BLOCK rows, or one where that many hold much of a worker's share."""
    first = np.arange(0, cells.rows, BLOCK)
    agents = np.diff(cells.start[np.append(first, cells.rows) * cells.columns])
    begins = np.zeros(cells.rows + 1, bool)
    begins[first], begins[-1] = True, True
    for block in first[agents * (HEAVY * workers) > agents.sum()] if workers > 1 else ():
        begins[block:block + BLOCK] = True
    return np.flatnonzero(begins).astype(np.int32)


def _largest(blocks: NDArray[np.int32], cells: Cells) -> int:
    """Agents in the most crowded block of rows and the rows it reaches."""
    top = np.maximum(blocks[:-1] - cells.reach, 0) * cells.columns
    bottom = np.minimum(blocks[1:] + cells.reach, cells.rows) * cells.columns
    return int((cells.start[bottom] - cells.start[top]).max())
