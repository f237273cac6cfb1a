"""Floor plans on tiles: a `MapData` of the polygons of a plan, with notes about what is thinner than a tile.

A tile is free where `shapely.contains_xy` finds its centre in the outer ring of a walkable polygon and in none of that
polygon's holes; around the map lies a ring of walls. Notes list where a wall between two free tiles is lost, and where a
passage is closed. For both, edges are crossed with the lines through the centres of rows and of columns: between two
crossings a line is either inside or outside, so one point of each stretch is tested. O(tiles + crossings), no kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.config.maps import (
    FLOOR,
    MAX_DESTINATIONS,
    WALL,
    MapData,
    MapError,
    Metres,
    Origin,
    check_size,
    label_areas,
    marked_part,
)

WALKABLE, EXIT, START = KINDS = "walkable", "exit", "start"
MAX_STARTS = 200
MAX_TESTS = 1 << 28  # of edges against points on the same line, about
MAX_PLACES = 3  # of a kind that notes list
SAME = 2.0**-20  # tiles: edges nearer than this are one
BESIDE = np.array((2.0**-20, 2.0**-40))  # tiles: the point that is tested is so far right of a centre and below it
Numbers = NDArray[np.float64]  # points are [n, 2]: x, y
Whole = NDArray[np.int64]
Bools = NDArray[np.bool_]
Shape = Any  # of shapely, which has no types
Polygons = NDArray[np.object_]  # [n]: shapely's, none of them empty


class NamedArea(NamedTuple):
    """Polygons of one kind, in metres. `where` begins a message about them: file and line, or file and key."""

    kind: str
    name: str
    polygons: Polygons
    where: str
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name[:40]!r}" if self.name else f"this {self.kind}"


def drawn(parts: Sequence[NamedArea], path: Path, metres: Metres, also: Numbers | None = None) -> MapData:
    """Draw a plan on tiles; `also` are points, [n, 2] in metres, that the map must contain, too.

    Without a walkable area all tiles are free. Shapely is needed for polygons only. Raises MapError.
    """
    area, exits, starts = ([part for part in parts if part.kind == kind and len(part.polygons)] for kind in KINDS)
    for found, most in ((exits, MAX_DESTINATIONS), (starts, MAX_STARTS)):
        if len(found) > most:
            raise MapError(f"{found[most].where}: more than {most} {found[most].kind}s")
    grid = _Grid.around(area, path, metres, also)
    inside = np.pad(np.ones((grid.shape[0] - 2, grid.shape[1] - 2), np.bool_), 1)
    notes = [note for part in parts for note in part.notes]
    if area:
        rows, columns = grid.spans(area), grid.spans(area, of_columns=True)
        inside = rows.tiles()
        (gaps, passages), (more_gaps, more_passages) = rows.lost(), columns.lost()
        notes += grid.places(gaps | more_gaps.T, "a wall thinner than a tile", "is lost")
        notes += grid.places(passages | more_passages.T, "a passage narrower than a tile", "is closed")
    marks, started = np.full(grid.shape, -1, np.int16), np.zeros(grid.shape, np.bool_)
    for number, part in enumerate(exits + starts):
        tiles = grid.spans([part]).tiles() & inside
        if part.kind == EXIT:
            tiles &= marks < 0
        if not tiles.any():
            raise MapError(f"{part.where}: {part.title} has no free tile: it is thinner than a tile"
                           f" ({metres.side:.4g} m), or not in the walkable area")
        if part.kind == START:
            started |= tiles
        elif label_areas(marked_part(tiles)).max() > 0:
            raise MapError(f"{part.where}: the tiles of {part.title} do not touch each other")
        else:
            marks[tiles] = number
    return MapData(np.where(inside, FLOOR, WALL).astype(np.uint8), marks, path.stem, starts=started if starts else None,
                   origin=grid.origin, exits=len(exits), notes=tuple(notes),
                   walkable=[_rings(each) for part in area for each in part.polygons])


def _rings(polygon: Shape) -> list[Numbers]:
    """Return the outline of a polygon and its holes, each [n, 2]."""
    return [np.asarray(ring.coords)[:, :2] for ring in (polygon.exterior, *polygon.interiors)]


class _Grid(NamedTuple):
    """Square tiles; (0, 0) in tiles is the map's left upper corner."""

    origin: Origin
    side: float  # of a tile, metres
    shape: tuple[int, int]  # rows, columns

    @classmethod
    def around(cls, area: Sequence[NamedArea], path: Path, metres: Metres, also: Numbers | None) -> _Grid:
        """The tiles that hold all polygons and points, and a ring of tiles around them."""
        corners = [] if also is None else [also]
        if area:
            import shapely

            corners += [shapely.bounds(part.polygons).reshape(-1, 2) for part in area]
        if not corners:
            raise MapError(f"{path}: there is no walkable area")
        points = np.concatenate(corners)
        (left, low), (right, high) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        size = f"{path}: the plan is {right - left:.6g} x {high - low:.6g} m large"
        if also is None and max(right - left, high - low) < 1 and (np.abs(points) <= (180, 90)).all():
            raise MapError(f"{size}: coordinates must be metres, not degrees of longitude and latitude")
        side, up = metres.side, metres.y_axis != "down"
        columns, rows = (max(math.ceil(length / side - SAME), 1) + 2 for length in (right - left, high - low))
        check_size(columns, rows, size)
        return cls(Origin(left - side, high + side if up else low - side, up), side, (rows, columns))

    def spans(self, parts: Sequence[NamedArea], of_columns: bool = False) -> Spans:
        """Return the spans of the rows, or of the columns with x and y exchanged. Raises MapError for too many edges."""
        import shapely

        def in_tiles(points: Numbers) -> Numbers:
            found = self.origin.offsets(points) / self.side - BESIDE
            return found[:, ::-1] if of_columns else found

        polygons = shapely.transform(np.concatenate([part.polygons for part in parts]), in_tiles)
        return spans(polygons, self.shape[::-1] if of_columns else self.shape, parts[0].where)

    def places(self, marked: Bools, what: str, done: str) -> Iterator[str]:
        labels = label_areas(marked)
        count = int(labels.max()) + 1
        for number in range(min(count, MAX_PLACES)):
            row, column = np.argwhere(labels == number).mean(axis=0).tolist()
            x, y = (round(at, 2) for at in self.origin.metres((column + 0.5) * self.side, (row + 0.5) * self.side))
            yield f"{what} ({self.side:.4g} m) {done} at x = {x:.12g} m, y = {y:.12g} m"
        if count > MAX_PLACES:
            yield f"{what} {done} at {count - MAX_PLACES} more places; world.tile makes tiles smaller"


