"""Controls of the crowd and the panels for keys, panels and tours; and what a scenario answers.

Of the crowd: its number of agents, events, speed and tick. Of the panels: how the user wants them, and the parameters
in them: sliders, values to type, presets. A drag sets a parameter several times per frame, and frames may come faster
than steps; so the last value waits until a step was made since the last change: at most one action a tick. While the
crowd is paused it waits until the drag ends.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from crowd_demo.app.crowd import Crowd, Entries
from crowd_demo.app.dialog import Dialogs, TextDialog
from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen import Notices, Pointer, Preferences
from crowd_demo.app.technique_controls import next_choice, next_number
from crowd_demo.config.memory import TooManyError, check_agents
from crowd_demo.config.model import Config, HudSettings, Number, value_of
from crowd_demo.config.section import MAX_AGENTS, NumberSetting
from crowd_demo.registry.entries import Range
from crowd_demo.render.camera import Camera
from crowd_demo.render.hud.card import AnswerView, PastRun
from crowd_demo.render.hud.navigation import why_not
from crowd_demo.render.hud.sections import NUMBERS, scale_of, value_text
from crowd_demo.render.hud.status import NumberRow, PanelSettings, speed_text
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
OF_ANY_CROWD = PaintWalls | SetGoal | SetExit | PlaceLine | Populate | Switch | Tune | SetNumbers


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


# --- parameters ------------------------------------------------------------------------------------------------------

OF_NEIGHBOUR_LIMIT = "limit_scanned", "limit_kept"  # they count with this technique alone
BORN_LATER = "for who is born from now on"
MODES = ("compact", "full", "off")
NARROW = ("compact", "full", "right", "off")  # where there is room for one side panel at a time
SCALES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0)
THEMES = ("dark", "light")
UNITS = ("fps", "ms")
PANELS = "panels"  # topic of notices
HIDDEN_KEYS = {"hud": "shows them again", "help": "all keys"}
HIDDEN_S = 6.0


class Numbers:
    def __init__(self, crowd: Crowd, panels: PanelControls, dialogs: Dialogs, notices: Notices) -> None:
        self._crowd, self._panels, self._dialogs, self._notices = crowd, panels, dialogs, notices
        self._listed = {number.path: number for number in crowd.config.numbers}
        self.dragged: tuple[str, float] | None = None  # by a drag, and not applied yet
        self._dragging = False
        self._applied: tuple[str, int] = "", -1  # the last number that a drag changed, and the tick

    @property
    def shown(self) -> bool:
        return NUMBERS in self._panels.now.opened and self._panels.now.hud == "full"

    def rows(self) -> tuple[NumberRow, ...]:
        """The rows as they are, or will be with the value of a drag; none while the section is folded."""
        if not self.shown:
            return ()
        sim, limited = self._crowd.sim, self._crowd.sim.neighbour_limit != "none"
        dragged = dict([self.dragged] if self.dragged else [])
        return tuple(NumberRow(number, dragged.get(path, value_of(sim.settings, path)), value_of(sim.config, path))
                     for path, number in self._listed.items() if limited or number.key not in OF_NEIGHBOUR_LIMIT)

    # --- asking ------------------------------------------------------------------------------------------------------

    def show(self) -> None:
        if self.shown:
            self._panels.fold(NUMBERS)
        else:
            self._panels.show_section(NUMBERS)

    def drag(self, path: str, position: float) -> None:
        """Move a slider to a place, 0 to 1; in a replay do nothing."""
        if path in self._listed and self._crowd.takes_changes():
            number, shipped = self._listed[path], value_of(self._crowd.sim.config, path)
            self._dragging, self.dragged = True, (path, scale_of(NumberRow(number, shipped, shipped)).value_at(position))

    def release(self) -> None:
        self._dragging = False

    def offer(self) -> None:
        """Apply the value of a drag, if it is time. Call in every frame in which there is one."""
        assert self.dragged
        path, value = self.dragged
        paused, tick = self._crowd.paused, self._crowd.sim.tick
        if self._dragging if paused else self._applied == (path, tick):
            return
        self.dragged, self._applied = None, (path, tick)
        self._tune(path, value)

    def reset(self, path: str) -> None:
        if path in self._listed and self._crowd.takes_changes():
            self.dragged = None
            self._tune(path, value_of(self._crowd.sim.config, path))

    def reset_all(self, ship: bool = False) -> None:
        """Give all numbers the values of the configuration, or, whatever it says, those that the program ships."""
        self.dragged, config = None, self._crowd.sim.config
        shipped = type(config).model_validate({}) if ship else config
        values = ((path, value_of(shipped, path)) for path, number in self._listed.items() if number.live != "no")
        self._crowd.apply(SetNumbers(tuple((path, value) for path, value in values if value != value_of(config, path))))
        self._notices.add(f"all numbers as {'the program ships them' if ship else 'in the configuration'}", NUMBERS)

    def type_value(self, path: str) -> None:
        """Let the user type the value of a number; or say why it cannot be changed."""
        number = self._listed[path]
        if number.live == "no":
            self._notices.add(f"{path} cannot be changed while the crowd runs: {number.why_not}", path)
        elif self._crowd.takes_changes():
            now = self._text(path, value_of(self._crowd.sim.settings, path))
            self._dialogs.open(TextDialog(f"{path}, now {now}", lambda text: self._tune(path, read(number, text))))

    def _tune(self, path: str, value: Number) -> None:
        if value != value_of(self._crowd.sim.settings, path):
            self._crowd.apply(Tune(path, value))
            if self._listed[path].live == "birth":
                self._notices.add(f"{path} {self._text(path, value)}: {BORN_LATER}", path)

    def _text(self, path: str, value: Number) -> str:
        return value_text(NumberRow(self._listed[path], value, value))


def read(number: NumberSetting, text: str) -> Number:
    """Return the value that was typed. Raises ValueError for what is none, or out of range."""
    try:
        value = int(text) if number.is_whole else number.scale * float(text)
    except ValueError:
        value = float("nan")
    if not number.low <= value <= number.high:
        kind = "a whole number" if number.is_whole else "a number"
        low, high = number.low / number.scale, number.high / number.scale
        raise ValueError(f"must be {kind} from {low:g} to {high:g}")
    return value


# --- the panels ------------------------------------------------------------------------------------------------------

class PanelControls:
    """`now` is what the HUD draws by. Changes become a preference, except for hidden panels: a start shows them."""

    def __init__(self, preferences: Preferences, window: HudSettings, keymap: Keymap, is_wide: Callable[[], bool],
                 notices: Notices) -> None:
        self._preferences, self._keymap, self._is_wide, self._notices = preferences, keymap, is_wide, notices
        self.now = PanelSettings(window.hud, window.scale, window.theme, window.units, preferences.values.opened)

    def next_mode(self, backwards: bool = False) -> None:
        """Show the HUD compact, in full or not at all; in a narrow window one panel of the full HUD after the other."""
        modes = MODES if self._is_wide() and self.now.hud != "right" else NARROW
        self._change(hud=next_choice(modes, self.now.hud, backwards))
        if self.now.hud == "off":
            named = ", ".join(f"{key} {what}" for action, what in HIDDEN_KEYS.items() if (key := self._keymap.key(action)))
            self._notices.add(f"the panels are hidden: {named}".removesuffix(": "), PANELS, HIDDEN_S)
        else:
            self._notices.drop(PANELS)

    def go_on(self, setting: str) -> None:
        """Go on to the next theme, or to the other units."""
        self._change(**{setting: next_choice({"theme": THEMES, "units": UNITS}[setting], getattr(self.now, setting))})

    def resize(self, direction: int) -> None:
        """Make text and panels a step larger (1) or smaller (-1), or (0) as large as usual."""
        self._change(scale=next_of(SCALES, self.now.scale, direction) if direction else 1.0)

    def fold(self, section: str) -> None:
        self._change(opened=tuple(name for name in self.now.opened if name != section))

    def unfold(self, section: str) -> None:
        """Show a section, also if others have to be folded for it."""
        self._change(opened=(*(name for name in self.now.opened if name != section), section))

    def show_section(self, section: str) -> None:
        if self.now.hud != "full":
            self._change(hud="full")
            self._notices.drop(PANELS)
        self.unfold(section)

    def fit_graph(self) -> None:
        self._change(graph_fits=self.now.graph_fits + 1)

    def _change(self, **values: object) -> None:
        self.now = self.now._replace(**values)  # type: ignore[arg-type]
        kept = {name: value for name, value in values.items() if name in HudSettings.model_fields}
        if "hud" in kept:
            kept["hud"] = {"off": "compact", "right": "full"}.get(self.now.hud, self.now.hud)
        self._preferences.change(**kept, opened=tuple(self.now.opened))
