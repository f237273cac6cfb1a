"""From id to slot: a held or followed agent stays the same agent, wherever sorts and removals put it.

The ids of all agents are a sparse set whose data are the columns. Who lives is always exact. In which slot is brought up
to date when somebody asks: a sort costs nothing here until then, and the first question after it O(n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowd_demo.compute.arrays import Bools, Ints, Longs, Whole
from crowd_demo.sim.store.sparse_set import Handle, Moves, SparseSet


class Handles:
    """The ids of agents. `layout` tells a number that grows whenever agents move in memory, `ids_by_slot` who lies where."""

    def __init__(self, layout: Callable[[], int], ids_by_slot: Callable[[], Ints], capacity: int) -> None:
        self._now, self._by_slot = layout, ids_by_slot
        self.ids = SparseSet(capacity)
        self._layout = layout()

    def __len__(self) -> int:
        return len(self.ids)

    def handle(self, identity: int) -> Handle:
        """What to keep of an agent to find it again. Raises KeyError when nobody bears the id."""
        return self.ids.handle(identity)

    def slot(self, handle: Handle) -> int:
        """Where that agent lies now, or -1 when it has died, even if somebody else was born with its id."""
        return int(self._fresh().slot_of(handle.id)) if self.ids.is_alive(handle) else -1

    def slots_of(self, ids: Whole) -> Ints:
        """int32[n]: where they lie now, -1 for ids that nobody bears."""
        return self._fresh().slots_of(ids)

    def living(self, ids: Whole) -> Bools:
        """bool[n]: who of them lives; needs no slots."""
        return self.ids.has(ids)

    @property
    def generations(self) -> Ints:
        """How often each id was given back; an id beyond the end never was."""
        return self.ids.generations

    def free_ids(self, count: int) -> Ints:
        """The `count` lowest ids that nobody bears."""
        return self.ids.free_ids(count)

    @property
    def deaths(self) -> int:
        """How many have died in all."""
        return self.ids.removed

    @property
    def limit(self) -> int:
        """No id ever borne was as high."""
        return self.ids.limit

    # --- for the owner of the columns --------------------------------------------------------------------------------

    def add(self, ids: Whole) -> None:
        """Appended behind the others, in this order. Raises ValueError when an id is borne already."""
        if self.living(ids).any() or len(np.unique(ids)) != len(ids):
            raise ValueError("two agents cannot have one id")
        self._fresh().add_many(ids)

    def remove(self, ids: Whole, mode: str) -> Moves:
        """How the columns have to move; unknown ids are ignored."""
        return self._fresh().discard_many(ids, mode)

    @property
    def gaps(self) -> int:
        """Slots of the dead that are still in memory."""
        return len(self.ids.ids) - len(self.ids)

    def living_slots(self) -> Longs:
        """Slots of all but the gaps, rising."""
        return np.flatnonzero(self._fresh().ids >= 0)

    def follow(self) -> None:
        """Call after the columns have followed: slots are right for this layout."""
        self._layout = self._now()

    def _fresh(self) -> SparseSet:
        if self._layout != self._now():
            self.ids.adopt(self._by_slot())
            self._layout = self._now()
        return self.ids
