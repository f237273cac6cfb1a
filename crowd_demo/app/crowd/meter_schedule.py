"""When to read which meter: seldom enough that all of them together take two percent of the time.

One meter is read at a time, the one that was read longest ago. After a reading that took t seconds there is none for
`PAUSE` * t seconds, and no meter is read again before `EVERY_S`.

A reading holds while the techniques have the values under which it was made; then it is forgotten, and read again in turn.
The number of agents is no such value: births and deaths change it in every step.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from crowd_demo.sim.metrics.readings import METERS, Readings, Settings
from crowd_demo.sim.simulation import Simulation

PAUSE = 50
EVERY_S = 0.5


class Meters:
    """The worker's thread reads meters; any thread may ask for the readings."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._last = Readings()
        self._clock = clock
        self._read_at: dict[str, float] = {}
        self._read_under: dict[str, Settings] = {}
        self._pause_until = 0.0
        self._holding, self._held_at = set[str](), -1  # meters whose last reading holds, and after how many assignments

    def readings(self, sim: Simulation) -> Readings:
        """Return the last readings, None for those that do not hold under the present settings."""
        holding = self._held(sim)
        return Readings(**{name: value for name, value in self._last._asdict().items() if name in holding})

    def read(self, sim: Simulation) -> None:
        """Read one meter if it is time. Call after a step, from the thread that makes the steps."""
        now = self._clock()
        if now < self._pause_until:
            return
        for name in self._read_at.keys() - self._held(sim):
            del self._read_at[name]
        due = [name for name, meter in METERS.items()
               if meter.applies(sim) and now - self._read_at.get(name, -EVERY_S) >= EVERY_S]
        if due:
            name = min(due, key=lambda name: self._read_at.get(name, -EVERY_S))
            self._last = self._last.with_value(name, METERS[name].measure(sim))
            self._read_under[name], self._held_at = METERS[name].settings(sim), -1
            self._read_at[name] = end = self._clock()
            self._pause_until = end + PAUSE * (end - now)

    def _held(self, sim: Simulation) -> set[str]:
        """Return the meters whose last reading holds. Looked up only after a technique was assigned or a meter read."""
        if self._held_at != sim.optimizations.changes:
            self._held_at = sim.optimizations.changes
            present = {settings: settings(sim) for settings in {meter.settings for meter in METERS.values()}}
            self._holding = {name for name, meter in METERS.items()
                             if meter.applies(sim) and self._read_under.get(name) == present[meter.settings]}
        return self._holding
