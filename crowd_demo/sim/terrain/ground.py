"""The walls for agents: they slide along them, those that fly turn away from them, and nobody sees through them.

A move is made axis by axis, first x, then y. The move along an axis is refused when the leading edge, `body` units ahead of
the agent, would stand in a solid tile; the other axis is then still free, so agents slide. A move is at most half a tile an
axis, so no wall can be skipped, and never beyond [0, limit].

The wall field has for each tile the direction away from walls. Its strength falls from 1 at a wall to 0 at `margin` units
from it, and is 1 inside. The direction is the slope of the signed distance to the border of the walls (central
differences), so it is 0 where two walls are equally near. Distances are exact up to `margin`, by two passes (Saito and
Toriwaki 1994): down the columns, then along the rows. O(tiles * margin / tile).

Line of sight is exact to the last bit. End points are rounded down to 1/256 unit; all computation after that is in
integers. The walk of Amanatides and Woo ("A fast voxel traversal algorithm", 1987) goes through every tile from a's
to b's: it compares where the segment crosses the next border of a column and of a row, as cross products instead of
fractions. Where it crosses both in one point, a corner of tiles, the two tiles beside the corner have to be free too:
there is no sight through a diagonal gap. A point on a border belongs to the tile right of it or below. `in_sight(a,
b)` equals `in_sight(b, a)`. O(tiles crossed), no memory; products stay below 2**50.

`surely_hidden` looks at a few points of the segment in float32. One that lies in a blocked tile, farther from its
borders than all rounding can move it, proves that there is no sight; nothing else proves anything.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Floats, Int, Ints, Mask
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import Launch, device, launch, run
from crowd_demo.compute.simd import select, splat, to_float, to_int
from crowd_demo.compute.simd_memory import gather
from crowd_demo.sim.terrain.forces import NO_FORCES, ForceArrays
from crowd_demo.sim.terrain.tiles import TILE_STEPS, Terrain, Walls

POINTS = 16  # that `surely_hidden` looks at
CLEAR = 0.125  # units from a border: 1/256 by which end points are rounded, 5/256 of rounding in a world of 65536


class Ground(NamedTuple):
    """The walls, the edge of the world and the forces in it, for kernels that move agents."""

    solid: Ints  # [rows * columns]: 1 where agents cannot be
    away_x: Floats  # [rows * columns]: away from the nearest wall, 1 beside it, 0 a margin from it
    away_y: Floats
    any_solid: bool
    columns: int
    inv_tile: np.float32
    limit_x: np.float32  # largest float32 position inside the world
    limit_y: np.float32
    longest: np.float32  # longest move an axis in one step, at most half a tile
    body: np.float32  # at most 0.45 of a tile
    forces: ForceArrays


@device
def tile_of(ground: Ground, x: Float, y: Float) -> Int:
    return to_int(y * ground.inv_tile) * ground.columns + to_int(x * ground.inv_tile)


@device
def is_solid(ground: Ground, x: Float, y: Float) -> Mask:
    """Return whether the tile under a point inside the world is solid."""
    return gather(ground.solid, tile_of(ground, x, y)) != 0


@formula
def slide(ground: Ground, x: Float, y: Float, dx: Float, dy: Float) -> tuple[Float, Float]:
    """Return (x, y) after trying to move by (dx, dy); a NaN becomes the lower limit."""
    dx = min(ground.longest, max(-ground.longest, dx))
    dy = min(ground.longest, max(-ground.longest, dy))
    to_x, to_y = min(ground.limit_x, max(0, x + dx)), min(ground.limit_y, max(0, y + dy))
    if not ground.any_solid:
        return to_x, to_y
    edge_x = min(ground.limit_x, max(0, to_x + select(dx < 0, -ground.body, ground.body)))
    to_x = select(is_solid(ground, edge_x, y), x, to_x)
    edge_y = min(ground.limit_y, max(0, to_y + select(dy < 0, -ground.body, ground.body)))
    return to_x, select(is_solid(ground, to_x, edge_y), y, to_y)


@device
def longer(so_far_sq: Float, dx: Float, dy: Float) -> Float:
    length_sq = dx * dx + dy * dy
    return select(length_sq > so_far_sq, length_sq, so_far_sq)


# --- away from walls -------------------------------------------------------------------------------------------------

class WallField:
    """The field of a terrain, written in place by `rebuild`."""

    def __init__(self, terrain: Terrain, margin: float) -> None:
        """`margin` in world units, more than 0."""
        shape = terrain.blocked.shape
        self.away_x, self.away_y = np.zeros((2, *shape), np.float32)  # for kernels; their length is at most 1
        self.version = -1  # of the terrain that the field was made for
        self._margin = margin / float(terrain.walls.tile)  # in tiles
        self._down = np.empty(shape, np.int32)
        self._distance_sq = np.empty(shape, np.int32)

    def launches(self, terrain: Terrain) -> tuple[Launch, ...]:
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
        np.multiply(slope_x, scale, out=self.away_x)
        np.multiply(slope_y, scale, out=self.away_y)
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
    rows, columns = blocked.shape
    for column in range(columns):  # in this column: one walk down, one up
        kind, dy = blocked[:, column], down[:, column]
        dy[0] = reach
        for row in range(1, rows):
            dy[row] = min(dy[row - 1] + 1, reach) if kind[row] == kind[row - 1] else 1
        for row in range(rows - 2, -1, -1):
            dy[row] = min(dy[row], dy[row + 1] + 1 if kind[row] == kind[row + 1] else 1)
    for row in range(rows):
        for column in range(columns):  # the least dx**2 + dy**2, where dy is 0 at a tile of the other kind
            best = min(down[row, column], reach) ** 2
            for at in range(max(column - reach + 1, 0), min(column + reach, columns)):
                dx, across = at - column, down[row, at] if blocked[row, at] == blocked[row, column] else 0
                best = min(best, dx * dx + across * across)
            distance_sq[row, column] = best


def ground_of(terrain: Terrain, body: float, field: WallField, forces: ForceArrays = NO_FORCES) -> Ground:
    walls = terrain.walls
    solid = terrain.blocked.reshape(-1).astype(np.int32)
    zero, tile = np.float32(0), float(walls.tile)
    return Ground(solid, field.away_x.reshape(-1), field.away_y.reshape(-1), bool(solid.any()), terrain.columns,
                  walls.inv_tile, np.nextafter(walls.width, zero), np.nextafter(walls.height, zero), np.float32(tile / 2),
                  np.float32(min(body, 0.45 * tile)), forces)


# --- line of sight ---------------------------------------------------------------------------------------------------

@device
def in_sight(walls: Walls, ax: Float, ay: Float, bx: Float, by: Float) -> bool:
    """Return whether no blocked tile lies between two points (float32, world units), nor under them.

    Nothing is seen from or at a point outside the map.
    """
    side = int(walls.tile * TILE_STEPS)
    ax, ay, bx, by = _steps(ax), _steps(ay), _steps(bx), _steps(by)
    column, row, last_column, last_row = ax // side, ay // side, bx // side, by // side
    if not (_is_free(walls.blocked, column, row) and _is_free(walls.blocked, last_column, last_row)):
        return False
    dx, dy = abs(bx - ax), abs(by - ay)
    step_x, step_y = 1 if bx > ax else -1, 1 if by > ay else -1
    left_x, left_y = abs(last_column - column), abs(last_row - row)  # borders still to cross
    # ahead > 0: the next border of a row is crossed before the next border of a column.
    ahead = _to_border(ax, column * side, side, step_x) * dy - _to_border(ay, row * side, side, step_y) * dx
    while left_x > 0 or left_y > 0:
        cross_x = left_y == 0 or (left_x > 0 and ahead <= 0)
        cross_y = left_x == 0 or (left_y > 0 and ahead >= 0)
        if cross_x and cross_y and (walls.blocked[row, column + step_x] or walls.blocked[row + step_y, column]):
            return False
        if cross_x:
            column, left_x, ahead = column + step_x, left_x - 1, ahead + side * dy
        if cross_y:
            row, left_y, ahead = row + step_y, left_y - 1, ahead - side * dx
        if walls.blocked[row, column]:
            return False
    return True


@formula
def surely_hidden(ground: Ground, ax: Float, ay: Float, bx: Float, by: Float) -> Mask:
    """Return whether walls surely hide the one point from the other, for one pair or sixteen; quicker than looking."""
    found = splat(0, ax)
    if ground.any_solid:
        for number in range(POINTS):
            part = (np.float32(number) + 0.5) * (1 / POINTS)
            x = min(ground.limit_x, max(0, ax + (bx - ax) * part)) * ground.inv_tile
            y = min(ground.limit_y, max(0, ay + (by - ay) * part)) * ground.inv_tile
            column, row = to_int(x), to_int(y)
            inside = _is_inside(ground, x - to_float(column)) & _is_inside(ground, y - to_float(row))
            found = found + select(inside, gather(ground.solid, row * ground.columns + column), 0)
    return found > 0


@formula
def _is_inside(ground: Ground, part: Float) -> Mask:
    """Return whether a coordinate, as a part of a tile, is surely in that tile."""
    border = CLEAR * ground.inv_tile
    return (part > border) & (part < 1 - border)


@device
def _steps(coordinate: Float) -> int:
    return math.floor(coordinate * TILE_STEPS)


@device
def _is_free(blocked: Bytes, column: int, row: int) -> bool:
    rows, columns = blocked.shape
    return 0 <= column < columns and 0 <= row < rows and not blocked[row, column]


@device
def _to_border(at: int, start: int, side: int, step: int) -> int:
    """Return the distance from a coordinate to the border that it crosses next; `start` is where its tile begins."""
    return start + side - at if step > 0 else at - start
