"""Maps in metres: the polygons of a `.wkt` or `.json` file; polygons.py draws them on tiles.

A `.wkt` file has geometries of Well-Known Text (OGC 06-103r4), one after another: POLYGON, MULTIPOLYGON or
GEOMETRYCOLLECTION of these. What stands before one says what it is: nothing or `walkable:`, the walkable area;
`exit NAME:` or `start NAME:`. A `.json` file is GeoJSON (RFC 7946) with metres as coordinates: a geometry, a Feature or a
FeatureCollection, where the properties `kind` (walkable, exit or start) and `name` say the same.

    POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0), (8 4, 8 6, 9 6, 9 4, 8 4))
    exit east: POLYGON ((19 4, 20 4, 20 6, 19 6, 19 4))
    start west: POLYGON ((0 0, 4 0, 4 10, 0 10, 0 0))
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from crowd_demo.config.maps import MapData, MapError, Metres, bytes_of
from crowd_demo.extras.importing.polygons import KINDS, WALKABLE, NamedArea, Points, Rings, drawn

FARTHEST = 1e7  # metres: coordinates are at most so far from 0
MAX_DEEP = 8  # collections within each other


def read_geometry(path: Path, metres: Metres) -> MapData:
    """The map in a `.wkt` or `.json` file. Raises MapError."""
    try:
        text = bytes_of(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MapError(f"{path}: not a map (no text)") from None
    parts = list(wkt_parts(text, path) if path.suffix.lower() == ".wkt" else geojson_parts(text, path))
    return drawn(parts, path, metres)


# --- Well-Known Text ---------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])|[A-Za-z_]\w*|[(),]|[^\s]")
_HEAD = re.compile(r"[^\S\n]*(?:(?P<kind>[A-Za-z]+)(?P<name>[^\n:(]{0,200}):)?\s*(?=[A-Za-z])")


class _Text:
    """The tokens of a text, one after the other."""

    def __init__(self, text: str, where: Path | str) -> None:
        self.text, self.where, self.at = text, where, 0

    def wrong(self, what: str) -> NoReturn:
        raise MapError(f"{self.line}: {what}")

    @property
    def line(self) -> str:
        """Where the next token stands."""
        return f"{self.where}:{self.text.count(chr(10), 0, self.at) + 1}"

    @property
    def ended(self) -> bool:
        self.at = re.compile(r"\s*").match(self.text, self.at).end()  # type: ignore[union-attr]
        return self.at == len(self.text)

    def next(self) -> str:
        if self.ended:
            self.wrong("the text ends within a geometry")
        found = _TOKEN.match(self.text, self.at)
        assert found
        self.at = found.end()
        return found.group()

    def peek(self) -> str:
        at, token = self.at, self.next()
        self.at = at
        return token

    def expect(self, token: str) -> None:
        if (found := self.peek()) != token:
            self.wrong(f"expected {token!r}, not {found!r}")
        self.next()

    def listed(self) -> Iterator[None]:
        """Yield for each part of a list in brackets, which the caller reads."""
        self.expect("(")
        yield
        while self.peek() == ",":
            self.next()
            yield
        self.expect(")")


def wkt_parts(text: str, where: Path | str) -> Iterator[NamedArea]:
    """Yield the geometries of a text; `where` begins what is said of it. Raises MapError."""
    tokens = _Text(text, where)
    while not tokens.ended:
        head = _HEAD.match(text, tokens.at)
        kind, name = (head["kind"] or "", (head["name"] or "").strip()) if head else ("", "")
        if kind and kind.lower() not in KINDS:
            tokens.wrong(f"{kind!r} is none of {', '.join(KINDS)}")
        line = tokens.line
        if head:
            tokens.at = head.end()
        yield NamedArea(kind.lower() or WALKABLE, name, list(_wkt_polygons(tokens, 0)), line)


def _wkt_polygons(tokens: _Text, depth: int) -> Iterator[Rings]:
    kind = tokens.peek().upper()
    if kind not in ("POLYGON", "MULTIPOLYGON", "GEOMETRYCOLLECTION"):
        tokens.wrong(f"expected POLYGON, MULTIPOLYGON or GEOMETRYCOLLECTION, not {tokens.peek()!r}")
    tokens.next()
    if depth > MAX_DEEP:
        tokens.wrong("too many collections within each other")
    if tokens.peek().upper() == "Z":
        tokens.next()
    if tokens.peek().upper() == "EMPTY":
        tokens.next()
    elif kind == "POLYGON":
        yield _wkt_rings(tokens)
    else:
        for _ in tokens.listed():
            if kind == "MULTIPOLYGON":
                yield _wkt_rings(tokens)
            else:
                yield from _wkt_polygons(tokens, depth + 1)


def _wkt_rings(tokens: _Text) -> Rings:
    rings = []
    for _ in tokens.listed():
        points = [_wkt_point(tokens) for _ in tokens.listed()]
        if wrong := ring_problem(points):
            tokens.wrong(wrong)
        rings.append(np.array(points))
    return rings


def _wkt_point(tokens: _Text) -> tuple[float, float]:
    numbers = []
    while tokens.peek() not in (",", ")"):
        try:
            numbers.append(float(tokens.peek()))
        except ValueError:
            tokens.wrong(f"expected a number, not {tokens.peek()!r}")
        tokens.next()
    if len(numbers) not in (2, 3):
        tokens.wrong(f"a point has 2 coordinates, or 3, not {len(numbers)}")
    return numbers[0], numbers[1]


def ring_problem(points: Sequence[tuple[float, float]]) -> str:
    """What is wrong with a ring, or an empty text."""
    if len(points) < 4 or points[0] != points[-1]:
        return "a ring has at least 4 points, and the last is the first again"
    far = next((point for point in points if not all(abs(value) <= FARTHEST for value in point)), None)
    return f"{far[0]:g} {far[1]:g} is farther than {FARTHEST:g} m" if far else ""


# --- GeoJSON -----------------------------------------------------------------------------------------------------------

def geojson_parts(text: str, path: Path) -> Iterator[NamedArea]:
    """Yield the geometries of a text. Raises MapError."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise MapError(f"{path}:{error.lineno}: not JSON ({error.msg})") from None
    except (RecursionError, ValueError):
        raise MapError(f"{path}: not a map (too many brackets, or digits)") from None
    many = _member(data, "type") == "FeatureCollection"
    features = _member(data, "features") if many else [data]
    if not isinstance(features, list):
        raise MapError(f"{path}: features: must be a list")
    for number, feature in enumerate(features):
        key = outer = f"features[{number}]." if many else ""
        properties: object = None
        geometry: object = feature
        if _member(feature, "type") == "Feature":
            properties, geometry, key = _member(feature, "properties"), _member(feature, "geometry"), f"{outer}geometry."
        kind, name = _member(properties, "kind") or WALKABLE, _member(properties, "name") or ""
        if kind not in KINDS:
            raise MapError(f"{path}: {outer}properties.kind: {str(kind)[:40]!r} is none of {', '.join(KINDS)}")
        polygons = list(_geojson_polygons(geometry, f"{path}: {key}", 0))
        yield NamedArea(str(kind), str(name)[:200], polygons, f"{path}: {key[:-1]}")


