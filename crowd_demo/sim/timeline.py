"""The past of a simulation, as far as memory allows: keyframes (snapshots), and the actions between them.

`seek` restores the nearest keyframe and makes the steps from there, with the actions at their ticks; a step is a function of
state, actions and configuration, so this is the past itself and not something like it. The state of a tick is the one after
the actions that were given at it.

After going back, steps follow what is known of the future, until somebody does something else (`apply`): then it is dropped.

Keyframes are `every` ticks apart. That is at least half a second of the crowd's time, or as much more as it takes for them to
reach a minute back within the memory bound, at most five seconds. Where they do not fit, the oldest that are closer together
than that are thinned out, and then the oldest of all are dropped. A keyframe costs the copy of a snapshot, and nothing in
other steps.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable

from crowd_demo.sim.actions import Action
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot

REACH_S = 60.0
LEAST_GAP_S, LONGEST_GAP_S = 0.5, 5.0


def always() -> bool:
    return True


class Timeline:
    """Make all steps and actions of the simulation through it. `bound` is in bytes; with 0 there is no going back."""

    def __init__(self, sim: Simulation, bound: int) -> None:
        self.sim, self.bound = sim, bound
        self._keyframes: list[Snapshot] = []
        self._known = sim.history  # all actions up to `newest`; a simulation that is restored gets another list
        self.newest = sim.tick  # the last tick that is known
        self._tried = sim.tick  # the last tick at which there was to be a keyframe
        self._keep()

    # --- onwards -----------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Make a step, and do what was done at the tick that it leads to, if that is known."""
        self.sim.step()
        self._follow()
        self.stepped()

    def stepped(self) -> None:
        """Call after a step that somebody else has made, at the newest tick."""
        if self.sim.tick > self.newest:
            self.newest = self.sim.tick
        if self.sim.tick - self._tried >= self.every:
            self._keep()

    def apply(self, action: Action) -> None:
        """Do something now; what was known of the future is dropped. Raises ValueError, and changes nothing then."""
        self.sim.apply(action)
        self.drop_future()

    def drop_future(self) -> None:
        """Forget what is known beyond the present tick."""
        self.newest = self.sim.tick
        self._known = self.sim.history
        self._keyframes = [keyframe for keyframe in self._keyframes if keyframe.tick <= self.newest]
        self._tried = min(self._tried, self.newest)

    def _follow(self) -> None:
        """Do what was done at this tick."""
        while (done := len(self.sim.history)) < len(self._known) and self._known[done][0] <= self.sim.tick:
            self.sim.apply(self._known[done][1])

    # --- back and forth ----------------------------------------------------------------------------------------------

    @property
    def oldest(self) -> int:
        """The first tick that can be returned to."""
        return self._keyframes[0].tick if self._keyframes else self.sim.tick

    def seek(self, tick: int, go_on: Callable[[], bool] = always) -> int:
        """Go to a tick between `oldest` and `newest`; return the tick reached, an earlier one if `go_on` says no.

        Takes at most `every` steps from a keyframe. Raises ValueError for a tick that cannot be reached.
        """
        if not self.oldest <= tick <= self.newest:
            raise ValueError(f"tick {tick} is not between {self.oldest} and {self.newest}")
        before = bisect_right(self._keyframes, tick, key=lambda keyframe: keyframe.tick) - 1
        if tick < self.sim.tick or (before >= 0 and self._keyframes[before].tick > self.sim.tick):
            self.sim.restore(self._keyframes[before])
            self._follow()
        while self.sim.tick < tick and go_on():
            self.step()
        return self.sim.tick

    # --- keyframes ---------------------------------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """Bytes of all keyframes; what several share counts once."""
        arrays = {id(part): part.nbytes for keyframe in self._keyframes for part in keyframe.parts}
        return sum(arrays.values())

    @property
    def every(self) -> int:
        """Ticks from one keyframe to the next."""
        gap_s = LEAST_GAP_S
        if self._keyframes:
            last = self._keyframes[-1]
            own = last.columns.nbytes + last.population.nbytes  # what it surely shares with no other
            fit = max((self.bound - last.nbytes) // max(own, 1), 1)  # beside the last one; there may be nobody
            gap_s = min(max(REACH_S / fit, LEAST_GAP_S), LONGEST_GAP_S)
        return max(math.ceil(gap_s * self.sim.config.time.step_hz), 1)

    def _keep(self) -> None:
        """Take a keyframe, if there is room for one, and make room."""
        self._tried = self.sim.tick
        if self.sim.agents.count * len(self.sim.agents.names) * 4 > self.bound:
            return
        self._keyframes.append(self.sim.snapshot())
        while self._is_too_much():
            del self._keyframes[self._dispensable()]

    def _is_too_much(self) -> bool:
        """Do they take too much memory, or reach farther back than they should?"""
        if len(self._keyframes) > 1 and self._tried - self._keyframes[1].tick >= REACH_S * self.sim.config.time.step_hz:
            return True
        return bool(self._keyframes) and self.nbytes > self.bound

    def _dispensable(self) -> int:
        """The number of the keyframe to drop: the oldest whose neighbours are close enough to do without it, or the oldest."""
        ticks = [keyframe.tick for keyframe in self._keyframes]
        if self.nbytes > self.bound:
            for number in range(1, len(ticks) - 1):
                if ticks[number + 1] - ticks[number - 1] <= self.every:
                    return number
        return 0
