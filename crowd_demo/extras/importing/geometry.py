"""Floor plans in metres: shapely and ezdxf (the extra `maps`) read their polygons, polygons.py draws them on tiles.

A `.wkt` file has geometries of Well-Known Text (OGC 06-103r4), one after another. The text before a geometry specifies
its kind: none or `walkable:`, the walkable area; `exit NAME:` or `start NAME:`. Lines that begin with `#` are comments.

    POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0), (8 4, 8 6, 9 6, 9 4, 8 4))
    exit east: POLYGON ((19 4, 20 4, 20 6, 19 6, 19 4))
    start west: POLYGON ((0 0, 4 0, 4 10, 0 10, 0 0))

A `.json` or `.geojson` file is GeoJSON (RFC 7946) with metres as coordinates: a geometry, a Feature or a
FeatureCollection, whose properties `kind` and `name` specify the same. In a `.dxf` drawing, closed polylines and circles
on a layer `walkable`, `exit NAME` or `start NAME` are the polygons. Counts are checked before a text is parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from crowd_demo.config.maps import MapData, MapError, Metres, bytes_of, text_of
from crowd_demo.extras.importing.polygons import KINDS, START, WALKABLE, NamedArea, Polygons, Shape, drawn
from crowd_demo.registry.texts import printable

Json = Any  # what `json` reads
FARTHEST = 1e9  # metres: coordinates are at most so far from 0
MAX_POINTS = 200_000  # of a plan
MAX_PARTS = 20_000  # rings, polygons and what contains them; a polyline of a drawing counts as five
MAX_QUOTED = 60  # characters of a file in a message
_POLYGON = 3  # of `shapely.GeometryType`; larger numbers are collections


def read_geometry(path: Path, metres: Metres) -> MapData:
    """Return the map of a floor plan. Raises MapError."""
    data, suffix = bytes_of(path), path.suffix.lower()
    if suffix == ".dxf":
        parts = _dxf_parts(path, metres.side)
    else:
        parts = (wkt_parts if suffix == ".wkt" else geojson_parts)(text_of(data, path), path)
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
    found = [shapely.polygons(rings[each], rings[inner[(outer == each) & (depth[inner] == depth[each] + 1)]])
             for each in np.flatnonzero(depth % 2 == 0)]
    return np.array(found, object)
