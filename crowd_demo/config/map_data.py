"""What a map is once it has been read: `MapData`, the kinds of tiles, and what the readers of both formats need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FLOOR, WALL, WATER, SWAMP, GRASS = range(5)
MAX_SIDE = 2048  # tiles; a flow field of the largest map takes 4 MB
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

    Only the first MAX_DESTINATIONS + 1 areas are numbered: more are a mistake anyway. Works on runs, the stretches of
    marked tiles in a row, of which an area has fewer than tiles: O(tiles) to find them, O(runs log(runs)) to join them.
    """
    begin, end = _runs(marked)
    first = _first_runs(begin.size, *_touching(begin, end, marked.shape[1] + 1))
    _, area = np.unique(first, return_inverse=True)  # an area is named after its first run, and runs are in reading order
    area[area > MAX_DESTINATIONS] = -1
    labels = np.full(marked.shape, -1, np.int16)
    labels[marked] = np.repeat(area.astype(np.int16), end - begin)
    return labels


def _runs(marked: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(begin, end) of all runs in reading order, as numbers row * (W + 1) + column; the tile at `end` is outside."""
    change = np.diff(marked.view(np.int8), axis=1, prepend=np.int8(0), append=np.int8(0))
    return np.flatnonzero(change == 1).astype(np.int32), np.flatnonzero(change == -1).astype(np.int32)


def _touching(begin: NDArray[np.int32], end: NDArray[np.int32], row: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(above, below): the numbers of each two runs that touch; `row` is the distance from a row to the next."""
    low = np.searchsorted(end, begin + np.int32(row)).astype(np.int32)
    count = np.searchsorted(begin, end + np.int32(row), side="right").astype(np.int32) - low
    above: NDArray[np.int32] = np.repeat(np.arange(begin.size, dtype=np.int32), count)
    below: NDArray[np.int32] = np.repeat(low + count - np.cumsum(count, dtype=np.int32), count)
    below += np.arange(below.size, dtype=np.int32)
    return above, below


def _first_runs(runs: int, above: NDArray[np.int32], below: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each run the least number of a run of its area.

    All first runs found so far take the least one that they touch; then everybody follows the chains to their end.
    Again, until no two touch; a few rounds (Liu and Tarjan 2019, "Simple concurrent labeling algorithms").
    """
    first = np.arange(runs, dtype=np.int32)
    while above.size:
        np.minimum.at(first, np.maximum(above, below), np.minimum(above, below))
        while not np.array_equal(first, farther := first[first]):
            first = farther
        above, below = first[above], first[below]
        apart = above != below
        above, below = above[apart], below[apart]
    return first
