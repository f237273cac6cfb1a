"""Measures of people who walk to goals."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowd_demo.compute.arrays import Bools, Floats
from crowd_demo.sim.behaviours.walking import STUCK, WAITING
from crowd_demo.sim.simulation import Simulation


def stuck(sim: Simulation) -> float | None:
    """Return the share of people who are stuck."""
    people: Any = sim.agents.by_id()
    return float(np.mean(people.state == STUCK)) if len(people.id) else None


def speed(sim: Simulation) -> float | None:
    """Return the mean speed of those who walk, each as a part of what they prefer."""
    people: Any = sim.agents.by_id()
    walks = (people.state != WAITING) & (people.speed > 0)
    if not walks.any():
        return None
    return float(np.mean(np.hypot(people.vx[walks], people.vy[walks]) / people.speed[walks], dtype=np.float64))


def overlap(sim: Simulation) -> float | None:
    """Return the share of people who are nearer to somebody than both their bodies are wide."""
    people: Any = sim.agents.by_id()
    if not len(people.id):
        return None
    return float(np.mean(has_near(people.x, people.y, 2 * sim.config.crowd.body)))


def has_near(x: Floats, y: Floats, distance: float) -> Bools:
    """Return bool[n]: who has another one nearer than `distance`, world units.

    People are sorted along x within rows that are `distance` high; each is compared with those that follow in its row and with
    those of the next row, who are as near along x.
    """
    found = np.zeros(len(x), np.bool_)
    if not len(x) or distance <= 0:
        return found
    across = x.astype(np.float64) - float(x.min())
    row_length = float(across.max()) + 3 * distance
    place = np.floor(y / distance) * row_length + across
    order = np.argsort(place, kind="stable")
    place, x, y = place[order], x[order].astype(np.float64), y[order].astype(np.float64)
    in_row = np.arange(1, len(x) + 1), np.searchsorted(place, place + distance, "right")
    in_next = tuple(np.searchsorted(place, place + row_length + side, "left") for side in (-distance, distance))
    for begin, end in (in_row, in_next):
        for step in range(int((end - begin).max(initial=0))):
            one = np.flatnonzero(begin + step < end)
            other = begin[one] + step
            near = np.hypot(x[one] - x[other], y[one] - y[other]) < distance
            found[order[one[near]]] = found[order[other[near]]] = True
    return found
