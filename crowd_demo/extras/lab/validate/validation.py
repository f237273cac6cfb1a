"""Everybody walks the scenes of all experiments; what is read from that is held against what the literature expects.

An experiment has scenes, what is read from how people walked them, what the literature expects, and a picture. This
program's models walk the scenes once for each seed, and the worst one counts; other programs have the first seed.
The results are a table in the terminal, JSON, and docs/validation.md with its pictures.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from crowd_demo.config.model import Config, with_values
from crowd_demo.extras.lab.validate.scenes import OWN, CrowdWalk, Measures, SceneWalker, WalkScene
from crowd_demo.extras.trajectories import Trajectories
from crowd_demo.host.files import replacing, write_file
from crowd_demo.measure.experiment import Compile, Slice, aligned, markdown_table, result_of, with_progress
from crowd_demo.measure.statistics import finite

Axes = Any  # of matplotlib, which is optional
FITTED, HELD_OUT, NEW = "fitted", "held out", "new, held out"  # roles: whether numbers of slow_down were fitted to it
SPEED_STEP = 5  # frames: speeds are those of a second


class WalkedScene(NamedTuple):
    scene: WalkScene
    walked: Trajectories


WalkedScenes = Mapping[float, WalkedScene]  # by what the scenes of an experiment differ in: a width, a density
Plot = Callable[[Axes, Mapping[str, WalkedScenes]], None]  # of what was walked, by the walkers' names


class Reading(NamedTuple):
    """A number, and between which two the literature expects it. `measured`: by a measure that PedPy has, too."""

    what: str
    value: float
    low: float
    high: float
    unit: str = ""
    measured: bool = False

    @property
    def passes(self) -> bool:
        return self.low <= self.value <= self.high

    @property
    def expected(self) -> str:
        if self.high == math.inf:
            return f"at least {number(self.low)}"
        if self.low in (0, -math.inf):
            return f"at most {number(self.high)}"
        return number(self.low) if self.low == self.high else f"{number(self.low)} to {number(self.high)}"


class SeededReading(NamedTuple):
    """The same number by seed: it passes only if that of every seed does."""

    readings: tuple[Reading, ...]

    @property
    def what(self) -> str:
        return self.readings[0].what

    @property
    def values(self) -> list[float]:
        return [float(reading.value) for reading in self.readings]

    @property
    def ordered(self) -> list[float]:
        return sorted(self.values, key=lambda value: (math.isnan(value), value))

    @property
    def median(self) -> float:
        """The lower one of two."""
        return self.ordered[(len(self.readings) - 1) // 2]

    @property
    def passes(self) -> bool:
        return all(reading.passes for reading in self.readings)

    @property
    def verdict(self) -> str:
        return "passed" if self.passes else "failed"

    def __str__(self) -> str:
        """The median, and the least and the most where they differ: `1.12 (1.08 to 1.15)`."""
        least, most = number(self.ordered[0]), number(self.ordered[-1])
        return number(self.median) + (f" ({least} to {most})" if least != most else "")


@dataclass(frozen=True)
class ValidationExperiment:
    """One entry of the registry. Its scenes differ in a number, such as a density or a width."""

    name: str
    title: str
    about: str
    source: str
    numbers: tuple[float, ...]
    short_numbers: tuple[float, ...]  # of the short form, whose scenes may be smaller, too
    scene: Callable[[float, bool], WalkScene]  # of a number; True for the short form
    read: Callable[[WalkedScenes, Measures], Iterable[Reading]]
    axes: Mapping[str, object]  # of the picture: their labels and limits
    plot: Plot = lambda axes, walkers: None  # what is expected, and more
    measure: Callable[[WalkedScene, Measures], float] | None = None  # of each scene: a line for each walker
    role: str = FITTED

    def scenes(self, short: bool) -> dict[float, WalkScene]:
        return {number: self.scene(number, short) for number in (self.short_numbers if short else self.numbers)}

    def draw(self, axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
        """Draw the results of all walkers, over the parameter of the scenes or over time."""
        self.plot(axes, walkers)
        if self.measure:
            for name, runs in walkers.items():
                axes.plot(list(runs), [self.measure(run, OWN) for run in runs.values()], marker="o", label=name)
        axes.set(**self.axes)


def number(value: float) -> str:
    """With three digits; a time that nobody has seen the end of is never."""
    return "none" if math.isnan(value) else "never" if value == math.inf else f"{value:.3g}"


# --- a run of all experiments --------------------------------------------------------------------------------------

PUSH = CrowdWalk("push", "neighbours push people, who have no bodies (`avoidance: push`, `overlap_passes: 0`)",
                 {"avoidance": "push", "overlap_passes": 0})
ANTICIPATE = CrowdWalk("anticipate", "people look ahead and have bodies (`anticipate`, `2`)",
                       {"avoidance": "anticipate", "overlap_passes": 2})
SLOW_DOWN = CrowdWalk("slow_down", "they also slow down (`slow_down`, `2`), the default",
                      {"avoidance": "slow_down", "overlap_passes": 2})
MODELS = (PUSH, ANTICIPATE, SLOW_DOWN)


POLL_S = 0.1

Walk = Generator[float, None, Trajectories]
Begin = Callable[[SceneWalker, WalkScene, int], Walk]  # the last is the seed


@dataclass
class ExperimentResult:
    """What one experiment gave: by the name of who walked it. Pictures and PedPy get the first seed alone."""

    experiment: ValidationExperiment
    runs: dict[str, WalkedScenes] = field(default_factory=dict)
    readings: dict[str, list[SeededReading]] = field(default_factory=dict)
    by_pedpy: list[Reading] = field(default_factory=list)  # of one of them
    errors: dict[str, str] = field(default_factory=dict)  # what could not be computed, and why
    left_out: dict[str, str] = field(default_factory=dict)  # who cannot walk its scenes, and why


Walks = dict[float, tuple[WalkScene, Walk]]  # by what the scenes differ in
Turn = tuple[ValidationExperiment, SceneWalker, str, list[Walks]]  # who walks, why not, and for each seed its walks


class Validation:
    """Runs in slices, can be stopped after any, and keeps its results so far, as the experiments of `measure` do."""

    def __init__(self, experiments: Sequence[ValidationExperiment], walkers: Sequence[SceneWalker], short: bool,
                 compile_for: Compile, pedpy: Measures | None, seeds: int = 1, processes: int = 1) -> None:
        self.experiments, self.walkers, self.short, self.pedpy = experiments, walkers, short, pedpy
        self.models = [walker for walker in walkers if isinstance(walker, CrowdWalk)]  # of this program
        self.seeds, self.processes = range(1, seeds + 1), processes
        self.results: list[ExperimentResult] = []
        self.done = False
        self._compile_for = compile_for

    def run(self) -> Generator[Slice, None, None]:
        for model in self.models:
            options = with_values(Config.model_validate({}).optimizations, model.techniques)
            yield from (Slice(line, 0) for line in self._compile_for(options))
        with walks_in(self.processes) as begin:
            turns = deque[Turn]()
            for experiment, walker in product(self.experiments, self.walkers):
                scenes = experiment.scenes(self.short)
                why_not = next(filter(None, map(walker.why_not, scenes.values())), "")
                seeds = [] if why_not else self.seeds if walker in self.models else self.seeds[:1]
                turns.append((experiment, walker, why_not, [
                    {key: (scene, begin(walker, scene, seed)) for key, scene in scenes.items()} for seed in seeds]))
            share = 1 / len(turns)
            for index in range(len(turns)):
                turn = turns.popleft()  # whose walks need not be kept
                if not self.results or self.results[-1].experiment is not turn[0]:
                    self.results.append(ExperimentResult(turn[0]))
                yield from self._walked(self.results[-1], turn, index * share, share)
        self.done = True

    def _walked(self, result: ExperimentResult, turn: Turn, done: float, share: float) -> Iterator[Slice]:
        """Let one model walk the scenes of an experiment, and read the numbers from that."""
        (experiment, walker, why_not, seeds), by_seed = turn, list[list[Reading]]()
        name = walker.name
        if why_not:
            result.left_out[name] = why_not
        try:
            for index, walks in enumerate(seeds):
                runs, title = dict[float, WalkedScene](), f"{experiment.title}, {name}, seed {self.seeds[index]}"
                for place, (key, (scene, walk)) in enumerate(walks.items(), index * len(walks)):
                    part = share / len(walks) / len(seeds)
                    walked = yield from with_progress(walk, f"{title}, {key:g}", done + place * part, part)
                    runs[key] = WalkedScene(scene, walked)
                by_seed.append(list(experiment.read(runs, OWN)))
                result.readings[name] = [SeededReading(each) for each in zip(*by_seed, strict=True)]
                if index == 0:
                    if self.pedpy and name == self.measured:
                        result.by_pedpy = list(experiment.read(runs, self.pedpy))
                    result.runs[name] = runs
        except Exception as error:  # another program's, or a scene's: the others go on, and the table says so
            result.readings.pop(name, None)
            result.errors[name] = " ".join(f"{type(error).__name__}: {error}".split())

    @property
    def measured(self) -> str:
        """Whose trajectories PedPy measures too: those of the last of this program's models."""
        return self.models[-1].name

    @property
    def failed(self) -> list[SeededReading]:
        return [reading for result in self.results for model in self.models
                for reading in result.readings.get(model.name, ()) if not reading.passes]


