"""Floor plans in metres: shapely and ezdxf (the extra `maps`) read their polygons, which are drawn on tiles.

A `.wkt` file has geometries of Well-Known Text (OGC 06-103r4), one after another. The text before a geometry specifies
its kind: none or `walkable:`, the walkable area; `exit NAME:` or `start NAME:`. Lines that begin with `#` are comments.

    POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0), (8 4, 8 6, 9 6, 9 4, 8 4))
    exit east: POLYGON ((19 4, 20 4, 20 6, 19 6, 19 4))
    start west: POLYGON ((0 0, 4 0, 4 10, 0 10, 0 0))

A `.json` or `.geojson` file is GeoJSON (RFC 7946) with metres as coordinates: a geometry, a Feature or a
FeatureCollection, whose properties `kind` and `name` specify the same. In a `.dxf` drawing, closed polylines and
circles on a layer `walkable`, `exit NAME` or `start NAME` are the polygons. Counts are checked before a text is parsed.

A tile is free where `shapely.contains_xy` finds its centre in the outer ring of a walkable polygon and in none of that
polygon's holes; around the map lies a ring of walls. Notes list where a wall between two free tiles is lost, and where
a passage is closed. For both, edges are crossed with the lines through the centres of rows and of columns: between two
crossings a line is either inside or outside, so one point of each stretch is tested. O(tiles + crossings), no kernels.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bools, Doubles, Longs
from crowd_demo.config.maps import (
    FLOOR,
    MAX_DESTINATIONS,
    WALL,
    MapData,
    MapError,
    Metres,
    Origin,
    bytes_of,
    check_size,
    label_areas,
    marked_part,
    text_of,
)
from crowd_demo.registry.texts import printable

WALKABLE, EXIT, START = KINDS = "walkable", "exit", "start"
MAX_STARTS = 200
MAX_TESTS = 1 << 28  # of edges against points on the same line, about
MAX_PLACES = 3  # of a kind that notes list
SAME = 2.0**-20  # tiles: edges nearer than this are one
BESIDE = np.array((2.0**-20, 2.0**-40))  # tiles: the point that is tested is so far right of a centre and below it
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


def drawn(parts: Sequence[NamedArea], path: Path, metres: Metres, also: Doubles | None = None) -> MapData:
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
                   walkable=[[np.asarray(ring.coords)[:, :2] for ring in (each.exterior, *each.interiors)]
                             for part in area for each in part.polygons])


class _Grid(NamedTuple):
    """Square tiles; (0, 0) in tiles is the map's left upper corner."""

    origin: Origin
    side: float  # of a tile, metres
    shape: tuple[int, int]  # rows, columns

    @classmethod
    def around(cls, area: Sequence[NamedArea], path: Path, metres: Metres, also: Doubles | None) -> _Grid:
        """The tiles that hold all polygons and points, and a ring of tiles around them."""
        corners = [] if also is None else [also]
        corners += [_library("shapely", path).bounds(part.polygons).reshape(-1, 2) for part in area]
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

        def in_tiles(points: Doubles) -> Doubles:
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

    row: Longs
    ends: Doubles  # [2, spans]: begin and end
    columns: Longs  # [2, spans]: the first tile whose centre is not before the begin, and not before the end
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
    import shapely

    points, ring = shapely.get_coordinates(shapely.get_rings(polygons), return_index=True)
    edges = np.stack((points[:-1], points[1:]), axis=1)[ring[1:] == ring[:-1]]
    first, last = np.ceil(np.sort(edges[:, :, 1].T, axis=0) - 0.5).clip(0, shape[0]).astype(np.int64)
    in_row = (np.bincount(first, minlength=shape[0] + 1) - np.bincount(last, minlength=shape[0] + 1)).cumsum()
    if np.square(in_row).sum() > MAX_TESTS:
        raise MapError(f"{where}: too many edges for tiles of this size")
    count = last - first  # crossings of each edge with the lines through the centres of rows
    edge = np.repeat(np.arange(len(count)), count)
    row = np.arange(len(edge)) - np.repeat(count.cumsum() - count, count) + first[edge]
    (x, y), (to_x, to_y) = edges[edge].transpose(1, 2, 0)
    across = np.round((x + (row + 0.5 - y) * ((to_x - x) / (to_y - y))) / SAME) * SAME
    order = np.lexsort((across, row))
    row, x = row[order], across[order]
    between = (row[1:] == row[:-1]) & (x[1:] > x[:-1])
    row, begin, end = row[1:][between], x[:-1][between], x[1:][between]
    inside = _inside(polygons, (begin + end) / 2, row + 0.5)
    row, begin, end = row[inside], begin[inside], end[inside]
    begins = np.ones(len(row) + 1, np.bool_)  # the first of the stretches that touch; and one at the end
    begins[1:-1] = (row[1:] != row[:-1]) | (begin[1:] > end[:-1])
    ends = np.stack((begin[begins[:-1]], end[begins[1:]]))
    return Spans(row[begins[:-1]], ends, np.ceil(ends - 0.5).clip(0, shape[1]).astype(np.int64), shape)


