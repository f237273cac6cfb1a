"""Weidmann's curve, and the ground that people have around them, against slow loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.sim.fundamental_diagram import SQUARE, around, free_ground, ground_around, weidmann
from crowd_demo.sim.terrain.tiles import Walls

pytestmark = pytest.mark.quick


def walls_of(blocked: np.ndarray, tile: float, width: float, height: float) -> Walls:
    return Walls(blocked.astype(np.uint8), np.float32(tile), np.float32(1 / tile), np.float32(width), np.float32(height))


def test_weidmanns_curve() -> None:
    """Numbers of his table: 1.06 m/s at one person per m², 0.61 at two, none at 5.4; and the greatest flow."""
    assert weidmann([0, 1, 2, 5.4, 6]).round(2).tolist() == [1.34, 1.06, 0.61, 0, 0]
    density = np.arange(0.1, 5.4, 0.01)
    flow = weidmann(density) * density
    assert flow.max() == pytest.approx(1.22, abs=0.01) and density[flow.argmax()] == pytest.approx(1.75, abs=0.02)


@given(rows=st.integers(1, 6), columns=st.integers(1, 6), seed=st.integers(0, 99), tile=st.sampled_from([16.0, 40.5, 64.0]),
       cut=st.floats(0, 0.9))
def test_free_ground_is_what_tiles_without_walls_have_in_common_with_a_square(rows: int, columns: int, seed: int, tile: float,
                                                                              cut: float) -> None:
    """The last tiles of a world without a map reach beyond its edge; so do squares."""
    rng = np.random.default_rng(seed)
    blocked, width, height = rng.random((rows, columns)) < 0.4, (columns - cut) * tile, (rows - cut) * tile
    across, down = (np.sort(rng.uniform(-20, size + 20, 5)) for size in (width, height))
    found = free_ground(walls_of(blocked, tile, width, height), across, down)

    def common(low: float, high: float, number: int, size: float) -> float:
        return max(min(high, (number + 1) * tile, size) - max(low, number * tile), 0)

    expected = [[sum(common(down[i], down[i + 1], row, height) * common(across[k], across[k + 1], column, width)
                     for row, column in np.argwhere(~blocked)) for k in range(4)] for i in range(4)]
    assert np.allclose(found, expected, rtol=1e-5, atol=0.1)


@given(rows=st.integers(1, 5), columns=st.integers(1, 5), seed=st.integers(0, 99))
def test_around_a_square_are_nine_or_as_many_as_there_are(rows: int, columns: int, seed: int) -> None:
    amounts = np.random.default_rng(seed).integers(0, 9, (rows, columns))
    expected = [[amounts[max(i - 1, 0):i + 2, max(k - 1, 0):k + 2].sum() for k in range(columns)] for i in range(rows)]
    assert around(amounts).tolist() == expected


def test_ground_is_at_least_that_of_one_square() -> None:
    edges = np.linspace(0, 5 * SQUARE, 6)
    shut, opened = (walls_of(np.full((10, 10), blocked), 16, 160, 160) for blocked in (1, 0))
    assert (ground_around(shut, SQUARE, edges, edges) == SQUARE**2).all()
    assert ground_around(opened, SQUARE, edges, edges)[[0, 0, 2], [0, 2, 2]].tolist() == [
        4 * SQUARE**2, 6 * SQUARE**2, 9 * SQUARE**2]
