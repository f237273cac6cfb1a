"""From id to slot: a held or followed agent stays the same agent, wherever sorts and removals put it.

The ids of all agents are a sparse set whose data are the columns. Who lives is always exact. In which slot is brought up
to date when somebody asks: a sort costs nothing here until then, and the first question after it O(n).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowd_demo.sim.store.sparse_set import Handle, Ints, Moves, SparseSet

if TYPE_CHECKING:
    from crowd_demo.sim.store.agents import Agents


class Handles:
    """The ids of `agents`, who says what is born, what dies and (by `layout`) when agents have moved."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents
        self._ids = SparseSet(agents.capacity)
        self._layout = agents.layout

    def __len__(self) -> int:
        return len(self._ids)

    def handle(self, identity: int) -> Handle:
        """What to keep of an agent to find it again. Raises KeyError when nobody bears the id."""
        return self._ids.handle(identity)

    def slot(self, handle: Handle) -> int:
        """Where that agent lies now, or -1 when it has died, even if somebody else was born with its id."""
        return int(self._fresh().slot_of(handle.id)) if self._ids.is_alive(handle) else -1

    def slots_of(self, ids: NDArray[Any]) -> Ints:
        """int32[n]: where they lie now, -1 for ids that nobody bears."""
        return self._fresh().slots_of(ids)

    def living(self, ids: NDArray[Any]) -> NDArray[Any]:
        """bool[n]: who of them lives; needs no slots."""
        return self._ids.has(ids)

    @property
    def generations(self) -> Ints:
        """How often each id was given back; an id beyond the end never was."""
        return self._ids.generations

    def free_ids(self, count: int) -> Ints:
        """The `count` lowest ids that nobody bears."""
        return self._ids.free_ids(count)

    @property
    def deaths(self) -> int:
        """How many have died in all."""
        return self._ids.removed

    @property
    def limit(self) -> int:
        """No id ever borne was as high."""
        return self._ids.limit

    # --- for the owner of the columns --------------------------------------------------------------------------------

    def born(self, ids: NDArray[Any]) -> None:
        """Appended behind the others, in this order. Raises ValueError when an id is borne already."""
        if self.living(ids).any() or len(np.unique(ids)) != len(ids):
            raise ValueError("two agents cannot bear one id")
        self._fresh().add_many(ids)

    def died(self, ids: NDArray[Any], mode: str) -> Moves:
        """How the columns have to move; unknown ids are ignored."""
        return self._fresh().discard_many(ids, mode)

    @property
    def gaps(self) -> int:
        """Slots of the dead that are still in memory."""
        return len(self._ids.ids) - len(self._ids)

    def living_slots(self) -> NDArray[np.int64]:
        """Slots of all but the gaps, rising."""
        return np.flatnonzero(self._fresh().ids >= 0)

    def moved(self) -> None:
        """To be said after the columns have followed: slots are true for this layout."""
        self._layout = self._agents.layout

    def _fresh(self) -> SparseSet:
        if self._layout != self._agents.layout:
            self._ids.adopt(self._agents.columns.id[:self._agents.count])
            self._layout = self._agents.layout
        return self._ids
