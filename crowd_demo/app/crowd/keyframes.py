"""Keyframes: snapshots of a run from which any later tick can be reached by steps.

They are `every` ticks apart. That is at least half a second of the crowd's time, or as much more as it takes for them to
reach a minute back within the memory bound, at most five seconds. Where they do not fit, the oldest that are closer together
than that are thinned out, and then the oldest of all are dropped. A keyframe costs the copy of a snapshot, and nothing in
other steps. Whether steps that are made again lead to the same state is checked by hashes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from concurrent.futures import Future

from crowd_demo.host.system import in_thread, lower_priority
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot

REACH_S = 60.0
LEAST_GAP_S, LONGEST_GAP_S = 0.5, 5.0


class Keyframes:
    """The snapshots, oldest first, in at most `bound` bytes; with 0 there are none."""

    def __init__(self, sim: Simulation, bound: int) -> None:
        """Begin with a snapshot of the present state."""
        self.bound, self._hz = bound, sim.config.time.step_hz
        self._kept: list[Snapshot] = []
        self._tried = sim.tick  # the last tick at which there was to be a keyframe
        self.nbytes = self._newest_nbytes = 0  # of all of them, where what several share counts once; of the last one
        self._take(sim)

    @property
    def oldest(self) -> int | None:
        """The tick of the oldest one; None without any."""
        return self._kept[0].tick if self._kept else None

    @property
    def every(self) -> int:
        """Ticks from one keyframe to the next."""
        gap_s = LEAST_GAP_S
        if self._kept:
            last = self._kept[-1]
            own = last.columns.nbytes + last.population.nbytes  # what it surely shares with no other
            fit = max((self.bound - self._newest_nbytes) // max(own, 1), 1)  # beside the last one; there may be nobody
            gap_s = min(max(REACH_S / fit, LEAST_GAP_S), LONGEST_GAP_S)
        return max(math.ceil(gap_s * self._hz), 1)

    def before(self, tick: int) -> Snapshot | None:
        """The last one at or before a tick."""
        number = bisect_right(self._kept, tick, key=lambda keyframe: keyframe.tick)
        return self._kept[number - 1] if number else None

    def stepped(self, sim: Simulation) -> None:
        """Take one if it is time. Call after each step."""
        if sim.tick - self._tried >= self.every:
            self._take(sim)

    def drop_after(self, tick: int) -> None:
        """Forget those of later ticks."""
        self._kept = [keyframe for keyframe in self._kept if keyframe.tick <= tick]
        self._tried = min(self._tried, tick)
        self._count_bytes()

    def _take(self, sim: Simulation) -> None:
        """Take one, if there is room for it, and make room."""
        self._tried = sim.tick
        if sim.agents.count * len(sim.agents.names) * 4 > self.bound:
            return
        self._kept.append(sim.snapshot())
        self._count_bytes()
        while self._is_too_much():
            del self._kept[self._dispensable()]
            self._count_bytes()

    def _count_bytes(self) -> None:
        self.nbytes = sum({id(array): array.nbytes for keyframe in self._kept for array in keyframe.arrays}.values())
        self._newest_nbytes = self._kept[-1].nbytes if self._kept else 0

    def _is_too_much(self) -> bool:
        """Do they take too much memory, or reach farther back than they should?"""
        if len(self._kept) > 1 and self._tried - self._kept[1].tick >= REACH_S * self._hz:
            return True
        return self.nbytes > self.bound

    def _dispensable(self) -> int:
        """The number of the keyframe to drop: the oldest whose neighbours are close enough to do without it, or the oldest."""
        ticks = [keyframe.tick for keyframe in self._kept]
        if self.nbytes > self.bound:
            for number in range(1, len(ticks) - 1):
                if ticks[number + 1] - ticks[number - 1] <= self.every:
                    return number
        return 0


class ReplayCheck:
    """Do the steps that are made again, after going back, lead to the state that was left?

    Both hashes are computed beside the frames, from snapshots: a frame pays for the copy. `_tick` is the one that was
    left, -1 if nothing is to be compared, `_start` the one of the keyframe that was restored last.
    """

    def __init__(self) -> None:
        self._tick = self._start = -1
        self._hashes: list[Future[str]] = []  # of the state that was left, and of the one at arrival

    def forget(self) -> None:
        """What was left does not come again."""
        self._tick = -1

    def leave(self, sim: Simulation) -> None:
        """Call before going back from the last tick. While older hashes are being computed it is left without one."""
        self.forget()
        if all(each.done() for each in self._hashes):
            self._tick, self._hashes = sim.tick, [_hash(sim)]

    def restored(self, tick: int) -> None:
        self._start = tick

    def arrive(self, sim: Simulation) -> None:
        """Call when steps have reached the last tick again."""
        if sim.tick == self._tick and len(self._hashes) == 1:
            self._hashes.append(_hash(sim))

    def result_line(self, step_s: float) -> str:
        """Return a line once both hashes are known, and "" otherwise."""
        if len(self._hashes) < 2 or not all(each.done() for each in self._hashes):
            return ""
        (left, again), tick = (each.result() for each in self._hashes), self._tick
        self._hashes = []
        self.forget()
        if tick < 0:
            return ""
        if left != again:
            return f"replayed: ANOTHER HASH at tick {tick:,}: it was {left[:8]}, and now it is {again[:8]}"
        return f"replayed: same hash ({left[:8]} at tick {tick:,}, {(tick - self._start) * step_s:.1f} s made again)"


def _hash(sim: Simulation) -> Future[str]:
    snapshot = sim.snapshot()

    def compute() -> str:
        lower_priority()
        return snapshot.state_hash()

    return in_thread(compute, "crowd-demo hash")
