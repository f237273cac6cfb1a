"""Experiments in the window. Each shows its progress and a table of its results, which can be saved as JSON.

Esc, or a second press of a key that measures, asks whether to stop; the results so far remain. Once an experiment is over, Esc
closes the table. The crowd on the screen stands still meanwhile: the worker's thread runs the experiment slice by slice, and
between slices the window is drawn and events are read, so nothing runs beside what is measured. Only a slice that takes long,
such as compiling a kernel or a step of brute force, is not waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from crowd_demo.app.card.cards import Cards
from crowd_demo.app.copying import Shown, command_for, effective
from crowd_demo.app.crowd.technique_controls import Techniques
from crowd_demo.app.dialogs.dialog import MOVES, Dialogs, Item, ListDialog, Question
from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.model import CameraSettings, Config
from crowd_demo.host.files import free_name
from crowd_demo.host.report import write_report
from crowd_demo.host.system import Worker, eager_threads, give_back_freed
from crowd_demo.measure.ablation import Ablation, Measurement
from crowd_demo.measure.comparison import Comparison
from crowd_demo.measure.experiment import Experiment, Slice
from crowd_demo.measure.largest import Largest, present_and_rungs
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, yaml_word
from crowd_demo.registry.texts import reason
from crowd_demo.render.hud.canvas import BAD, DIM, GOOD, TEXT, WARM, Colour, Target
from crowd_demo.render.hud.views import ListView, Row
from crowd_demo.sim.snapshot import Snapshot

Kind = TypeVar("Kind", bound=Experiment, covariant=True)
STILL = "The crowd on the screen stands still meanwhile, or it would be measured too."
LOOKING = ("f11", "f12", "tab")  # keys that the program gets while an experiment runs
AGAIN = "measure", "ablate", "largest"  # actions whose keys ask whether to stop
SLICES_S = 0.1  # how long slices run before the window is drawn again


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
        """Run slices for `SLICES_S`. Raises what a slice raises, but for a ValueError, which is kept as a refusal."""
        end = time.monotonic() + SLICES_S
        while not self.over and (left := end - time.monotonic()) > 0:
            self._job = self._job or worker.submit(self._slice)
            with suppress(TimeoutError):
                self._job.exception(left)
            if not self._job.done():
                return
            job, self._job = self._job, None
            self.over = self.over or not job.result()

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

    def ended(self) -> None:
        """The experiment is over: tell why it was refused, and keep its results."""
        if self._refused:
            self.closed = True
            self._notify(self._refused, "experiment")
        if self.experiment:
            self.results = self._results_of(self.experiment)

    # --- what it shows -----------------------------------------------------------------------------------------------

    def _rows(self) -> list[Item]:
        """None until the experiment is made."""
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
        if key == "s":
            self._save()
        return key == "s" or (key in MOVES and super().press(key, shift))

    def click(self, target: Target) -> None:
        if self._is_asking:
            self._question.click(target)

    def close(self) -> None:
        """Close the table; while the experiment runs, ask whether to stop it, or close that question."""
        if not self.over:
            self._question.closed = not self._question.closed
            return
        super().close()
        for path, line in self.results.items() if not self._repeat else ():
            self._notify(f"{BY_PATH[path].label.strip()}, {line}", path)

    def _save(self) -> None:
        if not self.experiment:
            return
        path = free_name(Path(), ".json")
        try:
            write_report(self.experiment.record(), path)
            self._notify(f"saved {path}", "experiment")
        except OSError as error:
            self._notify(f"cannot save {path}: {reason(error)}", "experiment")


def colour_of(found: Comparison) -> Colour:
    """Green for what buys something, amber for what costs."""
    return {"faster": GOOD, "slower": WARM}.get(found.verdict_of_a, DIM)


# --- beginning one ---------------------------------------------------------------------------------------------------

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
            title = f"{name}: {yaml_word(value)} against {yaml_word(other)}"
            self._begin(title, lambda: Measurement((start := self._start())._replace(
                techniques={**start.techniques, path: value}), path, other, self._compile_for), lambda experiment: [
                colour_of(found) for found in experiment.comparisons().values()], lambda experiment: {
                    experiment.path: experiment.found.line(experiment.value, experiment.other)} if experiment.found else {})

    def ablate(self) -> None:
        """Each technique off in turn."""
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
        if self._techniques.switcher.pending:
            self._notices.add("still compiling a technique: measure it when it is there", "experiment",
                              holds=lambda: self._techniques.switcher.pending)
        elif not self.dialog:
            repeat = command_for(self._screen(), self._config_name, command) if command else ""
            self.dialog = ExperimentDialog(title, make, colours_of, results_of, self._notices.add, repeat,
                                           self._bindings)
            self._cards.put_away("something was measured")
            self._dialogs.open(self.dialog)

    def _config(self) -> Config:
        """What is on the screen; a view of the whole world stays one when the world grows."""
        screen = self._screen()
        config = effective(screen)
        if screen.camera.is_fitted:
            return config.model_copy(update={"camera": CameraSettings(center=None, zoom=None)})
        return config

    def _start(self) -> Snapshot:
        return self._screen().sim.snapshot()._replace(config=self._config())

    # --- going on ----------------------------------------------------------------------------------------------------

    def advance(self, worker: Worker) -> None:
        """Run some slices, and end the experiment if it is over."""
        dialog = self.dialog
        if dialog is None:
            return
        dialog.advance(worker)
        if dialog.over:
            self.dialog = None
            dialog.ended()
            self._measured.update(dialog.results)
            worker.submit(give_back_freed)


def other_value(technique: Technique, value: Value, before: Value | None) -> Value | None:
    """What a technique's value is measured against: the one before, its baseline, or its default; None if it has no other."""
    others = [other for other in (before, technique.baseline, technique.default) if other not in (None, value)]
    return others[0] if others else None
