"""Density and flow around people, and who is jammed, against an obvious way to count."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.config.section import UNITS_A_METRE
from crowd_demo.measure.walking import free_density, is_jammed, surroundings
from crowd_demo.sim.terrain.tiles import Walls

pytestmark = pytest.mark.quick


def hall(wall: float) -> Walls:
    """10 x 8 squares of 32 units, of which walls take the left columns."""
    blocked = np.zeros((16, 20), np.uint8)
    blocked[:, :round(wall * 2)] = 1
    return Walls(blocked, np.float32(16), np.float32(1 / 16), np.float32(320), np.float32(256))


@given(people=st.integers(0, 40), wall=st.sampled_from([0, 1, 1.5, 4]), seed=st.integers(0, 99))
def test_people_and_their_speeds_are_counted_on_the_free_ground_around_each(people: int, wall: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(low, high, people).astype(np.float32) for low, high in ((wall * 32, 320), (0, 256)))
    speed = rng.uniform(0, 60, people)
    found = surroundings(hall(wall), x, y, speed)
    for me in range(people):
        column, row = int(x[me] // 32), int(y[me] // 32)
        near = [k for k in range(people) if abs(x[k] // 32 - column) <= 1 and abs(y[k] // 32 - row) <= 1]
        metres = [max(min(most, (at + 2) * 32) - max(least, (at - 1) * 32), 0) / UNITS_A_METRE
                  for at, least, most in ((column, wall * 32, 320), (row, 0, 256))]
        ground = max(math.prod(metres), (32 / UNITS_A_METRE) ** 2)
        assert found.density[me] == pytest.approx(len(near) / ground)
        assert found.flow[me] == pytest.approx(sum(speed[near]) / UNITS_A_METRE / ground)


def test_who_stands_where_others_could_walk_is_jammed_and_a_dense_crowd_that_moves_is_not() -> None:
    usual = 1.34 * UNITS_A_METRE
    speed = np.array([0.3, 0.4, 0.3, 0.02, 0.0, 0.3, 0.4]) * UNITS_A_METRE
    density = np.array([0.1, 0.1, 1.75, 4.9, 6.0, 0.1, 0.1])
    preferred = np.array([1, 1, 1, 1, 1, 0.5, 1.5]) * usual
    assert is_jammed(speed, preferred, density).tolist() == [True, False, False, False, False, False, True]


def test_the_density_of_the_whole_ground_is_that_without_walls() -> None:
    assert free_density(hall(5), 100) == pytest.approx(100 / (160 * 256 / UNITS_A_METRE**2))
