"""Measures at the areas and lines that the configuration names under `measure:`."""

from __future__ import annotations

from crowd_demo.ensemble.measures.whereabouts import Whereabouts
from crowd_demo.measure.trajectories import Line, Rectangle, steps_across
from crowd_demo.sim.simulation import Simulation


def density(sim: Simulation) -> dict[str, float]:
    """Return the agents a square metre in each area, by its name."""
    now, places = Whereabouts(sim), sim.config.measure
    areas = {name: Rectangle(*ends) for name, ends in places.areas.items()}
    return {name: int(area.holds(now.x, now.y).sum()) * places.metre**2 / area.size for name, area in areas.items()}


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
        ways = before.x[then], before.y[then], now.x[same], now.y[same]
        return {name: int(steps_across(*ways, Line(*ends)).sum()) / seconds for name, ends in sim.config.measure.lines.items()}
