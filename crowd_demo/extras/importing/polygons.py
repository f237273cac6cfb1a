"""Polygons in metres, drawn on tiles: a `MapData`, and what is thinner than a tile.

A tile is free if its centre is in one of the walkable polygons, by even-odd; around all lies a ring of walls. What is
thinner than a tile may be lost: notes of the map say where a gap between two free tiles is lost, and where a passage is.
O(tiles + crossings of edges with the lines through the centres of tiles), without kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.config.maps import FLOOR, MAX_DESTINATIONS, WALL, MapData, MapError, Metres, Origin, check_size, label_areas

WALKABLE, EXIT, START = KINDS = "walkable", "exit", "start"
MAX_CROSSINGS = 1 << 24  # of edges with lines of tiles
TOLD = 3  # places of a kind
SAME = 2.0**-20  # tiles: edges nearer than this are one
Points = NDArray[np.float64]  # [n, 2]: x, y
Bools = NDArray[np.bool_]
Rings = list[Points]  # the outline of a polygon and its holes


class NamedArea(NamedTuple):
    """Polygons of one kind. `where` begins a message about them: file and line, or file and key."""

    kind: str
    name: str
    polygons: list[Rings]
    where: str


def drawn(parts: Sequence[NamedArea], path: Path, metres: Metres, also: Points | None = None) -> MapData:
    """Draw polygons, in metres, on tiles; `also` are points that the map holds, too. Raises MapError.

    Without a walkable area all is free. `notes` of the map say what is thinner than a tile.
    """
    area = [polygon for part in parts if part.kind == WALKABLE for polygon in part.polygons if polygon]
    points = [ring for polygon in area for ring in polygon] + ([] if also is None else [also])
    if not sum(map(len, points)):
        raise MapError(f"{path}: there is no walkable area")
    grid = _Grid.around(np.concatenate(points), metres, path)
    inside, notes = grid.fill(area, path) if area else (grid.inner, ())
    marks, starts = np.full(grid.shape, -1, np.int16), np.zeros(grid.shape, np.bool_)
    exits = [part for part in parts if part.kind == EXIT]
    if len(exits) > MAX_DESTINATIONS:
        raise MapError(f"{exits[MAX_DESTINATIONS].where}: more than {MAX_DESTINATIONS} exits")
    for number, part in enumerate(exits):
        tiles = grid.named(part, inside & (marks < 0))
        if label_areas(tiles).max() > 0:
            raise MapError(f"{part.where}: the tiles of {_title(part)} do not touch each other")
        marks[tiles] = number
    for part in parts:
        if part.kind == START:
            starts |= grid.named(part, inside)
    return MapData(np.where(inside, FLOOR, WALL).astype(np.uint8), marks, path.stem, starts=starts if starts.any() else None,
                   origin=grid.origin, exits=len(exits), notes=notes, walkable=area)


def _title(part: NamedArea) -> str:
    return f"{part.kind} {part.name!r}" if part.name else f"this {part.kind}"


class _Grid(NamedTuple):
    """Square tiles; (0, 0) in tiles is the map's left upper corner."""

    origin: Origin
    side: float  # of a tile, metres
    shape: tuple[int, int]  # rows, columns

    @classmethod
    def around(cls, points: Points, metres: Metres, path: Path) -> _Grid:
        """The tiles that hold these points, and a ring of tiles around them."""
        (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
        side, up = metres.side, metres.y_axis != "down"
        columns, rows = (max(math.ceil((end - start) / side - SAME), 1) + 2 for start, end in ((left, right), (low, high)))
        check_size(columns, rows, str(path))
        return cls(Origin(float(left) - side, float(high) + side if up else float(low) - side, up), side, (rows, columns))

    @property
    def inner(self) -> Bools:
        return np.pad(np.ones((self.shape[0] - 2, self.shape[1] - 2), np.bool_), 1)

    def in_tiles(self, points: Points) -> Points:
        return self.origin.offsets(points) / self.side

    def fill(self, polygons: Sequence[Rings], path: Path) -> tuple[Bools, tuple[str, ...]]:
        """Return bool[H, W], the tiles whose centres are in the polygons; and where what is thinner than a tile is lost."""
        scaled = [[self.in_tiles(ring) for ring in polygon] for polygon in polygons]
        rows = spans(scaled, self.shape, str(path))
        columns = spans([[ring[:, ::-1] for ring in polygon] for polygon in scaled], self.shape[::-1], str(path))
        tiles = rows.tiles()
        gaps = rows.lost_gaps() | columns.lost_gaps().T
        passages = rows.lost_passages() | columns.lost_passages().T
        return tiles, (*self._told(gaps, "a wall thinner than a tile", "is lost"),
                       *self._told(passages, "a passage narrower than a tile", "is closed"))

    def _told(self, marked: Bools, what: str, done: str) -> Iterator[str]:
        labels = label_areas(marked)
        count = int(labels.max()) + 1
        for number in range(min(count, TOLD)):
            row, column = np.argwhere(labels == number).mean(axis=0).tolist()
            x, y = self.origin.metres((column + 0.5) * self.side, (row + 0.5) * self.side)
            yield f"{what} ({self.side:.4g} m) {done} at x = {x:.4g} m, y = {y:.4g} m"
        if count > TOLD:
            yield f"{what} {done} at {count - TOLD} more places; world.tile makes tiles smaller"

    def named(self, part: NamedArea, free: Bools) -> Bools:
        """Return the free tiles of an exit or a start. Raises MapError if there are none."""
        scaled = [[self.in_tiles(ring) for ring in polygon] for polygon in part.polygons if polygon]
        tiles = spans(scaled, self.shape, part.where).tiles() & free
        if not tiles.any():
            raise MapError(f"{part.where}: {_title(part)} has no free tile: it is thinner than a tile ({self.side:.4g} m),"
                           " or not in the walkable area")
        return tiles


class Spans(NamedTuple):
    """On the line through the centres of each row of tiles: where it is in some polygon. In reading order, in tiles."""

    row: NDArray[np.int64]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    shape: tuple[int, int]

    def tiles(self) -> Bools:
        """bool[H, W]: the tiles whose centres are inside."""
        rows, columns = self.shape
        turns = np.zeros(rows * (columns + 1), np.int64)
        for at, turn in ((self.begin, 1), (self.end, -1)):
            np.add.at(turns, self.row * (columns + 1) + self._column(at), turn)
        return turns.reshape(rows, columns + 1).cumsum(axis=1)[:, :columns] > 0

    def lost_gaps(self) -> Bools:
        """bool[H, W]: where there is something between two spans, but no centre of a tile."""
        gap = (self.row[1:] == self.row[:-1]) & (self._column(self.end[:-1]) == self._column(self.begin[1:]))
        return self._marked(self.row[1:][gap], (self.end[:-1] + self.begin[1:])[gap] / 2)

    def lost_passages(self) -> Bools:
        """bool[H, W]: where there is a span without a centre, and it goes on in the rows on both sides.

        A corner that becomes thinner than a tile as it ends is none.
        """
        thin = self._column(self.begin) == self._column(self.end)
        marked = self._marked(self.row[thin], (self.begin + self.end)[thin] / 2)
        near = np.pad(self.tiles() | marked, 1)
        wide = near[:, :-2] | near[:, 1:-1] | near[:, 2:]
        return marked & wide[:-2] & wide[2:]

    def _column(self, at: NDArray[np.float64]) -> NDArray[np.int64]:
        """The first tile whose centre is not before a place."""
        return np.clip(np.ceil(at - 0.5), 0, self.shape[1]).astype(np.int64)

    def _marked(self, row: NDArray[np.int64], at: NDArray[np.float64]) -> Bools:
        marked = np.zeros(self.shape, np.bool_)
        marked[row, np.clip(at.astype(np.int64), 0, self.shape[1] - 1)] = True
        return marked


def spans(polygons: Iterable[Rings], shape: tuple[int, int], where: str) -> Spans:
    """Return where lines through centres are in one of the polygons, in tiles. Raises MapError for too many crossings.

    Along a line each polygon is entered and left in turns; a span lasts while it is in any.
    """
    found = [(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))]
    left = MAX_CROSSINGS
    for rings in polygons:
        own_row, own_x = _crossings(rings, shape[0], left, where)
        left -= len(own_row)
        order = np.lexsort((own_x, own_row))
        # Each row has an even number of crossings, so they are entries and exits in turns over all rows.
        found.append((own_row[order], own_x[order], 1 - 2 * (np.arange(len(order)) & 1)))
    row, x, turn = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((-turn, x, row))
    inside = turn[order].cumsum()
    begins, ends = (inside == 1) & (turn[order] == 1), inside == 0
    row, begin, end = row[order][begins], x[order][begins], x[order][ends]
    long = begin < end
    return Spans(row[long], begin[long], end[long], shape)


def _crossings(rings: Rings, rows: int, most: int, where: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(row, x) of each crossing of an edge with the line through the centres of a row. An edge has its upper end alone."""
    begin, end = np.concatenate([ring[:-1] for ring in rings]), np.concatenate([ring[1:] for ring in rings])
    first, last = (np.clip(np.ceil(pick(begin[:, 1], end[:, 1]) - 0.5), 0, rows).astype(np.int64)
                   for pick in (np.minimum, np.maximum))
    count = last - first
    if count.sum() > most:
        raise MapError(f"{where}: too many edges for so many tiles")
    edge = np.repeat(np.arange(len(count)), count)
    row = np.arange(len(edge)) - np.repeat(count.cumsum() - count, count) + first[edge]
    (x, y), (to_x, to_y) = begin[edge].T, end[edge].T
    across = x + (row + 0.5 - y) * ((to_x - x) / (to_y - y))
    return row, np.round(across / SAME) * SAME