def _member(data: object, key: str) -> object:
    return data.get(key) if isinstance(data, dict) else None


def _geojson_polygons(data: object, where: str, depth: int) -> Iterator[Rings]:
    kind, inner = _member(data, "type"), _member(data, "geometries" if depth <= MAX_DEEP else "")
    if kind == "GeometryCollection" and isinstance(inner, list):
        for number, each in enumerate(inner):
            yield from _geojson_polygons(each, f"{where}geometries[{number}].", depth + 1)
        return
    if kind not in ("Polygon", "MultiPolygon"):
        raise MapError(f"{where}type: must be Polygon, MultiPolygon or GeometryCollection, not {str(kind)[:40]!r}")
    found = _member(data, "coordinates")
    polygons = [found] if kind == "Polygon" else found
    if not isinstance(polygons, list):
        raise MapError(f"{where}coordinates: must be a list")
    for number, polygon in enumerate(polygons):
        name = f"{where}coordinates" + f"[{number}]" * (kind == "MultiPolygon")
        if not isinstance(polygon, list):
            raise MapError(f"{name}: must be a list of rings")
        yield [_geojson_ring(ring, f"{name}[{inside}]") for inside, ring in enumerate(polygon)]


def _geojson_ring(ring: object, where: str) -> Points:
    if not isinstance(ring, list):
        raise MapError(f"{where}: must be a list of points")
    for number, point in enumerate(ring):
        if not (isinstance(point, list) and len(point) in (2, 3)
                and all(type(value) in (int, float) and abs(value) <= FARTHEST for value in point)):
            raise MapError(f"{where}[{number}]: must be [x, y], in metres, no farther than {FARTHEST:g} m")
    points = [(float(x), float(y)) for x, y, *_ in ring]
    if wrong := ring_problem(points):
        raise MapError(f"{where}: {wrong}")
    return np.array(points)
