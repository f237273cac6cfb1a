"""Move agents out of a wall that was built on them."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Floats
from crowd_demo.sim.terrain.tiles import Terrain


def step_out(terrain: Terrain, x: Floats, y: Floats) -> None:
    """Move every agent in a wall to the centre of the nearest free tile inside the world; x, y float32[n] are changed."""
    walls = terrain.walls
    rows, columns = (y * walls.inv_tile).astype(np.int64), (x * walls.inv_tile).astype(np.int64)
    caught = np.flatnonzero(terrain.blocked[rows, columns])
    free = np.argwhere(terrain.blocked == 0)
    free = free[((free + 0.5) * float(walls.tile) < (float(walls.height), float(walls.width))).all(axis=1)]
    if not len(caught) or not len(free):
        return
    tiles, which = np.unique(rows[caught] * terrain.columns + columns[caught], return_inverse=True)
    for number, tile in enumerate(tiles):
        row, column = divmod(int(tile), terrain.columns)
        nearest = free[((free - (row, column)) ** 2).sum(axis=1).argmin()]
        y[caught[which == number]], x[caught[which == number]] = (nearest + 0.5) * float(walls.tile)
