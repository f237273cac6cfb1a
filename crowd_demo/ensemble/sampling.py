"""Look at a run every few steps, and fold what was seen to one number for each column."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from crowd_demo.registry.entries import MeasureEntry, load
from crowd_demo.registry.measures import MEASURES
from crowd_demo.sim.simulation import Simulation

Number = float | None
Measure = Callable[[Simulation], Number | Mapping[str, Number]]

FOLD: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda seen: math.fsum(seen) / len(seen),
    "median": statistics.median,
    "most": max,
    "last": lambda seen: seen[-1],
    "total": math.fsum,
}


def begun(entry: MeasureEntry, sim: Simulation) -> Measure:
    """Return what is called at each look: the measure's function, or an object of its class."""
    code = load(entry.code)
    measure: Measure = code(sim) if isinstance(code, type) else code
    return measure


class Sampler:
    """The measures of a run; make it before the first step."""

    def __init__(self, names: Iterable[str], sim: Simulation) -> None:
        entries = [MEASURES[name] for name in names]
        self._sim = sim
        self._measures = [(entry, begun(entry, sim)) for entry in entries if applies(entry, sim.config.behaviour)]
        self._seen: dict[str, list[float]] = {entry.name: [] for entry in entries if not entry.places}
        self._folds = {entry.name: FOLD[entry.fold] for entry in entries}

    def look(self) -> None:
        for entry, measure in self._measures:
            found = measure(self._sim)
            for column, number in columns(entry.name, found).items():
                if number is not None:
                    self._seen.setdefault(column, []).append(float(number))

    def folded(self) -> dict[str, Number]:
        """A number for each column; None where nothing was seen, or what is no finite number."""
        found = {column: self._folds[column.partition(".")[0]](seen) if seen else None
                 for column, seen in self._seen.items()}
        return {column: number if number is not None and math.isfinite(number) else None for column, number in found.items()}


def applies(entry: MeasureEntry, behaviour: str) -> bool:
    return not entry.behaviours or behaviour in entry.behaviours


def columns(name: str, found: Number | Mapping[str, Number]) -> dict[str, Number]:
    """What a measure returned, by column: `name`, or `name.place` for each place."""
    if isinstance(found, Mapping):
        return {f"{name}.{place}": number for place, number in found.items()}
    return {name: found}
