"""When to read which meter: seldom enough that all of them together take two percent of the time.

One meter is read at a time, the one that was read longest ago. After one that took t nothing is read for `RESTS` t, and
none is read again before `EVERY_S`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from crowd_demo.sim.metrics.readings import METERS, Readings
from crowd_demo.sim.simulation import Simulation

RESTS = 50
EVERY_S = 0.5


class Meters:
    """`readings` are the last ones; the worker writes them, anybody may read them."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.readings = Readings()
        self._clock = clock
        self._read_at: dict[str, float] = {}
        self._rests_until = 0.0

    def read(self, sim: Simulation) -> None:
        """Read one if it is time, and forget those that no longer apply; after a step, where nothing else touches it."""
        now = self._clock()
        applying = [name for name, meter in METERS.items() if meter.applies(sim)]
        for name in set(self._read_at) - set(applying):
            del self._read_at[name]
            self.readings = self.readings.with_value(name, None)
        due = [name for name in applying if now - self._read_at.get(name, -EVERY_S) >= EVERY_S]
        if due and now >= self._rests_until:
            name = min(due, key=lambda name: self._read_at.get(name, -EVERY_S))
            self.readings = self.readings.with_value(name, METERS[name].measure(sim))
            self._read_at[name] = end = self._clock()
            self._rests_until = end + RESTS * (end - now)
