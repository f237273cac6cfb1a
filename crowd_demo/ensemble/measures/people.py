"""Measures of people who walk to goals."""

from __future__ import annotations

from typing import cast

import numpy as np

from crowd_demo.ensemble.measures.whereabouts import Whereabouts
from crowd_demo.measure.people import nearest, people, squares, wants_to_walk
from crowd_demo.sim.behaviours.people_rules import QUEUING, STUCK, WAITING, PeopleColumns
from crowd_demo.sim.simulation import Simulation


def stuck(sim: Simulation) -> float | None:
    """Return the share of people who are stuck."""
    return float(np.mean(people(sim).state == STUCK)) if sim.agents.count else None


def waiting(sim: Simulation) -> float | None:
    """Return the share of people who wait at a goal."""
    return float(np.mean(people(sim).state == WAITING)) if sim.agents.count else None


def queuing(sim: Simulation) -> float | None:
    """Return the share of people who queue for a place at a goal."""
    return float(np.mean(people(sim).state == QUEUING)) if sim.agents.count else None


def overlap(sim: Simulation) -> float | None:
    """Return the share of people who are nearer to somebody than two bodies."""
    who, wide = people(sim), 2 * sim.config.crowd.body
    if not len(who.id) or not wide:
        return None
    return float(np.mean(nearest(who.x, who.y, wide) < wide))


def densest(sim: Simulation) -> float:
    """Return the most people in a square of 48 x 48 units."""
    who = people(sim)
    return float(np.bincount(squares(who.x, who.y)).max(initial=0))


class Speed:
    """Mean speed of those who neither wait nor queue, each as a part of what it prefers.

    That is of the straight way since the last look: who is pushed back gets nowhere, whatever its velocity says.
    """

    def __init__(self, sim: Simulation) -> None:
        self._before = Whereabouts(sim)

    def __call__(self, sim: Simulation) -> float | None:
        before, now = self._before, Whereabouts(sim)
        self._before = now
        then, same = now.same_since(before)
        were, are = cast(PeopleColumns, before.columns), cast(PeopleColumns, now.columns)
        preferred = are.speed[same].astype(np.float64) * now.seconds_since(before)
        walks = wants_to_walk(were)[then] & wants_to_walk(are)[same] & (preferred > 0)
        way = np.hypot(now.x[same] - before.x[then], now.y[same] - before.y[then])
        return float(np.mean(way[walks] / preferred[walks])) if walks.any() else None
