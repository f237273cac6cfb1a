"""The walkable area as polygons: the tiles they enclose are the free ones, and their rings are simple."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crowd_demo.compute.arrays import Bools, Longs
from crowd_demo.config.maps import FLOOR, WALL
from crowd_demo.extras.export.outline import area_text, doubled_area, outlines
from crowd_demo.sim.terrain.tiles import Terrain, label_areas

MASKS = arrays(np.bool_, st.tuples(st.integers(1, 7), st.integers(1, 7)))


def areas(free: Bools) -> list[Bools]:
    """The areas of free tiles that touch by their sides."""
    labels = np.zeros(free.shape, np.int32)
    count = label_areas((~free).astype(np.uint8), labels, np.zeros(free.size, np.int64))
    return [labels == number for number in range(count)]


def enclosed(rings: list[Longs], shape: tuple[int, int]) -> Bools:
    """The tiles whose middle is inside: a line to the left crosses an odd number of upright sides."""
    inside = np.zeros(shape, bool)
    for ring in rings:
        for (x, y), (_, to_y) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            inside[min(y, to_y):max(y, to_y), x:] ^= True
    return inside


@given(MASKS)
def test_rings_enclose_the_area_and_are_simple(free: Bools) -> None:
    for area in areas(free):
        rings = outlines(area)
        assert np.array_equal(enclosed(rings, area.shape), area)
        assert [doubled_area(ring) > 0 for ring in rings] == [True] + [False] * (len(rings) - 1)
        assert sum(map(doubled_area, rings)) == 2 * area.sum()
        for ring in rings:
            assert len(np.unique(ring, axis=0)) == len(ring)


@given(MASKS)
def test_the_text_is_valid_and_has_the_area_of_its_tiles(free: Bools) -> None:
    shapely = pytest.importorskip("shapely", reason="shapely comes with the extra [validation]")
    terrain = Terrain(None, free.shape[1] * 64, free.shape[0] * 64)
    terrain.set_kinds(np.where(free, FLOOR, WALL).astype(np.uint8))
    chosen = np.arange(terrain.labels.max() + 1)
    found = shapely.from_wkt(area_text(terrain.labels, chosen, terrain.walls, 26.0))
    assert found.is_valid
    tile = float(terrain.walls.tile) / 26
    assert found.area == pytest.approx((terrain.blocked == 0).sum() * tile * tile)