def _inside(polygons: Polygons, x: Doubles, y: Doubles) -> Bools:
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


Json = Any  # what `json` reads
FARTHEST = 1e9  # metres: coordinates are at most so far from 0
MAX_POINTS = 200_000  # of a plan
MAX_PARTS = 20_000  # rings, polygons and what contains them; a polyline of a drawing counts as five
MAX_QUOTED = 60  # characters of a file in a message
_POLYGON = 3  # of `shapely.GeometryType`; larger numbers are collections


def read_geometry(path: Path, metres: Metres) -> MapData:
    """Return the map of a floor plan. Raises MapError."""
    data, suffix = bytes_of(path), path.suffix.lower()
    parts = _dxf_parts(path, metres.side) if suffix == ".dxf" else (
        wkt_parts if suffix == ".wkt" else geojson_parts)(text_of(data, path), path)
    return drawn(list(parts), path, metres)


def _library(name: str, where: Path | str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise MapError(f'{where}: floor plans in metres need {name}: pip install "crowd-demo[maps]"') from None


def _check_counts(points: int, parts: int, where: Path | str) -> None:
    if points > MAX_POINTS or parts > MAX_PARTS:
        raise MapError(f"{where}: more than {MAX_POINTS:,} points, or {MAX_PARTS:,} rings and polygons")


def _quoted(text: object) -> str:
    """The beginning of a text or of an error, in one line and without the names of classes in GEOS."""
    found = " ".join(str(text)[:4 * MAX_QUOTED].split())
    return printable(re.sub(r"^\w+Exception: (?:Error parsing JSON: '\S+ (.*?)'?$)?", r"\1", found))[:MAX_QUOTED]


def _parsed(reader: str, data: Json, where: str) -> Shape:
    """The geometry that a reader of shapely makes of a text, or of the values of GeoJSON. Raises MapError."""
    shapely = _library("shapely", where)
    try:
        text = data if isinstance(data, str) else json.dumps(_flat({**data}), allow_nan=False)
        with np.errstate(all="ignore"):  # of numbers that are too large
            found = getattr(shapely, reader)(text, on_invalid="fix")  # closes rings
            return getattr(shapely, reader)(text) if found is None else found
    except (shapely.errors.ShapelyError, NotImplementedError, RecursionError, TypeError, ValueError) as error:
        raise MapError(f"{where}: not a geometry: {_quoted(error)}") from None


def _area(kind: object, name: str, where: str, geometry: Shape) -> NamedArea:
    """The polygons of a geometry, or of several. Raises MapError for other kinds, and for what cannot be in metres."""
    if kind not in KINDS:
        raise MapError(f"{where}: kind {_quoted(kind)!r} is none of {', '.join(KINDS)}")
    shapely = _library("shapely", where)
    found = np.array(geometry, object, ndmin=1)
    while (shapely.get_type_id(found) > _POLYGON).any():
        found = shapely.get_parts(found)
    is_polygon = shapely.get_type_id(found) == _POLYGON
    polygons = shapely.force_2d(found[is_polygon & ~shapely.is_empty(found)])
    points = shapely.get_coordinates(polygons)
    near = (np.abs(points) <= FARTHEST).all(axis=1)
    if not near.all():
        x, y = points[near.argmin()].tolist()
        raise MapError(f"{where}: {x:.10g} {y:.10g} is not a position in metres, at most {FARTHEST:g} from 0")
    notes = () if is_polygon.all() else ("points and lines, which have no area, are ignored",)
    return NamedArea(str(kind), name, polygons, where, notes)


# --- Well-Known Text -------------------------------------------------------------------------------------------------

_COMMENT = re.compile(r"^[^\S\n]*+#.*$", re.MULTILINE)
_BETWEEN = re.compile(r'[\s;"]*')
_BRACKETS = r"[^()]*+"
for _ in range(12):  # brackets within each other: GEOS would follow any number, and run out of stack
    _BRACKETS = rf"[^()]*+(?:\({_BRACKETS}\)[^()]*+)*+"
_ENTRY = re.compile(
    r"(?:(?P<kind>[^\W\d_]{1,20})\b(?P<name>[^\n]{0,200}?):\s*+)??(?:SRID=\d+;\s*+)?(?P<wkt>"
    r"(?:(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|LINEARRING|GEOMETRYCOLLECTION)\s*+(?:ZM|Z|M)?\s*+"
    rf"(?:\({_BRACKETS}\)|EMPTY\b))", re.IGNORECASE)


def wkt_parts(text: str, where: Path | str) -> Iterator[NamedArea]:
    """Yield the geometries of a text; `where` begins messages about them. Raises MapError."""
    text = _COMMENT.sub("", text)
    _check_counts(text.count(","), text.count("("), where)
    at = begin = 0
    line = 1
    while (at := _BETWEEN.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        line, begin = line + text.count("\n", begin, at), at
        here, entry = f"{where}:{line}", _ENTRY.match(text, at)
        if not entry:
            raise MapError(f"{here}: expected a geometry such as POLYGON ((...)), not {_quoted(text[at:at + 999])!r}")
        kind, name, at = (entry["kind"] or WALKABLE).lower(), (entry["name"] or "").strip(), entry.end()
        yield _area(kind, name, here, _parsed("from_wkt", entry["wkt"], here))


# --- GeoJSON ---------------------------------------------------------------------------------------------------------

def geojson_parts(text: str, path: Path) -> Iterator[NamedArea]:
    """Yield the geometries of a text. Raises MapError."""
    _check_counts(text.count("["), text.count("{"), path)
    try:
        data = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise MapError(f"{path}:{getattr(error, 'lineno', 1)}: not JSON ({_quoted(error)})") from None
    features = _member(data, "features") if _member(data, "type") == "FeatureCollection" else [data]
    for number, feature in enumerate(features if isinstance(features, list) else [features], 1):
        geometry = _member(feature, "geometry") if _member(feature, "type") == "Feature" else feature
        if geometry is not None:  # RFC 7946 has features without a place
            where, about = f"{path}: feature {number}", _member(feature, "properties")
            kind, name = _member(about, "kind") or WALKABLE, str(_member(about, "name") or "")
            yield _area(kind, name[:200], where, _parsed("from_geojson", geometry, where))


def _member(data: object, key: str) -> object:
    return data.get(key) if isinstance(data, dict) else None


def _flat(data: Json) -> Json:
    """What GEOS reads of GeoJSON, with two numbers a point and closed rings."""
    if isinstance(data, dict):
        return {key: _flat(data[key]) for key in ("type", "coordinates", "geometries") if key in data}
    if not isinstance(data, list) or not data:
        return data
    if not isinstance(data[0], list | dict):
        return data[:2]
    is_open_ring = isinstance(data[0], list) and data[0] != [] and not isinstance(data[0][0], list) and data[0] != data[-1]
    return [_flat(each) for each in (*data, *data[:is_open_ring])]


# --- DXF -------------------------------------------------------------------------------------------------------------

_LAYER = re.compile(r"(walkable|area|exit|start)s?(?:[\s_:-]+(.*))?", re.IGNORECASE)


def _dxf_parts(path: Path, side: float) -> Iterator[NamedArea]:
    """Yield the polygons of a drawing; arcs become edges within an eighth of a tile. Raises MapError."""
    ezdxf, shapely, notes = _library("ezdxf", path), _library("shapely", path), set[str]()
    rings, points = dict[str, list[Shape]](), 0
    try:
        drawing = ezdxf.readfile(path)
        unit = ezdxf.units.conversion_factor(drawing.units, ezdxf.units.M) if drawing.units else 1.0
        outlines = list(drawing.modelspace().query("LWPOLYLINE POLYLINE CIRCLE"))
        lines = [line for line in outlines if _LAYER.fullmatch(line.dxf.layer)]
        for line in lines[:MAX_PARTS // 5]:
            outline = import_module("ezdxf.path").make_path(line)
            corners = islice(outline.flattening(side / unit / 8), MAX_POINTS + 1 - points)
            ring = [(x * unit, y * unit) for x, y, _ in corners]
            points += len(ring)
            if len(ring) > 2:
                rings.setdefault(line.dxf.layer.lower(), []).append(shapely.linearrings(ring))
            if not outline.is_closed:
                notes.add("open polylines are closed")
    except Exception as error:  # a damaged drawing leads to errors of any kind within ezdxf
        raise MapError(f"{path}: not a DXF drawing ({_quoted(error)})") from None
    _check_counts(points, 5 * len(lines), path)
    if not rings:
        layers = ", ".join(sorted({line.dxf.layer for line in outlines})) or "none"
        raise MapError(f"{path}: no polyline is on a layer walkable, exit or start (their layers: {_quoted(layers)})")
    if not drawing.units:
        notes.add("the drawing has no unit ($INSUNITS): it is read in metres")
    for layer, found in rings.items():
        kind, name = _LAYER.fullmatch(layer).groups("")  # type: ignore[union-attr]
        kind, polygons = kind.replace("area", WALKABLE), shapely.polygons(found)
        for each in {WALKABLE: [_with_holes(polygons)], START: [polygons]}.get(kind, polygons):
            yield _area(kind, name, f"{path}: layer {_quoted(layer)!r}", each)._replace(notes=tuple(sorted(notes)))
            notes.clear()


def _with_holes(polygons: Polygons) -> Polygons:
    """Polygons in which each ring that is within an odd number of others is a hole."""
    import shapely

    outer, inner = shapely.STRtree(polygons).query(polygons, predicate="contains")
    area, rings = shapely.area(polygons), shapely.get_exterior_ring(polygons)
    outer, inner = np.stack((outer, inner))[:, area[outer] > area[inner]]
    depth = np.bincount(inner, minlength=len(polygons))
    return np.array([shapely.polygons(rings[each], rings[inner[(outer == each) & (depth[inner] == depth[each] + 1)]])
                     for each in np.flatnonzero(depth % 2 == 0)], object)
