"""The crowd that is shown, and its time: the only place where steps are made and where the simulation is replaced.

The main thread asks for actions, for steps, for a tick to go to. The worker's thread carries that out between two
steps, so the window does not wait for a long step.

To go to a tick, the last keyframe before it is restored, and steps are made from there with the actions at their ticks.
A step is a function of state, actions and configuration, so this is the past itself. After going back, steps repeat the
known actions, until the user does something else.

The state of a tick is the one after the actions that were given at it. The present tick may lie before the newest one:
then the rest is the future that steps follow, until `truncate` drops it. Another crowd begins another timeline.

Keyframes are snapshots from which any later tick can be reached by steps, `every` ticks apart. That is at least half a
second of the crowd's time, or as much more as it takes for them to reach a minute back within the memory bound, at most
five seconds. Where they do not fit, the oldest that are closer together than that are thinned out, and then the oldest
of all are dropped. A keyframe costs the copy of a snapshot, and nothing in other steps.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from crowd_demo.app.pace import Meters, Pace, StepRate
from crowd_demo.app.screen import Notices
from crowd_demo.config.model import Config
from crowd_demo.host.recording.recording import Player, Recording
from crowd_demo.host.system import beside_frames, give_back_freed
from crowd_demo.registry.entries import Value
from crowd_demo.render.hud.status import Mark, Past
from crowd_demo.render.scene import Scene
from crowd_demo.sim.actions import Action, Populate, Switch
from crowd_demo.sim.edits import lasting_edits
from crowd_demo.sim.events import Event
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot, differences
from crowd_demo.sim.tuning import SetNumbers, numbers_by_hand

MB = 1_000_000
UNSEEN_STEPS = 1000  # at most so many a frame, before the tick at which a replay is to begin
EVENT_S = 8.0  # how long the notice of an event is shown
NOTED = 100  # characters of an action in the notes of the profile
OTHER_TIME, OTHER_CROWD = "it went to another time", "another crowd began"
REACH_S = 60.0
MAX_ENTRIES = 200
MAX_TIMES = 5_000  # of which the entries are remembered; beyond, those before the past that is kept are forgotten
LEAST_GAP_S, LONGEST_GAP_S = 0.5, 5.0


class Change(NamedTuple):
    """What was done to the crowd beside steps: the technique at `path` was switched, or `what` if there is no path."""

    what: str = ""
    path: str = ""
    old: Value = 0
    new: Value = 0


def agents_at_start(sim: Simulation) -> int:
    """Return the number of agents that was typed last, or else the configured one: people who left do not count."""
    return next((done.count for _, done in reversed(sim.history) if isinstance(done, Populate)), sim.config.agents)


class Crowd:
    """The simulation that is shown (`sim`), what draws it, and everything about its time.

    changes      actions and other work that wait for the next step
    changed      what was done in this frame, in order
    timeline     what is known of its past, and of its future after going back
    sought       the tick to go to, if any; the last one asked for counts
    paused, speed, unpaced    `unpaced` makes a step a frame, however long frames are
    stops_at_end  whether no steps follow an event that ends the run
    agents_asked  with which it would start again
    steps_asked  to be made in the next frame, also while the crowd is paused
    recording    what writes down what happens
    player       a replay, which takes no changes
    kept_edits   the `edits` that a file holds
    by_hand      what carries out an action that was asked for, so that it can be undone
    """

    def __init__(self, config: Config, sim: Simulation, scene: Scene | None, rewind_mb: float, notices: Notices,
                 player: Player | None = None, unpaced: bool = False, stops_at_end: bool = False) -> None:
        """Remember the past within `rewind_mb`; with 0 there is no going back."""
        self.config, self.sim, self.scene = config, sim, scene
        self.agents_asked = sim.agents.count
        self.changes: list[Action | Callable[[], object]] = []
        self.changed: list[Change] = []
        self.meters = Meters()
        self.recording: Recording | None = None
        self.player = player
        self.paused, self.steps_asked, self.speed, self.unpaced = False, 0, config.time.speed, unpaced
        self.stops_at_end = stops_at_end
        self.pace, self.rate = Pace(sim.dt, config.time.catch_up), StepRate()
        self._notices, self._bound = notices, int(rewind_mb * MB)
        self.by_hand: Callable[[Action], object] = self.carry_out
        self.begin_past()
        self.kept_edits = [self.edits]

    def begin_past(self, entries: Entries | None = None) -> None:
        self.sought: int | None = None
        self.timeline = Timeline(self.sim, self._bound, entries or Entries())

    # --- asking ------------------------------------------------------------------------------------------------------

    def takes_changes(self) -> bool:
        """Return False for a replay, and say so."""
        if self.player:
            self._notices.add("this is a replay: it takes no changes", "replay", holds=lambda: self.player)
        return self.player is None

    def apply(self, change: Action | Callable[[], object]) -> None:
        """Ask for an action, or for other work of the worker's thread, before the next step."""
        self.changes.append(change)

    def due_steps(self, elapsed_s: float) -> int:
        """Steps to make in this frame, `elapsed_s` after the last one."""
        if self.player and not self.player.begun:
            return UNSEEN_STEPS
        asked, self.steps_asked = self.steps_asked, 0
        if asked or self.paused:
            return asked
        return 1 if self.unpaced else self.pace.steps(elapsed_s, self.speed)

    # --- what is known of it -----------------------------------------------------------------------------------------

    @property
    def in_past(self) -> bool:
        return self.sim.tick < self.timeline.newest

    def past(self) -> Past:
        return self.timeline.shown(self.sim.tick, self.recording.nbytes if self.recording else None, bool(self.player))

    @property
    def edits(self) -> tuple[Action, ...]:
        """What was built by hand, as actions on a fresh world; numbers are not among them. Any thread may ask."""
        ways = self.sim.ways
        return lasting_edits(list(self.timeline.actions), self.sim.terrain, ways.first_exits if ways else ())

    def at_its_start(self, agents: int) -> Simulation:
        """Return another simulation of the edited scenario at tick 0, with so many agents. Raises ValueError."""
        config = self.config.model_copy(update={"agents": agents, "optimizations": self.sim.optimizations})
        numbers = numbers_by_hand(self.timeline.actions, config)
        return Simulation(config, (*self.edits, *([SetNumbers(tuple(numbers.items()))] if numbers else [])))

    # --- in the worker's thread, between two steps -------------------------------------------------------------------

    def carry_out_changes(self, go_on: Callable[[], bool]) -> None:
        """Go to the tick that is sought, and carry out `changes`. `go_on` is asked between steps."""
        if (tick := self.sought) is not None:  # as near as is known; stop when another one is sought
            timeline = self.timeline
            to = min(max(tick, timeline.oldest), timeline.newest)
            keyframe = timeline.keyframes.before(to)
            if keyframe and not keyframe.tick <= self.sim.tick <= to:
                if not self.in_past:
                    timeline.check.leave(self.sim)
                self.sim.restore(keyframe)
                timeline.check.start = keyframe.tick
                for action in timeline.due(self.sim):
                    self._apply(self.sim, action)
                self.changed.append(Change(OTHER_TIME))
            while self.sim.tick < to and go_on() and self.sought == tick:
                self.step()
            if self.sought == tick:
                self.sought = None
            timeline.timed = self.sim.tick
            self.agents_asked = agents_at_start(self.sim)
        changes, self.changes = self.changes, []
        for change in changes:
            if callable(change):
                change()
            else:
                self.by_hand(change)
        if changes:
            give_back_freed()  # by these changes, or since the last ones: a switch takes effect in the step

    def carry_out(self, action: Action) -> bool:
        """Apply an action; show a notice and return False if it is impossible."""
        self.begin_new_future()
        before = self.sim.agents.count
        try:
            self._apply(self.sim, action)
        except ValueError as error:
            self.agents_asked = agents_at_start(self.sim)
            self._notices.add(str(error))
            return False
        if not isinstance(action, Populate | Event):
            self.agents_asked = max(self.agents_asked + self.sim.agents.count - before, 0)
        if self.recording:
            self.recording.acted(self.sim.tick, action)
        return True

    def make_steps(self, count: int, go_on: Callable[[], bool]) -> None:
        """Make so many steps, or as many as a frame has time for; stop between two of them if `go_on` says no."""
        start_s, capacity = time.perf_counter(), self.sim.agents.capacity
        for made in range(1, count + 1):
            self.step()
            if self.pace.is_enough(made, time.perf_counter() - start_s) or not go_on():
                break
        if self.sim.agents.capacity != capacity:
            self.sim.profile.note(f"memory for {self.sim.agents.capacity:,} agents")

    def step(self) -> None:
        """Make a step: of the known future, of the replay, or a new one with its events; none once the run is over."""
        player = self.player
        if self.in_past:
            self.sim.step()
            for action in self.timeline.due(self.sim):
                self._apply(self.sim, action)
            if not self.in_past:
                self.timeline.check.arrive(self.sim)
        elif player and not player.done:
            part, left = player.part, self.sim.tick
            sim = player.step(self._apply)
            if player.part is not part:
                self.go_on_with(sim, left)
            if player.done:
                self.paused = True
                self._notices.add(player.verdict(sim.tick), "replay")
        elif not player:
            for number in self.sim.events.due(self.sim) if self.config.events else ():
                self.carry_out(Event(number))
            if not self.stops_at_end or self.sim.events.end_tick is None:
                self.sim.step()
                if self.recording:
                    self.recording.stepped(self.sim)
        self.timeline.stepped(self.sim)

    def begin_new_future(self) -> None:
        if not self.in_past:
            return
        left, tick = self.timeline.newest, self.sim.tick
        self.timeline.truncate(tick)
        if self.recording:
            self.recording.rewound(self.sim, left)
        self._notices.add(f"a new future: {(left - tick) * self.sim.dt:.1f} s dropped", "rewind")

    def left_behind(self, what: str, otherwise: Entries | None = None) -> Entries | None:
        """Return entries for the crowd that follows the present one; the last one brings the present crowd back.

        Where the memory for the past does not suffice, show a notice and return the entries `otherwise`.
        """
        snapshot, entries = self.sim.snapshot(), self.timeline.entries_at(self.sim.tick)
        if snapshot.nbytes <= self._bound:
            return Entries(fitting((*entries.done, Entry(what, crowd=snapshot)), self._bound))
        self._notices.add(f"{what}: no undo, the crowd needs {snapshot.nbytes / MB:,.1f} MB of time.rewind_mb", "undo",
                          2 * EVENT_S)  # the window shows the newest notice alone: first that of the change itself
        return otherwise

    def bring_back(self, snapshot: Snapshot, restore: Callable[[Simulation], None], entries: Entries | None) -> None:
        """Go on from a snapshot of the same world, which `restore` puts into a simulation of its configuration."""
        left = self.sim.tick
        sim = Simulation(snapshot.config) if differences(self.sim.config, snapshot.config) else self.sim
        restore(sim)
        self.go_on_with(sim, left, entries)
        self.agents_asked = agents_at_start(sim)

    def go_on_with(self, sim: Simulation, left: int, entries: Entries | None = None) -> None:
        """Go on with another simulation of the same world, or with the present one in another state, after the tick `left`."""
        sim.profile = self.sim.profile
        if sim is not self.sim:
            sim.profile.note("another crowd")
        self.changed.append(Change(OTHER_TIME if sim is self.sim else OTHER_CROWD))
        self.sim = sim
        self.begin_past(entries)
        self.meters = Meters()
        if self.scene:
            self.scene.sim = sim
        if self.recording:
            self.recording.begin(sim, left)

    def _apply(self, sim: Simulation, action: Action) -> None:
        """Apply an action, note the change, and show what an event says. Raises ValueError if it is impossible."""
        if isinstance(action, Switch):
            change = Change("", action.path, sim.optimizations.get(action.path), action.value)
        else:
            change = Change(getattr(action, "about", "the crowd was changed"))
        sim.apply(action)
        if len(sim.history) > len(self.timeline.actions):
            self.timeline.append(sim.tick, action)
        self.changed.append(change)
        sim.profile.note(str(action)[:NOTED])
        if isinstance(action, Event) and (said := sim.config.events[action.number].say) and self.sought is None:
            self._notices.add(said, "event", EVENT_S)
        while sim.events.impossible:
            self._notices.add(sim.events.impossible.pop(0))


