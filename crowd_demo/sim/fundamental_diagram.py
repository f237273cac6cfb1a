"""Walking as it is measured: steps across a line; density, speed and flow on squares of the ground, and Weidmann's curve.

What is said of a square is that of the 3 x 3 squares around it. Their **density** is the people on them over their
free ground, and their **flow** the sum of these people's speeds over the same ground, which is density times mean
speed: so many people pass through a metre of way in a second. Walls, water and what lies beyond the world are no
free ground; but who stands behind a wall counts as if it were not there, and ground is at least that of one square.

Sources: Weidmann, "Transporttechnik der Fussgänger", ETH Zürich, 2nd edition 1993; the capacity is that of Nelson and
Mowrer, "Emergency movement", SFPE Handbook of Fire Protection Engineering, 3rd edition 2002. Weidmann's curve has its
greatest flow, 1.22 people/(m s), at 1.75 people/m2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Bools, Doubles
from crowd_demo.sim.terrain.tiles import Walls

FREE_SPEED, GAMMA, MAX_DENSE = 1.34, 1.913, 5.4  # m/s, 1/m^2, people/m^2
CAPACITY = 1.3  # people/(m s): the most that a metre of way carries
JAM = 0.25  # of Weidmann's speed: who is slower is jammed
SQUARE = 32.0  # world units, for people: nine of them are 13.6 square metres


class Line(NamedTuple):
    """A straight line from (x, y) to (to_x, to_y), in the unit of the points."""

    x: float
    y: float
    to_x: float
    to_y: float


def steps_across(x: Doubles, y: Doubles, to_x: Doubles, to_y: Doubles, line: Line) -> Bools:
    """Say which steps meet the line and do not end on it."""
    along_x, along_y = line.to_x - line.x, line.to_y - line.y
    before = along_x * (y - line.y) - along_y * (x - line.x)  # on which side of the line: > 0, < 0, 0 on it
    after = along_x * (to_y - line.y) - along_y * (to_x - line.x)
    changes = (after != 0) & (before * after <= 0)
    part = np.where(changes, before / np.where(changes, before - after, 1), 0)  # of the step, where it meets the line
    meets_x, meets_y = x + (to_x - x) * part, y + (to_y - y) * part
    along = ((meets_x - line.x) * along_x + (meets_y - line.y) * along_y) / (along_x**2 + along_y**2)
    return changes & (along >= 0) & (along <= 1)


def weidmann(density: ArrayLike) -> Doubles:
    """Return the mean speed of people at a density, people/m^2, in m/s: float64, of the same shape."""
    apart = 1 / np.maximum(density, 1e-9) - 1 / MAX_DENSE
    return np.maximum(FREE_SPEED * (1 - np.exp(-GAMMA * apart)), 0.0)


def free_ground(walls: Walls, across: Doubles, down: Doubles) -> Doubles:
    """Return the free ground between edges, which ascend: float64[len(down) - 1, len(across) - 1], square units."""
    tile = float(walls.tile)
    free = _up_to(_up_to(walls.blocked == 0, down.clip(0, float(walls.height)) / tile).T,
                  across.clip(0, float(walls.width)) / tile).T
    return np.diff(np.diff(free, axis=0), axis=1) * tile**2


def _up_to(amounts: Doubles, edges: Doubles) -> Doubles:
    """Sums of the rows above each edge, which lies in [0, rows]; a row that an edge cuts counts in proportion."""
    row = np.minimum(edges.astype(np.int64), len(amounts) - 1)
    sums = np.concatenate((np.zeros((1, amounts.shape[1])), np.cumsum(amounts, axis=0, dtype=np.float64)))
    return sums[row] + (edges - row)[:, None] * amounts[row]


def around(amounts: ArrayLike) -> Doubles:
    """Return the sum of the 3 x 3 squares around each: float64[rows, columns], of amounts of that shape."""
    padded = np.pad(np.asarray(amounts, np.float64), 1)
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]


def ground_around(walls: Walls, side: float, across: Doubles, down: Doubles) -> Doubles:
    """Return the free ground of the 3 x 3 squares around each square between edges, but at least that of one square."""
    return np.maximum(around(free_ground(walls, across, down)), side**2)
