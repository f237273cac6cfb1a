"""Floor plans: each tile and each loss against an obvious test, and that every mistake is one line that gives its place."""

import json
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from damages import damages
from fuzzes import FILES, SEED
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crowd_demo.config.loader import load_config
from crowd_demo.config.maps import WALL, MapData, MapError, Metres, octile_of, parse_octile, read_map
from crowd_demo.extras.importing.geometry import MAX_PARTS, MAX_POINTS, MAX_STARTS, SAME, spans
from crowd_demo.sim.simulation import Simulation

ezdxf = pytest.importorskip("ezdxf")
shapely = pytest.importorskip("shapely")
pytestmark = pytest.mark.quick

METRE = Metres(tile=1, metre=1)  # a tile is a metre
ROOM = "POLYGON ((0 0, 6 0, 6 4, 0 4, 0 0))"
RING = [[0, 0], [6, 0], [6, 4], [0, 4], [0, 0]]
NEAR = Fraction(1, 1000)
CASES = Path(__file__).parents[4] / "shared" / "cases"
EMPTY = ["########", *["#......#"] * 4, "########"]


def read(tmp_path: Path, text: str | bytes, name: str = "room.wkt", metres: Metres = METRE) -> MapData:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_map(path, metres)


def rows_of(data: MapData) -> list[str]:
    """The tiles: `#` walls, `s` starts, digits exits."""
    rows = np.where(data.kinds == WALL, "#", ".")
    if data.starts is not None:
        rows[data.starts] = "s"
    for number in range(data.exits):
        rows[data.marks == number] = str(number)
    return ["".join(row) for row in rows.tolist()]


def refused(tmp_path: Path, text: str | bytes, name: str = "room.wkt") -> str:
    """The message of the mistake in a plan, without its folder."""
    with pytest.raises(MapError) as caught:
        read(tmp_path, text, name)
    assert str(caught.value).isprintable()
    return str(caught.value).removeprefix(f"{tmp_path / name}")


# --- which tiles are free ------------------------------------------------------------------------------------------------

def crossings(ring: np.ndarray, y: Fraction) -> list[Fraction]:
    """Where a horizontal line crosses the edges of a ring."""
    return [x1 + (y - y1) / (y2 - y1) * (x2 - x1) for (x1, y1), (x2, y2)
            in pairwise([(Fraction(x), Fraction(y)) for x, y in ring.tolist()]) if min(y1, y2) <= y < max(y1, y2)]


def is_inside(polygons: list[list[np.ndarray]], x: Fraction, y: Fraction) -> bool:
    """Whether a point is in the outer ring of a polygon, which is the first one, and in none of its holes."""
    in_rings = [[sum(at <= x for at in crossings(ring, y)) % 2 for ring in polygon] for polygon in polygons]
    return any(outer and not any(holes) for outer, *holes in in_rings)


coordinates = st.integers(-8, 72).map(lambda eighths: eighths / 8 + 0.0123)
rings = st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=6).map(
    lambda points: np.array([*points, points[0]]))
areas = st.lists(st.lists(rings, min_size=1, max_size=3), min_size=1, max_size=3)


@settings(max_examples=50)
@given(areas)
def test_a_tile_is_free_if_its_centre_is_in_a_polygon_and_gaps_are_known(polygons: list[list[np.ndarray]]) -> None:
    size, half = 9, Fraction(1, 2)
    found = spans(np.array([shapely.Polygon(outer, holes) for outer, *holes in polygons]), (size, size), "map")
    tiles, (gaps, _) = found.tiles(), found.lost()
    for row in range(size):
        y = row + half
        edges = sorted({at for polygon in polygons for ring in polygon for at in crossings(ring, y)})
        assume(all(abs(at - half - round(at - half)) > NEAR for at in edges))  # not so near a centre that rounding decides
        assume(all(after - before > 4 * SAME for before, after in pairwise(edges)))
        assert [bool(tile) for tile in tiles[row]] == [is_inside(polygons, column + half, y) for column in range(size)]
        inside = [(before, after) for before, after in pairwise(edges) if is_inside(polygons, (before + after) / 2, y)]
        between = [(before, after) for (_, before), (after, _) in pairwise(inside) if before < after]
        lost = [gap for gap in between if not any(gap[0] < column + half < gap[1] for column in range(size))]
        assert gaps[row].any() == bool(lost), (row, inside)


