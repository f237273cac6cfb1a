"""The pace of a crowd: steps per frame, how well it keeps up with the clock, and the schedule of the meters.

Steps are always `dt` long; time that does not fill a step is kept for the next frame, and the picture is drawn so far
ahead. A slow frame catches up `catch_up` steps of the clock's time (at a speed of x16, 16 times as many of the crowd's) and
forgets the rest: beyond that the crowd's time passes more slowly than the clock. So does it where the steps do not fit into
the time that a frame has for them.

Meters are read seldom enough that all of them together take two percent of the time. One is read at a time, the one that
was read longest ago. After a reading that took t seconds there is none for `PAUSE` * t seconds, and no meter is read again
before `EVERY_S`. A reading holds while the techniques have the values under which it was made; then it is forgotten, and
read again in turn. The number of agents is no such value: births and deaths change it in every step.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from crowd_demo.sim.metrics.readings import METERS, Readings, Settings
from crowd_demo.sim.simulation import Simulation

LONGEST_FRAME_S = 0.25  # longer frames (the window was moved, the machine was suspended) count as this
CATCH_UP_S = 0.05  # after this time in a frame no further step is begun
STEPS_S = 1 / 30  # after this time none beyond the first `catch_up`: a high speed leaves 20 to 30 frames a second
WINDOW_S = 1.0  # over which steps a second are counted
LEAST_LAG = 0.05  # of the asked speed; less is not shown
PAUSE = 50
EVERY_S = 0.5


class Pace:
    """`owed_s` is the crowd's time without a step yet, at most dt. It begins with dt, so the first frame makes a step."""

    def __init__(self, dt: float, catch_up: int) -> None:
        self.dt = dt
        self.catch_up = catch_up
        self.owed_s = dt

    def steps(self, elapsed_s: float, speed: float) -> int:
        """Steps to make now, `elapsed_s` seconds of the clock after the last call, at `speed` times its pace."""
        self.owed_s += min(elapsed_s, LONGEST_FRAME_S) * speed
        due = int(self.owed_s / self.dt)
        self.owed_s = min(max(self.owed_s - due * self.dt, 0.0), self.dt)
        return min(due, int(self.catch_up * max(speed, 1.0)))

    def is_enough(self, made: int, spent_s: float) -> bool:
        """Return whether a frame has no time for more than `made` steps, which took `spent_s` seconds."""
        return spent_s > (CATCH_UP_S if made < self.catch_up else STEPS_S)


class StepRate:
    """Steps a second of the clock, counted over the last second."""

    def __init__(self) -> None:
        self._counted: deque[tuple[float, int]] = deque()  # (time, steps made by then), oldest first

    def add(self, now_s: float, steps: int) -> None:
        """Call once a frame, with the moment up to which its steps go and all steps that were made by then."""
        self._counted.append((now_s, steps))
        while len(self._counted) > 2 and now_s - self._counted[1][0] >= WINDOW_S:
            self._counted.popleft()

    def clear(self) -> None:
        self._counted.clear()

    @property
    def per_s(self) -> float:
        """Steps a second; 0 before there were two frames."""
        spent_s, steps = self._total()
        return steps / spent_s if spent_s > 0 else 0.0

    def real_speed(self, asked: float, dt: float) -> float | None:
        """The speed that is reached, if it can be told from the asked one within a second; else None.

        Steps are whole, so a second may hold one less than it should.
        """
        spent_s, steps = self._total()
        due = asked * spent_s / dt
        if spent_s < WINDOW_S / 2 or due - steps <= max(1.0, LEAST_LAG * due):
            return None
        return steps * dt / spent_s

    def _total(self) -> tuple[float, int]:
        """Seconds from the oldest frame to the newest, and the steps made in them."""
        if not self._counted:
            return 0.0, 0
        (first_s, before), (last_s, after) = self._counted[0], self._counted[-1]
        return last_s - first_s, after - before


# --- meters ----------------------------------------------------------------------------------------------------------

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
            self._last = self._last._replace(**{name: METERS[name].measure(sim)})  # type: ignore[arg-type]
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
