"""Columns: a structure of arrays, one record type for each behaviour.

All columns are rows of one int32 matrix, so all move together when agents are reordered or removed, and a new column is one
line in its record. A float32 column is a view of its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Protocol, TypeVar, get_type_hints

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints


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
    """The dtype of each column, float32 or int32, in the order of the rows."""
    return {name: np.dtype(np.float32 if hint == Floats else np.int32) for name, hint in get_type_hints(kind).items()}


def views(kind: type[Kind], matrix: Ints) -> Kind:
    """Return the rows of an int32 matrix as columns."""
    return kind(*(row.view(dtype) for row, dtype in zip(matrix, dtypes_of(kind).values(), strict=True)))