@pytest.mark.parametrize("y_axis", ["up", "down"])
def test_a_centre_on_an_edge_belongs_to_the_polygon_right_of_it_or_below_it(tmp_path: Path, y_axis: str) -> None:
    def tiles(*polygons: str) -> list[str]:
        return rows_of(read(tmp_path, f"{ROOM} exit: {' exit: '.join(polygons)}", metres=METRE._replace(y_axis=y_axis)))[1:-1]

    assert tiles("POLYGON ((0 0, 2.5 0, 2.5 4, 0 4, 0 0))", "POLYGON ((2.5 0, 6 0, 6 4, 2.5 4, 2.5 0))") == ["#001111#"] * 4
    low, high = "POLYGON ((0 0, 6 0, 6 1.5, 0 1.5, 0 0))", "POLYGON ((0 1.5, 6 1.5, 6 4, 0 4, 0 1.5))"
    expected = ["#111111#"] * 2 + ["#000000#"] * 2 if y_axis == "up" else ["#000000#"] + ["#111111#"] * 3
    assert tiles(low, high) == expected
    slope = tiles("POLYGON ((0 0, 4 4, 0 4, 0 0))", "POLYGON ((0 0, 4 4, 4 0, 0 0))")
    assert slope[::1 if y_axis == "up" else -1] == ["#0001..#", "#0011..#", "#0111..#", "#1111..#"]


def test_y_grows_upwards_unless_the_configuration_says_otherwise(tmp_path: Path) -> None:
    step = "POLYGON ((0 0, 3 0, 3 1, 1 1, 1 2, 0 2, 0 0))"
    assert rows_of(read(tmp_path, step)) == ["#####", "#.###", "#...#", "#####"]
    assert rows_of(read(tmp_path, step, metres=METRE._replace(y_axis="down"))) == ["#####", "#...#", "#.###", "#####"]


def test_the_side_of_a_tile_is_chosen_and_the_world_is_as_large_as_the_map(tmp_path: Path) -> None:
    (tmp_path / "room.wkt").write_text(ROOM, "utf-8")
    for tile, columns, rows in (("1 m", 8, 6), ("0.5 m", 14, 10), ("2 m", 5, 4)):
        config = load_config("1k", {"map": str(tmp_path / "room.wkt"), "world.tile": tile, "agents": 3})
        terrain = Simulation(config).terrain
        assert (terrain.columns, terrain.rows) == (columns, rows)
        assert float(terrain.walls.tile) == config.world.tile == config.world.width / columns == config.world.height / rows


def test_people_begin_at_starts_and_leave_by_exits(tmp_path: Path) -> None:
    text = f"{ROOM}\nexit: POLYGON ((5 0, 6 0, 6 4, 5 4, 5 0))\nstart west: POLYGON ((0 0, 1 0, 1 4, 0 4, 0 0))"
    (tmp_path / "room.wkt").write_text(text, "utf-8")
    changes = {"map": str(tmp_path / "room.wkt"), "world.tile": "0.5 m", "agents": 40, "crowd.wait_s": 1, "crowd.room": 1}
    sim = Simulation(load_config("1k", changes))
    assert sim.config.crowd.exits == 1
    assert (sim.agents.by_id().x < 26 + 26 / 2).all() and sim.agents.count == 40
    assert load_config("1k", {**changes, "crowd.exits": 0}).crowd.exits == 0