# --- the timeline ----------------------------------------------------------------------------------------------------

class Entry(NamedTuple):
    """A change, or an undo of one: `inverses` take it back, in their order, or else the crowd before it comes back."""

    what: str
    inverses: tuple[Action, ...] = ()
    stroke: object = None  # the one that it belongs to, while it may go on
    crowd: Snapshot | None = None  # entries before this one are about that crowd


class Entries(NamedTuple):
    """The changes to undo and to redo from a tick on, the newest last."""

    done: tuple[Entry, ...] = ()
    undone: tuple[Entry, ...] = ()


def fitting(entries: tuple[Entry, ...], bound: int) -> tuple[Entry, ...]:
    """Return the newest entries, of which the crowds fit into `bound` bytes."""
    newest = entries[:-MAX_ENTRIES - 1:-1]
    nbytes = np.cumsum([entry.crowd.nbytes if entry.crowd else 0 for entry in newest])
    return newest[:np.count_nonzero(nbytes <= bound)][::-1]


class Timeline:
    """`actions` are those of all known ticks, (tick, action); `entries` hold from the tick that is their key on."""

    def __init__(self, sim: Simulation, bound: int, entries: Entries) -> None:
        """Begin with the present state, and keep keyframes in at most `bound` bytes; with 0 there is no going back."""
        self.newest = self.timed = sim.tick  # `timed`: how far the times of frames are known
        self.keyframes, self.check = Keyframes(sim, bound), ReplayCheck()
        self.entries = {-1: entries}
        self.actions: list[tuple[int, Action]] = []
        self._events, self._marks = sim.config.events, tuple[Mark, ...]()
        for tick, action in sim.history:
            self.append(tick, action)
        self._hz = sim.config.time.step_hz
        self._span = math.ceil(REACH_S * self._hz)  # ticks that are shown
        self._frame_ms = np.zeros((2, self._span), np.float32)  # [:, t % span] of the frame that made tick t; 0 if not known

    @property
    def oldest(self) -> int:
        return self.newest if self.keyframes.oldest is None else self.keyframes.oldest

    def entries_at(self, tick: int) -> Entries:
        return next(entries for at, entries in reversed(self.entries.items()) if at <= tick)

    def remember(self, tick: int, entries: Entries) -> None:
        self.entries[tick] = Entries(*(fitting(each, self.keyframes.bound) for each in entries))
        if len(self.entries) > MAX_TIMES:
            first = max((at for at in self.entries if at <= self.oldest), default=0)
            self.entries = {at: entries for at, entries in self.entries.items() if at >= first}

    def append(self, tick: int, action: Action) -> None:
        self.actions.append((tick, action))
        if isinstance(action, Event):
            self._marks += (Mark(tick, self._events[action.number].text),)

    def due(self, sim: Simulation) -> Iterator[Action]:
        """Yield the known actions up to the present tick that the simulation has not seen yet."""
        while (done := len(sim.history)) < len(self.actions) and self.actions[done][0] <= sim.tick:
            yield self.actions[done][1]

    def stepped(self, sim: Simulation) -> None:
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
        self._frame_ms[:, np.arange(max(self.timed, tick - self._span) + 1, tick + 1) % self._span] = ms
        self.timed = tick

    def shown(self, tick: int, recorded: int | None, replayed: bool) -> Past:
        """Return what the bar shows at a tick; its times are those of the moment at which they are read."""
        first = (self.newest + 1) % self._span  # of the oldest time; all are kept twice, so they lie in one piece
        return Past(self.oldest, self.newest, tick, self._span, self._hz, self.keyframes.nbytes, self.keyframes.bound,
                    self._frame_ms.reshape(-1)[first:first + self._span], recorded, replayed, self._marks)


