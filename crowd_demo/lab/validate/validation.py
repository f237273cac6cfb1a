"""Everybody walks the scenes of all experiments; what is read from that is held against what the literature expects,
and becomes the terminal's table, JSON, and docs/validation.md with its pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from crowd_demo.app.output.files import write_file
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.lab.validate.validation_experiment import (
    OWN,
    Measures,
    Reading,
    ValidationExperiment,
    WalkedScene,
    WalkedScenes,
    number,
)
from crowd_demo.lab.validate.walkers import CrowdWalk, SceneWalker
from crowd_demo.measure.experiment import Compile, Slice, aligned, finite, with_progress

PUSH = CrowdWalk("push", "`avoidance: push` and `contact: 0`: people are pushed by who is near, and have no bodies",
                 {"avoidance": "push", "overlap_passes": 0})
ANTICIPATE = CrowdWalk("anticipate", "`avoidance: anticipate` and `contact: 2`: people look ahead, and have bodies",
                       {"avoidance": "anticipate", "overlap_passes": 2})
MODELS = (PUSH, ANTICIPATE)


@dataclass
class ExperimentResult:
    """What one experiment gave: by the name of who walked it."""

    experiment: ValidationExperiment
    runs: dict[str, WalkedScenes] = field(default_factory=dict)
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    by_pedpy: list[Reading] = field(default_factory=list)  # of one of them
    errors: dict[str, str] = field(default_factory=dict)  # what could not be computed, and why
    left_out: dict[str, str] = field(default_factory=dict)  # who cannot walk its scenes, and why


class Validation:
    """Runs in slices, can be stopped after any, and keeps its results so far, as the experiments of `measure` do."""

    def __init__(self, experiments: Sequence[ValidationExperiment], walkers: Sequence[SceneWalker], short: bool,
                 compile_for: Compile, pedpy: Measures | None) -> None:
        self.experiments, self.walkers, self.short, self.pedpy = experiments, walkers, short, pedpy
        self.models = [walker for walker in walkers if isinstance(walker, CrowdWalk)]  # of this program
        self.results: list[ExperimentResult] = []
        self.done = False
        self._compile_for = compile_for

    def run(self) -> Iterator[Slice]:
        for model in self.models:
            for line in self._compile_for(options_of(model)):
                yield Slice(line, 0)
        turns = [(experiment, walker) for experiment in self.experiments for walker in self.walkers]
        for turn, (experiment, walker) in enumerate(turns):
            if not self.results or self.results[-1].experiment is not experiment:
                self.results.append(ExperimentResult(experiment))
            yield from self._walked(self.results[-1], walker, turn / len(turns), 1 / len(turns))
        self.done = True

    def _walked(self, result: ExperimentResult, walker: SceneWalker, done: float, share: float) -> Iterator[Slice]:
        """Have the scenes of one experiment walked by one, and read the results."""
        experiment, name = result.experiment, walker.name
        scenes = experiment.scenes(self.short)
        if why := next(filter(None, map(walker.why_not, scenes.values())), ""):
            result.left_out[name] = why
            return
        runs: dict[float, WalkedScene] = {}
        part = share / len(scenes)
        try:
            for turn, (key, scene) in enumerate(scenes.items()):
                walked = yield from with_progress(walker.walk(scene), f"{experiment.title}, {key:g}: {name}",
                                                  done + turn * part, part)
                runs[key] = WalkedScene(scene, walked)
            result.readings[name] = list(experiment.read(runs, OWN))
            if self.pedpy and name == self.measured:
                result.by_pedpy = list(experiment.read(runs, self.pedpy))
            result.runs[name] = runs
        except Exception as error:  # another program's, or a scene's: the others go on, and the table says so
            result.errors[name] = " ".join(f"{type(error).__name__}: {error}".split())

    @property
    def measured(self) -> str:
        """Whose trajectories PedPy measures too: those of the last of this program's models."""
        return self.models[-1].name

    @property
    def failed(self) -> list[Reading]:
        """What this program's models fail."""
        return [reading for result in self.results for model in self.models
                for reading in result.readings.get(model.name, ()) if not reading.passes]


def options_of(model: CrowdWalk) -> Optimizations:
    return with_values(Config.model_validate({}).optimizations, model.techniques)


# --- what is made of the results -------------------------------------------------------------------------------------

PASSED, FAILED = "passed", "failed"
PAGE, PICTURES = "validation.md", "pictures/validation"
SIZE_INCHES, DPI = (7.0, 3.6), 90  # of a picture
HEAD = """\
# Held against the literature

<!-- made by `crowd-demo validate`; do not edit -->

Do these people walk as people do? Each experiment below lets them walk a scene of the literature and reads numbers from their
trajectories, in metres (one is 26 world units) and seconds. `crowd-demo validate` makes this page in some minutes, with the
same numbers for this program's models on every machine; `crowd-demo validate --short` runs smaller scenes in less than one.
What fails is printed as failed. Single people, head-on pairs and lanes of counterflow walk as people do; **in a dense crowd
nobody slows down**, so speeds and flows are too high there, and exits must not be planned by this.
[findings.md](findings.md#people-held-against-the-literature) says why; how people walk, in words and with
sources, stands in [model.md](model.md#how-people-walk-in-words)."""
PEDPY = """\
Numbers under *PedPy* are what [PedPy](https://pedpy.readthedocs.io) measures of the trajectories of {walker}, where it has
that measure; all others are measured by `crowd_demo/measure/trajectories.py`."""


