"""People as measures read them: a copy of their columns, and how near they are to each other."""

from __future__ import annotations

from typing import cast

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Floats, Longs
from crowd_demo.sim.behaviours.people_rules import QUEUING, WAITING, PeopleColumns
from crowd_demo.sim.simulation import Simulation

SQUARE = 48.0  # world units: crowding is counted in aligned squares of that side


def people(sim: Simulation) -> PeopleColumns:
    """Return a copy of all columns in id order."""
    return cast(PeopleColumns, sim.agents.by_id())


def squares(x: Floats, y: Floats) -> Longs:
    """Return the number of the aligned square that each is in."""
    columns = int(x.max(initial=0) / SQUARE) + 1
    return (y / SQUARE).astype(np.int64) * columns + (x / SQUARE).astype(np.int64)


def wants_to_walk(c: PeopleColumns) -> Bools:
    """Return who neither waits at a goal nor queues for one."""
    return (c.state != WAITING) & (c.state != QUEUING)


def close_pairs(x: Floats, y: Floats, within: float) -> tuple[Longs, Longs, Doubles]:
    """Return (one, other, distance) of all pairs nearer than `within`, each once.

    People are sorted into squares of that size, and each is compared with those around.
    """
    columns = int(x.max(initial=0) / within) + 3
    cell = (y / within).astype(np.int64) * columns + (x / within).astype(np.int64) + columns + 1
    order = np.argsort(cell, kind="stable")
    sorted_cell, rank = cell[order], np.empty(len(x), np.int64)
    rank[order] = np.arange(len(x))
    ones, others = [], []
    for first, last, start in ((0, 1, rank + 1), (columns - 1, columns + 1, None)):  # the rest of a row, and the row below
        begin = np.searchsorted(sorted_cell, cell + first, "left") if start is None else start
        end = np.searchsorted(sorted_cell, cell + last, "right")
        for step in range(int((end - begin).max(initial=0))):
            one = np.flatnonzero(begin + step < end)
            ones.append(one)
            others.append(order[begin[one] + step])
    none = np.zeros(0, np.int64)
    one, other = np.concatenate([*ones, none]), np.concatenate([*others, none])
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
