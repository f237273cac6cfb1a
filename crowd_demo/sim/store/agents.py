"""The agents: two buffers of columns (state.py) and stable ids; and when they are moved into the order of cells.

Agents are in slots [0, count); the rest is padding that the last register may read. The id identifies an agent; its slot
changes with every reorder.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, Protocol
from weakref import proxy

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Floats, Ints, Longs, Whole
from crowd_demo.compute.jit import Launch, kernel, launch, run
from crowd_demo.compute.simd import LANES
from crowd_demo.compute.simd_memory import gather, onward, store
from crowd_demo.sim.store.sparse_set import Handles
from crowd_demo.sim.store.state import Columns, Kind, dtypes_of, views

MOVED = 1024  # slots at a time


@kernel
def move_rows(worker: int, workers: int, source: Ints, order: Ints, count: int, target: Ints) -> None:
    """target[:, k] = source[:, order[k]] for k < count: move all columns of the agents into a new order.

    A thousand slots of all columns at a time, so that their order is read from the nearest cache. The last register of a
    worker writes what the next one writes too.
    """
    first, last = count * worker // workers, count * (worker + 1) // workers
    for block in range(first, last, MOVED):
        for row in range(source.shape[0]):
            of, to = source[row], target[row]
            for slot in range(block, min(block + MOVED, last), LANES):
                store(to, slot, gather(of, onward(order, slot)))


class DeviceCrowd(Protocol):
    """The copy of a crowd on another processor whose stages make the steps."""

    columns: Columns

    def is_newest(self, agents: Agents[Any]) -> bool:
        """Return whether its columns are the current ones."""

    def fetch(self, matrix: Ints) -> None:
        """Copy all columns to a matrix like `Agents.front`."""

    def column(self, number: int) -> Ints:
        """Return a copy of one column, as int32[agents]."""

    def work(self) -> Mapping[str, float]:
        """Return the counters of the work in the last step."""


class Agents(Generic[Kind]):
    """Owns the columns. `columns` are the present ones; a reorder fills the other buffer and swaps.

    While a graphics card makes the steps, its copy is newer (extras/gpu/). Whoever asks for columns gets them from there
    first; who only reads asks for `view`, so that the GPU need not get them back.
    """

    def __init__(self, kind: type[Kind], capacity: int = 0) -> None:
        self.kind = kind
        self.names = tuple(dtypes_of(kind))  # of the columns, in the order of the rows
        self.count = 0
        self.layout = 0  # grows whenever a slot may hold another agent
        self.writes = 0  # grows whenever somebody may write to a column
        self._seen_on_gpu: Kind | None = None
        self.elsewhere: DeviceCrowd | None = None  # which has newer columns
        self._allocate(capacity)
        me = proxy(self)  # a cycle of references would keep the columns until Python looks for cycles
        self.handles = Handles(lambda: me.layout, lambda: me.view.id[:me.count], capacity)

    # --- where the newest columns are --------------------------------------------------------------------------------

    @property
    def columns(self) -> Kind:
        """The columns, for whoever may write to them."""
        self.writes += 1
        return self.view

    @property
    def view(self) -> Kind:
        """The columns, to be read only."""
        if self._seen_on_gpu is not None:
            return self._seen_on_gpu
        self.bring()
        return self._columns

    @contextmanager
    def seen_on_gpu(self, columns: Kind) -> Iterator[None]:
        """Let `view` be the columns on a GPU meanwhile, for records that kernels there get."""
        self._seen_on_gpu = columns
        try:
            yield
        finally:
            self._seen_on_gpu = None

    @property
    def front(self) -> Ints:
        """All columns as one matrix, int32[columns, capacity and padding], for whoever may write to it."""
        self.writes += 1
        return self.matrix

    @property
    def matrix(self) -> Ints:
        """The same, to be read only."""
        self.bring()
        return self._front

    def row(self, name: str) -> Ints:
        """Return one column of the agents as int32[count], to be read only; no other is copied here."""
        number = self.names.index(name)
        return (self.elsewhere.column(number) if self.elsewhere else self._front[number])[:self.count]

    def bring(self) -> None:
        """Copy newer columns here, if there are some elsewhere."""
        if self.elsewhere:
            self.elsewhere.fetch(self._front)
            self.elsewhere = None

    def _allocate(self, capacity: int) -> None:
        self.capacity = capacity
        shape = len(self.names), -(-capacity // LANES) * LANES + LANES
        self._front = np.zeros(shape, np.int32)
        self.back = np.zeros(shape, np.int32)
        self._columns: Kind = views(self.kind, self._front)
        self.writes += 1
        self._order = np.zeros(shape[1], np.int32)  # slots of those that stay, while gaps are closed

    def swap(self) -> None:
        """Make the other buffer the present one. Call after `move_rows` has filled it."""
        self._front, self.back = self.back, self.front
        self._columns = views(self.kind, self._front)
        self.layout += 1

    def reordering(self, order: Ints, workers: int) -> tuple[Launch, ...]:
        """Return the kernels after which, and after `swap`, slot k holds the agent that was in slot order[k]."""
        return (launch(move_rows, workers, self.front, order, self.count, self.back),)

    def spawn(self, **values: ArrayLike) -> None:
        """Append agents, one for each of `id`; columns left out start at zero. Raises ValueError for an id in use."""
        ids = np.asarray(values["id"])
        added = len(ids)
        if self.count + added > self.capacity:
            old = self.front
            self._allocate(max(self.count + added, self.capacity + self.capacity // 2))
            self.front[:, :self.count] = old[:, :self.count]
        for name, column in zip(self.names, self.columns, strict=True):
            column[self.count:self.count + added] = values.get(name, 0)
        self.handles.add_new(ids)
        self._resize(self.count + added)

    def remove(self, ids: Whole, mode: str = "swap_back", workers: int = 1) -> None:
        """Remove agents; unknown ids are ignored. The mode (see sparse_set.py) says how their gaps are closed.

        `deferred` leaves the gaps until `closing` has run; the columns may not be read before.
        """
        if mode == "swap_back":
            moves = self.handles.discard_many(ids, mode)
            self.front[:, moves.target] = self.front[:, moves.source]
            if self.count > len(self.handles):
                self._resize(len(self.handles))
        else:
            self.handles.discard_many(ids, "deferred")
            if mode == "shift":
                self.close_gaps(workers)

    def close_gaps(self, workers: int) -> None:
        if self.handles.gaps:
            run(self.closing(workers))
            self.closed()

    def closing(self, workers: int) -> tuple[Launch, ...]:
        """Return the kernels of `close_gaps`. Call `closed` after they have run."""
        living = self.handles.living_slots()
        self._order[:len(living)] = living
        return (launch(move_rows, workers, self.front, self._order, len(living), self.back),)

    def closed(self) -> None:
        self.swap()
        self.count = len(self.handles)

    def _resize(self, count: int) -> None:
        """Call after the columns have been moved like their ids."""
        self.count = count
        self.layout += 1
        self.handles.follow()

    def slots(self) -> Longs:
        """Return the slots in the order of their ids, O(ids)."""
        return in_order(self.view.id[:self.count], self.handles.limit)

    def by_id(self) -> Kind:
        """Return a read-only copy of all columns in id order."""
        return views(self.kind, self.rows_by_id())

    def rows_by_id(self) -> Ints:
        """Return the same as one matrix, int32[columns, n], which the state hash covers."""
        matrix = np.ascontiguousarray(self.matrix[:, self.slots()])
        matrix.setflags(write=False)
        return matrix

    def restore(self, rows: Ints, generations: Ints) -> None:
        """Take over a snapshot: `rows` int32[columns, n] by slot, and how often each id was given up, int32[limit].

        Memory is kept where there is enough of it.
        """
        count = rows.shape[1]
        if count > self.capacity:
            self._allocate(count)
        self.elsewhere = None
        self.front[:, :count] = rows
        self.handles.restore(self.view.id[:count], generations)
        self._resize(count)


# --- when to move them -----------------------------------------------------------------------------------------------

def in_order(ids: Ints, limit: int) -> Longs:
    """Return where each id is, the lowest first; damaged ids, not all below the limit, are sorted: ten times as slow."""
    slots = np.full(limit, -1, np.int64)
    if not len(ids) or (ids.min() >= 0 and ids.max() < limit):
        slots[ids] = np.arange(len(ids))
        if len(found := slots[slots >= 0]) == len(ids):
            return found
    return np.argsort(ids, kind="stable")


class Drift:
    """What happened since agents were last moved into cell order.

    It adds up the longest move of each step, an upper bound of every agent's path, so it needs no column and no id.
    """

    def __init__(self) -> None:
        self.sorts = 0  # so far
        self.steps = 0  # since the last one
        self.units = 0.0  # upper bound of every agent's path since then

    def moved(self, farthest_sq: Floats) -> None:
        """Call after a step; float32[moves, workers, 16], squares of the longest ones."""
        self.steps += 1
        for square in farthest_sq.max(axis=(1, 2)).tolist():
            self.units += math.sqrt(square)

    def reset(self) -> None:
        """Call after a sort."""
        self.sorts += 1
        self.steps, self.units = 0, 0.0

    def counters(self) -> dict[str, float]:
        return {"sorts": self.sorts, "drift": self.units, "steps_since_sort": self.steps}


def reorder_due(when: str, every: int, drift: float, tick: int, since: Drift, cell: float) -> bool:
    """Return whether agents are moved into cell order in this step.

    `every` sorts every so many steps, `drift` once an agent may have moved by that share of a cell, `cell` units wide.
    """
    if when == "drift":
        return tick == 0 or since.units > drift * cell
    return when == "every" and tick % every == 0