class Keyframes:
    """The snapshots, oldest first, in at most `bound` bytes; with 0 there are none."""

    def __init__(self, sim: Simulation, bound: int) -> None:
        self.bound, self._hz = bound, sim.config.time.step_hz
        self._kept: list[Snapshot] = []
        self._tried = sim.tick  # the last tick at which there was to be a keyframe
        self.nbytes = self._newest_nbytes = 0  # of all of them, where what several share counts once; of the last one
        self._take(sim)

    @property
    def oldest(self) -> int | None:
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
        if sim.tick - self._tried >= self.every:
            self._take(sim)

    def drop_after(self, tick: int) -> None:
        self._kept = [keyframe for keyframe in self._kept if keyframe.tick <= tick]
        self._tried = min(self._tried, tick)
        self._count_bytes()

    def _take(self, sim: Simulation) -> None:
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
        self._beside = beside_frames()
        self._hashes: list[Future[str]] = []  # of the state that was left, and of the one at arrival

    def leave(self, sim: Simulation) -> None:
        """Call before going back from the last tick. While older hashes are being computed it is left without one."""
        self._tick = -1
        if all(each.done() for each in self._hashes):
            self._tick, self._hashes = sim.tick, [self._beside.submit(sim.snapshot().state_hash)]

    def arrive(self, sim: Simulation) -> None:
        """Call when steps have reached the last tick again."""
        if sim.tick == self._tick and len(self._hashes) == 1:
            self._hashes.append(self._beside.submit(sim.snapshot().state_hash))

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
