"""Handles: references to agents that stay valid through sorts and removals.

The ids of all agents are a sparse set whose data are the columns. Whether an id is in use is always exact. Slots are brought
up to date on demand: a sort costs nothing here, and the first look-up after it O(n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Ints, Longs, Whole
from crowd_demo.sim.store.sparse_set import Handle, Moves, SparseSet, each_once


class Handles(SparseSet):
    """The ids of agents. `layout` returns a number that grows whenever agents move in memory, `ids_by_slot` their ids."""

    def __init__(self, layout: Callable[[], int], ids_by_slot: Callable[[], Ints], capacity: int) -> None:
        super().__init__(capacity)
        self._now, self._by_slot = layout, ids_by_slot
        self._layout = layout()

    def slot(self, handle: Handle) -> int:
        """Return the agent's present slot, or -1 when it has died, even if its id is in use again."""
        return int(self.slots_of(np.array([handle.id]))[0]) if self.is_alive(handle) else -1

    def slots_of(self, ids: ArrayLike) -> Ints:
        self._adopt_sorts()
        return super().slots_of(ids)

    # --- for the owner of the columns --------------------------------------------------------------------------------

    def add_new(self, ids: Whole) -> None:
        """Append ids in this order. Raises ValueError when one is in use already."""
        if self.has(ids).any() or len(each_once(ids)) != len(ids):
            raise ValueError("two agents cannot have one id")
        self._adopt_sorts()
        self.add_many(ids)

    def discard_many(self, ids: ArrayLike, mode: str = "swap_back") -> Moves:
        self._adopt_sorts()
        return super().discard_many(ids, mode)

    def living_slots(self) -> Longs:
        """Return the slots of all but the gaps, ascending."""
        self._adopt_sorts()
        return np.flatnonzero(self.ids >= 0)

    def follow(self) -> None:
        """Call after the columns have been moved too: slots are right for the present layout."""
        self._layout = self._now()

    def _adopt_sorts(self) -> None:
        if self._layout != self._now():
            self.adopt(self._by_slot())
            self.follow()
