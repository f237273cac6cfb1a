"""A sparse set: which ids are members, and in which slot of a dense array each of them lies. Everything is O(1) an id.

`sparse[id]` is the slot of a member or -1, `dense[slot]` its id: members lie without gaps in slots [0, len). Data that
belong to members live in arrays of the caller, in the same slots; `Moves` says how to move them (Briggs and Torczon 1993). The
names that a storage of an entity-component system has, and what they are here, for many ids at a time:

    Has  s.has(ids)         Add     s.add_many(ids)             Ref          data[s.slots_of(ids)]     Count  len(s)
    All  data[:len(s)]      Remove  s.discard_many(ids), below  AllEntities  s.ids, a view

Three ways to close the gaps of removed members (`discard_many`):

- `swap_back`: the last members move into the gaps. O(1) each, but their order is lost.
- `shift`: all behind a gap move down in their order. O(n) a call.
- `deferred`: the gap is marked, and `compact` closes all of them at once in order. O(1) each and O(n) once.

Memory: 8 bytes for each possible id, plus 4 for its generation, how often it was removed: an id and its generation are told
from a later use of the id. Unknown and repeated ids are harmless.

`Handles` is such a set for agents: whether an id is in use is always exact, and slots are brought up to date on demand: a sort
costs nothing here, and the first look-up after it O(n).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Bools, Ints, Longs, Whole

MODES = ("swap_back", "shift", "deferred")


class Moves(NamedTuple):
    """How to move data in the same slots: data[target] = data[source], both int64[k]."""

    target: Longs
    source: Longs


_NOWHERE: Longs = np.zeros(0, np.int64)
_NO_MOVES = Moves(_NOWHERE, _NOWHERE)


class SparseSet:
    """Ids 0, 1, 2, ...; `limit` is how many there is room for at first. Negative ids raise ValueError when added.

    Any sequence of whole numbers is a set of ids.
    """

    def __init__(self, limit: int = 0) -> None:
        self._sparse = np.full(limit, -1, np.int32)
        self._dense = np.zeros(limit, np.int32)
        self.generations: Ints = np.zeros(limit, np.int32)  # of each id: how often it was removed
        self.limit = 0  # one above the highest id that ever was a member
        self.removed = 0  # how many were removed in all
        self._end = 0  # slots in use, gaps among them
        self._gaps: list[Whole] = []  # slots of removed members that nothing has closed yet, one array a call
        self.gaps = 0  # how many of them

    def __len__(self) -> int:
        return self._end - self.gaps

    @property
    def ids(self) -> Ints:
        """A view of the ids by slot; a gap holds -1 until `compact`."""
        return self._dense[:self._end]

    def has(self, ids: ArrayLike) -> Bools:
        return SparseSet.slots_of(self, ids) >= 0  # needs no slots that are right

    def slots_of(self, ids: ArrayLike) -> Ints:
        """Return int32[n]: the slot of each id, -1 for others than members."""
        ids = _array(ids)
        known = (ids >= 0) & (ids < len(self._sparse))
        slots = np.full(len(ids), -1, np.int32)
        slots[known] = self._sparse[ids[known]]
        return slots

    def add_many(self, ids: ArrayLike) -> Ints:
        """Append the ids that are not members yet, each once, in the order given; return those added."""
        ids = _array(ids)
        if len(ids) and int(ids.min()) < 0:
            raise ValueError("ids are 0, 1, 2, ...")
        new = each_once(ids[~self.has(ids)])
        if len(new):
            self._grow(int(new.max()) + 1, self._end + len(new))
            slots = np.arange(self._end, self._end + len(new), dtype=np.int32)
            self._dense[slots], self._sparse[new] = new, slots
            self._end += len(new)
            self.limit = max(self.limit, int(new.max()) + 1)
        return new

    def discard_many(self, ids: ArrayLike, mode: str = "swap_back") -> Moves:
        """Remove those that are members, and close the gaps by the mode. Raises ValueError for another mode."""
        if mode not in MODES:
            raise ValueError(f"removal is one of {', '.join(MODES)}, not {mode!r}")
        slots = np.unique(self.slots_of(ids))
        slots = slots[slots >= 0]
        gone = self._dense[slots]
        self._sparse[gone] = -1
        self.generations[gone] += 1
        self._dense[slots] = -1
        self.removed += len(slots)
        self._gaps.append(slots)
        self.gaps += len(slots)
        if mode != "swap_back":
            return _NO_MOVES if mode == "deferred" else self.compact()
        left, gaps = len(self), np.sort(np.concatenate(self._gaps))  # the very last member goes into the first gap
        source = np.flatnonzero(self.ids[left:] >= 0)[::-1] + left
        return self._close(gaps[:np.searchsorted(gaps, left)], source)

    def compact(self) -> Moves:
        if not self.gaps:
            return _NO_MOVES
        first = min(int(gaps.min()) for gaps in self._gaps if len(gaps))
        source = np.flatnonzero(self.ids[first:] >= 0) + first
        return self._close(np.arange(first, first + len(source)), source)

    def _close(self, target: Longs, source: Longs) -> Moves:
        moved = self._dense[source]
        self._dense[target], self._sparse[moved] = moved, target
        self._without_gaps(len(self))
        return Moves(target, source)

    # --- the whole ---------------------------------------------------------------------------------------------------

    def adopt(self, ids: Ints) -> None:
        """Take over the order that a sort gave to the members: `ids` by slot, int32[len], without gaps. O(n)."""
        self._dense[:len(ids)] = ids
        self._sparse[ids] = np.arange(len(ids), dtype=np.int32)
        self._without_gaps(len(ids))

    def restore(self, ids: Ints, generations: Ints) -> None:
        """Have these members, int32[n] by slot without gaps, and these generations, int32[limit]. O(limit)."""
        self.limit = len(generations)
        self._grow(self.limit, len(ids))
        self.generations[:self.limit] = generations
        self.generations[self.limit:] = 0
        self.removed = int(generations.sum(dtype=np.int64))
        self._sparse[:] = -1
        self.adopt(ids)

    def free_ids(self, count: int) -> Ints:
        """The `count` lowest ids that are no members, int32[count]. O(ids)."""
        free = np.flatnonzero(self._sparse < 0)[:count]
        beyond = np.arange(len(self._sparse), len(self._sparse) + count - len(free))
        return np.concatenate((free, beyond)).astype(np.int32)

    def _without_gaps(self, end: int) -> None:
        self._end, self._gaps, self.gaps = end, [], 0

    def _grow(self, ids: int, slots: int) -> None:
        """Make room for so many ids and slots; grows by half, so rarely."""
        if ids > len(self._sparse):
            room = max(ids, len(self._sparse) * 3 // 2)
            self._sparse = _longer(self._sparse, room, -1)
            self.generations = _longer(self.generations, room, 0)
        if slots > len(self._dense):
            self._dense = _longer(self._dense, max(slots, len(self._dense) * 3 // 2), 0)


def _longer(array: Ints, size: int, filler: int) -> Ints:
    return np.concatenate((array, np.full(size - len(array), filler, np.int32)))


def _array(ids: ArrayLike) -> Whole:
    """int[n]; an empty list has no type of its own."""
    array = np.asarray(ids)
    return array if array.size else _NOWHERE


def each_once(ids: Whole) -> Ints:
    """Return the first of each, in the order given."""
    if (ids[1:] > ids[:-1]).all():
        return ids.astype(np.int32)
    _, first = np.unique(ids, return_index=True)
    return ids[np.sort(first)].astype(np.int32)


# --- of agents ---------------------------------------------------------------------------------------------------------

class Handles(SparseSet):
    """The ids of agents. `layout` returns a number that grows whenever agents move in memory, `ids_by_slot` their ids."""

    def __init__(self, layout: Callable[[], int], ids_by_slot: Callable[[], Ints], capacity: int) -> None:
        super().__init__(capacity)
        self._now, self._by_slot = layout, ids_by_slot
        self._layout = layout()

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
