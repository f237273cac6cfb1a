"""The wall field: for each tile, the direction away from walls, weaker with the distance; for agents that fly.

The strength falls from 1 at a wall to 0 at `margin` units from it, and is 1 inside. The direction is the slope of the
signed distance to the border of the walls (central differences), so it is 0 where two walls are equally near.
Distances are exact up to `margin`, by two passes (Saito and Toriwaki 1994): down the columns, then along the rows.
O(tiles * margin / tile).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Floats, Ints
from crowd_demo.compute.jit import Launch, device, launch, run
from crowd_demo.sim.terrain.tiles import Terrain


class Away(NamedTuple):
    """The field for kernels; both float32[H, W], their length at most 1."""

    away_x: Floats
    away_y: Floats


class WallField:
    """The field of a terrain, written in place by `rebuild`."""

    def __init__(self, terrain: Terrain, margin: float) -> None:
        """`margin` in world units, more than 0."""
        shape = terrain.blocked.shape
        self.away = Away(np.zeros(shape, np.float32), np.zeros(shape, np.float32))
        self.version = -1  # of the terrain that the field was made for
        self._margin = margin / float(terrain.walls.tile)  # in tiles
        self._down = np.empty(shape, np.int32)
        self._distance_sq = np.empty(shape, np.int32)

    def launches(self, terrain: Terrain) -> tuple[Launch, ...]:
        """Return the compiled functions that `rebuild` runs."""
        reach = math.ceil(self._margin) + 2  # tiles; the slope needs one tile more, and the border is half a tile away
        return (launch(measure, terrain.blocked, reach, self._down, self._distance_sq),)

    def rebuild(self, terrain: Terrain) -> bool:
        """Make the field again if the walls have changed; return whether they had."""
        if self.version == terrain.version:
            return False
        run(self.launches(terrain))
        inside = terrain.blocked != 0
        height = np.sqrt(self._distance_sq, dtype=np.float32) - np.float32(0.5)  # above the border of the walls
        height[inside] *= -1
        strength = np.clip(1 - height / np.float32(self._margin), 0, 1)
        slope_x, slope_y = _slope(height.T).T, _slope(height)
        length = np.sqrt(slope_x * slope_x + slope_y * slope_y)
        scale = np.divide(strength, length, out=np.zeros_like(length), where=length > 0)
        np.multiply(slope_x, scale, out=self.away.away_x)
        np.multiply(slope_y, scale, out=self.away.away_y)
        self.version = terrain.version
        return True


def _slope(height: Floats) -> Floats:
    """Return half the difference of the rows below and above; the outer rows are repeated beyond the map."""
    around = np.pad(height, ((1, 1), (0, 0)), mode="edge")
    return (around[2:] - around[:-2]) / np.float32(2)


@device
def measure(blocked: Bytes, reach: int, down: Ints, distance_sq: Ints) -> None:
    """Squared distance in tiles to the nearest tile of the other kind, at most reach**2.

    blocked uint8[H, W]; down (scratch) and distance_sq (written) int32[H, W].
    """
    for column in range(blocked.shape[1]):
        _measure_column(blocked[:, column], reach, down[:, column])
    for row in range(blocked.shape[0]):
        for column in range(blocked.shape[1]):
            distance_sq[row, column] = _nearest(blocked[row], down[row], column, reach)


@device
def _measure_column(blocked: Bytes, reach: int, down: Ints) -> None:
    """Distance to the nearest tile of the other kind in this column, at most reach: one walk down, one up."""
    rows = blocked.size
    down[0] = reach
    for row in range(1, rows):
        down[row] = min(down[row - 1] + 1, reach) if blocked[row] == blocked[row - 1] else 1
    for row in range(rows - 2, -1, -1):
        down[row] = min(down[row], down[row + 1] + 1 if blocked[row] == blocked[row + 1] else 1)


@device
def _nearest(blocked: Bytes, down: Ints, column: int, reach: int) -> int:
    """Return the least dx**2 + dy**2; dy is the distance in the column dx tiles away, 0 if that tile is of the other kind."""
    best = min(down[column], reach) ** 2
    for at in range(max(column - reach + 1, 0), min(column + reach, blocked.size)):
        dx, dy = at - column, down[at] if blocked[at] == blocked[column] else 0
        best = min(best, dx * dx + dy * dy)
    return best
