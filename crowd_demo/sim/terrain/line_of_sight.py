"""Line of sight on the tiles of the map, exact to the last bit.

End points are rounded down to 1/256 unit; all computation after that is in integers. The walk of Amanatides and Woo ("A fast
voxel traversal algorithm", 1987) goes through every tile from a's to b's: it compares where the segment crosses the next
border of a column and of a row, as cross products instead of fractions. Where it crosses both in one point, a corner of
tiles, the two tiles beside the corner have to be free too: there is no sight through a diagonal gap. A point on a border
belongs to the tile right of it or below. `in_sight(a, b)` equals `in_sight(b, a)`. O(tiles crossed), no memory; products stay
below 2**50.

`surely_hidden` looks at a few points of the segment in float32. One that lies in a blocked tile, farther from its borders than
all rounding can move it, proves that there is no sight; nothing else proves anything.
"""

from __future__ import annotations

import math

import numpy as np

from crowd_demo.compute.arrays import Bytes, Float, Mask
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import select, splat, to_float, to_int
from crowd_demo.compute.simd_memory import gather
from crowd_demo.sim.terrain.ground import Ground
from crowd_demo.sim.terrain.tiles import TILE_STEPS, Walls

POINTS = 16  # that `surely_hidden` looks at
CLEAR = 0.125  # units from a border: 1/256 by which end points are rounded, 5/256 of rounding in a world of 65536


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
    """Is a coordinate, as a part of a tile, surely in that tile?"""
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
