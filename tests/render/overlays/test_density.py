"""The heat map of density: each agent is counted, and nothing is painted on walls and water."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crowd_demo.render.overlays.fields import LEAST_PX, on_free_tiles, side_of

pytestmark = pytest.mark.quick
TILE = 41.5


def walls() -> Any:
    blocked = (np.indices((6, 8)).sum(axis=0) % 3 == 0).astype(np.uint8)
    return SimpleNamespace(tile=np.float32(TILE), blocked=blocked)


@pytest.mark.parametrize("zoom", [4.0, 0.6, 0.3, 0.05])
def test_squares_are_parts_of_tiles_or_made_of_whole_ones(zoom: float) -> None:
    share = side_of(zoom, TILE) / TILE
    assert np.log2(share) % 1 == 0 and side_of(zoom, TILE) * zoom >= LEAST_PX


@pytest.mark.parametrize("share", [0.25, 0.5, 1, 2, 4])
def test_only_free_tiles_are_painted_and_all_of_them(share: float) -> None:
    side, blocked = share * TILE, walls().blocked
    rows, columns = np.indices((round(6 / share + 0.49), round(8 / share)))
    row, column, which = on_free_tiles(rows.ravel(), columns.ravel(), side, walls())
    part = min(share, 1)
    painted = np.zeros(blocked.shape)
    np.add.at(painted, ((row * part).astype(int), (column * part).astype(int)), part * part)
    assert np.array_equal(painted, 1 - blocked)
    assert np.array_equal((row * part // share).astype(int), rows.ravel()[which])
