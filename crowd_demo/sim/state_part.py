"""Parts of the state that are neither columns nor tiles, such as forces, or events that have happened.

Each registers itself with the world (`World.parts`), and snapshots, save files and recordings carry it from there on. A part
that is as the configuration makes it has an empty state, which costs nothing; a file without it means the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

ARRAY_TYPES = tuple(map(np.dtype, ("uint8", "int16", "int32", "int64", "float32")))  # that a file may hold
_NONE: Mapping[str, object] = {}  # not a MappingProxyType, which cannot be pickled
_NO_ARRAYS: Mapping[str, NDArray[np.generic]] = {}


class PartState(NamedTuple):
    """`values` are what JSON holds: numbers, texts, lists, objects. Nobody writes into the arrays."""

    values: Mapping[str, object] = _NONE
    arrays: Mapping[str, NDArray[np.generic]] = _NO_ARRAYS

    @property
    def is_empty(self) -> bool:
        return not self.values and not self.arrays


EMPTY = PartState()


class StatePart(Protocol):
    """A part of the state of a simulation."""

    name: str  # under which snapshots and files have it

    def state(self) -> PartState:
        """Return all that later steps depend on; `EMPTY` if it is as the configuration makes it."""

    def restore(self, state: PartState) -> None:
        """Return to a state, which is `EMPTY` where a snapshot has none of this part."""

    def check(self, state: PartState) -> None:
        """Raise ValueError, in one line, for a state of a file that cannot be restored."""
