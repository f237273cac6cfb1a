"""Positions of new agents: functions of the seed and the id alone.

    uniform, box, point    free positions all over the world or in an area, many in a box, or all at one point
    rope                   `length` agents hang from a pinned one; ropes are arranged in rows all over the world
    cloth                  `length` agents wide, as deep as there are agents; each is tied to the left and above, the top row
                           is pinned
    column                 `length` agents one behind the other, the first of them free; only the one behind is pulled
"""

from __future__ import annotations

import math

import numpy as np

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Doubles, Floats, Ints, Whole
from crowd_demo.config.model import Config
from crowd_demo.sim.terrain.tiles import Terrain

TOP = 0.12  # of the world's height (or a row's): ropes and cloth hang from there


def spawn_positions(ids: Ints, config: Config, terrain: Terrain, seed: int) -> tuple[Floats, Floats]:
    """Return (x, y) float32[n]: free positions all over the world, or many in a box, or one point; or a pattern."""
    if config.links.pattern != "none":
        x, y = pattern_positions(ids, config, terrain, seed)
        terrain.step_out(x, y)
        return x, y
    spawn = config.spawn
    within = config.measure.areas[spawn.inside] if spawn.inside and spawn.pattern == "uniform" else None
    x, y = terrain.random_walkable(ids.astype(np.int64), seed, within)
    if spawn.pattern == "uniform" or not len(ids):
        return x, y
    centre_x, centre_y = (np.float32(side / 2) for side in (terrain.walls.width, terrain.walls.height))
    if spawn.pattern == "point":
        x[:], y[:] = centre_x, centre_y
    else:
        key = hashing.key(seed, 0, hashing.SPAWN)
        inside = hashing.unit(ids, key) < spawn.share
        for axis, centre in ((x, centre_x), (y, centre_y)):
            key = hashing.next_key(key)
            offset = (hashing.unit(ids, key) - np.float32(0.5)) * np.float32(2 * spawn.box) * centre
            axis[inside] = (centre + offset)[inside]
    terrain.step_out(x, y)
    return x, y


# --- patterns of linked agents ---------------------------------------------------------------------------------------

def pattern_positions(ids: Whole, config: Config, terrain: Terrain, seed: int) -> tuple[Floats, Floats]:
    """Return (x, y) float32[n], inside the world but not always clear of walls."""
    x, y = {"rope": _ropes, "cloth": _cloth, "column": _columns}[config.links.pattern](ids, config, terrain, seed)
    walls = terrain.walls
    inside = (np.nextafter(side, np.float32(0)) for side in (walls.width, walls.height))
    x, y = (np.clip(axis, 0, limit).astype(np.float32) for axis, limit in zip((x, y), inside, strict=True))
    return x, y


def _ropes(ids: Whole, config: Config, terrain: Terrain, seed: int) -> tuple[Floats | Doubles, Floats | Doubles]:
    links, world = config.links, config.world
    ropes = max(1, -(-config.agents // links.length))
    rows = max(1, math.floor(world.height / max(links.length * links.rest * 1.2, 1.0)))
    columns = -(-ropes // rows)
    rope, bead = np.divmod(ids, links.length)
    row, column = np.divmod(rope % ropes, columns)
    shift = 0.25 + 0.5 * (row % 2)  # every other row is shifted by half a gap
    return (column + shift) * (world.width / columns), (row + TOP) * (world.height / rows) + bead * links.rest


def _cloth(ids: Whole, config: Config, terrain: Terrain, seed: int) -> tuple[Floats | Doubles, Floats | Doubles]:
    links, world = config.links, config.world
    row, column = np.divmod(ids, links.length)
    left = (world.width - (links.length - 1) * links.rest) / 2
    return left + column * links.rest, TOP * world.height + row * links.rest


def _columns(ids: Whole, config: Config, terrain: Terrain, seed: int) -> tuple[Floats | Doubles, Floats | Doubles]:
    column, behind = np.divmod(ids, config.links.length)
    x, y = terrain.random_walkable(column.astype(np.int64), seed)
    return x - behind * config.links.rest, y
