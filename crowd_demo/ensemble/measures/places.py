"""Measures at the areas and lines that the configuration names under `measure:`."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles
from crowd_demo.config.places import Ends
from crowd_demo.ensemble.measures.whereabouts import Whereabouts
from crowd_demo.sim.simulation import Simulation


def density(sim: Simulation) -> dict[str, float]:
    """Return the agents a square metre in each area, by its name."""
    agents, places = sim.agents.by_id(), sim.config.measure
    found = {}
    for name, (left, top, right, bottom) in places.areas.items():
        inside = (left < agents.x) & (agents.x < right) & (top < agents.y) & (agents.y < bottom)
        found[name] = float(inside.sum()) * places.metre**2 / ((right - left) * (bottom - top))
    return found


class Flow:
    """Agents a second that cross each line, either way. From one look to the next everybody is taken to go straight."""

    def __init__(self, sim: Simulation) -> None:
        self._before = Whereabouts(sim)

    def __call__(self, sim: Simulation) -> dict[str, float] | None:
        before, now = self._before, Whereabouts(sim)
        self._before = now
        seconds = now.seconds_since(before)
        if not seconds:
            return None
        then, same = now.same_since(before)
        begin, end = before.places[then], now.places[same]
        return {name: int(crosses(begin, end, line).sum()) / seconds for name, line in sim.config.measure.lines.items()}


def crosses(begin: Doubles, end: Doubles, line: Ends) -> Bools:
    """Return bool[n]: which of the straight paths cross the line. One that ends on it has not, one that begins there has."""
    one, other = np.array(line[:2]), np.array(line[2:])
    along = other - one

    def beside(points: Doubles) -> Doubles:
        """Twice the area of the triangle with the line: on which side they are, and how far."""
        return along[0] * (points[:, 1] - one[1]) - along[1] * (points[:, 0] - one[0])

    before, after = beside(begin), beside(end)
    passes = (after != 0) & (before * after <= 0)
    part = np.divide(before, before - after, out=np.zeros_like(before), where=passes)
    at = begin + part[:, None] * (end - begin)
    how_far = ((at - one) * along).sum(axis=1) / (along * along).sum()
    return passes & (how_far >= 0) & (how_far <= 1)
