"""The crowd that is shown, and its time: the only place where steps are made and where the simulation is replaced.

The main thread asks for actions, for steps, for a tick to go to. The worker's thread carries that out between two steps, so
the window does not wait for a long step.

The past is kept as far as memory allows, as keyframes and the actions between them. To go to a tick, the last keyframe before
it is restored, and steps are made from there with the actions at their ticks. A step is a function of state, actions and
configuration, so this is the past itself. The state of a tick is the one after the actions that were given at it. After going
back, steps follow what is known of the future, until somebody does something else: then it is dropped.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from crowd_demo.app.crowd.keyframes import REACH_S, Keyframes, ReplayCheck
from crowd_demo.app.crowd.meter_schedule import Meters
from crowd_demo.app.crowd.pace import Pace, StepRate
from crowd_demo.app.crowd.switching import next_number
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.model import Config
from crowd_demo.config.section import MAX_AGENTS
from crowd_demo.host.recording.recording import Player, Recording
from crowd_demo.host.system import give_back_freed
from crowd_demo.registry.entries import Range, Value
from crowd_demo.render.hud.navigation import why_not
from crowd_demo.render.hud.status import Clock, Mark, Past, speed_text
from crowd_demo.render.scene import Scene
from crowd_demo.sim.actions import Action, Populate, Switch
from crowd_demo.sim.edits import lasting_edits
from crowd_demo.sim.events import Event
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.tuning import SetNumbers, numbers_by_hand

MB = 1_000_000
SPEEDS = tuple(2.0**power for power in range(-3, 7))  # 1/8 to 64
UNSEEN_STEPS = 1000  # at most so many a frame, before the tick at which a replay is to begin
ROUND = (*range(10), *(each * 10**power for power in range(6) for each in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
                       if each * 10**power <= MAX_AGENTS))  # numbers of agents that the keys go through
AGENTS = Range(int, 0, MAX_AGENTS)
EVENT_S = 8.0  # how long the notice of an event is shown
NOTED = 100  # characters of an action in the notes of the profile
OTHER_TIME, OTHER_CROWD = "it went to another time", "another crowd began"


class Change(NamedTuple):
    """What was done to the crowd beside steps: the technique at `path` was switched, or `what` if there is no path."""

    what: str = ""
    path: str = ""
    old: Value = 0
    new: Value = 0


def fewer(count: int) -> int:
    """The next round number below."""
    return max((each for each in ROUND if each < count), default=0)


def more(count: int) -> int:
    """The next round number above."""
    return min((each for each in ROUND if each > count), default=MAX_AGENTS)


def agents_of(text: str) -> int:
    """A number of agents as people type it: 40000, 40,000, 40k, 1.5m. Raises ValueError with a line for the window."""
    found = re.fullmatch(r"([0-9]+|[0-9]+[.][0-9]+(?=[km]))([km]?)", re.sub("[ ,_']", "", text.lower()))
    if not found:
        raise ValueError(f"'{text}' is no number of agents: type one such as 40000, 40,000 or 40k")
    count = round(float(found[1]) * {"": 1, "k": 1e3, "m": 1e6}[found[2]])
    if count > MAX_AGENTS:
        raise ValueError(f"{count:,} agents are too many: at most {MAX_AGENTS:,}")
    return count


class Crowd:
    """The simulation that is shown (`sim`), what draws it, and everything about its time.

    changes      actions and other work that wait for the next step
    sought       the tick to go to, if any; the last one asked for counts
    newest       the last tick that is known; after going back it lies in the future
    paused, speed, unpaced    `unpaced` makes a step a frame, however long frames are
    stops_at_end  whether no steps follow an event that ends the run
    steps_asked  to be made in the next frame, also while the crowd is paused
    recording    what writes down what happens
    player       a replay, which takes no changes
    check        whether steps that are made again, after going back, lead to the same state
    """

    def __init__(self, config: Config, sim: Simulation, scene: Scene | None, rewind_mb: float, notices: Notices,
                 player: Player | None = None, unpaced: bool = False, stops_at_end: bool = False) -> None:
        """Remember the past within `rewind_mb`; with 0 there is no going back."""
        self.config, self.sim, self.scene = config, sim, scene
        self.agents_asked = sim.agents.count
        self.changes: list[Action | Callable[[], None]] = []
        self.meters = Meters()
        self.recording: Recording | None = None
        self.player = player
        self.paused, self.steps_asked, self.speed, self.unpaced = False, 0, config.time.speed, unpaced
        self.stops_at_end = stops_at_end
        self.pace, self.rate = Pace(sim.dt, config.time.catch_up), StepRate()
        self._notices, self._bound, self._hz = notices, int(rewind_mb * MB), config.time.step_hz
        self._span = math.ceil(REACH_S * self._hz)  # ticks that the timeline shows
        self._shown_ms = np.zeros(self._span, np.float32)
        self._changed: list[Change] = []
        self.forgetting: list[Callable[[int], None]] = []  # told when all after a tick is forgotten; all at all with -1
        self.check = ReplayCheck()
        self.begin_past()
        self.kept_edits = [self.edits]  # the `edits` that a file holds

    def begin_past(self) -> None:
        """Forget what was before the present state."""
        for forget in self.forgetting:
            forget(-1)
        self.sought: int | None = None
        self._capacity = self.sim.agents.capacity
        self.newest = self._timed = self.sim.tick  # `_timed`: how far the times of frames are known
        self._known = self.sim.history  # all actions up to `newest`; a simulation that is restored gets another list
        self._marks: tuple[int, tuple[Mark, ...]] = (0, ())  # of so many actions
        self.keyframes = Keyframes(self.sim, self._bound)
        self.check.forget()
        self._frame_ms = np.zeros(self._span, np.float32)  # of the frame that made tick t, at t % span; 0 if not known

    # --- asking: changes ---------------------------------------------------------------------------------------------

    def takes_changes(self) -> bool:
        """Return False for a replay, and say so."""
        if self.player:
            self._notices.add("this is a replay: it takes no changes", "replay", holds=lambda: self.player)
        return self.player is None

    def apply(self, change: Action | Callable[[], None]) -> None:
        """Ask for an action, or for other work of the worker's thread, before the next step."""
        self.changes.append(change)

    def populate(self, count: int) -> None:
        self.agents_asked = count
        if self.changes and isinstance(self.changes[-1], Populate):
            self.changes.pop()  # a drag asks several times a frame
        self.apply(Populate(count))
        self._notices.add(f"{count:,} agents", "agents", holds=lambda: self.agents_asked == count)

    def change_agents(self, direction: int) -> None:
        """Go on to the next round number of agents, up (1) or down (-1)."""
        self.populate(more(self.agents_asked) if direction > 0 else fewer(self.agents_asked))

    def drag_agents(self, steps: int) -> None:
        """Change the number of agents by so many steps, of a tenth to a twentieth; in a replay do nothing."""
        if self.player:
            return
        count = self.agents_asked
        for _ in range(abs(steps)):
            count = int(next_number(AGENTS, count, 1 if steps > 0 else -1))
        self.populate(count)

    def let_happen(self) -> None:
        """Let the event happen that is left to a hand and comes next, or say that there is none."""
        number = self.sim.events.by_hand
        if number is None:
            self._notices.add("this scenario leaves nothing more to a hand", "event")
        else:
            self.apply(Event(number))

    def restart(self) -> None:
        """Start again with the same seed, and what the user has changed.

        That are the present number of agents, the present techniques, and all that was built or set by hand.
        """
        self.apply(self._restart)
        self._notices.add("started again", "restart")

    # --- asking: time ------------------------------------------------------------------------------------------------

    def pause(self) -> None:
        self.paused = not self.paused
        self.rate.clear()

    def set_speed(self, speed: float) -> None:
        self.speed = speed
        self.rate.clear()

    def change_speed(self, direction: int) -> None:
        faster = [speed for speed in SPEEDS if (speed - self.speed) * direction > 0]
        if faster:
            self.set_speed(min(faster, key=lambda speed: abs(speed - self.speed)))
        speed = self.speed
        self._notices.add(f"speed {speed_text(speed)}", "speed", holds=lambda: self.speed == speed)

    def step_once(self) -> None:
        self.paused = True
        self.steps_asked += 1

    def step_back(self) -> None:
        self.seek((self.sim.tick if self.sought is None else self.sought) - 1)

    def seek(self, tick: int) -> None:
        """Pause, and go to a tick that is known; or say why there is no going back."""
        if why := why_not(self.past()):
            self._notices.add(why, "rewind", holds=lambda: why_not(self.past()) == why)
        else:
            self.paused, self.sought = True, tick

    def due_steps(self, elapsed_s: float) -> int:
        """Steps to make in this frame, `elapsed_s` after the last one."""
        if self.player and not self.player.begun:
            return UNSEEN_STEPS
        asked, self.steps_asked = self.steps_asked, 0
        if asked or self.paused:
            return asked
        return 1 if self.unpaced else self.pace.steps(elapsed_s, self.speed)

    # --- what is shown of its time -----------------------------------------------------------------------------------

    @property
    def in_past(self) -> bool:
        """Is a later tick known than the present one?"""
        return self.sim.tick < self.newest

    @property
    def remembers(self) -> bool:
        """Is there any memory for the past?"""
        return self._bound > 0

    @property
    def oldest(self) -> int:
        """The first tick that can be returned to."""
        return self.sim.tick if self.keyframes.oldest is None else self.keyframes.oldest

    @property
    def clock(self) -> Clock:
        sim = self.sim
        real = None if self.paused or self.unpaced else self.rate.real_speed(self.speed, sim.dt)
        return Clock(self.rate.per_s, real, sim.tick, sim.tick * sim.dt)

    def past(self) -> Past:
        """What the timeline shows; its times hold until the next call."""
        newest, first = self.newest, (self.newest + 1) % self._span  # where the oldest time lies
        self._shown_ms[:self._span - first] = self._frame_ms[first:]
        self._shown_ms[self._span - first:] = self._frame_ms[:first]
        recorded = self.recording.nbytes if self.recording else None
        return Past(self.oldest, newest, self.sim.tick, self._span, self._hz, self.keyframes.nbytes, self._bound,
                    self._shown_ms, recorded, self.player is not None, self.marks())

    def marks(self) -> tuple[Mark, ...]:
        """Return the events of the known past and future."""
        known = self.known_actions
        if self._marks[0] != len(known):
            self._marks = len(known), tuple(
                Mark(tick, self.sim.config.events[action.number].text) for tick, action in known if isinstance(action, Event))
        return self._marks[1]

    @property
    def known_actions(self) -> list[tuple[int, Action]]:
        """What was done up to the newest tick that is known, (tick, action); in a replay up to the present one."""
        return self.sim.history if len(self.sim.history) > len(self._known) else self._known

    @property
    def edits(self) -> tuple[Action, ...]:
        """What was built by hand, as actions on a fresh world; numbers are not among them. Any thread may ask."""
        ways = self.sim.world.ways
        return lasting_edits(list(self.known_actions), self.sim.terrain, ways.first_exits if ways else ())

    def at_its_start(self, agents: int) -> Simulation:
        """Return another simulation of the edited scenario at tick 0, with so many agents. Raises ValueError."""
        config = self.config.model_copy(update={"agents": agents, "optimizations": self.sim.optimizations})
        numbers = numbers_by_hand(self.known_actions, config)
        return Simulation(config, (*self.edits, *([SetNumbers(tuple(numbers.items()))] if numbers else [])))

    def frame_took(self, ms: float) -> None:
        """Call after each frame with its time, which is shown for the ticks made in it."""
        tick = self.sim.tick
        for made in range(max(self._timed + 1, tick - self._span + 1), tick + 1):
            self._frame_ms[made % self._span] = ms
        self._timed = tick

    # --- in the worker's thread, between two steps -------------------------------------------------------------------

    def carry_out_changes(self, go_on: Callable[[], bool]) -> None:
        """Go to the tick that is sought, and carry out `changes`. `go_on` is asked between steps."""
        if self.sought is not None:
            self._go(self.sought, go_on)
        changes, self.changes = self.changes, []
        for change in changes:
            if callable(change):
                change()
            else:
                self.carry_out(change)
        if changes:
            give_back_freed()  # by these changes, or since the last ones: a switch takes effect in the step

    def carry_out(self, action: Action) -> bool:
        """Apply an action; show a notice and return False if it is impossible."""
        self.begin_new_future()
        before = self.sim.agents.count
        try:
            self._apply(self.sim, action)
        except ValueError as error:
            self.agents_asked = self.sim.agents.count
            self._notices.add(str(error))
            return False
        if not isinstance(action, Populate):
            self.agents_asked = max(self.agents_asked + self.sim.agents.count - before, 0)
        self._known = self.sim.history
        if self.recording:
            self.recording.acted(self.sim.tick, action)
        return True

    def take_changed(self) -> list[Change]:
        """The changes since the last call, in order."""
        changed, self._changed = self._changed, []
        return changed

    def make_steps(self, count: int, go_on: Callable[[], bool]) -> None:
        """Make so many steps, or as many as a frame has time for; stop between two of them if `go_on` says no."""
        start_s = time.perf_counter()
        for made in range(1, count + 1):
            self.step()
            if self.pace.is_enough(made, time.perf_counter() - start_s) or not go_on():
                break
        if self.sim.agents.capacity != self._capacity:
            self._capacity = self.sim.agents.capacity
            self.sim.profile.note(f"memory for {self._capacity:,} agents")

    def step(self) -> None:
        """Make a step: of the known future, of the replay, or a new one."""
        if self.in_past:
            self._step()
        elif not self.player:
            self._new_step()
        elif not self.player.done:
            self._replay_step(self.player)

    def _new_step(self) -> None:
        """Let the events happen that are due, and make a step."""
        if self.config.events:
            for number in self.sim.events.due(self.sim):
                self.carry_out(Event(number))
            if self.stops_at_end and self.sim.events.end_tick is not None:
                return
        self._step()
        if self.recording:
            self.recording.stepped(self.sim)

    def begin_new_future(self) -> None:
        """If this is the past, forget what came after it."""
        if not self.in_past:
            return
        left, tick = self.newest, self.sim.tick
        self.newest, self._known = tick, self.sim.history
        self.keyframes.drop_after(tick)
        for forget in self.forgetting:
            forget(tick)
        self.check.forget()
        self._frame_ms[np.arange(tick + 1, left + 1) % self._span] = 0
        if self.recording:
            self.recording.rewound(self.sim, left)
        self._notices.add(f"a new future: {(left - tick) * self.sim.dt:.1f} s dropped", "rewind")

    def go_on_with(self, sim: Simulation, left: int) -> None:
        """Go on with another simulation of the same world, or with the present one in another state, after the tick `left`."""
        sim.profile = self.sim.profile
        if sim is not self.sim:
            sim.profile.note("another crowd")
        self._changed.append(Change(OTHER_TIME if sim is self.sim else OTHER_CROWD))
        self.sim = sim
        self.begin_past()
        self.meters = Meters()
        if self.scene:
            self.scene.sim = sim
        if self.recording:
            self.recording.begin(sim, left)

    def _go(self, tick: int, go_on: Callable[[], bool]) -> None:
        """Go to a tick, or as near as is known; stop when another one is sought, or `go_on` says no."""
        to = min(max(tick, self.oldest), self.newest)
        keyframe = self.keyframes.before(to)
        if keyframe and not keyframe.tick <= self.sim.tick <= to:
            if not self.in_past:
                self.check.leave(self.sim)
            self.sim.restore(keyframe)
            self.check.restored(keyframe.tick)
            self._follow()
            self._changed.append(Change(OTHER_TIME))
        while self.sim.tick < to and go_on() and self.sought == tick:
            self._step()
        if self.sought == tick:
            self.sought = None
        self._timed = self.sim.tick
        self.agents_asked = self.sim.agents.count

    def _step(self) -> None:
        """Make a step, and apply the known actions of the new tick."""
        was_past = self.in_past
        self.sim.step()
        self._follow()
        self._stepped()
        if was_past and not self.in_past:
            self.check.arrive(self.sim)

    def _follow(self) -> None:
        """Apply the known actions of this tick again."""
        while (done := len(self.sim.history)) < len(self._known) and self._known[done][0] <= self.sim.tick:
            self._apply(self.sim, self._known[done][1])

    def _stepped(self) -> None:
        if self.sim.tick > self.newest:
            self.newest = self.sim.tick
            self._frame_ms[self.newest % self._span] = 0
        self.keyframes.stepped(self.sim)

    def _apply(self, sim: Simulation, action: Action) -> None:
        """Apply an action, and note the change. Raises ValueError if it is impossible."""
        if isinstance(action, Switch):
            change = Change("", action.path, sim.optimizations.get(action.path), action.value)
        else:
            change = Change(getattr(action, "about", "the crowd was changed"))
        sim.apply(action)
        if isinstance(action, Event):
            self._tell_event(sim, action)
        self._changed.append(change)
        sim.profile.note(str(action)[:NOTED])

    def _tell_event(self, sim: Simulation, event: Event) -> None:
        """Show what an event says, unless this is on the way to another tick, and what it could not do."""
        if (said := sim.config.events[event.number].say) and self.sought is None:
            self._notices.add(said, "event", EVENT_S)
        while sim.events.impossible:
            self._notices.add(sim.events.impossible.pop(0))

    def _restart(self) -> None:
        try:
            self.go_on_with(self.at_its_start(self.agents_asked), self.sim.tick)
        except ValueError as error:
            self._notices.add(f"cannot start again: {error}", "restart")

    def _replay_step(self, player: Player) -> None:
        """Make a step of the replay; pause when it is over."""
        part, left = player.part, self.sim.tick
        sim = player.step(self._apply)
        if player.part is part:
            self._stepped()
        else:
            self.go_on_with(sim, left)
        if player.done:
            self.paused = True
            self._notices.add(player.verdict(sim.tick), "replay")
