"""What the state of a crowd is made of: columns of agents, and parts beside them, such as forces or events that have happened.

Columns are a structure of arrays, one record type for each behaviour: rows of one int32 matrix, so all move together when
agents are reordered or removed, and a new column is one line in its record. A float32 column is a view of its row.

Each part registers itself with the world (`World.parts`), and snapshots, save files and recordings carry it from there on. A
part that is as the configuration makes it has an empty state, which costs nothing; a file without it means the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple, Protocol, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Floats, Ints

ARRAY_TYPES = tuple(map(np.dtype, ("uint8", "int16", "int32", "int64", "float32")))  # that a file may hold
ANY = {"f": (-1e18, 1e18), "i": (-2**31, 2**31 - 1)}  # the bounds of other columns; larger squares are not finite


class Columns(Protocol):
    """The columns of every behaviour: a NamedTuple of `Floats` and `Ints`, each by slot, that begins with these.

    Positions in world units, velocities in units/s.
    """

    @property
    def id(self) -> Ints: ...
    @property
    def x(self) -> Floats: ...
    @property
    def y(self) -> Floats: ...
    @property
    def vx(self) -> Floats: ...
    @property
    def vy(self) -> Floats: ...

    @property
    def avoidance_x(self) -> Floats:
        """The neighbours' push, kept until the agent is due again."""

    @property
    def avoidance_y(self) -> Floats: ...

    @property
    def next_update(self) -> Ints:
        """When it is due again, and after how long a wait (neighbours/schedule.py)."""

    def __iter__(self) -> Iterator[Floats | Ints]: ...


class MovingColumns(NamedTuple):
    """These columns alone, for behaviours that need no others."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    avoidance_x: Floats
    avoidance_y: Floats
    next_update: Ints


Kind = TypeVar("Kind", bound=Columns)


@cache
def dtypes_of(kind: type[Columns]) -> dict[str, np.dtype[np.generic]]:
    return {name: np.dtype(np.float32 if hint == Floats else np.int32) for name, hint in get_type_hints(kind).items()}


def views(kind: type[Kind], matrix: Ints) -> Kind:
    return kind(*(row.view(dtype) for row, dtype in zip(matrix, dtypes_of(kind).values(), strict=True)))


def check_columns(rows: Ints, kinds: Mapping[str, np.dtype[np.generic]], bounds: Mapping[str, tuple[float, float]],
                  whose: str = "") -> None:
    """Raise ValueError for columns, int32[names, n], with a value that is out of bounds, or no number; ids come first.

    Its text begins with `whose`.
    """
    for row, (name, kind) in zip(rows, kinds.items(), strict=True):
        column = row.view(kind)
        low, high = (kind.type(bound) for bound in bounds.get(name, ANY[kind.kind]))
        if column.size and not (low <= column.min() and column.max() <= high):  # which a NaN is not
            slot = int(((low <= column) & (column <= high)).argmin())
            raise ValueError(f"{whose}column {name} has {column[slot]:.7g} for agent {rows[0, slot]},"
                             f" outside {low:.7g} to {high:.7g}")


# --- parts -----------------------------------------------------------------------------------------------------------

class PartState(NamedTuple):
    """`values` are what JSON holds: numbers, texts, lists, objects. Nobody writes into the arrays."""

    values: Mapping[str, object] = {}
    arrays: Mapping[str, NDArray[np.generic]] = {}


EMPTY = PartState()


class StatePart(Protocol):
    name: str  # under which snapshots and files have it

    def state(self) -> PartState:
        """Return all that later steps depend on; `EMPTY` if it is as the configuration makes it."""

    def restore(self, state: PartState) -> None:
        """Return to a state, which is `EMPTY` where a snapshot has none of this part."""

    def check(self, state: PartState) -> None:
        """Raise ValueError, in one line, for a state of a file that cannot be restored."""
