"""The dialogs of experiments: each shows the progress and a table of the results, which can be saved as JSON.

Esc stops an experiment and keeps the results so far; once it is over, Esc closes the table.

The worker's thread runs the experiment slice by slice. Between slices the window is drawn and events are read, so
nothing runs beside what is measured; only a slice that takes long, such as compiling a kernel or a step of brute
force, is not waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from crowd_demo.app.compiling.loading import eager_threads
from crowd_demo.app.output.files import free_name
from crowd_demo.app.output.report import write_report
from crowd_demo.app.process.worker import Worker
from crowd_demo.measure.ablation import Ablation, Measurement
from crowd_demo.measure.experiment import Experiment, InSlices, Slice
from crowd_demo.measure.largest import Largest
from crowd_demo.measure.three_crowds import Pair
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.canvas import BAD, DIM, GOOD, TEXT, WARM, Colour, Target
from crowd_demo.render.hud.views import Cell, TableView

Kind = TypeVar("Kind", bound=Experiment)
Tell = Callable[[str, str], object]  # a line, and what it is about
STILL = "The crowd on the screen stands still meanwhile, or it would be measured too."
LOOKING = ("f11", "f12", "tab")  # keys that the program gets while an experiment runs
SLICES_S = 0.1  # how long slices run before the window is drawn again


class ExperimentDialog(Generic[Kind]):
    """What all of these dialogs share. `make` is called in the worker's thread; `repeat` is a command that does the same."""

    title = ""

    def __init__(self, make: Callable[[], Kind], tell: Tell, repeat: str = "") -> None:
        self.closed = False
        self.experiment: Kind | None = None
        self.running = Running(lambda: self._made(make))
        self._tell, self._repeat = tell, repeat

    def _made(self, make: Callable[[], Kind]) -> Kind:
        self.experiment = make()
        return self.experiment

    # --- what it shows -----------------------------------------------------------------------------------------------

    def colours(self, experiment: Kind) -> Sequence[Colour]:
        """One for each row."""
        raise NotImplementedError

    def notes(self, experiment: Kind) -> Sequence[str]:
        """Lines under the table once it is over."""
        lines = [line for paragraph in experiment.notes() for line in paragraph.splitlines()]
        return lines if experiment.done else ["stopped before the end", *lines]

    def view(self) -> TableView:
        progress, over = self.running.progress, self.running.over
        columns: Sequence[str] = ("",)
        rows: list[list[Cell]] = []
        notes = [progress.text, STILL]
        if self.experiment:
            table = self.experiment.table()
            columns = table.columns
            rows = [[Cell(text, colour) for text in row]
                    for row, colour in zip(table.rows, self.colours(self.experiment), strict=False)]
            if over:
                notes = [*self.notes(self.experiment), *[f"in a terminal: {self._repeat}"] * bool(self._repeat)]
        hint = "S saves it as JSON, Esc closes" if over else "Esc stops and keeps the results so far"
        return TableView(self.title, columns, rows, notes, None if over else progress.part, hint)

    # --- keys and the mouse ------------------------------------------------------------------------------------------

    def press(self, key: str, shift: bool) -> bool:
        if not self.running.over:
            if key == "escape":
                self.running.stop()
            return key not in LOOKING
        if key == "s":
            self._save()
        return key == "s"

    def click(self, target: Target) -> None:
        pass

    def hover(self, target: Target) -> None:
        pass

    def ended(self) -> None:
        """The experiment is over: tell why it was refused, or keep its results."""
        if self.running.refused:
            self.closed = True
            self._tell(self.running.refused, "experiment")

    def _save(self) -> None:
        if not self.experiment:
            return
        path = free_name(Path(), ".json")
        try:
            write_report(self.experiment.record(), path)
            self._tell(f"saved {path}", "experiment")
        except OSError as error:
            self._tell(f"cannot save {path}: {error.strerror or error}", "experiment")


class MeasurementDialog(ExperimentDialog[Measurement]):
    """One technique against another value; `keep` gets the technique's path and a line with the result.

    The table shows the result while the dialog is open, and a notice once it is closed.
    """

    def __init__(self, title: str, make: Callable[[], Measurement], tell: Tell, keep: Callable[[str, str], object]) -> None:
        self._line = ""
        super().__init__(make, tell)
        self.title = title
        self._keep = keep

    @property
    def closed(self) -> bool:
        return self._closed

    @closed.setter
    def closed(self, closed: bool) -> None:
        self._closed = closed
        if closed and self.experiment and self._line:
            path, line, self._line = self.experiment.path, self._line, ""
            self._tell(f"{BY_PATH[path].label.strip()}, {line}", path)

    def colours(self, experiment: Measurement) -> Sequence[Colour]:
        return [colour_of(pair) for pair in experiment.pairs().values()]

    def ended(self) -> None:
        super().ended()
        if self.experiment and self.experiment.found:
            self._line = self.experiment.found.line(self.experiment.value, self.experiment.other)
            self._keep(self.experiment.path, self._line)


class AblationDialog(ExperimentDialog[Ablation]):
    """Each technique switched off in turn; `keep` gets each one's path and line."""

    title = "What each technique buys here"

    def __init__(self, make: Callable[[], Ablation], tell: Tell, repeat: str, keep: Callable[[str, str], object]) -> None:
        super().__init__(make, tell, repeat)
        self._keep = keep

    def colours(self, experiment: Ablation) -> Sequence[Colour]:
        return [BAD if row.found.crowd == "DIFFERS" else colour_of(row.found.frame) for row in experiment.rows]

    def ended(self) -> None:
        super().ended()
        for row in self.experiment.rows if self.experiment else ():
            self._keep(row.technique.path, row.found.line(row.value, row.off))


class LargestDialog(ExperimentDialog[Largest]):
    """The largest crowd with the present techniques, and on each rung of the ladder."""

    title = "The largest crowd at 60 frames a second here"

    def colours(self, experiment: Largest) -> Sequence[Colour]:
        return [TEXT] * len(experiment.answers)


def colour_of(pair: Pair) -> Colour:
    """Green for what buys something, amber for what costs."""
    return {"faster": GOOD, "slower": WARM}.get(pair.verdict, DIM)


class Running:
    """The slices of an experiment; `make` is called in the worker's thread, where the crowd can be read."""

    def __init__(self, make: Callable[[], InSlices]) -> None:
        self.progress = Slice("starting", 0.0)
        self.over = False
        self.refused = ""  # why it cannot be done
        self._slices = self._all(make)
        self._job: Future[bool] | None = None

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

    def _all(self, make: Callable[[], InSlices]) -> Iterator[Slice]:
        yield self.progress
        yield from make().run()

    def _slice(self) -> bool:
        """Run one; return whether there is another."""
        try:
            with eager_threads():  # so that the window responds while a kernel is compiled
                self.progress = next(self._slices)
        except StopIteration:
            return False
        except ValueError as error:
            self.refused = str(error)
            return False
        return True
