"""What a map is once it has been read: `MapData`, the kinds of tiles, and what the readers of both formats need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FLOOR, WALL, WATER, SWAMP, GRASS = range(5)
MAX_SIDE = 2048  # tiles; a flow field of the largest map takes 20 MB
MAX_DESTINATIONS = 64


class MapError(ValueError):
    """A map that cannot be used; the message is one line and begins with the file, and the line where there is one."""


class MapData(NamedTuple):
    """A map as read. Row 0 is the top, column 0 the left."""

    kinds: NDArray[np.uint8]  # [H, W]: FLOOR, WALL, WATER, SWAMP or GRASS
    marks: NDArray[np.int16]  # [H, W]: number of the destination that a tile belongs to, or -1
    name: str


def check_size(width: int, height: int, where: str) -> None:
    """Raise MapError for a map that is empty or too large; its message begins with `where`."""
    if min(width, height) < 1:
        raise MapError(f"{where}: the map is empty ({width} x {height} tiles)")
    if max(width, height) > MAX_SIDE:
        raise MapError(f"{where}: {width} x {height} tiles are too many (at most {MAX_SIDE} x {MAX_SIDE})")


def label_marks(marked: NDArray[np.bool_]) -> NDArray[np.int16]:
    """Number the areas of touching tiles (8 neighbours) from 0 in reading order; -1 elsewhere, int16[H, W].

    Plain Python, O(marked tiles). Stops numbering after MAX_DESTINATIONS + 1 areas: more are a mistake anyway.
    """
    labels = np.full(marked.shape, -1, np.int16)
    todo = dict.fromkeys(zip(*(axis.tolist() for axis in np.nonzero(marked)), strict=True))
    for label in range(MAX_DESTINATIONS + 1):
        if not todo:
            break
        stack = [next(iter(todo))]
        while stack:
            row, column = stack.pop()
            if (row, column) in todo:
                del todo[row, column]
                labels[row, column] = label
                stack += [(row + dy, column + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    return labels
