"""Dialogs over the picture, which get keys and the mouse first: lists, questions, text fields, experiments.

The last one opened is the one that is shown. A key that it does not want may change the window, not the crowd
(window_events.py).

An experiment shows its progress and a table of its results, which can be saved as JSON. Esc, or a second press of a key
that measures, asks whether to stop; the results so far remain. Once it is over, Esc closes the table. The crowd on the
screen stands still meanwhile: the worker's thread runs the experiment slice by slice, and between slices the window is
drawn and events are read, so nothing runs beside what is measured. Only a slice that takes long, such as compiling a
kernel or a step of brute force, is not waited for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from crowd_demo.app.cards import Cards
from crowd_demo.app.copying import Shown, command_for, effective
from crowd_demo.app.screen import Notices
from crowd_demo.app.technique_controls import Techniques
from crowd_demo.config.model import CameraSettings, Config
from crowd_demo.host.files import free_name
from crowd_demo.host.report import write_report
from crowd_demo.host.system import Worker, eager_threads, give_back_freed
from crowd_demo.measure.ablation import Ablation, Measurement
from crowd_demo.measure.comparison import Comparison
from crowd_demo.measure.experiment import Experiment, Slice
from crowd_demo.measure.largest import Largest, present_and_rungs
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, hud_word
from crowd_demo.registry.texts import reason
from crowd_demo.render.hud.canvas import BAD, DIM, GOOD, TEXT, WARM, Colour, Target
from crowd_demo.render.hud.views import ListView, Row
from crowd_demo.sim.snapshot import Snapshot

MAX_TYPED = 40  # characters
PATIENCE_S = 6.0  # how long a question waits for its answer
MOVES = {"up": -1, "down": 1, "page up": -8, "page down": 8, "home": -10_000, "end": 10_000}  # rows that a key goes over
Kind = TypeVar("Kind", bound=Experiment, covariant=True)
STILL = "The crowd on the screen stands still meanwhile, or it would be measured too."
LOOKING = ("f11", "f12", "tab")  # keys that the program gets while an experiment runs
AGAIN = "measure", "ablate", "largest"  # actions whose keys ask whether to stop
SLICES_S = 0.1  # how long slices run before the window is drawn again


class Item(NamedTuple):
    row: Row
    do: Callable[[], object] = lambda: None
    stays: bool = False  # does the list stay open?
    hidden: bool = False  # until something is typed


class ListDialog:
    """A list to choose from. What is typed filters it, and selects the first row of that name.

    Esc clears what was typed; without that, Esc or Left closes the list.

    `items` is called in every frame, so rows may change; `verb` is what Enter does with one.
    """

    closed = False
    across = 0  # rows are tiles, so many beside each other

    def __init__(self, title: str, items: Callable[[], Sequence[Item]], selected: int = 0,
                 at: tuple[int, int] | None = None, verb: str = "chooses", notes: Sequence[str] = ()) -> None:
        self.title, self.at, self.hint, self.notes = title, at, f"Enter {verb}, Esc closes", notes
        self.selected, self.typed = selected, ""
        self._all = items

    @property
    def items(self) -> Sequence[Item]:
        """Those in which each word that was typed occurs."""
        words, items = self.typed.lower().split(), self._all()
        return [item for item in items if (words or not item.hidden) and all(
            word in f"{item.row.text} {item.row.detail} {item.row.about} {item.row.group}".lower() for word in words)]

    def view(self) -> ListView:
        """Return the list to draw. Call in every frame."""
        items = self.items
        self.selected = min(max(self.selected, 0), max(len(items) - 1, 0))
        return ListView(self.title, [item.row for item in items], self.selected, self.hint, self.at, self.typed,
                        notes=self.notes, total=len(self._all()), across=self.across)

    def close(self) -> None:
        self.closed = True

    def press(self, key: str, shift: bool) -> bool:
        """A key went down, by its name; return whether it meant something here. Esc closes what does not take it."""
        moves = {**MOVES, "up": -self.across, "down": self.across, "left": -1, "right": 1} if self.across else MOVES
        match key:
            case _ if key in moves:
                self.selected = min(max(self.selected + moves[key], 0), max(len(self.items) - 1, 0))
            case "return":
                self.choose()
            case "left" if not self.typed:
                self.close()
            case "delete" | "escape" if self.typed or key == "delete":
                self.typed = ""
            case "backspace":
                self.typed = self.typed[:-1]
            case _ if len(key) == 1 or key == "space":
                self.typed = f"{self.typed}{' ' if key == 'space' else key}"[:MAX_TYPED]
                named = (number for number, item in enumerate(self.items) if self.typed.lower() in item.row.text.lower())
                self.selected = next(named, 0)
            case _:
                return False
        return True

    def click(self, target: Target) -> None:
        self.hover(target)
        if target == Target("row", str(self.selected)):
            self.choose()

    def hover(self, target: Target) -> None:
        """The cursor rests on a target of the view; a row of the picture may be one that the list no longer has."""
        if target.kind == "row" and int(target.name) < len(self.items):
            self.selected = int(target.name)

    def choose(self) -> None:
        for item in self.items[self.selected:self.selected + 1]:
            if item.row.usable:
                self.closed = not item.stays
                item.do()


class Question(ListDialog):
    """A question with two answers. Esc or Enter: the first; another key, a click elsewhere or no answer in time: the second.

    With `esc_stays` Esc gives the second, and it waits for its answer.
    """

    def __init__(self, text: str, answers: tuple[str, str], yes: Callable[[], object],
                 no: Callable[[], object] = lambda: None, esc_stays: bool = False, notes: Sequence[str] = ()) -> None:
        keys = ("Enter", "Esc") if esc_stays else ("Enter, Esc", "any other key")
        items = [Item(Row(answer, key), do) for answer, key, do in zip(answers, keys, (yes, no), strict=True)]
        super().__init__(text, lambda: items, notes=notes)
        self._esc_stays, self._no, self._shown_at = esc_stays, no, math.nan

    def view(self) -> ListView:
        now = time.monotonic()
        self._shown_at = now if math.isnan(self._shown_at) else self._shown_at
        if not self._esc_stays and now - self._shown_at > PATIENCE_S:
            self.close()
        return super().view()._replace(typed=None, hint="")

    def press(self, key: str, shift: bool) -> bool:
        if key in ("return", *MOVES):
            return super().press(key, shift)
        if key == "escape" and not self._esc_stays:
            self.selected = 0
            self.choose()
        else:  # any other key gives the second answer, and does nothing else
            self.close()
        return key == "escape"

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._no()


class TextDialog(ListDialog):
    """A field into which a number or a name is typed. Enter hands it to `use`, which raises ValueError with what is wrong."""

    def __init__(self, title: str, use: Callable[[str], object], text: str = "") -> None:
        super().__init__(title, list)
        self.typed, self.wrong, self._use = text, "", use

    def view(self) -> ListView:
        return super().view()._replace(hint=self.wrong or "Enter applies, Esc cancels", is_wrong=bool(self.wrong))

    def press(self, key: str, shift: bool) -> bool:
        self.wrong = ""
        return key != "escape" and super().press(key, shift)

    def choose(self) -> None:
        try:
            self._use(self.typed)
            self.closed = True
        except ValueError as error:
            self.wrong = str(error)


class Dialogs:
    """The open ones (`stack`), the top one last; closed ones stay there until `top` is read."""

    def __init__(self) -> None:
        self.stack: list[ListDialog] = []

    def open(self, dialog: ListDialog) -> None:
        self.stack.append(dialog)

    @property
    def top(self) -> ListDialog | None:
        self.stack = [dialog for dialog in self.stack if not dialog.closed]
        return self.stack[-1] if self.stack else None

    def press(self, key: str, shift: bool) -> bool:
        """Offer a key to the top one; Esc closes it if it does not want that. Return whether the key was taken."""
        if not (top := self.top) or top.press(key, shift):
            return top is not None
        if key == "escape":
            top.close()
        return key == "escape"

    def click(self, target: Target | None) -> None:
        if (top := self.top) and target:
            top.click(target)
        elif top:
            top.close()


# --- experiments -----------------------------------------------------------------------------------------------------

class ExperimentDialog(ListDialog, Generic[Kind]):
    """Runs an experiment and shows it. Once one that no command repeats is closed, its result is a notice."""

    def __init__(self, title: str, make: Callable[[], Kind], colours_of: Callable[[Kind], Sequence[Colour]],
                 results_of: Callable[[Kind], Mapping[str, str]], notify: Callable[[str, str], object],
                 repeat: str = "", bindings: Mapping[str, str] | None = None) -> None:
        """`make` is called in the worker's thread, where the crowd can be read.

        `colours_of` gives one for each row, `results_of` a line for each technique that was measured, by path. `notify` gets a
        line, and what it is about; `repeat` is a command that does the same. `bindings` are the actions of keys.
        """
        super().__init__(title, self._rows)
        self.experiment: Kind | None = None  # until it is made
        self.progress = Slice("starting", 0.0)
        self.over = False
        self.results: Mapping[str, str] = {}  # by path, once it is over
        self._refused = ""  # why it cannot be done
        self._slices = self._run(make)
        self._job: Future[bool] | None = None
        self._colours_of, self._results_of, self._notify, self._repeat = colours_of, results_of, notify, repeat
        self._bindings, self._question = bindings or {}, Question(
            "Stop measuring?", ("stop and keep the results so far", "go on"), self.stop, esc_stays=True)
        self._question.close()

    # --- running it --------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop it; its results so far remain. A slice that is under way runs to its end."""
        self.over = True
        self._slices = iter(())

    def advance(self, worker: Worker) -> None:
        """Run slices for `SLICES_S`. Raises what a slice raises, except ValueError, which is kept as a refusal."""
        end = time.monotonic() + SLICES_S
        while not self.over and (left := end - time.monotonic()) > 0:
            self._job = self._job or worker.submit(self._slice)
            with suppress(TimeoutError):
                self._job.exception(left)
            if not self._job.done():
                return
            job, self._job = self._job, None
            self.over = self.over or not job.result()
        if self.over and self._refused:
            self.closed = True
            self._notify(self._refused, "experiment")
        if self.over and self.experiment:
            self.results = self._results_of(self.experiment)

    def _run(self, make: Callable[[], Kind]) -> Iterator[Slice]:
        yield self.progress
        self.experiment = make()
        yield from self.experiment.run()

    def _slice(self) -> bool:
        """Run one; return whether there is another."""
        progress = None
        try:
            with eager_threads():  # so that the window responds while a kernel is compiled
                progress = next(self._slices, None)
        except ValueError as error:
            self._refused = str(error)
        self.progress = progress or self.progress
        return progress is not None

    # --- what it shows -----------------------------------------------------------------------------------------------

    def _rows(self) -> list[Item]:
        if not self.experiment:
            return []
        return [Item(Row(row[0], cells=tuple(row[1:]), colour=colour), stays=True)
                for row, colour in zip(self.experiment.table().rows, self._colours_of(self.experiment), strict=False)]

    @property
    def _is_asking(self) -> bool:
        return not (self.over or self._question.closed)

    def view(self) -> ListView:
        if self._is_asking:
            return self._question.view()._replace(notes=[self.progress.text], progress=self.progress.part)
        experiment, notes = self.experiment, [self.progress.text, STILL]
        if experiment and self.over:
            stopped = ["stopped before the end"] * (not experiment.done)
            lines = [line for paragraph in experiment.notes() for line in paragraph.splitlines()]
            notes = [*stopped, *lines, *[f"in a terminal: {self._repeat}"] * bool(self._repeat)]
        hint = "S saves it as JSON, Esc closes" if self.over else "Esc: stop and keep the results so far"
        return super().view()._replace(hint=hint, typed=None, columns=experiment.table().columns if experiment else ("",),
                                       notes=notes, progress=None if self.over else self.progress.part)

    # --- keys --------------------------------------------------------------------------------------------------------

    def press(self, key: str, shift: bool) -> bool:
        if self._is_asking and key not in LOOKING:
            self._question.press(key, shift)
            return True
        if not self.over:
            if self._bindings.get(key) in AGAIN:
                self.close()
            return key not in (*LOOKING, "escape")
        if key != "s":
            return key in MOVES and super().press(key, shift)
        path = free_name(Path(), ".json")
        try:
            if self.experiment:
                write_report(self.experiment.record(), path)
                self._notify(f"saved {path}", "experiment")
        except OSError as error:
            self._notify(f"cannot save {path}: {reason(error)}", "experiment")
        return True

    def click(self, target: Target) -> None:
        if self._is_asking:
            self._question.click(target)

    def close(self) -> None:
        """Close the table; while the experiment runs, ask whether to stop it, or close that question."""
        if not self.over:
            self._question.closed, self._question.selected = not self._question.closed, 0
            return
        super().close()
        for path, line in self.results.items() if not self._repeat else ():
            self._notify(f"{BY_PATH[path].label.strip()}, {line}", path)


