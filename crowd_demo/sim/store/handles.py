"""Handles: references to agents that stay valid through sorts and removals.

The ids of all agents are a sparse set whose data are the columns. Whether an id is in use is always exact. Slots are brought
up to date on demand: a sort costs nothing here, and the first look-up after it O(n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowd_demo.compute.arrays import Bools, Ints, Longs, Whole
from crowd_demo.sim.store.sparse_set import Handle, Moves, SparseSet, each_once


class Handles:
    """The ids of agents. `layout` returns a number that grows whenever agents move in memory, `ids_by_slot` their ids."""

    def __init__(self, layout: Callable[[], int], ids_by_slot: Callable[[], Ints], capacity: int) -> None:
        self._now, self._by_slot = layout, ids_by_slot
        self.ids = SparseSet(capacity)
        self._layout = layout()

    def __len__(self) -> int:
        return len(self.ids)

    def handle(self, identity: int) -> Handle:
        """Return a reference to an agent. Raises KeyError when the id is not in use."""
        return self.ids.handle(identity)

    def slot(self, handle: Handle) -> int:
        """Return the agent's present slot, or -1 when it has died, even if its id is in use again."""
        return int(self._fresh().slot_of(handle.id)) if self.ids.is_alive(handle) else -1

    def slots_of(self, ids: Whole) -> Ints:
        """Return int32[n]: the present slots, -1 for ids that are not in use."""
        return self._fresh().slots_of(ids)

    def living(self, ids: Whole) -> Bools:
        """Return bool[n]: which of them are in use; needs no slots."""
        return self.ids.has(ids)

    @property
    def generations(self) -> Ints:
        """How often each id was removed; an id beyond the end never was."""
        return self.ids.generations

    def free_ids(self, count: int) -> Ints:
        """Return the `count` lowest ids that are not in use."""
        return self.ids.free_ids(count)

    @property
    def deaths(self) -> int:
        """Number of agents removed so far."""
        return self.ids.removed

    @property
    def limit(self) -> int:
        """One above the highest id ever used."""
        return self.ids.limit

    # --- for the owner of the columns --------------------------------------------------------------------------------

    def add(self, ids: Whole) -> None:
        """Append ids in this order. Raises ValueError when one is in use already."""
        if self.living(ids).any() or len(each_once(ids)) != len(ids):
            raise ValueError("two agents cannot have one id")
        self._fresh().add_many(ids)

    def remove(self, ids: Whole, mode: str) -> Moves:
        """Remove ids and return how the columns have to move; unknown ids are ignored."""
        return self._fresh().discard_many(ids, mode)

    def restore(self, ids: Ints, generations: Ints) -> None:
        """Take over the ids of a snapshot (`SparseSet.restore`)."""
        self.ids.restore(ids, generations)

    @property
    def gaps(self) -> int:
        """Number of gaps that removed agents have left."""
        return len(self.ids.ids) - len(self.ids)

    def living_slots(self) -> Longs:
        """Return the slots of all but the gaps, ascending."""
        return np.flatnonzero(self._fresh().ids >= 0)

    def follow(self) -> None:
        """Call after the columns have been moved too: slots are right for the present layout."""
        self._layout = self._now()

    def _fresh(self) -> SparseSet:
        if self._layout != self._now():
            self.ids.adopt(self._by_slot())
            self._layout = self._now()
        return self.ids