# --- what plans are written in -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("text", [
    f"\ufeff# a hall\n{ROOM};\n", f'"{ROOM}"', "POLYGONZ((0 0 9, 6 0 9, 6 4 9, 0 4 9, 0 0 9))",
    "polygon m ((0 0 9, 6 0 9, 6 4 9, 0 4 9, 0 0 9))", "POLYGON ZM ((0 0 9 1, 6 0 9 1, 6 4 9 1, 0 4 9 1, 0 0 9 1))",
    f"SRID=25832; {ROOM}", f"walkable: SRID=25832;{ROOM}", "POLYGON ((0 0, 6 0, 6 4, 0 4))",
    "POLYGON ((0 0, 6 0, 6 4, 0 4, 1e-14 0))", "MULTIPOLYGON Z (((0 0 0, 6 0 0, 6 4 0, 0 4 0, 0 0 0)), EMPTY)",
    f"{ROOM} POLYGON EMPTY", "POLYGON ((0 0, 3 0, 3 4, 0 4, 0 0)) POLYGON ((3 0, 6 0, 6 4, 3 4, 3 0))",
    "POLYGON ((32500000 5600000, 32500006 5600000, 32500006 5600004, 32500000 5600004, 32500000 5600000))",
])
def test_dialects_of_wkt_are_the_same_room(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert rows_of(found) == EMPTY and not found.notes


@pytest.mark.parametrize(("data", "notes"), [
    ({"type": "Polygon", "coordinates": [RING]}, 0), ({"type": "Polygon", "coordinates": [RING[:-1]]}, 0),
    ({"type": "Polygon", "coordinates": [[[x, y, 9, 1] for x, y in RING]]}, 0),
    ({"type": "Polygon", "coordinates": [[[x, y, 9][:2 + x // 6] for x, y in RING]]}, 0),
    ({"type": "MultiPolygon", "coordinates": [[RING], []]}, 0),
    ({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": None, "geometry": {"type": "Polygon", "coordinates": [RING]}},
        {"type": "Feature", "properties": {}, "geometry": None},
        {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": []}}]}, 0),
    ({"type": "GeometryCollection", "geometries": [
        {"type": "Polygon", "coordinates": [RING]}, {"type": "Point", "coordinates": [1, 2, 3]},
        {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}]}, 1),
])
@pytest.mark.parametrize("suffix", [".json", ".GeoJSON"])
def test_geojson_without_places_with_points_or_with_four_numbers_is_the_same_room(
        tmp_path: Path, data: dict[str, object], notes: int, suffix: str) -> None:
    found = read(tmp_path, json.dumps(data), f"room{suffix}")
    assert rows_of(found) == EMPTY and found.notes == ("points and lines, which have no area, are ignored",) * notes


def test_polygons_with_holes_that_overlap_and_collections(tmp_path: Path) -> None:
    text = ("geometrycollection (POLYGON Z ((0 0 9, 4 0 9, 4 4 9, 0 4 9, 0 0 9), (1 1 9, 3 1 9, 3 3 9, 1 3 9, 1 1 9),"
            " (2 2 9, 3 2 9, 3 4 9, 2 4 9, 2 2 9)),\n"
            " MULTIPOLYGON (((4 1, 6 1, 6 2, 4 2, 4 1)), ((4 3, 6 3, 6 4, 4 4, 4 3))), LINESTRING (0 0, 9 9), POINT (3 3))")
    found = read(tmp_path, text)
    assert rows_of(found) == ["########", "#..#...#", "#.##.###", "#.##...#", "#....###", "########"]
    assert found.notes == ("points and lines, which have no area, are ignored",)


@pytest.mark.parametrize("name", ["north door", "Tür 1 (links)", "Gate 3: north", ""])
def test_text_geojson_and_a_saved_map_are_one(tmp_path: Path, name: str) -> None:
    areas = ("walkable", "", RING), ("exit", name, [[2, 3], [4, 3], [4, 4], [2, 4], [2, 3]]), (
        "start", "", [[0, 0], [1, 0], [1, 4], [0, 4], [0, 0]])
    text = "".join(f"{kind} {name}:\nPOLYGON (({', '.join(f'{x} {y}' for x, y in ring)}))\n" for kind, name, ring in areas)
    features = [{"type": "Feature", "properties": {"kind": kind, "name": name},
                 "geometry": {"type": "Polygon", "coordinates": [ring]}} for kind, name, ring in areas]
    ours, theirs = (read(tmp_path, *each) for each in (
        (text,), (json.dumps({"type": "FeatureCollection", "features": features}), "room.json")))
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))
    assert rows_of(ours) == ["########", "#s.00..#", *["#s.....#"] * 3, "########"]
    again = parse_octile(octile_of(ours).encode(), tmp_path / "room.map")
    assert rows_of(again._replace(exits=1)) == rows_of(ours)


def drawing_of(tmp_path: Path, version: str = "R2010", units: int = 6, scale: float = 1.0) -> Path:
    """A room of 12 x 8 m with a pillar of 2 x 2 m and a round one, two exits and a start."""
    drawing = ezdxf.new(version)
    drawing.units = units
    space = drawing.modelspace()
    for layer, closed, corners in (
            ("WALKABLE", True, [(0, 0), (12, 0), (12, 8), (0, 8)]), ("walkable", True, [(2, 5), (4, 5), (4, 7), (2, 7)]),
            ("EXIT_EAST", True, [(11, 3), (12, 3), (12, 5), (11, 5)]), ("exits", True, [(0, 3), (1, 3), (1, 5), (0, 5)]),
            ("Start west", False, [(1, 1), (3, 1), (3, 2), (1, 2)]), ("A-WALL", True, [(-9, -9), (99, -9), (99, 99)])):
        add = space.add_polyline2d if version == "R12" else space.add_lwpolyline
        add([(x * scale, y * scale) for x, y in corners], close=closed, dxfattribs={"layer": layer})
    space.add_circle((7 * scale, 3 * scale), radius=1.2 * scale, dxfattribs={"layer": "walkable"})
    drawing.saveas(tmp_path / "room.dxf")
    return tmp_path / "room.dxf"


@pytest.mark.parametrize(("version", "units", "scale"), [
    ("R2010", 6, 1.0), ("R2000", 4, 1000.0), ("R2018", 1, 1 / 0.0254), ("R12", 0, 1.0), ("R2010", 0, 1.0)])
def test_closed_polylines_of_a_drawing_are_a_plan_by_their_layers(tmp_path: Path, version: str, units: int,
                                                                  scale: float) -> None:
    found = read_map(drawing_of(tmp_path, version, units, scale), METRE)
    assert rows_of(found) == [
        "##############",
        "#............#",
        "#..##........#",
        "#..##........#",
        "#1..........0#",
        "#1.....##...0#",
        "#......##....#",
        "#.ss.........#",
        "#............#",
        "##############"]
    notes = ("open polylines are closed",)
    assert found.notes == (notes if units else (*notes, "the drawing has no unit ($INSUNITS): it is read in metres"))


def test_arcs_of_a_drawing_are_edges_within_an_eighth_of_a_tile(tmp_path: Path) -> None:
    drawing = ezdxf.new()
    drawing.units = 6
    drawing.modelspace().add_lwpolyline([(0, 0, 1), (40, 0, 1)], format="xyb", close=True, dxfattribs={"layer": "area"})
    drawing.saveas(tmp_path / "round.dxf")
    free = np.argwhere(read_map(tmp_path / "round.dxf", METRE).kinds != WALL)
    far = np.hypot(*(free - 20.5).T)
    assert 20 - 0.6 < far.max() < 20 and abs(len(free) - np.pi * 400) < 0.02 * np.pi * 400


@pytest.mark.parametrize(("data", "message"), [
    (lambda data: b"hello\n" + data, ": not a DXF drawing (File "),
    (lambda data: bytes(range(256)), ": not a DXF drawing (File "),
    (lambda data: data[:len(data) // 2], ": not a DXF drawing ("),
    (lambda data: data.replace(b"walkable", b"A-FLOOR").replace(b"WALKABLE", b"A-FLOOR"), ": there is no walkable area"),
])
def test_a_damaged_drawing_is_one_line(tmp_path: Path, data: Callable[[bytes], bytes], message: str) -> None:
    assert refused(tmp_path, data(drawing_of(tmp_path).read_bytes()), "bad.dxf").startswith(message)


def test_a_drawing_without_layers_of_a_plan_lists_those_that_it_has(tmp_path: Path) -> None:
    drawing = ezdxf.new()
    drawing.modelspace().add_lwpolyline([(0, 0), (9, 0), (9, 9)], close=True, dxfattribs={"layer": "A-WALL"})
    drawing.saveas(tmp_path / "other.dxf")
    with pytest.raises(MapError, match=r"no polyline is on a layer walkable, exit or start \(their layers: A-WALL\)$"):
        read_map(tmp_path / "other.dxf")


# --- what is thinner than a tile -----------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "notes"), [
    ("POLYGON ((0 0, 6 0, 6 4, 0 4, 0 0), (2.6 -1, 2.9 -1, 2.9 5, 2.6 5, 2.6 -1))",
     ["a wall thinner than a tile (1 m) is lost at x = 2.5 m, y = 2 m"]),
    ("POLYGON ((0 0, 6 0, 6 4, 0 4, 0 0), (2.4 -1, 2.9 -1, 2.9 5, 2.4 5, 2.4 -1))", []),  # it has a centre
    ("POLYGON ((0 0, 3 0, 3 4, 0 4, 0 0)) POLYGON ((3 0, 6 0, 6 4, 3 4, 3 0))", []),  # they touch
    ("POLYGON ((0 0, 2 0, 2 1.6, 5 1.6, 5 0, 7 0, 7 4, 5 4, 5 2.4, 2 2.4, 2 4, 0 4, 0 0))",
     ["a passage narrower than a tile (1 m) is closed at x = 3.5 m, y = 1.5 m"]),
    ("POLYGON ((0 0, 4 4, 0 8, -4 4, 0 0))", []),  # a corner that ends
    ("POLYGON ((32500000 5600000, 32500006 5600000, 32500006 5600004, 32500000 5600004, 32500000 5600000),"
     " (32500002.6 5600001, 32500002.9 5600001, 32500002.9 5600003, 32500002.6 5600003, 32500002.6 5600001))",
     ["a wall thinner than a tile (1 m) is lost at x = 32500002.5 m, y = 5600002 m"]),
])
def test_what_is_thinner_than_a_tile_is_in_notes(tmp_path: Path, text: str, notes: list[str]) -> None:
    assert list(read(tmp_path, text).notes) == notes


# --- mistakes ------------------------------------------------------------------------------------------------------------

COMB = ", ".join(f"{number * 0.01} {number % 2 * 9}" for number in range(60_000))


@pytest.mark.parametrize(("text", "message"), [
    ("walkable: LINE (0 0, 1 1)", ":1: expected a geometry such as POLYGON ((...)), not 'walkable: LINE (0 0, 1 1)'"),
    ("LINE (0 0, 1 1)", ":1: expected a geometry such as POLYGON ((...)), not 'LINE (0 0, 1 1)'"),
    (f"{ROOM}, {ROOM}", f":1: expected a geometry such as POLYGON ((...)), not ', {ROOM}'"),
    ("\n\nPOLYGON ((0 0, 1 x))", ":3: not a geometry: Expected number but encountered word: 'x'"),
    ("POLYGON ((0 0, 1 0, 1 1, 0 0)", ":1: expected a geometry such as POLYGON ((...)), not 'POLYGON ((0 0, 1 0, 1 1, 0 0)'"),
    (f"{ROOM}\n# more\n{'GEOMETRYCOLLECTION (' * 14}{')' * 14}",
     f":3: expected a geometry such as POLYGON ((...)), not '{('GEOMETRYCOLLECTION (' * 3)[:60]}'"),
    ("POLYGON ((0 0 0 0 0, 1 0, 1 1, 0 0))", ":1: not a geometry: Expected word but encountered number: '0'"),
    ("POLYGON ((0 0, 2123456789 0, 1 1, 0 0))", ":1: 2123456789 0 is not a position in metres, at most 1e+09 from 0"),
    ("POLYGON ((0 0, 1 nan, 1 1, 0 0))", ":1: 1 nan is not a position in metres, at most 1e+09 from 0"),
    (f"POLYGON (({'1' * 99_999} 0, 1 1, 1 2, 0 0))", ":1: inf 0 is not a position in metres, at most 1e+09 from 0"),
    ("POLYGON EMPTY", ": there is no walkable area"), ("", ": the file is empty"), ("#\n\n", ": there is no walkable area"),
    ("POINT (3 4)", ": there is no walkable area"),
    ("POLYGON ((6.3580 50.9100, 6.3584 50.9100, 6.3584 50.9103, 6.3580 50.9100))",
     ": the plan is 0.0004 x 0.0003 m large: coordinates must be metres, not degrees of longitude and latitude"),
    ("POLYGON ((0 0, 9000 0, 9000 9, 0 9, 0 0))",
     ": the plan is 9000 x 9 m large: 9002 x 11 tiles are too many (at most 2048 x 2048)"),
    (f"{ROOM}\nentry west: {ROOM}", ":2: kind 'entry' is none of walkable, exit, start"),
    (f"{ROOM}\nexit west: POLYGON ((9 9, 10 9, 10 10, 9 9))",
     ":2: exit 'west' has no free tile: it is thinner than a tile (1 m), or not in the walkable area"),
    (f"{ROOM}\n\nstart: POLYGON ((9 9, 10 9, 10 10, 9 9))",
     ":3: this start has no free tile: it is thinner than a tile (1 m), or not in the walkable area"),
    (f"{ROOM}\nexit: MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0)), ((4 0, 5 0, 5 1, 4 1, 4 0)))",
     ":2: the tiles of this exit do not touch each other"),
    (f"{ROOM}\nexit a: {ROOM}\nexit b: {ROOM}",
     ":3: exit 'b' has no free tile: it is thinner than a tile (1 m), or not in the walkable area"),
    ("\n".join([ROOM] + ["exit: POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))"] * 65), ":66: more than 64 exits"),
    (f"{ROOM}\nexit S\u00fcd: {ROOM}".encode("latin-1"), ":2: not UTF-8 text"),
])
def test_a_mistake_is_one_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert refused(tmp_path, text) == message


@pytest.mark.parametrize(("data", "message"), [
    ("{\n'a': 1}", ":2: not JSON (Expecting property name enclosed in double quotes"),
    ("[" * 10_000, ":1: not JSON (maximum recursion depth exceeded"),
    ('{"type": "Polygon", "coordinates": ' + "[" * 900 + "]" * 900 + "}", ": feature 1: not a geometry: maximum recursion"),
    ('{"type": "FeatureCollection", "features": 3}', ": feature 1: not a geometry: "),
    ('[1, 2]', ": feature 1: not a geometry: 'list' object is not a mapping"),
    ('{"type": "Topology"}', ": feature 1: not a geometry: Unknown geometry type!"),
    ('{"type": "Polygon", "coordinates": [[[0, 0], [1, "a"]]]}',
     ": feature 1: not a geometry: type must be number, but is string"),
    ('{"type": "Polygon", "coordinates": [[[0, 0], [1, true]]]}',
     ": feature 1: not a geometry: type must be number, but is boolean"),
    ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, NaN]]]}', ": feature 1: not a geometry: Out of range float"),
    ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, ' + "9" * 5000 + "]]]}", ":1: not JSON (Exceeds the limit"),
    ('{"type": "Feature", "properties": {"kind": "door"}, "geometry": {"type": "Point", "coordinates": [0, 0]}}',
     ": feature 1: kind 'door' is none of walkable, exit, start"),
    ('{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": null}, {"type": "Feature", "geometry":'
     ' {"type": "Polygon", "coordinates": 3}}]}', ": feature 2: not a geometry: type must be array, but is number"),
])
def test_a_mistake_in_geojson_gives_its_place(tmp_path: Path, data: str, message: str) -> None:
    assert refused(tmp_path, data, "room.json").startswith(message)


MANY = f": more than {MAX_POINTS:,} points, or {MAX_PARTS:,} rings and polygons"


@pytest.mark.parametrize(("name", "text", "message"), [
    ("parts.wkt", lambda: "POLYGON((0 0,1 0,0 1,0 0))\n" * 150_000, MANY),
    ("multi.wkt", lambda: f"MULTIPOLYGON (((0 0,9 0,0 9,0 0)){',((0 0,1 0,0 1,0 0))' * 300_000})", MANY),
    ("ring.wkt", lambda: f"POLYGON ((0 0,{'1 1,0 9,' * 500_000}0 0))", MANY),
    ("ring.json", lambda: f'{{"type": "Polygon", "coordinates": [[{"[1,1],[0,9]," * 500_000}[1,1]]]}}', MANY),
    ("brackets.json", lambda: "[" * 4_000_000 + "]" * 4_000_000, MANY),
    ("starts.wkt", lambda: f"{ROOM}\n" + f"start: {ROOM}\n" * 3_000, f":{MAX_STARTS + 2}: more than {MAX_STARTS} starts"),
    ("comb.wkt", lambda: f"POLYGON ((0 -1, {COMB}, 600 -1, 0 -1))", ":1: too many edges for tiles of this size"),
    ("letters.wkt", lambda: "a" * 8_000_000, f":1: expected a geometry such as POLYGON ((...)), not '{'a' * 60}'"),
    ("blanks.wkt", lambda: "\n" * 4_000_000 + " " * 4_000_000, ": there is no walkable area"),
    ("heads.wkt", lambda: "exit " * 1_600_000, f":1: expected a geometry such as POLYGON ((...)), not '{'exit ' * 12}'"),
    ("large.wkt", lambda: "a" * (8 << 20) + "a", ": too large for a map (over 8 MB)"),
    ("name.json", lambda: json.dumps({"type": "Feature", "properties": {"kind": "x" * 7_000_000},
                                      "geometry": {"type": "Point", "coordinates": [0, 0]}}),
     f": feature 1: kind '{'x' * 60}' is none of walkable, exit, start"),
])
def test_large_files_are_refused_at_once(tmp_path: Path, name: str, text: Callable[[], str], message: str) -> None:
    begin = time.process_time()
    assert refused(tmp_path, text(), name) == message
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("name", ["room.wkt", "room.geojson", "room.dxf"])
def test_a_missing_extra_is_one_line_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    drawing_of(tmp_path)
    (tmp_path / "room.wkt").write_text(ROOM, "utf-8")
    (tmp_path / "room.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [RING]}), "utf-8")
    for module in ("shapely", "ezdxf"):
        monkeypatch.setitem(sys.modules, module, None)
    library = "ezdxf" if name.endswith("dxf") else "shapely"
    with pytest.raises(MapError) as caught:
        read_map(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert str(caught.value).endswith(f': floor plans in metres need {library}: pip install "crowd-demo[maps]"')


def test_trajectories_without_a_walkable_area_need_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shapely", None)
    assert rows_of(read(tmp_path, "# framerate: 10\n1 0 0 0\n1 1 6 4\n", "walks.txt")) == EMPTY


@pytest.mark.parametrize("suffix", [".wkt", ".json", ".dxf"])
def test_a_damaged_file_is_a_map_or_one_line(tmp_path: Path, suffix: str) -> None:
    ring = [[0, 0], [12, 0], [12, 8], [0, 8], [0, 0]]
    text = {".wkt": f"{ROOM}\nexit north: POLYGON ((2 3, 4 3, 4 4, 2 4, 2 3))\nstart: POLYGON ((0 0, 1 0, 1 4, 0 4, 0 0))",
            ".json": json.dumps({"type": "FeatureCollection", "features": [
                {"type": "Feature", "properties": {"kind": kind, "name": "here"},
                 "geometry": {"type": "Polygon", "coordinates": [ring]}} for kind in ("walkable", "exit", "start")]})}
    good = drawing_of(tmp_path).read_bytes() if suffix == ".dxf" else text[suffix].encode()
    path, refusals, files = tmp_path / f"bad{suffix}", 0, FILES // 10 if suffix == ".dxf" else FILES
    for data in damages(good, SEED, files):
        path.write_bytes(data)
        try:
            assert read_map(path, METRE).kinds.size
        except MapError as error:
            refusals += 1
            assert str(error).startswith(str(path)) and str(error).isprintable(), error
    assert refusals > files / (20 if suffix == ".dxf" else 4)


# --- files of others -----------------------------------------------------------------------------------------------------

HALL, WALLS = (12, 22), 64
EXITS = "exit-bracket.wkt", "exit-colon.wkt", "exit-newline.wkt"
REFUSED = {
    "emptyfc.json": "there is no walkable area", "exit-multi.wkt": ":2: the tiles of exit 'both' do not touch each other",
    "exit-outside.wkt": ":2: exit 'e' has no free tile", "exit-thin.wkt": ":2: exit 'e' has no free tile",
    "latin1.wkt": ":2: not UTF-8 text", "line.json": "there is no walkable area", "lonlat.json": "not degrees",
    "lorr.map": ":5: unknown tile 'E'", "mai-comment.map": ":1: not a map", "mai-leadblank.map": ":1: not a map",
    "mai-tile.map": ":1: not a map", "mai-wh.map": ":1: not a map", "nan.json": "Out of range",
    "ndjson.json": ":2: not JSON", "obstacle.wkt": ":3: kind 'obstacle' is none",
    "osm-kind.json": "kind 'pedestrian' is none of",
    "seq.json": ":1: not JSON", "topo.json": "Unknown geometry type"}
SHAPES = {**dict.fromkeys(("grey1.png", "grey16.png", "greyalpha.png", "palette.png"), ((8, 8), 28)),
          **dict.fromkeys(("mai-blank.map", "mai-dos.map", "mai-rowspace.map", "mai-trail.map"), ((3, 5), 3)),
          "hall.geojson": (HALL, WALLS + 1), "nested-fc.json": (HALL, WALLS + 1), "holes.wkt": (HALL, WALLS + 25),
          "one.map": ((1, 1), 0), "row.map": ((1, 5), 0)}


@pytest.mark.skipif(not CASES.is_dir(), reason="the files of others are not beside the repository")
@pytest.mark.parametrize("path", [path for path in sorted(CASES.glob("*.*")) if path.suffix in {
    ".wkt", ".json", ".geojson", ".map", ".png"}], ids=lambda path: path.name)
def test_plans_and_maps_of_others_are_what_they_show(path: Path) -> None:
    if path.name in REFUSED:
        with pytest.raises(MapError) as caught:
            read_map(path, METRE)
        assert REFUSED[path.name] in str(caught.value) and str(caught.value).startswith(str(path))
        return
    found = read_map(path, METRE)
    assert (found.kinds.shape, (found.kinds == WALL).sum()) == SHAPES.get(path.name, (HALL, WALLS))
    assert found.exits == (path.name in EXITS)
