"""Going back in time in the window: where somebody wants to go, and what each tick cost to make.

The worker's thread makes the steps and goes to what is sought; the main thread says what is sought, and asks for the past.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from crowd_demo.render.hud.navigation import REFRESH_HZ
from crowd_demo.render.hud.status import Past
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.timeline import REACH_S, Timeline

MB = 1_000_000


class Rewind:
    """The timeline of the present simulation. With a bound of 0 MB there is no going back."""

    def __init__(self, sim: Simulation, bound_mb: float) -> None:
        self._bound = int(bound_mb * MB)
        self.hz = sim.config.time.step_hz
        self.span = math.ceil(REACH_S * self.hz)
        self.begin(sim)

    def begin(self, sim: Simulation) -> None:
        """Go on with another simulation, or another state: what was before cannot be returned to."""
        self.timeline = Timeline(sim, self._bound)
        self.sought: int | None = None
        self._frame_ms = np.zeros(self.span, np.float32)  # of tick t at t % span
        self._ticks = np.full(self.span, -1, np.int64)  # which tick that is
        self._places, self._due = np.arange(self.span), np.zeros(self.span, np.int64)
        self._unknown, self._shown = np.zeros(self.span, bool), np.zeros(self.span, np.float32)
        self._recorded = sim.tick
        self._past = self._whole_past()
        self._found_at = time.monotonic()

    @property
    def possible(self) -> bool:
        return self._bound > 0

    @property
    def in_past(self) -> bool:
        """Is a future known that has not come again yet?"""
        return self.timeline.sim.tick < self.timeline.newest

    # --- going there -------------------------------------------------------------------------------------------------

    def seek(self, tick: int) -> None:
        """Ask for a tick; the last one asked for counts."""
        self.sought = tick

    def seek_by(self, ticks: int) -> None:
        """Ask for a tick so many from the present one, or from the one that is being sought."""
        self.seek((self.timeline.sim.tick if self.sought is None else self.sought) + ticks)

    def go(self, go_on: Callable[[], bool]) -> bool:
        """Go to what is sought, in the worker's thread; stop when something else is. Return whether anything was sought."""
        tick = self.sought
        if tick is None:
            return False
        timeline = self.timeline
        timeline.seek(min(max(tick, timeline.oldest), timeline.newest), lambda: go_on() and self.sought == tick)
        if self.sought == tick:
            self.sought = None
        self._recorded = timeline.sim.tick
        return True

    # --- what it cost ------------------------------------------------------------------------------------------------

    def frame_took(self, ms: float) -> None:
        """Call after each frame: so long took the frame in which the last ticks were made."""
        tick = self.timeline.sim.tick
        for made in range(max(self._recorded + 1, tick - self.span + 1), tick + 1):
            self._frame_ms[made % self.span], self._ticks[made % self.span] = ms, made
        self._recorded = tick

    def past(self) -> Past:
        """What the bar shows; its bytes and times are found a few times a second."""
        now = time.monotonic()
        if now - self._found_at > 1 / REFRESH_HZ:
            self._past, self._found_at = self._whole_past(), now
        timeline = self.timeline
        return self._past._replace(oldest=timeline.oldest, newest=timeline.newest, tick=timeline.sim.tick)

    def _whole_past(self) -> Past:
        timeline, newest = self.timeline, self.timeline.newest
        self._find_times(newest)
        return Past(timeline.oldest, newest, timeline.sim.tick, self.span, self.hz, timeline.nbytes, self._bound, self._shown)

    def _find_times(self, newest: int) -> None:
        """Write the times of the last `span` ticks up to `newest` to `_shown`, 0 for those that are not known."""
        np.subtract(newest, self._places, out=self._due)
        np.remainder(self._due, self.span, out=self._due)
        np.subtract(newest, self._due, out=self._due)  # which tick each place should hold
        np.not_equal(self._ticks, self._due, out=self._unknown)
        first = (newest + 1) % self.span  # where the oldest of them lies
        for shown, places in ((self._shown[:self.span - first], slice(first, None)),
                              (self._shown[self.span - first:], slice(first))):
            shown[:] = self._frame_ms[places]
            np.copyto(shown, 0, where=self._unknown[places])
