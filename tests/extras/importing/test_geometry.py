"""Maps in metres: each tile and each loss against an obvious test, and that every mistake is one line that says where."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from damages import damages
from fuzzes import FILES, SEED
from hypothesis import assume, given
from hypothesis import strategies as st

from crowd_demo.config.loader import load_config
from crowd_demo.config.maps import FLOOR, WALL, MapError, Metres, octile_of, parse_octile, read_map
from crowd_demo.extras.importing.polygons import SAME, spans
from crowd_demo.sim.simulation import Simulation

pytestmark = pytest.mark.quick

METRE = Metres(tile=1, metre=1)  # a tile is a metre
ROOM = "POLYGON ((0 0, 6 0, 6 4, 0 4, 0 0))"
NEAR = Fraction(1, 1000)


def written(tmp_path: Path, text: str, name: str = "room.wkt") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def kinds_of(tmp_path: Path, text: str, metres: Metres = METRE) -> list[str]:
    kinds = read_map(written(tmp_path, text), metres).kinds
    return ["".join(".#"[int(kind == WALL)] for kind in row) for row in kinds]


# --- which tiles are free ------------------------------------------------------------------------------------------------

def crossings(rings: list[np.ndarray], y: Fraction) -> list[Fraction]:
    """Where a horizontal line crosses the edges of a polygon, in order."""
    found = []
    for ring in rings:
        for (x1, y1), (x2, y2) in pairwise([(Fraction(x), Fraction(y)) for x, y in ring.tolist()]):
            if min(y1, y2) <= y < max(y1, y2):
                found.append(x1 + (y - y1) / (y2 - y1) * (x2 - x1))
    return sorted(found)


def is_inside(polygons: list[list[np.ndarray]], x: Fraction, y: Fraction) -> bool:
    return any(sum(at <= x for at in crossings(rings, y)) % 2 for rings in polygons)


coordinates = st.integers(-8, 72).map(lambda eighths: eighths / 8 + 0.0123)
rings = st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=6).map(
    lambda points: np.array([*points, points[0]]))
areas = st.lists(st.lists(rings, min_size=1, max_size=2), min_size=1, max_size=3)


@given(areas)
def test_a_tile_is_free_if_its_centre_is_in_a_polygon_and_gaps_are_known(polygons: list[list[np.ndarray]]) -> None:
    size, half = 9, Fraction(1, 2)
    found = spans(polygons, (size, size), "map")
    tiles, gaps = found.tiles(), found.lost_gaps()
    for row in range(size):
        y = row + half
        edges = sorted({at for rings in polygons for at in crossings(rings, y)})
        assume(all(abs(at - half - round(at - half)) > NEAR for at in edges))  # not so near a centre that rounding decides
        assume(all(after - before > 4 * SAME for before, after in pairwise(edges)))
        assert [bool(tile) for tile in tiles[row]] == [is_inside(polygons, column + half, y) for column in range(size)]
        inside = [(before, after) for before, after in pairwise(edges) if is_inside(polygons, (before + after) / 2, y)]
        between = [(before, after) for (_, before), (after, _) in pairwise(inside) if before < after]
        lost = [gap for gap in between if not any(gap[0] < column + half < gap[1] for column in range(size))]
        assert gaps[row].any() == bool(lost), (row, inside)


def test_y_grows_upwards_unless_the_configuration_says_otherwise(tmp_path: Path) -> None:
    step = "POLYGON ((0 0, 3 0, 3 1, 1 1, 1 2, 0 2, 0 0))"
    assert kinds_of(tmp_path, step) == ["#####", "#.###", "#...#", "#####"]
    assert kinds_of(tmp_path, step, METRE._replace(y_axis="down")) == ["#####", "#...#", "#.###", "#####"]


def test_the_side_of_a_tile_is_chosen_and_the_world_is_as_large_as_the_map(tmp_path: Path) -> None:
    path = written(tmp_path, ROOM)
    for tile, columns, rows in (("1 m", 8, 6), ("0.5 m", 14, 10), ("2 m", 5, 4)):
        config = load_config("1k", {"map": str(path), "world.tile": tile, "agents": 3})
        terrain = Simulation(config).terrain
        assert (terrain.columns, terrain.rows) == (columns, rows)
        assert float(terrain.walls.tile) == config.world.tile == config.world.width / columns == config.world.height / rows


def test_polygons_with_holes_collections_and_a_third_coordinate(tmp_path: Path) -> None:
    text = ("geometrycollection (POLYGON Z ((0 0 9, 4 0 9, 4 4 9, 0 4 9, 0 0 9), (1 1 9, 3 1 9, 3 3 9, 1 3 9, 1 1 9)),\n"
            " MULTIPOLYGON (((4 1, 6 1, 6 2, 4 2, 4 1)), ((4 3, 6 3, 6 4, 4 4, 4 3))))")
    assert kinds_of(tmp_path, text) == ["########", "#......#", "#.##.###", "#.##...#", "#....###", "########"]


def test_geojson_and_text_are_one_map(tmp_path: Path) -> None:
    text = f"{ROOM}\nexit north door: POLYGON ((2 3, 4 3, 4 4, 2 4, 2 3))\nstart : POLYGON ((0 0, 1 0, 1 4, 0 4, 0 0))"

    def feature(kind: str, name: str, *ring: list[int]) -> dict[str, object]:
        return {"type": "Feature", "properties": {"kind": kind, "name": name},
                "geometry": {"type": "Polygon", "coordinates": [ring]}}

    features = [feature("walkable", "", [0, 0], [6, 0], [6, 4], [0, 4], [0, 0]),
                feature("exit", "north door", [2, 3], [4, 3], [4, 4], [2, 4], [2, 3]),
                feature("start", "", [0, 0], [1, 0], [1, 4], [0, 4], [0, 0])]
    ours = read_map(written(tmp_path, text), METRE)
    theirs = read_map(written(tmp_path, json.dumps({"type": "FeatureCollection", "features": features}), "room.json"), METRE)
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))
    assert ours.exits == 1 and np.argwhere(ours.marks == 0).tolist() == [[1, 3], [1, 4]]
    assert ours.starts is not None and np.argwhere(ours.starts).tolist() == [[row, 1] for row in (1, 2, 3, 4)]
    again = parse_octile(octile_of(ours).encode(), tmp_path / "room.map")
    assert again.starts is not None and np.array_equal(again.starts, ours.starts) and np.array_equal(again.marks, ours.marks)


def test_people_begin_at_starts_and_leave_by_exits(tmp_path: Path) -> None:
    text = f"{ROOM}\nexit: POLYGON ((5 0, 6 0, 6 4, 5 4, 5 0))\nstart west: POLYGON ((0 0, 1 0, 1 4, 0 4, 0 0))"
    path = written(tmp_path, text)
    settings = {"map": str(path), "world.tile": "0.5 m", "agents": 40, "crowd.wait_s": 1, "crowd.room": 1}
    sim = Simulation(load_config("1k", settings))
    assert sim.config.crowd.exits == 1
    assert (sim.agents.by_id().x < 26 + 26 / 2).all() and sim.agents.count == 40
    assert load_config("1k", {**settings, "crowd.exits": 0}).crowd.exits == 0


# --- what is thinner than a tile -----------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "notes"), [
    ("POLYGON ((0 0, 6 0, 6 4, 0 4, 0 0), (2.6 -1, 2.9 -1, 2.9 5, 2.6 5, 2.6 -1))",
     ["a wall thinner than a tile (1 m) is lost at x = 2.5 m, y = 2 m"]),
    ("POLYGON ((0 0, 6 0, 6 4, 0 4, 0 0), (2.4 -1, 2.9 -1, 2.9 5, 2.4 5, 2.4 -1))", []),  # it has a centre
    ("POLYGON ((0 0, 3 0, 3 4, 0 4, 0 0)), POLYGON ((3 0, 6 0, 6 4, 3 4, 3 0))", None),
    ("POLYGON ((0 0, 3 0, 3 4, 0 4, 0 0)) POLYGON ((3 0, 6 0, 6 4, 3 4, 3 0))", []),  # they touch
    ("POLYGON ((0 0, 2 0, 2 1.6, 5 1.6, 5 0, 7 0, 7 4, 5 4, 5 2.4, 2 2.4, 2 4, 0 4, 0 0))",
     ["a passage narrower than a tile (1 m) is closed at x = 3.5 m, y = 1.5 m"]),
    ("POLYGON ((0 0, 4 4, 0 8, -4 4, 0 0))", []),  # a corner that ends
])
def test_what_is_thinner_than_a_tile_is_told(tmp_path: Path, text: str, notes: list[str] | None) -> None:
    if notes is None:
        with pytest.raises(MapError, match="expected POLYGON"):
            read_map(written(tmp_path, text), METRE)
    else:
        assert list(read_map(written(tmp_path, text), METRE).notes) == notes


def test_it_is_said_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, ROOM[:-1] + ", (2.6 -1, 2.9 -1, 2.9 5, 2.6 5, 2.6 -1))")
    load_config("1k", {"map": str(path), "world.tile": "1 m", "agents": 3})
    assert capsys.readouterr().err == f"crowd-demo: {path}: a wall thinner than a tile (1 m) is lost at x = 2.5 m, y = 2 m\n"


# --- mistakes ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "message"), [
    ("LINE (0 0, 1 1)", ":1: expected POLYGON, MULTIPOLYGON or GEOMETRYCOLLECTION, not 'LINE'"),
    ("\n\nPOLYGON ((0 0, 1 x))", ":3: expected a number, not 'x'"),
    ("POLYGON ((0 0,\n1 0, 1 1))", ":2: a ring has at least 4 points, and the last is the first again"),
    ("POLYGON ((0 0, 1 0, 1 1, 0 0)", ":1: the text ends within a geometry"),
    ("POLYGON ((0 0 0 0, 1 0, 1 1, 0 0))", ":1: a point has 2 coordinates, or 3, not 4"),
    ("POLYGON ((0 0, 1e8 0, 1 1, 0 0))", ":1: 1e+08 0 is farther than 1e+07 m"),
    ("POLYGON ((0 0, 1 nan, 1 1, 0 0))", ":1: 1 nan is farther than 1e+07 m"),
    ("POLYGON EMPTY", ": there is no walkable area"),
    ("POLYGON ((0 0, 9000 0, 9000 9, 0 9, 0 0))", ": 9002 x 11 tiles are too many (at most 2048 x 2048)"),
    (f"{ROOM}\nentry west: {ROOM}", ":2: 'entry' is none of walkable, exit, start"),
    (f"{ROOM}\nexit west: POLYGON ((9 9, 10 9, 10 10, 9 9))",
     ":2: exit 'west' has no free tile: it is thinner than a tile (1 m), or not in the walkable area"),
    (f"{ROOM}\nexit: MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0)), ((4 0, 5 0, 5 1, 4 1, 4 0)))",
     ":2: the tiles of this exit do not touch each other"),
    ("\n".join([ROOM] + ["exit: POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))"] * 65), ":66: more than 64 exits"),
])
def test_a_mistake_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(MapError) as caught:
        read_map(path, METRE)
    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize(("data", "message"), [
    ("{\n'a': 1}", ":2: not JSON (Expecting property name enclosed in double quotes)"),
    ("[" * 100_000, ": not a map (too many brackets, or digits)"),
    ('{"type": "FeatureCollection", "features": 3}', ": features: must be a list"),
    ('{"type": "Point"}', ": type: must be Polygon, MultiPolygon or GeometryCollection, not 'Point'"),
    ('{"type": "Polygon", "coordinates": [[[0, 0], [1, "a"]]]}',
     ": coordinates[0][1]: must be [x, y], in metres, no farther than 1e+07 m"),
    ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, NaN]]]}',
     ": coordinates[0][2]: must be [x, y], in metres, no farther than 1e+07 m"),
    ('{"type": "Feature", "properties": {"kind": "door"}, "geometry": {}}',
     ": properties.kind: 'door' is none of walkable, exit, start"),
    ('{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry":'
     ' {"type": "Polygon", "coordinates": [[[0, 0]]]}}]}',
     ": features[0].geometry.coordinates[0]: a ring has at least 4 points, and the last is the first again"),
])
def test_a_mistake_in_geojson_says_where(tmp_path: Path, data: str, message: str) -> None:
    path = written(tmp_path, data, "room.json")
    with pytest.raises(MapError) as caught:
        read_map(path, METRE)
    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize("suffix", [".wkt", ".json"])
def test_a_damaged_file_is_a_map_or_one_line(tmp_path: Path, suffix: str) -> None:
    ring = [[0, 0], [12, 0], [12, 8], [0, 8], [0, 0]]
    text = {".wkt": f"{ROOM}\nexit north: POLYGON ((2 3, 4 3, 4 4, 2 4, 2 3))\nstart: POLYGON ((0 0, 1 0, 1 4, 0 4, 0 0))",
            ".json": json.dumps({"type": "FeatureCollection", "features": [
                {"type": "Feature", "properties": {"kind": kind, "name": "here"},
                 "geometry": {"type": "Polygon", "coordinates": [ring]}} for kind in ("walkable", "exit", "start")]})}[suffix]
    path, refused = tmp_path / f"room{suffix}", 0
    for data in damages(text.encode(), SEED, FILES):
        path.write_bytes(data)
        try:
            assert read_map(path, METRE).kinds.size
        except MapError as error:
            refused += 1
            assert str(error).startswith(str(path)) and str(error).isprintable(), error
    assert refused > FILES / 4 and FLOOR == 0
