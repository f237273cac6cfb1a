"""Controls of the crowd for keys, panels and tours: number of agents, events, speed and tick; and what a scenario answers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crowd_demo.app.crowd.crowd import Crowd, Entries
from crowd_demo.app.crowd.technique_controls import next_number
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen import Notices, Pointer
from crowd_demo.config.memory import TooManyError, check_agents
from crowd_demo.config.model import Config
from crowd_demo.config.section import MAX_AGENTS
from crowd_demo.registry.entries import Range
from crowd_demo.render.camera import Camera
from crowd_demo.render.hud.card import AnswerView, PastRun
from crowd_demo.render.hud.navigation import why_not
from crowd_demo.render.hud.status import speed_text
from crowd_demo.sim.actions import Place, Populate, Switch
from crowd_demo.sim.edits import PaintWalls, PlaceLine, SetExit, SetGoal
from crowd_demo.sim.events import Event
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.tuning import SetNumbers, Tune

SPEEDS = tuple(2.0**power for power in range(-3, 7))  # 1/8 to 64
ROUND = (*range(10), *(each * 10**power for power in range(6) for each in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
                       if each * 10**power < MAX_AGENTS), MAX_AGENTS)  # numbers of agents that the keys go through
AGENTS = Range(int, 0, MAX_AGENTS)
SLICE, SLICE_S = 20_000, 0.05  # agents that come or leave at once, at first; later ones take about so long
ANSWER_KEYS = {"restart": "again", "happen": "then {}", "export": "a page", "quit": "close"}  # which close it
HAWK = 0  # predators have the lowest ids
OF_ANY_CROWD = PaintWalls | SetGoal | SetExit | PlaceLine | Populate | Switch | Tune | SetNumbers  # of no certain agents


def next_of(values: Iterable[float], value: float, direction: int) -> float:
    """Return the nearest of the values above another one (direction 1) or below it (-1); that one if there is none."""
    beyond = (each for each in values if (each - value) * direction > 0)
    return min(beyond, key=lambda each: abs(each - value), default=value)


def agents_of(text: str) -> int:
    """A number of agents as people type it: 40000, 40,000, 40k, 1.5m. Raises ValueError with a line for the window."""
    found = re.fullmatch(r"([0-9]+|[0-9]+[.][0-9]+(?=[km]))([km]?)", re.sub("[ ,_']", "", text.lower()))
    if not found:
        raise ValueError(f"'{text}' is not a valid number of agents: type one such as 40000, 40,000 or 40k")
    count = round(float(found[1]) * {"": 1, "k": 1e3, "m": 1e6}[found[2]])
    if count > MAX_AGENTS:
        raise ValueError(f"{count:,} agents are too many: at most {MAX_AGENTS:,}")
    return count


class CrowdControls:
    """Call from the main thread: what it asks for is done before or with the next steps."""

    def __init__(self, crowd: Crowd, notices: Notices) -> None:
        self._crowd, self._notices = crowd, notices
        self._wanted: int | None = None  # agents, while slices are added or removed
        self._slice = SLICE

    # --- changes -----------------------------------------------------------------------------------------------------

    def populate(self, count: int) -> None:
        """Have so many agents: soon, or in slices between frames where they are many. Say so where memory does not suffice."""
        crowd = self._crowd
        try:
            check_agents(count, crowd.config, crowd.sim.agents.capacity)
        except TooManyError as error:
            self._notices.add(str(error), "agents")
            return
        crowd.agents_asked = count
        self._wanted = count if abs(count - crowd.sim.agents.count) > SLICE else None
        if self._wanted is not None:
            return
        if crowd.changes and isinstance(crowd.changes[-1], Populate):
            crowd.changes.pop()  # a drag asks several times a frame
        crowd.apply(Populate(count))
        self._notices.add(f"{count:,} agents", "agents", holds=lambda: crowd.agents_asked == count)

    def populate_on(self) -> None:
        """Add or remove the next slice of agents, if there is one. Call from the thread that makes the steps, before them."""
        wanted, start_s, before = self._wanted, time.perf_counter(), self._crowd.sim.agents.count
        if wanted is None:
            return
        count = min(max(wanted, before - self._slice), before + self._slice)
        self._crowd.by_hand(Populate(count))
        if self._wanted is None:  # stopped meanwhile
            self._stopped()
            return
        if count == wanted or self._crowd.sim.agents.count == before:
            self._wanted = None
        self._notices.add(f"{count:,} of {wanted:,} agents" + ": Esc stops" * (count != wanted), "agents")
        self._slice = max(int(self._slice * min(SLICE_S / max(time.perf_counter() - start_s, 1e-3), 2)), SLICE // 4)

    def stop_populating(self) -> bool:
        """Let the crowd have as many agents as there are by now; return whether there was anything to stop."""
        stopped, self._wanted = self._wanted is not None, None
        if stopped:
            self._stopped()
        return stopped

    def _stopped(self) -> None:
        self._crowd.agents_asked = self._crowd.sim.agents.count
        self._notices.add(f"stopped at {self._crowd.agents_asked:,} agents", "agents")

    def change_agents(self, direction: int) -> None:
        """Go on to the next round number of agents, up (1) or down (-1)."""
        self.populate(int(next_of(ROUND, self._crowd.agents_asked, direction)))

    def drag_agents(self, steps: int) -> None:
        """Change the number of agents by so many steps, of a tenth to a twentieth; in a replay do nothing."""
        if not self._crowd.player:
            self.populate(int(next_number(AGENTS, self._crowd.agents_asked, steps)))

    def let_happen(self) -> None:
        """Let the event happen that is left to a hand and comes next, or say that there is none."""
        number = self._crowd.sim.events.by_hand
        if number is None:
            self._notices.add("No manual events left", "event")
        else:
            self._crowd.apply(Event(number))

    def restart(self) -> None:
        """Start again with the same seed, the present number of agents and techniques, and what was built or set by hand."""
        crowd = self._crowd
        try:
            otherwise = Entries(*(tuple(entry for entry in each if entry.inverses and all(
                isinstance(back, OF_ANY_CROWD) for back in entry.inverses))
                for each in crowd.timeline.entries_at(crowd.sim.tick)))
            sim = crowd.at_its_start(crowd.agents_asked)
            crowd.go_on_with(sim, crowd.sim.tick, crowd.left_behind("restart", otherwise))
            self._notices.add("started again", "restart")
        except ValueError as error:
            self._notices.add(f"cannot start again: {error}", "restart")

    # --- time --------------------------------------------------------------------------------------------------------

    def pause(self) -> None:
        self._crowd.paused = not self._crowd.paused
        self._crowd.rate.clear()

    def set_speed(self, speed: float) -> None:
        self._crowd.speed = speed
        self._crowd.rate.clear()

    def change_speed(self, direction: int) -> None:
        crowd, speed = self._crowd, next_of(SPEEDS, self._crowd.speed, direction)
        if speed != crowd.speed:
            self.set_speed(speed)
        self._notices.add(f"speed {speed_text(speed)}", "speed", holds=lambda: crowd.speed == speed)

    def step_once(self) -> None:
        self._crowd.paused = True
        self._crowd.steps_asked += 1

    def step_back(self) -> None:
        crowd = self._crowd
        self.seek((crowd.sim.tick if crowd.sought is None else crowd.sought) - 1)

    def seek(self, tick: int) -> None:
        """Pause, and go to a tick that is known; or say why there is no going back."""
        crowd = self._crowd
        if why := why_not(crowd.past()):
            self._notices.add(why, "rewind", holds=lambda: why_not(crowd.past()) == why)
        else:
            crowd.paused, crowd.sought = True, tick


# --- the hawk under the pointer -----------------------------------------------------------------------------------------

class Hawk:
    """While that is wanted, the first predator is put where the mouse is, once a frame."""

    def __init__(self, crowd: Crowd, camera: Camera, pointer: Pointer, notices: Notices) -> None:
        self.led = False
        self._crowd, self._camera, self._pointer, self._notices = crowd, camera, pointer, notices

    def toggle(self) -> None:
        if not self._exists():
            self._notices.add("there is no hawk here: F2 opens murmuration", "hawk", holds=lambda: not self._exists())
            return
        self.led = not self.led
        self._notices.add("the hawk follows the pointer" if self.led else "the hawk hunts by itself", "hawk",
                          holds=self._exists)

    def lead(self) -> None:
        """Call from the thread that makes the steps, before those of a frame. In the past it flies as it did."""
        if self.led and self._exists() and not self._crowd.player and not self._crowd.in_past:
            self._crowd.carry_out(Place(HAWK, *self._camera.screen_to_world(*self._pointer.at)))

    def _exists(self) -> bool:
        return has_hawk(self._crowd.config) and self._crowd.sim.agents.count > 0


def has_hawk(config: Config) -> bool:
    """Return whether there are predators, the first of which can be led."""
    return config.behaviour == "hunt" and config.hunt.predators > 0


# --- the answer ------------------------------------------------------------------------------------------------------

class Outcome(NamedTuple):
    """`answer_s` is None while no event has ended the run."""

    answer_s: float | None  # seconds on the scenario's clock at which an event ended the run; None without one
    said: str  # the text of that event
    time_s: float  # simulated seconds at the end
    clock_s: float  # simulated seconds at which the clock began
    agents: int  # at the end
    first: int  # agents at the start
    passed: Mapping[str, int]  # crossings of each line of `measure.lines`, in both directions
    tenths_s: tuple[float | None, ...]  # when each tenth had left; `slowest_tenth_s`: how long the last one took

    @property
    def slowest_tenth_s(self) -> float | None:
        """How long the last tenth took after nine tenths had left."""
        nine_tenths = self.tenths_s[-1]
        return None if self.answer_s is None or nine_tenths is None else self.answer_s - nine_tenths

    @property
    def lines(self) -> list[str]:
        taken_s = self.time_s - self.clock_s
        lines = [f"not answered within {taken_s:.1f} s" if self.answer_s is None else
                 f"answered after {self.answer_s:.1f} s: {self.said}",
                 f"remaining: {self.agents:,} of {self.first:,}"]
        if self.passed and taken_s:
            lines.append("passed: " + ", ".join(
                f"{name} {count:,} ({count / taken_s:.2f} per second)" for name, count in self.passed.items()))
        if self.slowest_tenth_s is not None:
            lines.append(f"nine tenths had left after {self.tenths_s[-1]:.1f} s, the slowest tenth took"
                         f" {self.slowest_tenth_s:.1f} s more")
        return lines

    def report(self) -> dict[str, object]:
        return {**self._asdict(), "passed": dict(self.passed), "tenths_s": list(self.tenths_s),
                "slowest_tenth_s": self.slowest_tenth_s}


def outcome_of(sim: Simulation) -> Outcome:
    events, end_tick = sim.config.events, sim.events.end_tick
    said = next((event.text for number, event in enumerate(events)
                 if event.end and sim.events.happened.get(number) == end_tick), "") if end_tick is not None else ""
    passed = dict(zip(sim.config.measure.lines, sim.counts.passed.tolist(), strict=True))
    clock_tick = sim.events.clock_tick
    return Outcome(sim.events.answer_s(sim.dt), said, sim.tick * sim.dt, clock_tick * sim.dt, sim.agents.count,
                   sim.config.agents, passed,
                   tuple(None if tick < 0 else (tick - clock_tick) * sim.dt for tick in sim.counts.tenths.tolist()))


class ShownAnswer:
    """The answer to the question of a scenario, from the event that ends a run until a key or a click.

    Runs are kept as long as the window is open. Two of them are compared if they have the same doors.
    """

    def __init__(self) -> None:
        self.runs: list[PastRun] = []  # the last one is shown last
        self.answer: AnswerView | None = None
        self._seen: int | None = None  # the tick of the answer that was shown

    def look(self, sim: Simulation, name: str | None, keymap: Keymap) -> None:
        """Show the answer once there is one, until the crowd is no longer there. Call in every frame."""
        end = sim.events.end_tick
        if end == self._seen:
            return
        self._seen, self.answer = end, None
        if end is None:
            return
        found, happened = outcome_of(sim), sim.events.happened
        hands = {tick: event.text for number, event in enumerate(sim.config.events)
                 if event.hand and (tick := happened.get(number)) is not None}
        about = hands[max(hands)] if hands else name or "this run"
        run = PastRun(about, found.answer_s or 0.0, found.passed, found.tenths_s)
        if run not in self.runs[-1:]:
            self.runs.append(run)
        before = next((each for each in self.runs[-2::-1] if each.doors.keys() == run.doors.keys()), None)
        by_hand = next((event.hand for event in sim.config.events if event.hand), "")
        keys = [(action, key, what.format(by_hand)) for action, what in ANSWER_KEYS.items()
                if (key := keymap.name(action)) and (by_hand or action != "happen")]
        self.answer = AnswerView(found.said, found.first, run, before, keys)

    def close(self) -> bool:
        was_shown, self.answer = self.answer is not None, None
        return was_shown