class Spans(NamedTuple):
    """Where the line through the centres of each row of tiles is in a polygon. In reading order, in tiles."""

    row: Whole
    ends: Numbers  # [2, spans]: begin and end
    columns: Whole  # [2, spans]: the first tile whose centre is not before the begin, and not before the end
    shape: tuple[int, int]

    def tiles(self) -> Bools:
        """bool[H, W]: the tiles whose centres are inside."""
        turns = np.zeros((self.shape[0], self.shape[1] + 1), np.int8)
        for column, turn in zip(self.columns, (1, -1), strict=True):
            np.add.at(turns, (self.row, column), turn)
        return turns.cumsum(axis=1, dtype=np.int8)[:, :-1] > 0

    def lost(self) -> tuple[Bools, Bools]:
        """(gaps, passages), bool[H, W] each: the gaps between two spans, and the spans, that contain no centre of a tile.

        A span counts where it continues in the rows on both sides: not at a corner that becomes thinner as it ends.
        """
        (begin, end), (first, last), (gaps, passages) = self.ends, self.columns, np.zeros((2, *self.shape), np.bool_)
        gap, thin = (self.row[1:] == self.row[:-1]) & (last[:-1] == first[1:]), first == last
        gaps[self.row[1:][gap], ((end[:-1] + begin[1:]) / 2).astype(np.int64)[gap]] = True
        passages[self.row[thin], ((begin + end) / 2).astype(np.int64)[thin]] = True
        near = np.pad(self.tiles() | passages, 1)
        wide = near[:, :-2] | near[:, 1:-1] | near[:, 2:]
        return gaps, passages & wide[:-2] & wide[2:]


def spans(polygons: Polygons, shape: tuple[int, int], where: str) -> Spans:
    """Return where lines through centres are in one of the polygons, in tiles. Raises MapError for too many edges."""
    row, x = _crossings(polygons, shape[0], where)
    between = (row[1:] == row[:-1]) & (x[1:] > x[:-1])
    row, begin, end = row[1:][between], x[:-1][between], x[1:][between]
    inside = _inside(polygons, (begin + end) / 2, row + 0.5)
    row, begin, end = row[inside], begin[inside], end[inside]
    first = np.ones(len(row) + 1, np.bool_)  # of the stretches that touch; and one at the end
    first[1:-1] = (row[1:] != row[:-1]) | (begin[1:] > end[:-1])
    ends = np.stack((begin[first[:-1]], end[first[1:]]))
    return Spans(row[first[:-1]], ends, np.ceil(ends - 0.5).clip(0, shape[1]).astype(np.int64), shape)


def _crossings(polygons: Polygons, rows: int, where: str) -> tuple[Whole, Numbers]:
    """(row, x) of each crossing of an edge with the line through the centres of a row, in reading order."""
    import shapely

    points, ring = shapely.get_coordinates(shapely.get_rings(polygons), return_index=True)
    edges = np.stack((points[:-1], points[1:]), axis=1)[ring[1:] == ring[:-1]]
    heights = np.sort(edges[:, :, 1].T, axis=0)
    first, last = np.ceil(heights - 0.5).clip(0, rows).astype(np.int64)
    in_row = (np.bincount(first, minlength=rows + 1) - np.bincount(last, minlength=rows + 1)).cumsum()
    if np.square(in_row).sum() > MAX_TESTS:
        raise MapError(f"{where}: too many edges for tiles of this size")
    count = last - first
    edge = np.repeat(np.arange(len(count)), count)
    row = np.arange(len(edge)) - np.repeat(count.cumsum() - count, count) + first[edge]
    (x, y), (to_x, to_y) = edges[edge].transpose(1, 2, 0)
    across = np.round((x + (row + 0.5 - y) * ((to_x - x) / (to_y - y))) / SAME) * SAME
    order = np.lexsort((across, row))
    return row[order], across[order]


def _inside(polygons: Polygons, x: Numbers, y: Numbers) -> Bools:
    """Return bool[n]: which points, by rising y, are in the outer ring of a polygon and in none of its holes."""
    import shapely

    found = np.zeros(len(y), np.bool_)
    for polygon in polygons:
        rings = shapely.polygons(shapely.get_rings(polygon))
        shapely.prepare(rings)
        (low, high), *holes = np.searchsorted(y, shapely.bounds(rings)[:, 1::2]).tolist()
        inside = shapely.contains_xy(rings[0], x[low:high], y[low:high])
        for hole, (begin, end) in zip(rings[1:], np.clip(holes, low, high), strict=True):
            inside[begin - low:end - low] &= ~shapely.contains_xy(hole, x[begin:end], y[begin:end])
        found[low:high] |= inside
    return found
