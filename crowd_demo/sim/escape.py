"""Away from walls: the direction in which birds turn before they hit one, and the way out for whoever a wall was put on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..jit import device
from .terrain import Terrain

FARTHEST = 32  # tiles: a wall farther away turns nobody, whatever the margin


@device
def find_away(blocked: Any, tile: Any, margin: Any, reach: int, away_x: Any, away_y: Any) -> None:
    """For each free tile, the unit vector from the nearest wall's middle to its own, times 1 - distance / margin."""
    rows, columns = blocked.shape
    for row in range(rows):
        for column in range(columns):
            nearest, near_x, near_y = np.float32(np.inf), np.float32(0), np.float32(0)
            for other_row in range(max(row - reach, 0), min(row + reach + 1, rows)):
                for other in range(max(column - reach, 0), min(column + reach + 1, columns)):
                    dx, dy = np.float32(column - other) * tile, np.float32(row - other_row) * tile
                    distance = np.sqrt(dx * dx + dy * dy)
                    if blocked[other_row, other] and distance < nearest:
                        nearest, near_x, near_y = distance, dx, dy
            inside = not blocked[row, column] and nearest < margin + tile
            strength = min(np.float32(1), np.float32(1) - (nearest - tile) / margin) / nearest if inside else np.float32(0)
            away_x[row, column], away_y[row, column] = near_x * strength, near_y * strength


def away_from_walls(terrain: Terrain, margin: float) -> tuple[Any, Any]:
    """(away_x, away_y) float32[H, W]: how to turn on each tile, 1 beside a wall, 0 from `margin` units on."""
    shape = terrain.blocked.shape
    away_x, away_y = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    tile = float(terrain.walls.tile)
    if margin > 0 and terrain.blocked.any():
        reach = min(math.ceil(margin / tile) + 1, FARTHEST)
        find_away(terrain.blocked, np.float32(tile), np.float32(margin), reach, away_x, away_y)
    return away_x, away_y


def step_out(terrain: Terrain, x: Any, y: Any) -> None:
    """Put every agent that stands in a wall, in place, into the middle of the nearest free tile that lies in the world."""
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
