"""Small terrains for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from crowd_demo.config.map_data import FLOOR, WALL, MapData
from crowd_demo.config.maps import parse_octile
from crowd_demo.sim.terrain.tiles import Terrain

REAL_MAPS = Path(__file__).parents[2] / "shared" / "maps"  # of the MovingAI benchmark, not part of the project

shapes = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9)
grids = hnp.arrays(np.uint8, shapes, elements=st.integers(0, 1))


def terrain_of(blocked: np.ndarray, tile: float = 16.0, **options: int) -> Terrain:
    rows, columns = blocked.shape
    data = MapData(np.where(blocked, WALL, FLOOR).astype(np.uint8), np.full(blocked.shape, -1, np.int16), "test")
    return Terrain(data, columns * tile, rows * tile, **options)


def town(*rows: str, width: float = 1000, height: float = 1000) -> Terrain:
    head = f"type octile\nheight {len(rows)}\nwidth {len(rows[0])}\nmap\n"
    return Terrain(parse_octile((head + "\n".join(rows)).encode(), Path("town.map")), width, height)
