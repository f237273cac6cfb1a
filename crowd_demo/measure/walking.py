"""How people walk, against the fundamental diagram: density and flow around each, and who is jammed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Floats
from crowd_demo.config.section import metres, per_square_metre
from crowd_demo.sim.fundamental_diagram import FREE_SPEED, JAM, SQUARE, around, free_ground, ground_around, weidmann
from crowd_demo.sim.terrain.tiles import Walls

Places = Floats | Doubles


class Surroundings(NamedTuple):
    """Of the 3 x 3 squares around each person, float64[n]."""

    density: Doubles  # people/m^2
    flow: Doubles  # people/(m s)


def surroundings(walls: Walls, x: Places, y: Places, speed: Doubles | None = None) -> Surroundings:
    """Return what is around people at x, y, world units, who walk at these speeds, units/s, or stand."""
    rows, columns = (math.ceil(float(length) / SQUARE) for length in (walls.height, walls.width))
    row, column = (np.minimum((place / SQUARE).astype(np.int64), most - 1) for place, most in ((y, rows), (x, columns)))
    square = row * columns + column
    ground = ground_around(walls, SQUARE, np.arange(columns + 1.0) * SQUARE, np.arange(rows + 1.0) * SQUARE)

    def on_ground(amounts: Doubles) -> Doubles:
        sums = around(np.bincount(square, amounts, rows * columns).reshape(rows, columns)) / ground
        return per_square_metre(1) * sums.ravel()[square]

    return Surroundings(on_ground(np.ones(len(x))), metres(1) * on_ground(np.zeros(len(x)) if speed is None else speed))


def is_jammed(speed: Doubles, preferred: Places, density: Doubles) -> Bools:
    """Return who walks at less than a quarter of Weidmann's speed at that density; speeds are units/s.

    Who prefers another speed than people do on the mean is compared with that part of Weidmann's. So neither a dense crowd
    that moves nor one too dense to move counts, but who stands where others could walk.
    """
    return speed < JAM * preferred / FREE_SPEED * weidmann(density)


def free_density(walls: Walls, people: int) -> float:
    """Return the mean density of the free ground, people/m^2."""
    free = free_ground(walls, np.array([0.0, float(walls.width)]), np.array([0.0, float(walls.height)]))
    return per_square_metre(people / max(float(free.item()), 1.0))
