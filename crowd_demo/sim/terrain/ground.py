"""Moving without entering walls or leaving the world: slide along walls.

A move is made axis by axis, first x, then y. The move along an axis is refused when the leading edge, `body` units ahead of
the agent, would stand in a solid tile; the other axis is then still free, so agents slide. A move is at most half a tile an
axis, so no wall can be skipped, and never beyond [0, limit].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Mask
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import select, splat, to_int
from crowd_demo.compute.simd_memory import gather
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.terrain.wall_field import Away


class Ground(NamedTuple):
    """The walls and the edge of the world, for kernels that move agents."""

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


@device
def between(value: Float, low: Float, high: Float) -> Float:
    """The value, or the nearer end of [low, high]."""
    low, high = splat(low, value), splat(high, value)
    value = select(value > low, value, low)  # in this order a NaN becomes `low`
    return select(value < high, value, high)


@device
def tile_of(ground: Ground, x: Float, y: Float) -> Int:
    return to_int(y * ground.inv_tile) * ground.columns + to_int(x * ground.inv_tile)


@device
def is_solid(ground: Ground, x: Float, y: Float) -> Mask:
    """Return whether the tile under a point inside the world is solid."""
    return gather(ground.solid, tile_of(ground, x, y)) != 0


@device
def slide(ground: Ground, x: Float, y: Float, dx: Float, dy: Float) -> tuple[Float, Float]:
    """Return (x, y) after trying to move by (dx, dy)."""
    zero = np.float32(0)
    dx, dy = between(dx, -ground.longest, ground.longest), between(dy, -ground.longest, ground.longest)
    to_x, to_y = between(x + dx, zero, ground.limit_x), between(y + dy, zero, ground.limit_y)
    if not ground.any_solid:
        return to_x, to_y
    body, back = splat(ground.body, x), splat(-ground.body, x)
    edge_x = between(to_x + select(dx < zero, back, body), zero, ground.limit_x)
    to_x = select(is_solid(ground, edge_x, y), x, to_x)
    edge_y = between(to_y + select(dy < zero, back, body), zero, ground.limit_y)
    to_y = select(is_solid(ground, to_x, edge_y), y, to_y)
    return to_x, to_y


@device
def longer(so_far_sq: Float, dx: Float, dy: Float) -> Float:
    """Return the square of the longest move so far."""
    length_sq = dx * dx + dy * dy
    return select(length_sq > so_far_sq, length_sq, so_far_sq)


def ground_of(terrain: Terrain, body: float, away: Away) -> Ground:
    """Return the ground of a terrain with its present walls."""
    walls = terrain.walls
    solid = terrain.blocked.reshape(-1).astype(np.int32)
    zero, tile = np.float32(0), float(walls.tile)
    return Ground(solid, away.away_x.reshape(-1), away.away_y.reshape(-1), bool(solid.any()), terrain.columns, walls.inv_tile,
                  np.nextafter(walls.width, zero), np.nextafter(walls.height, zero), np.float32(tile / 2),
                  np.float32(min(body, 0.45 * tile)))
