"""The agents: columns (a structure of arrays), two buffers, stable ids.

All columns are rows of one int32 matrix, so every one moves in lockstep when agents are reordered or removed, and a new
column is one line in its class. A float32 column is a view of its row. Agents live in slots [0, count); the tail is padding
that a last register may read. An agent is known by its id; its slot changes with every reorder.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.jit import Call, device, kernel, prange, run
from crowd_demo.compute.simd import LANES
from crowd_demo.sim.store.handles import Handles

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


class FlockColumns(NamedTuple):
    """Columns of a flock; positions in world units, velocities in units/s."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    push_x: Floats  # what the neighbours ask for, kept until the agent looks again
    push_y: Floats
    look_at: Ints  # when it looks again, and how long it waits (stagger.py)


class CrateColumns(NamedTuple):
    """Columns of crates: those of a flock and how large each is."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    push_x: Floats
    push_y: Floats
    look_at: Ints
    half: Floats  # half a side, world units; never changes


class CrowdColumns(NamedTuple):
    """Columns of a crowd: those of a flock and what a walk to a goal needs."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    push_x: Floats
    push_y: Floats
    look_at: Ints
    speed: Floats  # preferred, units/s
    goal: Ints  # destination
    goal_x: Floats  # the place inside it
    goal_y: Floats
    way_x: Floats  # unit heading towards the goal, from sight or from the flow field
    way_y: Floats
    sees: Ints  # 1 when the goal is in sight
    state: Ints  # WALKING, WAITING, STUCK
    timer: Floats  # seconds: waiting left, or stuck so far


Columns = FlockColumns | CrateColumns | CrowdColumns
WALKING, WAITING, STUCK = range(3)


@device
def _move_rows(worker: int, workers: int, source: Any, order: Any, count: int, target: Any) -> None:
    first, last = count * worker // workers, count * (worker + 1) // workers
    for row in range(source.shape[0]):
        for slot in range(first, last):
            target[row, slot] = source[row, np.uintp(order[slot])]


@kernel
def move_rows(workers: int, source: Any, order: Any, count: int, target: Any) -> None:
    """target[:, k] = source[:, order[k]] for k < count: agents into a new order, all columns in lockstep."""
    for worker in prange(workers):
        _move_rows(worker, workers, source, order, count, target)


class Agents:
    """Owner of the columns. `columns` are the live ones; a reorder fills the other buffer and swaps."""

    def __init__(self, kind: type[Columns], capacity: int = 0) -> None:
        self.kind = kind
        self.count = 0
        self.layout = 0  # grows whenever a slot may hold another agent
        self._allocate(capacity)
        self.handles = Handles(self)

    def _allocate(self, capacity: int) -> None:
        self.capacity = capacity
        shape = len(self.kind._fields), -(-capacity // LANES) * LANES + LANES
        self.front = np.zeros(shape, np.int32)
        self.back = np.zeros(shape, np.int32)
        self.columns = self._views(self.front)
        self._order = np.zeros(shape[1], np.int32)  # who stays, by slot, while gaps are closed

    def _views(self, matrix: Ints) -> Any:
        kinds = self.kind.__annotations__.values()
        return self.kind(*(row.view(np.float32) if kind is Floats else row
                           for kind, row in zip(kinds, matrix, strict=True)))

    def swap(self) -> None:
        """Make the other buffer the live one (after `move_rows` has filled it)."""
        self.front, self.back = self.back, self.front
        self.columns = self._views(self.front)
        self.layout += 1

    def spawn(self, **values: Any) -> None:
        """Append agents, one a value of `id`; columns that are not given start at zero. Raises ValueError for an id in use."""
        added = len(values["id"])
        if self.count + added > self.capacity:
            old = self.front
            self._allocate(max(self.count + added, self.capacity + self.capacity // 2))
            self.front[:, :self.count] = old[:, :self.count]
        for name, column in zip(self.kind._fields, self.columns, strict=True):
            column[self.count:self.count + added] = values.get(name, 0)
        self.handles.born(values["id"])
        self._resized(self.count + added)

    def remove(self, ids: NDArray[Any], mode: str = "swap_back", workers: int = 1) -> None:
        """Take agents out; unknown ids are ignored. The mode (see sparse_set.py) says how their gaps are closed.

        `deferred` leaves the gaps until `closing` has run, before which nobody may look at the columns.
        """
        if mode == "swap_back":
            moves = self.handles.died(ids, mode)
            self.front[:, moves.target] = self.front[:, moves.source]
            if self.count > len(self.handles):
                self._resized(len(self.handles))
        else:
            self.handles.died(ids, "deferred")
            if mode == "shift":
                self.close_gaps(workers)

    def close_gaps(self, workers: int) -> None:
        """Close all gaps at once, the others keeping their order."""
        if self.handles.gaps:
            run(self.closing(workers))
            self.closed()

    def closing(self, workers: int) -> tuple[Call, ...]:
        """What `close_gaps` runs compiled; to be followed by `closed`."""
        living = self.handles.living_slots()
        self._order[:len(living)] = living
        return (Call(move_rows, (workers, self.front, self._order, len(living), self.back)),)

    def closed(self) -> None:
        self.swap()
        self.count = len(self.handles)

    def _resized(self, count: int) -> None:
        """To be said once the columns have followed their ids: the slots of ids are true again."""
        self.count = count
        self.layout += 1
        self.handles.moved()

    def slots(self) -> NDArray[np.int64]:
        """Slots in the order of their ids."""
        return np.argsort(self.columns.id[:self.count], kind="stable")

    def by_id(self) -> Any:
        """A copy of all columns in id order: what `Simulation.agents` shows to callers and what the hash covers."""
        return self._views(np.ascontiguousarray(self.front[:, self.slots()]))
