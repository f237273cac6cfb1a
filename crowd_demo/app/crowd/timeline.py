"""The timeline of a run: actions, keyframes, edits to undo and frame times, by tick.

The state of a tick is the one after the actions that were given at it. The present tick may lie before the newest one:
then the rest is the future that steps follow, until `truncate` drops it. Another crowd begins another timeline.

Keyframes are snapshots from which any later tick can be reached by steps, `every` ticks apart. That is at least half a
second of the crowd's time, or as much more as it takes for them to reach a minute back within the memory bound, at most
five seconds. Where they do not fit, the oldest that are closer together than that are thinned out, and then the oldest
of all are dropped. A keyframe costs the copy of a snapshot, and nothing in other steps.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from crowd_demo.host.system import in_thread, lower_priority
from crowd_demo.render.hud.status import Mark, Past
from crowd_demo.sim.actions import Action
from crowd_demo.sim.events import Event
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot

REACH_S = 60.0
LEAST_GAP_S, LONGEST_GAP_S = 0.5, 5.0


class Entry(NamedTuple):
    """A stroke, or an undo of one: `inverses` take it back, in their order."""

    what: str
    inverses: tuple[Action, ...]
    stroke: object = None  # the one that it belongs to, while it may go on


class Entries(NamedTuple):
    """The edits to undo and to redo from a tick on, the newest last."""

    done: tuple[Entry, ...] = ()
    undone: tuple[Entry, ...] = ()


class Timeline:
    """`actions` are those of all known ticks, (tick, action); `entries` hold from the tick that is their key on."""

    def __init__(self, sim: Simulation, bound: int) -> None:
        """Begin with the present state, and keep keyframes in at most `bound` bytes; with 0 there is no going back."""
        self.newest = self.timed = sim.tick  # `timed`: how far the times of frames are known
        self.keyframes, self.check = Keyframes(sim, bound), ReplayCheck()
        self.entries = {-1: Entries()}
        self.actions: list[tuple[int, Action]] = []
        self._events, self._marks = sim.config.events, tuple[Mark, ...]()
        for tick, action in sim.history:
            self.append(tick, action)
        self._hz = sim.config.time.step_hz
        self._span = math.ceil(REACH_S * self._hz)  # ticks that are shown
        self._frame_ms = np.zeros((2, self._span), np.float32)  # [:, t % span] of the frame that made tick t; 0 if not known

    @property
    def oldest(self) -> int:
        """The first tick that can be returned to."""
        return self.newest if self.keyframes.oldest is None else self.keyframes.oldest

    def append(self, tick: int, action: Action) -> None:
        """Note what was done at the newest tick."""
        self.actions.append((tick, action))
        if isinstance(action, Event):
            self._marks += (Mark(tick, self._events[action.number].text),)

    def due(self, sim: Simulation) -> Iterator[Action]:
        """Yield the known actions up to the present tick that the simulation has not seen yet."""
        while (done := len(sim.history)) < len(self.actions) and self.actions[done][0] <= sim.tick:
            yield self.actions[done][1]

    def stepped(self, sim: Simulation) -> None:
        """Call after each step."""
        if sim.tick > self.newest:
            self.newest = sim.tick
            self._frame_ms[:, self.newest % self._span] = 0
        self.keyframes.stepped(sim)

    def truncate(self, tick: int) -> None:
        self._frame_ms[:, np.arange(tick + 1, self.newest + 1) % self._span] = 0
        self.newest = tick
        self.keyframes.drop_after(tick)
        self.check = ReplayCheck()
        self.entries = {at: entries for at, entries in self.entries.items() if at <= tick}
        self.actions = [each for each in self.actions if each[0] <= tick]
        self._marks = tuple(mark for mark in self._marks if mark.at <= tick)

    def frame_took(self, tick: int, ms: float) -> None:
        """Call after each frame with the present tick and its time, which is shown for the ticks made in it."""
        for made in range(max(self.timed + 1, tick - self._span + 1), tick + 1):
            self._frame_ms[:, made % self._span] = ms
        self.timed = tick

    def shown(self, tick: int, recorded: int | None, replayed: bool) -> Past:
        """Return what the bar shows at a tick; its times are those of the moment at which they are read."""
        first = (self.newest + 1) % self._span  # of the oldest time; all are kept twice, so they lie in one piece
        return Past(self.oldest, self.newest, tick, self._span, self._hz, self.keyframes.nbytes, self.keyframes.bound,
                    self._frame_ms.reshape(-1)[first:first + self._span], recorded, replayed, self._marks)


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
        gap_s = LEAST_GAP_S
        if self._kept:
            last = self._kept[-1]
            own = last.columns.nbytes + last.population.nbytes  # what it surely shares with no other
            fit = max((self.bound - self._newest_nbytes) // max(own, 1), 1)  # beside the last one; there may be no agents
            gap_s = min(max(REACH_S / fit, LEAST_GAP_S), LONGEST_GAP_S)
        return max(math.ceil(gap_s * self._hz), 1)

    def before(self, tick: int) -> Snapshot | None:
        number = bisect_right(self._kept, tick, key=lambda keyframe: keyframe.tick)
        return self._kept[number - 1] if number else None

    def stepped(self, sim: Simulation) -> None:
        """Take one if it is time. Call after each step."""
        if sim.tick - self._tried >= self.every:
            self._take(sim)

    def drop_after(self, tick: int) -> None:
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
        while (number := self._dispensable()) is not None:
            del self._kept[number]
            self._count_bytes()

    def _count_bytes(self) -> None:
        self.nbytes = sum({id(array): array.nbytes for keyframe in self._kept for array in keyframe.arrays}.values())
        self._newest_nbytes = self._kept[-1].nbytes if self._kept else 0

    def _dispensable(self) -> int | None:
        """The number of the keyframe to drop, if they take too much memory or reach farther back than they should.

        That is the oldest whose neighbours are close enough to do without it, or the oldest.
        """
        ticks = [keyframe.tick for keyframe in self._kept]
        if self.nbytes > self.bound:
            between = range(1, len(ticks) - 1)
            return next((number for number in between if ticks[number + 1] - ticks[number - 1] <= self.every), 0)
        return 0 if ticks[1:] and self._tried - ticks[1] >= REACH_S * self._hz else None


class ReplayCheck:
    """Tests whether steps that are repeated after rewinding lead to the state before it.

    Both hashes are computed beside the frames, from snapshots: a frame pays for the copy. `_tick` is the one that was
    left, -1 if nothing is to be compared, `start` the one of the keyframe that was restored last.
    """

    def __init__(self) -> None:
        self._tick = self.start = -1
        self._hashes: list[Future[str]] = []  # of the state that was left, and of the one at arrival

    def leave(self, sim: Simulation) -> None:
        """Call before going back from the last tick. While older hashes are being computed it is left without one."""
        self._tick = -1
        if all(each.done() for each in self._hashes):
            self._tick, self._hashes = sim.tick, [_hash(sim)]

    def arrive(self, sim: Simulation) -> None:
        """Call when steps have reached the last tick again."""
        if sim.tick == self._tick and len(self._hashes) == 1:
            self._hashes.append(_hash(sim))

    def result_line(self, step_s: float) -> str:
        """Return a line once both hashes are known, and "" otherwise."""
        if len(self._hashes) < 2 or not all(each.done() for each in self._hashes):
            return ""
        (left, again), tick = (each.result() for each in self._hashes), self._tick
        self._tick, self._hashes = -1, []
        if tick < 0:
            return ""
        if left != again:
            return f"replayed: ANOTHER HASH at tick {tick:,}: it was {left[:8]}, and now it is {again[:8]}"
        return f"replayed: same hash ({left[:8]} at tick {tick:,}, {(tick - self.start) * step_s:.1f} s made again)"


def _hash(sim: Simulation) -> Future[str]:
    snapshot = sim.snapshot()

    def compute() -> str:
        lower_priority()
        return snapshot.state_hash()

    return in_thread(compute, "crowd-demo hash")
