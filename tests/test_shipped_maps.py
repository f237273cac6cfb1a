"""The shipped maps: the script draws exactly the committed files, and people get everywhere in them."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from terrains import all_fields

from crowd_demo.config.maps import GRASS, WALL, WATER, label_areas, read_map
from crowd_demo.sim.terrain.flow_fields import UNREACHABLE
from crowd_demo.sim.terrain.tiles import Terrain

ASSETS = Path(__file__).parents[1] / "assets"
sys.path.insert(0, str(ASSETS))

import draw_maps  # noqa: E402  (the drawing script stands beside the files that it makes)

pytestmark = pytest.mark.quick
MIRRORED = [("plaza", 10), ("maze", 9), ("doorway", 6)]
WIDE = 8  # tiles


def test_the_script_draws_exactly_the_shipped_files(tmp_path: Path) -> None:
    draw_maps.draw_all(tmp_path)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    shipped = {path.name: path.read_bytes().replace(b"\r\n", b"\n") for path in (ASSETS / "maps").glob("*.map")}
    assert drawn == shipped and len(drawn) == 11


@pytest.mark.parametrize(("name", "destinations"), [
    *MIRRORED, ("citadel", 16), ("station", 8), ("theatre", 34), ("concert", 6), ("corridor", 2),
    ("crossing", 2), ("meadow", 14)])
def test_every_destination_can_be_reached_from_wherever_people_start(name: str, destinations: int) -> None:
    terrain = Terrain(read_map(ASSETS / "maps" / f"{name}.map"), 4000, 4000)
    fields = all_fields(terrain)
    assert len(terrain.destinations) == destinations
    assert (fields.fields.direction[:, terrain.labels == 0] != UNREACHABLE).all()


@pytest.mark.parametrize("name", [name for name, _ in MIRRORED])
def test_walls_are_mirrored_both_ways(name: str) -> None:
    blocked = Terrain(read_map(ASSETS / "maps" / f"{name}.map"), 4000, 4000).blocked
    assert np.array_equal(blocked, blocked[::-1]) and np.array_equal(blocked, blocked[:, ::-1])


def test_the_maze_has_no_dead_ends() -> None:
    blocked = Terrain(read_map(ASSETS / "maps" / "maze.map"), 4000, 4000).blocked
    for row in range(1, 93, 3):
        for column in range(1, 93, 3):
            around = ((row - 1, column), (row + 2, column), (row, column - 1), (row, column + 2))
            assert sum(not blocked[tile] for tile in around) >= 2, (row, column)


def test_the_plaza_has_a_fountain_and_lawns() -> None:
    kinds = read_map(ASSETS / "maps" / "plaza.map").kinds
    assert kinds[45, 47] == WATER and kinds[35, 40] == GRASS


def test_wide_ways_lead_to_every_place_of_the_citadel() -> None:
    data = read_map(ASSETS / "maps" / "citadel.map")
    built = label_areas(np.isin(data.kinds, (WALL, WATER)))
    alone = np.bincount(built[built >= 0]) == 1  # trees
    free = (built < 0) | alone[built]
    ways = label_areas(np.asarray(sliding_window_view(free, (WIDE, WIDE)).all(axis=(2, 3))))
    largest = np.bincount(ways[ways >= 0]).argmax()
    for number in range(16):
        row, column = (int(numbers.mean()) - WIDE // 2 for numbers in np.nonzero(data.marks == number))
        around = ways[max(row - WIDE, 0):row + WIDE, max(column - WIDE, 0):column + WIDE]
        assert (around == largest).any(), number


def test_the_citadel_has_room_for_twenty_thousand() -> None:
    terrain = Terrain(read_map(ASSETS / "maps" / "citadel.map"), 5200, 5200)
    free_m2 = (terrain.labels == 0).sum() * float(terrain.walls.tile / 26) ** 2
    assert 0.88 < 20_000 / free_m2 < 0.95
