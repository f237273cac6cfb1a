"""Away from walls: exact distances, the right way, the right strength."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_terrain import reference_distance_sq
from terrains import grids, terrain_of, town

from crowd_demo.sim.terrain.ground import WallField, measure
from crowd_demo.sim.terrain.tiles import Terrain


@settings(deadline=None)  # the first example compiles
@given(grids, st.integers(1, 12))
def test_distances_are_exact(blocked: np.ndarray, reach: int) -> None:
    down, distance_sq = np.empty(blocked.shape, np.int32), np.empty(blocked.shape, np.int32)
    measure(blocked, reach, down, distance_sq)
    assert np.array_equal(distance_sq, reference_distance_sq(blocked, reach))


@settings(deadline=None)
@given(grids, st.floats(1, 200))
def test_the_push_is_never_longer_than_one_and_never_nan(blocked: np.ndarray, margin: float) -> None:
    terrain = terrain_of(blocked)
    field = WallField(terrain, margin)
    assert field.rebuild(terrain) and not field.rebuild(terrain)
    length_sq = field.away_x.astype(float) ** 2 + field.away_y.astype(float) ** 2
    assert (length_sq <= 1.000001).all()  # the rounding of a unit vector in float32


@pytest.mark.quick
def test_a_wall_pushes_straight_away_and_less_with_the_distance() -> None:
    terrain = town("@" * 9, *["." * 9] * 8, width=90, height=90)
    field = WallField(terrain, 40.0)
    field.rebuild(terrain)
    assert not field.away_x.any()
    assert field.away_y[:, 4].tolist() == [1, 0.875, 0.625, 0.375, 0.125, 0, 0, 0, 0]


@pytest.mark.quick
def test_the_middle_between_two_walls_pushes_nowhere_and_walls_push_out() -> None:
    terrain = town("@@...@@", "@@...@@", width=70, height=20)
    field = WallField(terrain, 40.0)
    field.rebuild(terrain)
    assert field.away_x[0].tolist() == [1, 1, 0.875, 0, -0.875, -1, -1]


@pytest.mark.quick
def test_without_walls_nothing_pushes_and_new_walls_do() -> None:
    terrain = Terrain(None, 640, 640)
    field = WallField(terrain, 200.0)
    away_x, away_y = field.away_x, field.away_y
    field.rebuild(terrain)
    assert not away_x.any() and not away_y.any()
    terrain.set_walls((5, 5, 6, 6), True)
    assert field.rebuild(terrain) and field.away_x is away_x
    assert away_x[5, 4] < 0 < away_x[5, 6] and away_y[4, 5] < 0 < away_y[6, 5]
