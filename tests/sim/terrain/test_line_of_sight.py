"""Line of sight against exact fractions: nobody sees through a wall or a diagonal gap, everybody sees past corners."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_terrain import Point, reference_sees
from terrains import grids, terrain_of, town

from crowd_demo.compute.jit import device
from crowd_demo.sim.terrain.ground import WallField, ground_of, in_sight, surely_hidden
from crowd_demo.sim.terrain.tiles import TILE_STEPS, Terrain, Walls

F = np.float32


@device
def is_hidden(ground: Any, ax: Any, ay: Any, bx: Any, by: Any) -> Any:
    return surely_hidden(ground, ax, ay, bx, by)


def looks(walls: Walls, a: Point, b: Point) -> bool:
    """`goal_visible` between points in steps of 1/256 unit; it has to agree from both sides."""
    points = [F(value) / F(TILE_STEPS) for value in (*a, *b)]
    there, back = in_sight(walls, *points), in_sight(walls, *points[2:], *points[:2])
    assert there is back
    return bool(there)


def side_of(terrain: Terrain) -> int:
    return int(terrain.walls.tile * TILE_STEPS)


@pytest.mark.parametrize("walls", range(16))
def test_all_points_of_four_small_tiles(walls: int) -> None:
    blocked = np.array([walls >> bit & 1 for bit in range(4)], np.uint8).reshape(2, 2)
    terrain = terrain_of(blocked, 2 / TILE_STEPS)
    points = list(itertools.product(range(4), range(4)))
    for a, b in itertools.product(points, points):
        assert looks(terrain.walls, a, b) is reference_sees(blocked, 2, a, b), (a, b)


@settings(deadline=None, max_examples=400)
@given(grids, st.integers(1, 6), st.data())
def test_sight_is_exact_where_lines_touch_corners_and_run_along_borders(blocked: np.ndarray, side: int,
                                                                        data: st.DataObject) -> None:
    rows, columns = blocked.shape
    points = st.tuples(st.integers(0, columns * side - 1), st.integers(0, rows * side - 1))
    a, b = data.draw(points), data.draw(points)
    assert looks(terrain_of(blocked, side / TILE_STEPS).walls, a, b) is reference_sees(blocked, side, a, b)


@settings(deadline=None, max_examples=400)
@given(grids, st.sampled_from([1 / 256, 0.25, 0.26, 1.0, 7.5, 16.0, 7000.0]), st.data())
def test_the_quick_look_is_sure_only_of_what_is_hidden(blocked: np.ndarray, tile: float, data: st.DataObject) -> None:
    terrain = terrain_of(blocked, tile)
    ground, walls = ground_of(terrain, 0.0, WallField(terrain, 1.0)), terrain.walls
    limits = float(ground.limit_x), float(ground.limit_y), float(walls.width), float(walls.height)
    x, y, to_x, to_y = (F(data.draw(st.floats(0, limit, width=32))) for limit in limits)
    assert not (is_hidden(ground, x, y, to_x, to_y) and in_sight(walls, x, y, to_x, to_y))


@pytest.mark.quick
def test_the_quick_look_finds_a_thick_wall() -> None:
    terrain = town("..@@..", width=60, height=10)
    ground = ground_of(terrain, 0.0, WallField(terrain, 1.0))
    assert is_hidden(ground, F(5), F(5), F(55), F(5))
    assert not is_hidden(ground, F(5), F(5), F(15), F(5))


@settings(deadline=None, max_examples=300)
@given(st.integers(1, 2**24 - 1), st.integers(1, 2**24 - 1), st.integers(1, 2**24 - 1), st.integers(1, 2**24 - 1),
       st.floats(0, 1), st.integers(-1, 1), st.integers(-1, 1))
@example(0, 0, 2**24 - 1, 2**24 - 1, 0.5, 0, 0)
@example(0, 0, 2**24 - 1, 2**24 - 1, 0.5, 1, 0)
@example(0, 2**24 - 1, 2**24 - 1, 0, 0.25, 0, 0)
def test_sight_is_exact_across_the_largest_world(ax: int, ay: int, bx: int, by: int, part: float, aside: int,
                                                 below: int) -> None:
    side = 2**24 // 128  # 65536 units in 128 tiles
    blocked = np.zeros((128, 128), np.uint8)
    column, row = int(ax + part * (bx - ax)) // side + aside, int(ay + part * (by - ay)) // side + below
    blocked[min(max(row, 0), 127), min(max(column, 0), 127)] = 1
    walls = terrain_of(blocked, side / TILE_STEPS).walls
    assert looks(walls, (ax, ay), (bx, by)) is reference_sees(blocked, side, (ax, ay), (bx, by))


@pytest.mark.quick
@pytest.mark.parametrize(("rows", "a", "b", "clear"), [
    (("...", "...", "..."), (0.5, 0.5), (2.5, 2.5), True),
    ((".@.", "@..", "..."), (0.5, 0.5), (2.5, 2.5), False),   # a diagonal gap, through the corner itself
    ((".@.", "...", "..."), (0.5, 0.5), (2.5, 2.5), False),   # the corner of one wall is too near as well
    (("..@", "...", "@.."), (0.5, 0.5), (2.5, 2.5), True),
    (("...", ".@.", "..."), (0.5, 0.5), (2.5, 0.5), True),
    (("...", ".@.", "..."), (0.5, 1.0), (2.5, 1.0), False),   # a border belongs to the tile below
    (("...", ".@.", "..."), (0.5, 2.0), (2.5, 2.0), True),
    (("...", ".@.", "..."), (1.0, 0.5), (1.0, 2.5), False),   # and to the tile on the right
    (("...", ".@.", "..."), (2.0, 0.5), (2.0, 2.5), True),
    (("...", ".@.", "..."), (1.5, 1.5), (0.5, 0.5), False),   # from within a wall
    (("...", ".@.", "..."), (0.5, 0.5), (0.5, 0.5), True),    # oneself
    ((".@.",), (1.5, 0.5), (1.5, 0.5), False),
    (("...",), (0.5, 0.5), (3.0, 0.5), False),                # the end is just outside
    (("...",), (0.5, 0.5), (0.5, -0.01), False),
    ((".W.",), (0.5, 0.5), (2.5, 0.5), False),                # who cannot walk there does not walk straight on
    ((".SG",), (0.5, 0.5), (2.5, 0.5), True),
])
def test_sight_is_what_the_eye_says(rows: tuple[str, ...], a: tuple[float, float], b: tuple[float, float],
                                    clear: bool) -> None:
    terrain = town(*rows, width=len(rows[0]), height=len(rows))
    assert in_sight(terrain.walls, F(a[0]), F(a[1]), F(b[0]), F(b[1])) is clear
    assert in_sight(terrain.walls, F(b[0]), F(b[1]), F(a[0]), F(a[1])) is clear