class ReadingRow(NamedTuple):
    """One reading of an experiment by everybody who walked it."""

    what: str
    expected: str  # with its unit
    found: Mapping[str, Reading]
    by_pedpy: float | None  # where PedPy has the measure

    def cell(self, walker: str, failed: str = "{}") -> str:
        """A walker's number and verdict, a dash if there is none; `failed` is the form of what failed."""
        if walker not in self.found:
            return "-"
        reading = self.found[walker]
        text = f"{number(reading.value)} {verdict(reading)}"
        return text if reading.passes else failed.format(text)

    def record(self) -> dict[str, object]:
        any_of_them = next(iter(self.found.values()))
        low, high = finite(float(any_of_them.low)), finite(float(any_of_them.high))
        return {"what": self.what, "unit": any_of_them.unit, "low": low, "high": high,
                "found": {name: {"value": finite(float(each.value)), "verdict": verdict(each)}
                          for name, each in self.found.items()},
                "by_pedpy": None if self.by_pedpy is None else finite(float(self.by_pedpy))}


def rows(result: ExperimentResult) -> Iterator[ReadingRow]:
    for what in dict.fromkeys(reading.what for readings in result.readings.values() for reading in readings):
        found = {name: reading for name, readings in result.readings.items() for reading in readings if reading.what == what}
        pedpy = next((reading.value for reading in result.by_pedpy if reading.what == what and reading.measured), None)
        any_of_them = next(iter(found.values()))
        yield ReadingRow(what, f"{any_of_them.expected} {any_of_them.unit}".rstrip(), found, pedpy)


def verdict(reading: Reading) -> str:
    return PASSED if reading.passes else FAILED


def as_data(validation: Validation) -> list[dict[str, object]]:
    """Return the results as plain data, of what JSON can say."""
    return [{"name": result.experiment.name, "source": result.experiment.source, "errors": result.errors,
             "left_out": result.left_out, "readings": [row.record() for row in rows(result)]}
            for result in validation.results]


def terminal(validation: Validation) -> str:
    """Return a table for each experiment, and under it what could not be computed."""
    names = [walker.name for walker in validation.walkers]
    return "\n\n".join("\n".join(_lines(result, names)) for result in validation.results)


def _lines(result: ExperimentResult, walkers: Sequence[str]) -> Iterator[str]:
    yield f"{result.experiment.name}: {result.experiment.title}"
    if cells := [[row.what, row.expected, *map(row.cell, walkers)] for row in rows(result)]:
        yield aligned([["", "expected", *walkers], *cells])
    for name, why in result.errors.items():
        yield f"{name}: could not be computed: {why}"
    for name, why in result.left_out.items():
        yield f"{name}: left out: {why}"


# --- the page --------------------------------------------------------------------------------------------------------

def write_page(validation: Validation, folder: Path) -> None:
    """Write the page and its pictures into a folder. Raises ImportError without matplotlib, and OSError."""
    pictures = folder / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    for result in validation.results:
        if result.runs:
            save_plot(result, pictures / f"{result.experiment.name}.png")
    write_file(folder / PAGE, page(validation).encode())


def save_plot(result: ExperimentResult, path: Path) -> None:
    """Write a PNG of what everybody did."""
    from matplotlib.figure import Figure

    figure = Figure(SIZE_INCHES, DPI, layout="constrained")
    axes = figure.subplots()
    result.experiment.plot(axes, result.runs)
    axes.set_title(result.experiment.title, loc="left", fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, metadata={"Software": None})  # the same bytes for the same results


def page(validation: Validation) -> str:
    walkers = [walker.name for walker in validation.walkers]
    parts = [HEAD, "\n".join(f"- **{walker.name}**: {walker.about}" for walker in validation.walkers)]
    if validation.pedpy:
        parts.append(PEDPY.format(walker=validation.measured))
    parts.append(_summary(validation, walkers))
    for result in validation.results:
        parts += _section(result, walkers)
    return "\n\n".join(parts) + "\n"


def _summary(validation: Validation, walkers: Sequence[str]) -> str:
    """Return a table of how many readings everybody passes."""
    lines = [["experiment", *walkers], ["---"] * (len(walkers) + 1)]
    for result in validation.results:
        anchor = result.experiment.title.lower().replace(" ", "-").replace(",", "")
        lines.append([f"[{result.experiment.title}](#{anchor})", *(_score(result, name) for name in walkers)])
    return _table(lines)


def _score(result: ExperimentResult, walker: str) -> str:
    """Return how many of its readings somebody passes: `3 of 7`, or a dash."""
    readings = result.readings.get(walker)
    return f"{sum(reading.passes for reading in readings)} of {len(readings)}" if readings else "-"


def _section(result: ExperimentResult, walkers: Sequence[str]) -> Iterator[str]:
    experiment = result.experiment
    yield f"## {experiment.title}"
    yield experiment.about
    if found := list(rows(result)):
        lines = [["", "expected", *walkers, "PedPy"], ["---"] * (len(walkers) + 3)]
        for row in found:
            pedpy = "-" if row.by_pedpy is None else number(row.by_pedpy)
            lines.append([row.what, row.expected, *(row.cell(name, "**{}**") for name in walkers), pedpy])
        by_pedpy = any(row.by_pedpy is not None for row in found)
        yield _table(lines if by_pedpy else [line[:-1] for line in lines])
    notes = [*(f"{name} could not be computed: {why}." for name, why in result.errors.items()),
             *(f"{why}." for why in result.left_out.values())]
    if notes:
        yield " ".join(notes)
    if result.runs:
        yield f"![{experiment.title}]({PICTURES}/{experiment.name}.png)"
    yield f"Source: {experiment.source}."


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
