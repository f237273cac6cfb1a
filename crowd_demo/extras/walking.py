"""People in world units: how near they are to each other, and how they walk, against the fundamental diagram."""

from __future__ import annotations

import math
from typing import NamedTuple, cast

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Floats, Ints, Longs
from crowd_demo.config.section import metres, per_square_metre
from crowd_demo.grid import Grid
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, PeopleColumns
from crowd_demo.sim.fundamental_diagram import FREE_SPEED, JAM, SQUARE, around, free_ground, ground_around, weidmann
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Walls

Places = Floats | Doubles
ROUNDING = 1 + 1e-5  # more than the error of a distance in float32, by which the grid finds pairs
CROWDED = 48.0  # world units: crowding is counted in aligned squares of that side


def people(sim: Simulation) -> PeopleColumns:
    return cast(PeopleColumns, sim.agents.by_id())


def squares(x: Floats, y: Floats) -> Longs:
    """Return the number of the aligned square that each is in."""
    columns = int(x.max(initial=0) / CROWDED) + 1
    return (y / CROWDED).astype(np.int64) * columns + (x / CROWDED).astype(np.int64)


def wants_to_walk(c: PeopleColumns) -> Bools:
    """Return who neither waits at a goal nor queues for one."""
    return (c.state != WAITING) & (c.state != QUEUING)


def close_pairs(x: Floats, y: Floats, within: float) -> tuple[Ints, Ints, Doubles]:
    """Return (one, other, distance) of all pairs nearer than `within`, each once; distances are float64."""
    grid = Grid(within * ROUNDING, ((0, 0), (x.max(initial=0), y.max(initial=0))))
    grid.update(x, y)
    one, other = grid.pairs()
    distance = np.hypot(x[one].astype(float) - x[other], y[one].astype(float) - y[other])
    near = distance < within
    return one[near], other[near], distance[near]


def nearest(x: Floats, y: Floats, within: float = 13.0) -> Doubles:
    """Return the distance of each to the nearest other, or `within`."""
    one, other, distance = close_pairs(x, y, within)
    least = np.full(len(x), within)
    np.minimum.at(least, one, distance)
    np.minimum.at(least, other, distance)
    return least


# --- density and flow around each, and who is jammed -----------------------------------------------------------------

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

    Who prefers another speed than people do on the mean is compared with that part of Weidmann's. So neither a dense
    crowd that moves nor one too dense to move counts, but who stands where others could walk.
    """
    return speed < JAM * preferred / FREE_SPEED * weidmann(density)


def free_density(walls: Walls, people: int) -> float:
    """Return the mean density of the free ground, people/m^2."""
    free = free_ground(walls, np.array([0.0, float(walls.width)]), np.array([0.0, float(walls.height)]))
    return per_square_metre(people / max(float(free.item()), 1.0))
