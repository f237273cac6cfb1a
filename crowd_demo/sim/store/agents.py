"""The agents: two buffers of columns (columns.py) and stable ids.

Agents live in slots [0, count); the tail is padding that a last register may read. An agent is known by its id; its slot
changes with every reorder.
"""

from __future__ import annotations

from typing import Generic

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Ints, Longs, Whole
from crowd_demo.compute.jit import Call, call, device, kernel, prange, run
from crowd_demo.compute.simd import LANES
from crowd_demo.sim.store.columns import Kind, dtypes_of, views
from crowd_demo.sim.store.handles import Handles
from crowd_demo.sim.store.sparse_set import SparseSet


@device
def _move_rows(worker: int, workers: int, source: Ints, order: Ints, count: int, target: Ints) -> None:
    first, last = count * worker // workers, count * (worker + 1) // workers
    for row in range(source.shape[0]):
        for slot in range(first, last):
            target[row, slot] = source[row, np.uintp(order[slot])]


@kernel
def move_rows(workers: int, source: Ints, order: Ints, count: int, target: Ints) -> None:
    """target[:, k] = source[:, order[k]] for k < count: agents into a new order, all columns in lockstep."""
    for worker in prange(workers):
        _move_rows(worker, workers, source, order, count, target)


class Agents(Generic[Kind]):
    """Owner of the columns. `columns` are the live ones; a reorder fills the other buffer and swaps."""

    def __init__(self, kind: type[Kind], capacity: int = 0) -> None:
        self.kind = kind
        self.names = tuple(dtypes_of(kind))  # of the columns, in the order of the rows
        self.count = 0
        self.layout = 0  # grows whenever a slot may hold another agent
        self._allocate(capacity)
        self.handles = Handles(lambda: self.layout, lambda: self.columns.id[:self.count], capacity)

    def _allocate(self, capacity: int) -> None:
        self.capacity = capacity
        shape = len(self.names), -(-capacity // LANES) * LANES + LANES
        self.front = np.zeros(shape, np.int32)
        self.back = np.zeros(shape, np.int32)
        self.columns: Kind = views(self.kind, self.front)
        self._order = np.zeros(shape[1], np.int32)  # who stays, by slot, while gaps are closed

    def swap(self) -> None:
        """Make the other buffer the live one (after `move_rows` has filled it)."""
        self.front, self.back = self.back, self.front
        self.columns = views(self.kind, self.front)
        self.layout += 1

    def spawn(self, **values: ArrayLike) -> None:
        """Append agents, one a value of `id`; columns that are not given start at zero. Raises ValueError for an id in use."""
        ids = np.asarray(values["id"])
        added = len(ids)
        if self.count + added > self.capacity:
            old = self.front
            self._allocate(max(self.count + added, self.capacity + self.capacity // 2))
            self.front[:, :self.count] = old[:, :self.count]
        for name, column in zip(self.names, self.columns, strict=True):
            column[self.count:self.count + added] = values.get(name, 0)
        self.handles.add(ids)
        self._resize(self.count + added)

    def remove(self, ids: Whole, mode: str = "swap_back", workers: int = 1) -> None:
        """Take agents out; unknown ids are ignored. The mode (see sparse_set.py) says how their gaps are closed.

        `deferred` leaves the gaps until `closing` has run, before which nobody may look at the columns.
        """
        if mode == "swap_back":
            moves = self.handles.remove(ids, mode)
            self.front[:, moves.target] = self.front[:, moves.source]
            if self.count > len(self.handles):
                self._resize(len(self.handles))
        else:
            self.handles.remove(ids, "deferred")
            if mode == "shift":
                self.close_gaps(workers)

    def close_gaps(self, workers: int) -> None:
        """Close all gaps at once, the others keeping their order."""
        if self.handles.gaps:
            run(self.closing(workers))
            self.closed()

    def closing(self, workers: int) -> tuple[Call, ...]:
        """The kernels of `close_gaps`; call `closed` after they have run."""
        living = self.handles.living_slots()
        self._order[:len(living)] = living
        return (call(move_rows, workers, self.front, self._order, len(living), self.back),)

    def closed(self) -> None:
        self.swap()
        self.count = len(self.handles)

    def _resize(self, count: int) -> None:
        """Call when the columns have followed their ids: the slots of ids are right again."""
        self.count = count
        self.layout += 1
        self.handles.follow()

    def slots(self) -> Longs:
        """Slots in the order of their ids."""
        return np.argsort(self.columns.id[:self.count], kind="stable")

    def by_id(self) -> Kind:
        """A read-only copy of all columns in id order: what callers are shown and what the hash covers."""
        return views(self.kind, self.rows_by_id())

    def rows_by_id(self) -> Ints:
        """The same as the matrix that they are rows of, int32[columns, n]."""
        matrix = np.ascontiguousarray(self.front[:, self.slots()])
        matrix.setflags(write=False)
        return matrix

    def restore(self, rows: Ints, ids: SparseSet, capacity: int) -> None:
        """Be the agents of a state: `rows` int32[columns, n] by slot, and their ids."""
        self._allocate(capacity)
        self.front[:, :rows.shape[1]] = rows
        self.handles.ids = ids
        self._resize(rows.shape[1])