# --- where scenes are walked: in this process, or several at a time in processes of their own ------------------------

# A walk is a generator: it yields how much of it is done, 0 to 1, and returns who was where. Those of other processes
# begin in the order in which they are requested, before their results are needed.

@contextmanager
def walks_in(processes: int) -> Iterator[Begin]:
    if processes == 1:
        yield lambda walker, scene, seed: walker.walk(scene, seed)
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _be_a_worker)
    try:
        yield lambda walker, scene, seed: _awaited(pool.submit(_walked, walker, scene, seed))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():  # they may be in the middle of a walk
            process.terminate()


def _awaited(future: Future[Trajectories]) -> Walk:
    while not wait((future,), POLL_S).done:
        yield 0.0
    return future.result()


def _be_a_worker() -> None:
    """Leave Ctrl-C to the program, and end when it does, whatever ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_program, daemon=True).start()


def _end_with_the_program() -> None:
    program = multiprocessing.parent_process()
    assert program
    program.join()
    os._exit(0)


def _walked(walker: SceneWalker, scene: WalkScene, seed: int) -> Trajectories:
    return result_of(walker.walk(scene, seed))


# --- tables, JSON, and docs/validation.md with its pictures ----------------------------------------------------------

PAGE, NUMBERS, PICTURES = "validation.md", "validation.txt", "pictures/validation"
SIZE_INCHES, DPI = (7.0, 3.6), 90  # of a picture
HEAD = """\
# Validation

