"""Columns: a structure of arrays, one record type for each behaviour.

All columns are rows of one int32 matrix, so every one moves in lockstep when agents are reordered or removed, and a new
column is one line in its record. A float32 column is a view of its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Protocol, TypeVar, get_type_hints

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints


class Columns(Protocol):
    """What every behaviour's agents have: a NamedTuple of `Floats` and `Ints`, each by slot, that begins with these.

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
    def push_x(self) -> Floats:
        """What the neighbours ask for, kept until the agent looks again."""

    @property
    def push_y(self) -> Floats: ...

    @property
    def look_at(self) -> Ints:
        """When it looks again, and how long it waits (neighbours/schedule.py)."""

    def __iter__(self) -> Iterator[Floats | Ints]: ...


class MovingColumns(NamedTuple):
    """Just these columns, for behaviours that need no others."""

    id: Ints
    x: Floats
    y: Floats
    vx: Floats
    vy: Floats
    push_x: Floats
    push_y: Floats
    look_at: Ints


Kind = TypeVar("Kind", bound=Columns)


@cache
def dtypes_of(kind: type[Columns]) -> dict[str, np.dtype[np.generic]]:
    """The dtype of each column, float32 or int32, in the order of the rows."""
    return {name: np.dtype(np.float32 if hint == Floats else np.int32) for name, hint in get_type_hints(kind).items()}


def views(kind: type[Kind], matrix: Ints) -> Kind:
    """The columns of an int32 matrix, one a row."""
    return kind(*(row.view(dtype) for row, dtype in zip(matrix, dtypes_of(kind).values(), strict=True)))
