"""When to read which meter: seldom enough that all of them together take two percent of the time.

One meter is read at a time, the one that was read longest ago. After a reading that took t seconds there is none for
`PAUSE` * t seconds, and no meter is read again before `EVERY_S`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from crowd_demo.sim.metrics.readings import METERS, Readings
from crowd_demo.sim.simulation import Simulation

PAUSE = 50
EVERY_S = 0.5


class Meters:
    """`readings` are the last ones; the worker's thread writes them, any thread may read them."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.readings = Readings()
        self._clock = clock
        self._read_at: dict[str, float] = {}
        self._pause_until = 0.0

    def read(self, sim: Simulation) -> None:
        """Read one meter if it is time, and drop readings that no longer apply.

        Call after a step, from the thread that makes the steps.
        """
        now = self._clock()
        applying = [name for name, meter in METERS.items() if meter.applies(sim)]
        for name in set(self._read_at) - set(applying):
            del self._read_at[name]
            self.readings = self.readings.with_value(name, None)
        due = [name for name in applying if now - self._read_at.get(name, -EVERY_S) >= EVERY_S]
        if due and now >= self._pause_until:
            name = min(due, key=lambda name: self._read_at.get(name, -EVERY_S))
            self.readings = self.readings.with_value(name, METERS[name].measure(sim))
            self._read_at[name] = end = self._clock()
            self._pause_until = end + PAUSE * (end - now)
