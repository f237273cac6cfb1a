"""Positions of new agents: a function of the seed and the id alone."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.config.model import Config
from crowd_demo.sim.population import spring_patterns
from crowd_demo.sim.terrain.step_out import step_out
from crowd_demo.sim.terrain.tiles import Terrain


def spawn_positions(ids: Ints, config: Config, terrain: Terrain, seed: int) -> tuple[Floats, Floats]:
    """Return (x, y) float32[n]: free positions all over the world, or many in a box, or one point; or a pattern."""
    if config.links.pattern != "none":
        x, y = spring_patterns.positions(ids, config, terrain, seed)
        step_out(terrain, x, y)
        return x, y
    x, y = terrain.random_walkable(ids.astype(np.int64), seed)
    spawn = config.spawn
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
    step_out(terrain, x, y)
    return x, y