<!-- made by `crowd-demo validate`; do not edit -->

`crowd-demo validate` simulates scenes of the literature, compares measurements with published values, and makes this page.
The default model, *slow_down*, walks alone, in streams, in dense crowds and through doors much as people do. The two older
models do not slow down, so in dense crowds speeds and flows are too high. Do not plan evacuations with it: see
[what the model cannot do](how_people_walk.md#what-the-model-cannot-do). [References](references.md) lists the papers."""
SEEDS = """\
This program's models walk each scene with {seeds} seeds, which draw starting positions and speeds; others with the first.
A number is the median, with the minimum and maximum in brackets. It passes only if each seed does; **bold** means failed."""
ROLES = """\
`benchmarks/calibrate.py` fitted eight constants of *slow_down* to the experiments *fitted*, and to the people who are stuck or
turn in `20k`. *New* experiments were written after the fit, and nothing is ever fitted to them. JuPedSim's models have their
defaults. So compare models by the experiments *held out*. Findings has the
[source of each parameter](findings.md#where-the-numbers-of-people-come-from) and
[tests on whole maps](findings.md#crowds-that-keep-flowing)."""
NUMBERS_TEXT = """\
[validation.txt](validation.txt) has all numbers of all models, and what [PedPy](https://pedpy.readthedocs.io) measures of the
trajectories of slow_down. Each scene below begins with the numbers that hold. Tables have those that fail, and new ones."""


class ReadingRow(NamedTuple):
    what: str
    expected: str  # with its unit
    found: Mapping[str, SeededReading]
    by_pedpy: float | None  # where PedPy has the measure

    def cell(self, walker: str) -> str:
        """A walker's number and verdict, a dash if there is none."""
        return f"{self.found[walker]} {self.found[walker].verdict}" if walker in self.found else "-"

    def page_cell(self, walker: str) -> str:
        """The same for the page, where failures are bold."""
        text = str(self.found.get(walker, "-")).replace(" to ", "-")
        return text if walker not in self.found or self.found[walker].passes else f"**{text}**"

    def record(self) -> dict[str, object]:
        expected = next(iter(self.found.values())).readings[0]
        return {"what": self.what, "unit": expected.unit, "low": finite(float(expected.low)),
                "high": finite(float(expected.high)),
                "found": {name: {"value": finite(each.median), "by_seed": [finite(value) for value in each.values],
                                 "verdict": each.verdict} for name, each in self.found.items()},
                "by_pedpy": None if self.by_pedpy is None else finite(float(self.by_pedpy))}


def rows(result: ExperimentResult) -> Iterator[ReadingRow]:
    for what in dict.fromkeys(reading.what for readings in result.readings.values() for reading in readings):
        found = {name: reading for name, readings in result.readings.items()
                 for reading in readings if reading.what == what}
        pedpy = next((reading.value for reading in result.by_pedpy if reading.what == what and reading.measured), None)
        expected = next(iter(found.values())).readings[0]
        yield ReadingRow(what, f"{expected.expected} {expected.unit}".rstrip(), found, pedpy)


def as_data(validation: Validation) -> list[dict[str, object]]:
    return [{"name": result.experiment.name, "role": result.experiment.role,
             "source": result.experiment.source, "errors": result.errors,
             "left_out": result.left_out, "readings": [row.record() for row in rows(result)]}
            for result in validation.results]


def terminal(validation: Validation) -> str:
    """Return a table of all numbers for each experiment, and under it what could not be computed."""
    return "\n\n".join("\n".join(_lines(result, [walker.name for walker in validation.walkers]))
                       for result in validation.results)


def _lines(result: ExperimentResult, walkers: Sequence[str]) -> Iterator[str]:
    yield f"{result.experiment.name}: {result.experiment.title}"
    if cells := [[row.what, row.expected, *map(row.cell, walkers), "-" if row.by_pedpy is None else number(row.by_pedpy)]
                 for row in rows(result)]:
        table = [["", "expected", *walkers, "PedPy"], *cells]
        yield aligned(table if result.by_pedpy else [line[:-1] for line in table])
    yield from (f"{name}: could not be computed: {why}" for name, why in result.errors.items())
    yield from (f"{name}: left out: {why}" for name, why in result.left_out.items())


# --- the page --------------------------------------------------------------------------------------------------------

def write_page(validation: Validation, folder: Path) -> None:
    """Write the page, its pictures and the numbers into a folder. Raises ImportError without matplotlib, and OSError."""
    from matplotlib.figure import Figure

    pictures = folder / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    for result in [result for result in validation.results if result.runs]:
        figure = Figure(SIZE_INCHES, DPI, layout="constrained")
        axes = figure.subplots()
        result.experiment.draw(axes, result.runs)
        axes.set_title(result.experiment.title, loc="left", fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
        with replacing(pictures / f"{result.experiment.name}.png") as unfinished:
            figure.savefig(unfinished, metadata={"Software": None})  # the same bytes for the same results
    write_file(folder / PAGE, page(validation).encode())
    write_file(folder / NUMBERS, f"{terminal(validation)}\n".encode())


def page(validation: Validation) -> str:
    walkers = [walker.name for walker in validation.walkers]
    shown = [SLOW_DOWN.name] if SLOW_DOWN.name in walkers else walkers
    by_role = {role: [row.found for result in validation.results if result.experiment.role == role for row in rows(result)]
               for role in (HELD_OUT, NEW, FITTED)}
    known = by_role[HELD_OUT] + by_role[FITTED]
    shared = [found for found in known if set(walkers) <= set(found)]
    held = [["numbers that hold", *walkers]]  # of those that each walker can walk
    for text, of in (("**held out**", by_role[HELD_OUT]), ("**new, held out**", by_role[NEW]), ("fitted", by_role[FITTED]),
                     ("all but new", known), ("of these, those that all can walk", shared)):
        held.append([text, *(_share([found[name].passes for found in of if name in found]) for name in walkers)])
    parts = [HEAD, "\n".join(f"- **{walker.name}**: {walker.about}" for walker in validation.walkers),
             *[SEEDS.format(seeds=len(validation.seeds))] * (len(validation.seeds) > 1),
             markdown_table(held), ROLES, NUMBERS_TEXT,
             *(f"{why}, so it is left out there." for why in dict.fromkeys(
                 why for result in validation.results for why in result.left_out.values()))]
    for role in (HELD_OUT, NEW, FITTED):
        if results := [result for result in validation.results if result.experiment.role == role]:
            parts += [f"## {role.capitalize()}", *(part for result in results for part in _section(result, shown))]
    return "\n\n".join(parts) + "\n"


def _share(passed: Sequence[bool]) -> str:
    """`3/7`, or a dash."""
    return f"{sum(passed)}/{len(passed)}" if passed else "-"


def _section(result: ExperimentResult, walkers: Sequence[str]) -> Iterator[str]:
    experiment = result.experiment
    yield f"### {experiment.title}"
    scores = ", ".join(f"{name} {_share([reading.passes for reading in result.readings.get(name, ())])}" for name in walkers)
    yield f"**{scores}.** {experiment.about} Expected: {experiment.source}."
    if found := [row for row in rows(result) if experiment.role == NEW
                 or any(name in row.found and not row.found[name].passes for name in walkers)]:
        yield markdown_table([["", "expected", *walkers], *(
            [row.what, row.expected.replace(" to ", "-"), *map(row.page_cell, walkers)] for row in found)])
    if notes := [f"{name} could not be computed: {why}." for name, why in result.errors.items()]:
        yield " ".join(notes)
    if result.runs:
        yield f"![Plot]({PICTURES}/{experiment.name}.png)"
