"""What can be measured about a run, in the order of the registry (registry/built_in.py), and who looks at it every few steps.

A measure reads a simulation between two steps and changes nothing. It adds up in the order of ids, so that neither the
order in memory nor the number of threads can change its number.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np

from crowd_demo.compute.arrays import Doubles, Floats, Longs
from crowd_demo.extras.trajectories import Rectangle
from crowd_demo.extras.walking import is_jammed, nearest, people, squares, surroundings, wants_to_walk
from crowd_demo.registry.built_in import MEASURES, of_column
from crowd_demo.registry.entries import load
from crowd_demo.sim.behaviours.people_rules import PeopleColumns
from crowd_demo.sim.fundamental_diagram import Line, steps_across
from crowd_demo.sim.simulation import Simulation

JAMMED_S = 1.0
Number = float | None
Measure = Callable[[Simulation], Number | Mapping[str, Number]]

FOLD: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda seen: math.fsum(seen) / len(seen),
    "median": statistics.median,
    "most": max,
    "last": lambda seen: seen[-1],
    "total": math.fsum,
}


class Sampler:
    """Looks at a run every few steps, and folds what was seen to one number for each column. Made before the first step."""

    def __init__(self, names: Collection[str], sim: Simulation) -> None:
        self._sim, self._measures = sim, dict[str, Measure]()
        self._seen = {name: list[float]() for name in names if not MEASURES[name].places}
        for entry in map(MEASURES.__getitem__, names):
            if not entry.behaviours or sim.config.behaviour in entry.behaviours:
                code = load(entry.code)
                self._measures[entry.name] = code(sim) if isinstance(code, type) else code

    def look(self) -> None:
        for name, measure in self._measures.items():
            found = measure(self._sim)
            places = {f".{place}": number for place, number in found.items()} if isinstance(found, Mapping) else {"": found}
            for place, number in places.items():
                if number is not None:
                    self._seen.setdefault(f"{name}{place}", []).append(float(number))

    def folded(self) -> dict[str, Number]:
        """A number for each column; None where nothing was seen, or what is no finite number."""
        found = {column: FOLD[of_column(column).fold](seen) if seen else math.nan for column, seen in self._seen.items()}
        return {column: number if math.isfinite(number) else None for column, number in found.items()}


class Whereabouts:
    """Places by agent: one is known by its id and by how often that was given up before, a person by the speed too."""

    def __init__(self, sim: Simulation) -> None:
        self.columns = sim.agents.by_id()
        self.x, self.y = self.columns.x.astype(np.float64), self.columns.y.astype(np.float64)  # world units
        self.tick, self._dt = sim.tick, sim.dt
        self._generations = sim.agents.handles.generations[self.columns.id]

    def seconds_since(self, before: Whereabouts) -> float:
        return (self.tick - before.tick) * self._dt

    def same_since(self, before: Whereabouts) -> tuple[Longs, Longs]:
        """Return where those who lived then and now stand in the columns of then, and in those of now; in the order of ids."""
        _, then, now = np.intersect1d(before.columns.id, self.columns.id, assume_unique=True, return_indices=True)
        same = before._generations[then] == self._generations[now]
        if isinstance(self.columns, PeopleColumns) and isinstance(before.columns, PeopleColumns):
            same &= before.columns.speed[then] == self.columns.speed[now]  # another has come in by an exit
        return then[same], now[same]


# --- people who walk to goals ------------------------------------------------------------------------------------------

def _share_in(state: str, sim: Simulation) -> float | None:
    return sim.states()[state] / sim.agents.count if sim.agents.count else None


stuck, waiting, queuing = (partial(_share_in, state) for state in ("stuck", "waiting", "queuing"))


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


class SinceLook:
    def __init__(self, sim: Simulation) -> None:
        self._before = Whereabouts(sim)

    def looked(self, sim: Simulation) -> tuple[Whereabouts, Whereabouts]:
        before, self._before = self._before, Whereabouts(sim)
        return before, self._before


def walked(before: Whereabouts, now: Whereabouts) -> tuple[Longs, Doubles, Floats]:
    """Return (slots, way, preferred speed) of those who wanted to walk then and now, in the columns of now.

    The way is the straight one, in units: who is pushed back gets nowhere, whatever its velocity says.
    """
    then, same = now.same_since(before)
    were, are = cast(PeopleColumns, before.columns), cast(PeopleColumns, now.columns)
    walks = wants_to_walk(were)[then] & wants_to_walk(are)[same] & (are.speed[same] > 0)
    then, same = then[walks], same[walks]
    return same, np.hypot(now.x[same] - before.x[then], now.y[same] - before.y[then]), are.speed[same]


class Speed(SinceLook):
    """Mean speed since the last look of those who neither wait nor queue, each as a part of what it prefers."""

    def __call__(self, sim: Simulation) -> float | None:
        before, now = self.looked(sim)
        _, way, preferred = walked(before, now)
        return float(np.mean(way / (preferred * np.float64(now.seconds_since(before))))) if len(way) else None


class Jammed:
    """Share of those who neither wait nor queue that are slower than a quarter of Weidmann's speed at the density around.

    Speeds are those since the last look at least a second ago; before that there is no number.
    """

    def __init__(self, sim: Simulation) -> None:
        self._seen = deque([Whereabouts(sim)])
        self._steps = round(JAMMED_S / sim.dt)

    def __call__(self, sim: Simulation) -> float | None:
        seen, now = self._seen, Whereabouts(sim)
        seen.append(now)
        while now.tick - seen[1].tick >= self._steps:
            seen.popleft()
        seconds = now.seconds_since(seen[0])
        walks, way, preferred = walked(seen[0], now)
        if now.tick - seen[0].tick < self._steps or not len(walks):
            return None
        density = surroundings(sim.terrain.walls, now.x, now.y).density[walks]
        return float(np.mean(is_jammed(way / seconds, preferred, density)))


# --- the areas and lines that the configuration names under `measure:` ------------------------------------------------

def density(sim: Simulation) -> dict[str, float]:
    """Return the agents per square metre in each area, by its name."""
    now, places = Whereabouts(sim), sim.config.measure
    areas = {name: Rectangle(*ends) for name, ends in places.areas.items()}
    return {name: int(area.holds(now.x, now.y).sum()) * places.metre**2 / area.size for name, area in areas.items()}


class Flow(SinceLook):
    """Agents a second that cross each line, either way. From one look to the next everybody is taken to go straight."""

    def __call__(self, sim: Simulation) -> dict[str, float] | None:
        before, now = self.looked(sim)
        seconds = now.seconds_since(before)
        if not seconds:
            return None
        then, same = now.same_since(before)
        ways = before.x[then], before.y[then], now.x[same], now.y[same]
        return {name: int(steps_across(*ways, Line(*ends)).sum()) / seconds for name, ends in sim.config.measure.lines.items()}


# --- scenarios that ask a question ---------------------------------------------------------------------------------

def answer(sim: Simulation) -> float | None:
    """Return the time by the scenario's clock at which an event ended the run, s."""
    return sim.events.answer_s(sim.dt)


# --- every crowd -------------------------------------------------------------------------------------------------------

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
