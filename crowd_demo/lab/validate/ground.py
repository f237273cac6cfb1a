"""A scene as a map of tiles, and metres as world units."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Doubles, Floats
from crowd_demo.config.maps import MARKS
from crowd_demo.config.metres import UNITS_A_METRE
from crowd_demo.lab.validate.scene import Scene
from crowd_demo.measure.trajectories import Rectangle

TILE = 0.5  # metres: doors and corridors are multiples of it


class Ground(NamedTuple):
    """The part of the plane that a map covers."""

    area: Rectangle  # metres

    def metres(self, x: Floats, y: Floats) -> tuple[Doubles, Doubles]:
        return x.astype(float) / UNITS_A_METRE + self.area.left, y.astype(float) / UNITS_A_METRE + self.area.top

    def units(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        across, down = np.asarray(x, float) - self.area.left, np.asarray(y, float) - self.area.top
        return (across * UNITS_A_METRE).astype(np.float32), (down * UNITS_A_METRE).astype(np.float32)

    def length(self, metres: float) -> np.float32:
        return np.float32(metres * UNITS_A_METRE)


def ground_of(scene: Scene) -> Ground:
    """Return what the map of a scene covers: everything in it, and a tile of wall around that."""
    left, top, right, bottom = scene.bounds
    return Ground(Rectangle(*(math.floor(low / TILE) * TILE - TILE for low in (left, top)),
                            *(math.ceil(high / TILE) * TILE + TILE for high in (right, bottom))))


def map_of(scene: Scene, ground: Ground) -> str:
    """Return the scene as the text of a .map file: tiles with their middle on the floor are free, exits are destinations."""
    area = ground.area
    columns, rows = round(area.width / TILE), round(area.height / TILE)
    x, y = np.meshgrid(area.left + (np.arange(columns) + 0.5) * TILE, area.top + (np.arange(rows) + 0.5) * TILE)
    tiles = np.full((rows, columns), "@")
    for part in [scene.bounds] if scene.ring else scene.floor:
        tiles[part.holds(x, y)] = "."
    for mark, each in zip(MARKS, scene.exits, strict=False):
        tiles[each.area.holds(x, y)] = mark
    return "\n".join([f"type octile\nheight {rows}\nwidth {columns}\nmap", *map("".join, tiles.tolist()), ""])
