"""The ground: its size, its areas, its destinations, where people start, and walls that change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_terrain import reference_areas
from terrains import grids, terrain_of, town

from crowd_demo.config.maps import FLOOR, GRASS, OPEN_TILE, WALL, WATER, MapData
from crowd_demo.sim.terrain.tiles import TILE_STEPS, Terrain, tile_at


@pytest.mark.quick
@settings(deadline=None)  # the first example compiles
@given(st.integers(1, 300), st.integers(1, 300), st.floats(1, 65536), st.floats(1, 65536))
def test_a_map_fills_the_world_with_square_tiles_whose_borders_are_exact(columns: int, rows: int, width: float,
                                                                         height: float) -> None:
    data = MapData(np.zeros((rows, columns), np.uint8), np.zeros((rows, columns), np.int16), "")
    walls = Terrain(data, width, height).walls
    steps = float(walls.tile) * TILE_STEPS
    assert steps == int(steps) >= 1
    assert float(walls.width) == columns * float(walls.tile) and float(walls.height) == rows * float(walls.tile)
    if steps > 1:
        assert walls.width <= width and walls.height <= height
    assert min(width / columns, height / rows) - float(walls.tile) <= 1 / TILE_STEPS


@pytest.mark.quick
@settings(deadline=None, max_examples=30)
@given(st.floats(0.5, 65536, width=32), st.floats(0.5, 65536, width=32))
def test_an_open_world_has_just_the_size_asked_for(width: float, height: float) -> None:
    if max(width, height) > 200 * min(width, height):
        width = height
    terrain = Terrain(None, width, height)
    walls, tile = terrain.walls, float(terrain.walls.tile)
    assert (float(walls.width), float(walls.height)) == (width, height)
    assert (terrain.columns - 1) * tile < width <= terrain.columns * tile
    assert (terrain.rows - 1) * tile < height <= terrain.rows * tile
    assert tile <= 1.5 * OPEN_TILE and (tile >= OPEN_TILE / 2 or terrain.columns == terrain.rows == 1)
    assert tile * TILE_STEPS == int(tile * TILE_STEPS)
    assert not terrain.blocked.any()


@pytest.mark.quick
@settings(deadline=None)
@given(st.integers(1, 300), st.floats(1, 65536))
def test_the_last_point_of_the_world_is_on_the_last_tile(columns: int, width: float) -> None:
    terrain = terrain_of(np.zeros((1, columns), np.uint8), width / columns)
    last = np.nextafter(terrain.walls.width, np.float32(0))
    assert int(last * terrain.walls.inv_tile) == columns - 1
    assert tile_at(terrain.walls, last, np.float32(0)) == (columns - 1, 0)
    assert tile_at(terrain.walls, terrain.walls.width, np.float32(-5)) == (columns - 1, 0)


@settings(deadline=None)
@given(grids)
def test_areas_are_what_can_be_walked(blocked: np.ndarray) -> None:
    assert np.array_equal(terrain_of(blocked).labels, reference_areas(blocked))


@pytest.mark.quick
def test_diagonal_gaps_join_nothing() -> None:
    assert town(".@", "@.").labels.tolist() == [[0, -1], [-1, 1]]
    assert town("..@.", "@@@.", "....").labels.tolist() == [[1, 1, -1, 0], [-1, -1, -1, 0], [0, 0, 0, 0]]


@pytest.mark.quick
def test_walls_come_and_go_and_the_version_says_so() -> None:
    terrain = town("..G", "W@.")
    blocked, walls = terrain.blocked, terrain.walls
    terrain.set_walls((2, 0, 3, 1), True)
    assert (terrain.version, terrain.kinds.tolist()) == (1, [[FLOOR, FLOOR, WALL], [WATER, WALL, FLOOR]])
    terrain.set_walls((-5, 0, 99, 99), True)
    assert terrain.version == 2 and terrain.blocked.all() and (terrain.labels == -1).all()
    terrain.set_walls((0, 0, 3, 2), False)
    assert (terrain.version, terrain.kinds.tolist()) == (3, [[FLOOR, FLOOR, GRASS], [WATER, FLOOR, FLOOR]])
    assert terrain.blocked.tolist() == [[0, 0, 0], [1, 0, 0]]
    assert terrain.labels.tolist() == [[0, 0, 0], [-1, 0, 0]]
    assert terrain.blocked is blocked and walls.blocked is blocked


@pytest.mark.quick
@pytest.mark.parametrize("rectangle", [(0, 0, 0, 0), (2, 1, 1, 2), (-9, -9, -1, -1), (3, 0, 9, 9), (0, 0, 3, 1)])
def test_what_changes_nothing_is_no_new_version(rectangle: tuple[int, int, int, int]) -> None:
    terrain = town("@@@", "...")
    terrain.set_walls(rectangle, True)
    assert terrain.version == 0 and terrain.blocked.tolist() == [[1, 1, 1], [0, 0, 0]]


@pytest.mark.quick
def test_destinations_of_a_map_are_numbered_without_gaps() -> None:
    terrain = town("....", ".33.", ".33.", "...a", width=400, height=400)
    assert terrain.marks.tolist() == [[-1] * 4, [-1, 0, 0, -1], [-1, 0, 0, -1], [-1, -1, -1, 1]]
    assert terrain.destinations == ((150, 150, 100), (350, 350, 50))


@pytest.mark.quick
def test_the_point_of_the_largest_destination_is_in_its_middle() -> None:
    everywhere = MapData(np.full((2048, 2048), FLOOR, np.uint8), np.zeros((2048, 2048), np.int16), "")
    assert Terrain(everywhere, 2048, 2048).destinations == ((1023.5, 1023.5, 1024),)


def test_the_point_of_a_destination_is_on_one_of_its_tiles() -> None:
    ring = town("000", "0@0", "000", width=3, height=3).destinations[0]
    assert (ring.x, ring.y) == (1.5, 0.5)


@settings(deadline=None)
@given(grids.filter(lambda blocked: not blocked.all()), st.integers(0, 12), st.integers(0, 2**64 - 1))
def test_drawn_destinations_are_different_tiles_of_the_largest_area(blocked: np.ndarray, count: int, seed: int) -> None:
    terrain = terrain_of(blocked, count=count, seed=seed)
    size = int((terrain.labels == 0).sum())
    assert len(terrain.destinations) == min(count, size)
    for number, place in enumerate(terrain.destinations):
        assert np.count_nonzero(terrain.marks == number) == 1
        column, row = tile_at(terrain.walls, np.float32(place.x), np.float32(place.y))
        assert terrain.marks[row, column] == number and terrain.labels[row, column] == 0
        assert (place.x % 16, place.y % 16, place.spread) == (8, 8, 8)
    assert terrain.destinations == terrain_of(blocked, count=count, seed=seed).destinations


@pytest.mark.quick
def test_seeds_draw_the_same_everywhere_and_differ_from_each_other() -> None:
    terrain = Terrain(None, 640, 640, count=3, seed=1)
    assert [(int(place.x), int(place.y)) for place in terrain.destinations] == [(608, 96), (32, 480), (544, 32)]
    x, y = terrain.random_walkable(np.arange(3), 1)
    assert x.tolist() == [117.84375, 66.90625, 362.84375] and y.tolist() == [481.59375, 435.15625, 159.84375]
    assert Terrain(None, 640, 640, count=3, seed=2).destinations != terrain.destinations


@pytest.mark.quick
def test_where_nobody_can_stand_there_are_no_destinations_and_people_start_anywhere() -> None:
    terrain = terrain_of(np.ones((3, 4), np.uint8))
    assert terrain.destinations == ()
    x, y = terrain.random_walkable(np.arange(1000), 1)
    assert len({tile_at(terrain.walls, *point) for point in zip(x, y, strict=True)}) == 12


@settings(deadline=None)
@given(grids.filter(lambda blocked: not blocked.all()), st.integers(0, 2**40),
       st.lists(st.integers(0, 2**31 - 1), max_size=20), st.sampled_from([0.25, 1.0, 15.625, 900.0]))
def test_people_start_on_free_tiles_wherever_else_others_start(blocked: np.ndarray, seed: int, ids: list[int],
                                                               tile: float) -> None:
    terrain = terrain_of(blocked, tile)
    x, y = terrain.random_walkable(np.array(ids, np.int64), seed)
    assert x.dtype == y.dtype == np.float32 and len(x) == len(ids)
    for number, identity in enumerate(ids):
        column, row = tile_at(terrain.walls, x[number], y[number])
        assert terrain.labels[row, column] == 0
        assert (column * tile < x[number] < (column + 1) * tile) and (row * tile < y[number] < (row + 1) * tile)
        alone = terrain.random_walkable(np.array([identity]), seed)
        assert (alone[0][0], alone[1][0]) == (x[number], y[number])


@pytest.mark.quick
def test_people_start_everywhere_alike_also_where_tiles_hang_over_the_edge() -> None:
    terrain = Terrain(None, 1000, 330)  # 16 columns, and 5.28 rows
    x, y = terrain.random_walkable(np.arange(100_000), 7)
    assert (x > 0).all() and (x < 1000).all() and (y > 0).all() and (y < 330).all()
    counts = np.histogram2d(x, y, bins=(10, 11), range=((0, 1000), (0, 330)))[0]
    assert counts.min() > 909 - 6 * 30 and counts.max() < 909 + 6 * 30  # six standard deviations of 100000 / 110


@pytest.mark.quick
def test_points_of_a_tile_that_lies_almost_wholly_outside_are_at_the_edge() -> None:
    terrain = Terrain(None, 1000, 687.51)
    last = terrain.columns * (terrain.rows - 1)
    x, y = terrain.random_points(np.arange(last, last + terrain.columns), np.arange(3), 7)
    assert (x >= 0).all() and (x < 1000).all() and (y == np.nextafter(terrain.walls.height, np.float32(0))).all()