def colour_of(found: Comparison) -> Colour:
    return {"faster": GOOD, "slower": WARM}.get(found.verdict_of_a, DIM)


# --- experiments of the window -----------------------------------------------------------------------------------

class Experiments:
    """At most one runs at a time. `screen` returns what is on it; `measured` gets a line for each path."""

    def __init__(self, techniques: Techniques, cards: Cards, dialogs: Dialogs, notices: Notices, config_name: str | None,
                 screen: Callable[[], Shown], measured: dict[str, str], bindings: Mapping[str, str]) -> None:
        self._compile_for = techniques.switcher.compile_one_by_one
        self._techniques, self._cards, self._dialogs, self._notices = techniques, cards, dialogs, notices
        self._config_name, self._screen, self._measured, self._bindings = config_name, screen, measured, bindings
        self.dialog: ExperimentDialog[Experiment] | None = None  # of what runs instead of frames

    # --- beginning one -----------------------------------------------------------------------------------------------

    def measure(self) -> None:
        """Measure the technique that was touched last: its value against the one before, or that against the baseline."""
        if not (path := self._techniques.touched):
            self._notices.add("switch a technique first: it is measured against the value that it had before", "measure",
                              holds=lambda: not self._techniques.touched)
            return
        technique, value = BY_PATH[path], self._techniques.value(path)
        name, other = technique.label.strip(), other_value(technique, value, self._techniques.previous.get(path))
        if other is None:
            self._notices.add(f"{name}: there is no other value", path)
        else:
            if value == technique.baseline:  # what a technique buys, not what its absence does
                value, other = other, value
            title = f"{name}: {hud_word(value)} against {hud_word(other)}"
            self._begin(title, lambda: Measurement((start := self._start())._replace(
                techniques={**start.techniques, path: value}), path, other, self._compile_for), lambda experiment: [
                colour_of(found) for found in experiment.comparisons().values()], lambda experiment: {
                    experiment.path: experiment.found.line(experiment.value, experiment.other)} if experiment.found else {})

    def ablate(self) -> None:
        self._begin("Gain of each technique here", lambda: Ablation(self._start(), self._compile_for),
                    lambda experiment: [BAD if row.found.crowd == "DIFFERS" else colour_of(row.found.frame)
                                        for row in experiment.rows],
                    lambda experiment: {row.technique.path: row.found.line(row.value, row.off) for row in experiment.rows},
                    "ablate")

    def largest(self) -> None:
        """The largest crowd with the present techniques, and on each rung of the ladder."""
        self._begin("The largest crowd at 60 FPS here", lambda: Largest(
            config := self._config(), present_and_rungs(config.optimizations), self._compile_for),
            lambda experiment: [TEXT] * len(experiment.answers), lambda experiment: {}, "largest --ladder")

    def _begin(self, title: str, make: Callable[[], Kind], colours_of: Callable[[Kind], Sequence[Colour]],
               results_of: Callable[[Kind], Mapping[str, str]], command: str = "") -> None:
        """Begin one, unless one runs, or a kernel is being compiled, beside which nothing can be measured."""
        if self._techniques.switcher.compiling:
            self._notices.add("kernels are still being compiled: measure afterwards", "experiment",
                              holds=lambda: self._techniques.switcher.compiling)
        elif not self.dialog:
            repeat = command_for(self._screen(), self._config_name, command) if command else ""
            self.dialog = ExperimentDialog(title, make, colours_of, results_of, self._notices.add, repeat,
                                           self._bindings)
            self._cards.put_away("something was measured")
            self._dialogs.open(self.dialog)

    def _config(self) -> Config:
        """Return the configuration of what is on the screen. A view of the whole world follows when the world grows."""
        screen = self._screen()
        config = effective(screen)
        if screen.camera.is_fitted:
            return config.model_copy(update={"camera": CameraSettings(center=None, zoom=None)})
        return config

    def _start(self) -> Snapshot:
        return self._screen().sim.snapshot()._replace(config=self._config())

    # --- going on ----------------------------------------------------------------------------------------------------

    def advance(self, worker: Worker) -> None:
        if dialog := self.dialog:
            dialog.advance(worker)
        if dialog and dialog.over:
            self.dialog = None
            self._measured.update(dialog.results)
            worker.submit(give_back_freed)


def other_value(technique: Technique, value: Value, before: Value | None) -> Value | None:
    """Return the value to compare with: the previous one, the baseline or the default; None if all are the same."""
    others = [other for other in (before, technique.baseline, technique.default) if other not in (None, value)]
    return others[0] if others else None
