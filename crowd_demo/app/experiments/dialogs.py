"""The dialogs of experiments: each shows the progress and a table of the results, which can be saved as JSON.

Esc stops an experiment and keeps the results so far; once it is over, Esc closes the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from crowd_demo.app.experiments.slices import Running
from crowd_demo.app.output.files import free_name
from crowd_demo.app.output.report import write_report
from crowd_demo.measure.ablation import Ablation, Measurement
from crowd_demo.measure.experiment import Experiment
from crowd_demo.measure.largest import Largest
from crowd_demo.measure.three_crowds import Pair
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.canvas import BAD, DIM, GOOD, TEXT, WARM, Colour, Target
from crowd_demo.render.hud.views import Cell, TableView

Kind = TypeVar("Kind", bound=Experiment)
Tell = Callable[[str, str], object]  # a line, and what it is about
STILL = "The crowd on the screen stands still meanwhile, or it would be measured too."
LOOKING = ("f11", "f12", "tab")  # keys that the program gets while an experiment runs


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
