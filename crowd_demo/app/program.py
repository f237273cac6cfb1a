"""The state of the program, and its commands: one method a command, one entry an action of the key bindings.

Commands change what is shown at once. Changes of the crowd are put into `changes`, which the worker's thread carries out
before its next step, so the window does not wait for a long step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from crowd_demo.app.cards import Cards
from crowd_demo.app.copying import Shown, copy, to_clipboard, to_terminal
from crowd_demo.app.dialogs import Dialog, Dialogs, Question
from crowd_demo.app.experiments import Experiments, other_value
from crowd_demo.app.files import free_name
from crowd_demo.app.guide import Guide
from crowd_demo.app.heap import give_back_freed
from crowd_demo.app.input import Close, Do, Pan, Press, Zoom
from crowd_demo.app.loading import Loaded
from crowd_demo.app.looks import HudLooks
from crowd_demo.app.menus import choices_menu, main_menu, sections_menu, techniques_menu
from crowd_demo.app.meter_schedule import Meters
from crowd_demo.app.notices import Notices
from crowd_demo.app.pace import StepRate
from crowd_demo.app.pointer import Click, DragNumber, PointerCommand, Rest, Scrub
from crowd_demo.app.preferences import Preferences
from crowd_demo.app.quitting import Quitting
from crowd_demo.app.recording import Recording
from crowd_demo.app.replay import Player
from crowd_demo.app.rewind import Rewind
from crowd_demo.app.saves import SUFFIX, Saver, newest, read_save
from crowd_demo.app.scenarios import scenarios_menu
from crowd_demo.app.slow_frames import save_last_second
from crowd_demo.app.switching import Switcher, next_choice, next_number
from crowd_demo.app.trial import Moment
from crowd_demo.config.model import CameraSettings, Config
from crowd_demo.config.optimizations import with_values
from crowd_demo.measure.proof.pictures import View
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.overlays import OVERLAYS
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.graph import Tick
from crowd_demo.render.hud.status import Clock, Hovered, Status, speed_text
from crowd_demo.render.hud.switchboard import shown
from crowd_demo.render.hud.theme import scale_for
from crowd_demo.render.hud.timeline import bar_of, label, tick_at, why_not
from crowd_demo.sim.actions import MOST_AGENTS, Action, Populate, Switch
from crowd_demo.sim.inactive import inactive
from crowd_demo.sim.save_format import SaveError, check
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot, differences, same_world

SPEEDS = tuple(2.0**power for power in range(-3, 7))  # 1/8 to 64
RECORDING_SUFFIX = ".replay"
WATCHING = {  # actions that leave a replay as it is
    "pause", "step", "step_back", "timeline", "slower", "faster", "fit", "hud", "help", "fullscreen", "screenshot", "quit",
    "save", "freeze", "menu", "card", "larger", "smaller", "normal_size", "theme", "units", "fit_graph", "copy_command",
    "slow_frames", "measure", "ablate", "largest", *OVERLAYS}
MOST_TICKS = 20  # kept for the graph
TOUCHED_FIRST = "stagger.avoidance"  # the number keys change this until the user has chosen another technique


def tick_text(technique: Technique, value: Value) -> str:
    return f"{technique.label.strip()} {shown(value)}"


def fewer(count: int) -> int:
    """A fifth less, rounded to two digits."""
    return max(min(_two_digits(count * 0.8), count - 1), 0)


def more(count: int) -> int:
    """A quarter more, rounded to two digits."""
    return min(max(_two_digits(count * 1.25), count + 1), MOST_AGENTS)


def _two_digits(count: float) -> int:
    return int(float(f"{count:.1e}"))


class Program:
    """State of a run. The worker's thread uses `sim`, `scene` and `camera` while it computes a frame."""

    def __init__(self, config: Config, loaded: Loaded, quitting: Quitting | None = None,
                 config_name: str | None = None, rewind: bool = True, preferences: Preferences | None = None) -> None:
        """With `rewind` what happens is remembered, as far as the configuration's memory for that goes."""
        self.config, self.config_name = config, config_name
        self.quitting = quitting or Quitting()
        self.sim = loaded.sim
        self.scene = loaded.scene
        self.switcher = Switcher(loaded.ahead)
        self.preferences = preferences or Preferences()
        self.window = window = self.preferences.window(config.window)
        self.camera = self._configured_view((window.width, window.height))
        self.paused, self.steps_asked = False, 0
        self.speed = config.time.speed
        self.rate = StepRate()
        self.unpaced = False  # a step a frame, however long frames are
        self.agents_asked = self.sim.agents.count
        self.looks = HudLooks(self.preferences, window)
        self.help_shown, self.fullscreen = False, window.fullscreen
        self.leaves_at_once = False  # without being asked, on Esc
        self.keys: Mapping[str, Sequence[str]] = {}  # of each action, as they are shown
        self.dialogs = Dialogs()
        self.measured: dict[str, str] = {}  # what the last measurement of a technique gave, by path
        self.previous: dict[str, Value] = {}  # what a technique had before its present value, by path
        self.experiments = Experiments(loaded.ahead, self._on_screen, config_name, self.notify, self.measured.__setitem__)
        self.cards = Cards(self.measured)
        self.ticks: list[Tick] = []  # where techniques were switched, in the graph
        self.overlays: set[str] = set()  # names of those that are shown
        self.frozen: Rect | None = None  # culling keeps what is in this part of the world, while the frustum is frozen
        self.picture_asked: Path | None = None
        self.scenario_asked: str | None = None  # the name or the path of a configuration that is to be opened
        self.changes: list[Callable[[], None]] = []
        self.meters = Meters()
        self.recording: Recording | None = None
        self.broken_recording: Recording | None = None  # the last one that could not be written to its end
        self.player: Player | None = None  # of a replay
        self.guide = Guide()
        self.saver = Saver()
        self.remembers = rewind
        self.rewind = Rewind(self.sim, config.time.rewind_mb if rewind else 0)
        self.timeline_shown = True
        self.touched = TOUCHED_FIRST
        self.list_sections: Callable[[], Mapping[str, bool]] = dict  # of the panels: is it folded?
        self.resting_on: Callable[[], Hovered | None] = lambda: None  # what the cursor rests on
        self.notices = Notices()
        self._unapplied: dict[str, Value] = {}  # values in `changes` that have not taken effect yet, by path
        self._actions: dict[str, Callable[[], None]] = {
            "pause": self.pause, "step": self.step_once, "step_back": self.step_back, "restart": self.restart,
            "fewer": lambda: self.populate(fewer(self.agents_asked)),
            "more": lambda: self.populate(more(self.agents_asked)),
            "slower": partial(self.change_speed, -1), "faster": partial(self.change_speed, 1),
            "lower": partial(self.change_number, -1), "higher": partial(self.change_number, 1),
            "fit": self.camera.fit,
            "larger": partial(self.looks.resize, 1), "smaller": partial(self.looks.resize, -1),
            "normal_size": partial(self.looks.resize, 0), "theme": self.looks.next_theme, "units": self.looks.next_units,
            "fit_graph": self.looks.fit_graph, "menu": self.open_menu, "card": self.show_card,
            "scenarios": self.open_scenarios, "tour": self.open_tours,
            "help": partial(self._toggle, "help_shown"), "fullscreen": partial(self._toggle, "fullscreen"),
            "timeline": partial(self._toggle, "timeline_shown"),
            "measure": self.measure, "ablate": lambda: self._experiment(self.experiments.ablate),
            "largest": lambda: self._experiment(self.experiments.largest),
            "save": self.save, "load": self.load_newest, "record": self.toggle_recording,
            "screenshot": self.ask_picture, "slow_frames": self.save_slow_frames, "quit": self.close_or_quit,
            **{name: partial(self.toggle_overlay, name) for name in OVERLAYS}, "freeze": self.freeze,
        }

    def perform(self, command: PointerCommand) -> None:
        match command:
            case Do(action, _) if self.player and action not in WATCHING:
                self.notify("this is a replay: it takes no changes", "replay")
            case Do(action, backwards) if action in BY_PATH:
                self.switch(BY_PATH[action], backwards)
            case Do("copy_command", shifted):
                self.copy(as_yaml=shifted)
            case Do("hud", backwards):
                self.looks.next_mode(backwards)
            case Do(action, _):
                self._actions[action]()
            case Press(key, shift, do):
                if not self._press(key, shift) and do:
                    self.perform(do)
            case Pan(dx, dy):
                self.camera.pan(dx, dy)
            case Zoom(x, y, factor):
                self._zoom(x, y, factor)
            case Click(target, at):
                self._click(target, at)
            case DragNumber(path, steps):
                self._drag_number(path, steps)
            case Rest(target) if self.dialogs.top:
                self.dialogs.top.hover(target)
            case Scrub(x):
                self._scrub(x)
            case Close():
                self.quitting.ask()

    def take_over(self, left: Program) -> None:
        """Go on as the program that is left was looked at. Its recording ends."""
        left.close_recording()
        self.camera.resize(left.camera.size)
        self.show(self.config.camera)
        self.looks.now, self.help_shown, self.timeline_shown = left.looks.now, left.help_shown, left.timeline_shown
        self.fullscreen, self.leaves_at_once = left.fullscreen, left.leaves_at_once
        self.notices, self.saver = left.notices, left.saver
        self.broken_recording = left.broken_recording
        self.sim.profile = left.sim.profile.fresh()
        self.notify(f"opened {self.config_name}", "scenario")
        self.guide = left.guide
        self.guide.arrived(self)

    @property
    def running(self) -> bool:
        """Does nobody want to quit?"""
        return not self.quitting.asked

    # --- the crowd ---------------------------------------------------------------------------------------------------

    def apply(self, action: Action) -> None:
        self.changes.append(lambda: self._apply(action))

    def populate(self, count: int) -> None:
        self.agents_asked = count
        self.apply(Populate(count))
        self.notify(f"{count:,} agents", "agents")

    def switch(self, technique: Technique, backwards: bool) -> None:
        """Ask for the next choice, after the one that is still being compiled if there is one."""
        self.touched = technique.path
        self._ask_for(technique, next_choice(technique, self._asked(technique.path), backwards))

    def choose(self, technique: Technique, value: Value) -> None:
        """Ask for a value of a technique."""
        if self.player:
            self.notify("this is a replay: it takes no changes", "replay")
            return
        self.touched = technique.path
        self._ask_for(technique, value)

    def change_number(self, direction: int) -> None:
        """Change the number of the technique that was changed last, up or down; `auto` starts at the number it stands for."""
        technique = BY_PATH[self.touched]
        name, path, numbers = technique.label.strip(), technique.path, technique.numbers
        if not numbers:
            self.notify(f"{name} has no number to change", path)
            return
        asked = self._asked(path)
        before = self.sim.world.stands_for(path) if asked == "auto" else asked
        if isinstance(before, str):
            before = numbers.low
        value = next_number(numbers, float(before), direction)
        if value == before:
            self.notify(f"{name}: {shown(value)}, the {'most' if direction > 0 else 'least'}", path)
        else:
            self.notify(f"{name}: {shown(value)}" + " (changes nothing at present)" * (path in inactive(self.sim)), path)
            self._ask_for(technique, value)

    def _asked(self, path: str) -> Value:
        """The value that a technique has, or will have soon."""
        return self.switcher.pending.get(path, self._unapplied.get(path, self.sim.optimizations.get(path)))

    def _ask_for(self, technique: Technique, value: Value) -> None:
        self.switcher.request(with_values(self.sim.optimizations, self._unapplied), technique.path, value)
        self.take_switched()

    def take_switched(self) -> None:
        """Apply the values whose kernels are compiled by now."""
        if not self.switcher.pending:
            return
        for path, value in self.switcher.ready(with_values(self.sim.optimizations, self._unapplied)).items():
            self.previous[path] = self._unapplied.get(path, self.sim.optimizations.get(path))
            self._unapplied[path] = value
            self.apply(Switch(path, value))
            self.ticks = [*self.ticks[-MOST_TICKS:], Tick(self.sim.profile.frames, tick_text(BY_PATH[path], value))]

    def restart(self) -> None:
        """Start again with the same seed, with as many agents as now, and with the present techniques."""
        self.changes.append(self._restart)
        self.notify("started again")

    def carry_out_changes(self) -> None:
        """Apply what was asked for. Call from the thread that makes the steps, between two steps."""
        if self.rewind.go(lambda: self.running):
            self.agents_asked = self.sim.agents.count
        changes, self.changes = self.changes, []
        for change in changes:
            change()
        if changes:
            give_back_freed()  # by these changes, or since the last ones: a switch takes effect in the step
        self._unapplied.clear()

    def _apply(self, action: Action) -> None:
        self._begin_new_future()
        try:
            self.rewind.timeline.apply(action)
        except ValueError as error:
            self.notify(str(error))
            return
        if self.recording:
            self.recording.acted(self.sim.tick, action)

    def _begin_new_future(self) -> None:
        """If this is the past: what came after it did not happen."""
        timeline = self.rewind.timeline
        if self.rewind.in_past:
            left = timeline.newest
            timeline.drop_future()
            if self.recording:
                self.recording.rewound(self.sim, left)
            self.notify(f"a new future: {(left - self.sim.tick) * self.sim.dt:.1f} s dropped", "rewind")

    def _restart(self) -> None:
        again = {"agents": self.agents_asked, "optimizations": self.sim.optimizations}
        self._go_on_with(Simulation(self.config.model_copy(update=again)), self.sim.tick)

    def _go_on_with(self, sim: Simulation, left: int) -> None:
        """Go on with another simulation of the same world, or with the present one in another state, after the tick `left`."""
        sim.profile = self.sim.profile
        self.sim = sim
        self.rewind.begin(sim)
        self.meters = Meters()
        if self.scene:
            self.scene.sim = self.sim
        if self.recording:
            self.recording.begin(sim, left)

    # --- menus and the mouse -----------------------------------------------------------------------------------------

    def open(self, dialog: Dialog) -> None:
        """Show a dialog, which gets keys and clicks first."""
        self.dialogs.open(dialog)

    def open_menu(self) -> None:
        self.open(main_menu(self.keys, lambda action: self.perform(Do(action)), self.open_techniques, self.open_sections))

    def open_techniques(self) -> None:
        self.open(techniques_menu(self._asked, lambda: inactive(self.sim), self.touched, self.open_choices))

    def open_choices(self, technique: Technique, at: tuple[int, int] | None = None) -> None:
        self.open(choices_menu(technique, self._asked(technique.path), self.sim.optimizations.get,
                               partial(self.choose, technique), at))

    def open_sections(self) -> None:
        self.open(sections_menu(self.list_sections, self.looks.fold, self.looks.unfold))

    def open_scenarios(self) -> None:
        self.open(scenarios_menu(self.open_scenario, self.config_name).dialog)

    def open_scenario(self, name: str) -> None:
        """Open another configuration in this window, a name or a path; until it is ready this one goes on."""
        self.scenario_asked = name

    def cannot_open(self, why: str) -> None:
        """Tell why the configuration that was asked for cannot be opened."""
        self.notify(why, "scenario")
        self.guide.cannot_open()

    def open_tours(self) -> None:
        """A list of tours; or the end of the present one."""
        if menu := self.guide.menu(self):
            self.open(menu)

    def _press(self, key: str, shift: bool) -> bool:
        """Offer a key to what is open, or else to the tour; return whether it was taken."""
        return self.dialogs.press(key, shift) if self.dialogs.top else self.guide.press(key, self)

    def _click(self, target: Target | None, at: tuple[float, float]) -> None:
        """A click belongs to what is open, if anything is; outside of it closes it."""
        if self.dialogs.top:
            self.dialogs.click(target if target and target.kind in ("row", "dialog") else None)
            return
        match target:
            case Target("technique" | "number", path):
                self.touched = path
                self.open_choices(BY_PATH[path], (round(at[0]), round(at[1])))
            case Target("fold", name):
                self.looks.fold(name)
            case Target("unfold", name):
                self.looks.unfold(name)
            case Target("graph"):
                self.looks.fit_graph()
            case Target("action", action):
                self.perform(Do(action))
            case Target("tour", name):
                self.guide.act(name, self)

    def _drag_number(self, path: str, steps: int) -> None:
        if self.player:
            return
        self.touched = path
        for _ in range(abs(steps)):
            self.change_number(1 if steps > 0 else -1)

    def _zoom(self, x: float, y: float, factor: float) -> None:
        """The wheel moves through the list that is open, or zooms."""
        if self.dialogs.top:
            self.dialogs.press("up" if factor > 1 else "down", False)
        else:
            self.camera.zoom_at(x, y, factor)

    # --- experiments -------------------------------------------------------------------------------------------------

    def measure(self) -> None:
        """Measure the technique that was touched last: its value against the one before."""
        technique, value = BY_PATH[self.touched], self._asked(self.touched)
        other = other_value(technique, value, self.previous.get(self.touched))
        if other is None:
            self.notify(f"{technique.label.strip()}: there is no other value", self.touched)
        else:
            self._experiment(lambda: self.experiments.measure(technique.path, other))

    def _experiment(self, begin: Callable[[], Dialog]) -> None:
        """Begin one, unless one runs, or a kernel is being compiled, beside which nothing can be measured."""
        if self.switcher.pending:
            self.notify("still compiling a technique: measure it when it is there", "experiment")
        elif not self.experiments.active:
            self.cards.put_away("something was measured")
            self.open(begin())

    # --- files -------------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Save the crowd to a file of a free name in the working folder; it is written beside the next frames."""
        self.changes.append(self._save)

    def load_newest(self) -> None:
        """Load what was saved last in the working folder."""
        self.changes.append(self._load_newest)

    def toggle_recording(self) -> None:
        """Begin a recording in a file of a free name, or end the present one."""
        self.changes.append(self._toggle_recording)

    def start_recording(self, path: Path) -> None:
        """Record from now on. Raises OSError."""
        self._begin_new_future()
        self.recording = Recording(path, self.sim)

    def finish_files(self, timeout_s: float) -> None:
        """End the recording, and wait at most so long for what is being saved."""
        self.close_recording()
        self.saver.wait(timeout_s)

    def crashed(self, error: Exception) -> None:
        """End the recording with the step that crashed, and let the error name it."""
        if self.recording:
            what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            self._end_recording(crash=what)
            error.add_note(f"crowd-demo replay {self.recording.path} leads there again")

    def _save(self) -> None:
        snapshot = self.sim.snapshot()
        config = snapshot.config.model_copy(update={"camera": self.camera.settings()})
        self.saver.save(snapshot._replace(config=config))

    def _load_newest(self) -> None:
        self.saver.wait()
        try:
            path = newest(Path())
            if not path:
                self.notify(f"there is no *{SUFFIX} file in {Path.cwd()}", "load")
                return
            self._load(read_save(path))
            self.notify(f"loaded {path}", "load")
        except (SaveError, OSError) as error:
            self.notify(str(error), "load")

    def _load(self, snapshot: Snapshot) -> None:
        """Go on with a saved crowd. Raises SaveError, and changes nothing then."""
        if not same_world(self.config, snapshot.config):
            raise SaveError("it was saved in another world: crowd-demo --load opens it")
        left = self.sim.tick
        sim = Simulation(snapshot.config) if differences(self.sim.config, snapshot.config) else self.sim
        check(snapshot, sim)
        sim.restore(snapshot)
        self._go_on_with(sim, left)
        self.agents_asked = sim.agents.count

    def _toggle_recording(self) -> None:
        try:
            if self.recording:
                self.close_recording()
            else:
                path = free_name(Path(), RECORDING_SUFFIX)
                self.start_recording(path)
                self.notify(f"recording {path}", "record")
        except OSError as error:
            self.notify(f"cannot record: {error.strerror or error}", "record")

    def close_recording(self) -> None:
        """End the recording, if there is one, and say so."""
        self._end_recording()
        self._part_from_broken_recording()
        if self.recording:
            self.notify(f"recorded {self.recording.path}", "record")
        self.recording = None

    def _end_recording(self, crash: str = "") -> None:
        """End it at the present tick, which may be in the past."""
        if self.recording:
            self._begin_new_future()
            self.recording.close(self.sim, crash)

    def _part_from_broken_recording(self) -> None:
        """Tell that a recording could not be written, and go on without it."""
        if self.recording and self.recording.error:
            self.notify(f"the recording ends: {self.recording.error.strerror}", "record")
            self.recording, self.broken_recording = None, self.recording

    # --- time --------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Make a step, of the replay if this is one. Call from the thread that makes the steps."""
        timeline = self.rewind.timeline
        if self.rewind.in_past:
            timeline.step()
        elif not self.player:
            timeline.step()
            if self.recording:
                self.recording.stepped(self.sim)
        elif not self.player.done:
            part, left = self.player.part, self.sim.tick
            sim = self.player.step(self.sim)
            if self.player.part is part:
                timeline.stepped()
            else:
                self._go_on_with(sim, left)
            if self.player.done:
                self.paused = True
                self.notify(self.player.verdict(sim.tick), "replay")

    def pause(self) -> None:
        self.paused = not self.paused
        self.rate.clear()

    def step_once(self) -> None:
        self.paused = True
        self.steps_asked += 1

    def step_back(self) -> None:
        if self._can_go_back():
            self.rewind.seek_by(-1)

    def _scrub(self, x: float) -> None:
        """Go to the tick that the timeline shows at that column."""
        if self._can_go_back():
            size = self.camera.size
            bar = bar_of(size, scale_for(size[1], self.looks.now.scale))
            self.rewind.seek(tick_at(self.rewind.past(), x, bar))

    def _can_go_back(self) -> bool:
        """Pause, or say that there is nothing to go back to."""
        if why := why_not(self.rewind.past()):
            self.notify(why, "rewind")
            return False
        self.paused = True
        return True

    @property
    def _has_timeline(self) -> bool:
        return self.timeline_shown and self.looks.now.hud == "full" and self.rewind.possible

    def set_speed(self, speed: float) -> None:
        self.speed = speed
        self.rate.clear()

    def change_speed(self, direction: int) -> None:
        faster = [speed for speed in SPEEDS if (speed - self.speed) * direction > 0]
        if faster:
            self.set_speed(min(faster, key=lambda speed: abs(speed - self.speed)))
        self.notify(f"speed {speed_text(self.speed)}", "speed")

    # --- the view ----------------------------------------------------------------------------------------------------

    def show(self, settings: CameraSettings) -> None:
        """Show what a configuration's camera would; what that leaves out is as if the world were fitted."""
        self.camera.fit()
        self.camera.show(settings)

    def freeze(self) -> None:
        """Go on to cull by the present view and show it as a rectangle; or cull by the camera's view again."""
        self.toggle_overlay("freeze")
        self.frozen = self.camera.view_rect() if "freeze" in self.overlays else None

    def toggle_overlay(self, name: str) -> None:
        self.overlays ^= {name}

    def ask_picture(self) -> None:
        self.picture_asked = free_name(Path(), ".png")

    def copy(self, as_yaml: bool = False) -> None:
        """Put the command that shows what is on the screen on the clipboard and into the terminal; or the YAML."""
        text, about = copy(self._on_screen(), self.config_name, as_yaml)
        to_terminal(text)
        self.notify(f"{'copied' if to_clipboard(text) else 'in the terminal'}: {about}", "copy")

    def _on_screen(self) -> Shown:
        """What is on the screen, or will be once it is compiled."""
        asked = with_values(self.sim.optimizations, {**self._unapplied, **self.switcher.pending})
        return Shown(self.config, self.sim, self.camera, self._configured_view(self.camera.size), asked, self.agents_asked,
                     self.speed, self.fullscreen, self.looks.now.hud, self.frozen is not None)

    def save_slow_frames(self) -> None:
        """Save the last second, frame by frame, and tell the slowest."""
        try:
            self.notify(save_last_second(self.sim.profile, Path()), "slow frames")
        except (OSError, ValueError) as error:
            self.notify(f"cannot save the last second: {getattr(error, 'strerror', None) or error}", "slow frames")

    def prefer_size(self, size: tuple[int, int]) -> None:
        """Keep the size that the user has given to the window."""
        self.window = self.window.model_copy(update={"width": size[0], "height": size[1]})
        self.preferences.change(size=size)

    def close_or_quit(self) -> None:
        """Close what is open; once nothing is, ask before leaving."""
        if self.dialogs.press("escape", False):
            return
        if self.help_shown:
            self.help_shown = False
        elif self.leaves_at_once:
            self.quitting.ask()
        else:
            self.open(Question("Leave crowd-demo?", "Esc or Enter leaves, any other key goes on", self.quitting.ask))

    @property
    def is_asking(self) -> bool:
        """Is there a question to which Esc says yes?"""
        return isinstance(self.dialogs.top, Question)

    def show_card(self) -> None:
        """Show the card of the last switch again, or hide it."""
        if not self.cards.toggle():
            self.notify("no technique was switched yet", "card")

    def moment(self, alpha: float) -> Moment:
        """What cards have to know at the end of a frame's computation."""
        camera = self.camera
        seen = (camera.x, camera.y, camera.zoom, camera.size, frozenset(self.overlays), self.frozen, self.speed, self.paused)
        view = View(self.scene, camera, self.frozen, alpha) if self.scene else None
        return Moment(self.sim, view, seen, self.paused, self.looks.now.hud == "off", self.switcher.busy)

    def _toggle(self, flag: str) -> None:
        setattr(self, flag, not getattr(self, flag))

    def _configured_view(self, size: tuple[int, int]) -> Camera:
        """A camera that shows what the configuration says in a window of that size."""
        walls = self.sim.terrain.walls
        camera = Camera((float(walls.width), float(walls.height)), size)
        camera.show(self.config.camera)
        return camera

    # --- what the HUD is told ---------------------------------------------------------------------------------------

    def notify(self, text: str, about: str = "") -> None:
        """Show a line for a while; it replaces the one about the same topic."""
        self.notices.add(text, about)

    def status(self) -> Status:
        self._part_from_broken_recording()
        for line in (*self.saver.finished(), *self.preferences.news()):
            self.notify(line)
        notices = self.notices.present()
        if self.switcher.pending:
            notices.append(self.switcher.text or "compiling")
        real = None if self.paused or self.unpaced else self.rate.real_speed(self.speed, self.sim.dt)
        clock = Clock(self.rate.per_s, real, self.sim.tick, self.sim.tick * self.sim.dt)
        recorded = self.recording.nbytes if self.recording else None
        past = self.rewind.past()._replace(recorded=recorded, replayed=self.player is not None)
        if self.rewind.in_past and not self._has_timeline:
            notices.append(label(past))
        self.cards.readings = self.meters.readings(self.sim)
        return Status(self.paused, self.speed, self.switcher.pending, notices, self.cards.readings, self.touched,
                      clock, past if self._has_timeline else None, self.looks.now, self.ticks,
                      self.dialogs.top.view() if self.dialogs.top else None, self.resting_on(), self.measured,
                      self.guide.view(self), self.cards.card())
