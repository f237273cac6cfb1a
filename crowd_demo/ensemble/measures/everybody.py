"""Measures that every crowd has."""

from __future__ import annotations

from crowd_demo.sim.simulation import Simulation


def neighbours(sim: Simulation) -> float | None:
    """Return the mean number of neighbours of those that looked in the last step."""
    return sim.profile.counters.get("neighbours_per_agent")


def population(sim: Simulation) -> float:
    return float(sim.agents.count)


class StepTime:
    """Milliseconds of a step, since the last look."""

    def __init__(self, sim: Simulation) -> None:
        self._before = sim.profile.steps

    def __call__(self, sim: Simulation) -> float | None:
        steps, self._before = sim.profile.steps - self._before, sim.profile.steps
        return sum(sim.profile.step_ms(last=steps).values()) if steps else None
