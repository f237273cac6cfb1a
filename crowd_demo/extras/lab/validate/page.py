"""The results of a validation: the terminal's table, JSON, docs/validation.md with its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from crowd_demo.extras.lab.validate.validation import SLOW_DOWN, ExperimentResult, Validation
from crowd_demo.extras.lab.validate.validation_experiment import FITTED, HELD_OUT, NEW, SeededReading, number
from crowd_demo.host.files import replacing, write_file
from crowd_demo.measure.experiment import aligned, markdown_table
from crowd_demo.measure.statistics import finite

PASSED, FAILED = "passed", "failed"
PAGE, NUMBERS, PICTURES = "validation.md", "validation.txt", "pictures/validation"
SIZE_INCHES, DPI = (7.0, 3.6), 90  # of a picture
HEAD = """\
# Validation

<!-- made by `crowd-demo validate`; do not edit -->

Each experiment simulates a scene of the literature and compares measurements with published values, in metres and seconds.
`crowd-demo validate` makes this page in some minutes. The default model, *slow_down*, walks alone, in streams, in dense crowds
and through doors much as people do. The two older models do not slow down, so in dense crowds their speeds and flows are too
high. Do not plan evacuations with it: see [what the model cannot do](how_people_walk.md#what-the-model-cannot-do) and
[what was learned](findings.md#people-compared-with-the-literature). [References](references.md) lists the papers."""
SEEDS = """\
This program's models walk each scene with {seeds} seeds, which draw starting positions and speeds; others with the first.
A number is the median, with the minimum and maximum in brackets. It passes only if each seed does; **bold** means failed."""
ROLES = """\
`benchmarks/calibrate.py` fitted eight constants of *slow_down* to the experiments *fitted*, and to the people who are stuck or
turn in `20k`. So judge it by the experiments *held out*. *New* ones were written after the fit, and nothing is ever fitted to
them. JuPedSim's models have their defaults and are not fitted, so compare them by the experiments held out.
Findings has the [source of each parameter](findings.md#where-the-numbers-of-people-come-from) and
[tests on whole maps](findings.md#crowds-that-keep-flowing)."""
NUMBERS_TEXT = """\
[validation.txt](validation.txt) has the numbers of all models, and what [PedPy](https://pedpy.readthedocs.io) measures of the
trajectories of slow_down. `crowd_demo/extras/trajectories.py` measures all others."""


class ReadingRow(NamedTuple):
    """One reading of an experiment by everybody who walked it."""

    what: str
    expected: str  # with its unit
    found: Mapping[str, SeededReading]
    by_pedpy: float | None  # where PedPy has the measure

    def cell(self, walker: str) -> str:
        """A walker's number and verdict, a dash if there is none."""
        return f"{self.found[walker]} {passed_or_failed(self.found[walker])}" if walker in self.found else "-"

    def page_cell(self, walker: str) -> str:
        """The same for the page, where failures are bold."""
        text = str(self.found.get(walker, "-")).replace(" to ", "-")
        return text if walker not in self.found or self.found[walker].passes else f"**{text}**"

    def record(self) -> dict[str, object]:
        expected = next(iter(self.found.values())).readings[0]
        return {"what": self.what, "unit": expected.unit, "low": finite(float(expected.low)),
                "high": finite(float(expected.high)),
                "found": {name: {"value": finite(each.median), "by_seed": [finite(value) for value in each.values],
                                 "verdict": passed_or_failed(each)} for name, each in self.found.items()},
                "by_pedpy": None if self.by_pedpy is None else finite(float(self.by_pedpy))}


def rows(result: ExperimentResult) -> Iterator[ReadingRow]:
    for what in dict.fromkeys(reading.what for readings in result.readings.values() for reading in readings):
        found = {name: reading for name, readings in result.readings.items()
                 for reading in readings if reading.what == what}
        pedpy = next((reading.value for reading in result.by_pedpy if reading.what == what and reading.measured), None)
        expected = next(iter(found.values())).readings[0]
        yield ReadingRow(what, f"{expected.expected} {expected.unit}".rstrip(), found, pedpy)


def passed_or_failed(reading: SeededReading) -> str:
    return PASSED if reading.passes else FAILED


def as_data(validation: Validation) -> list[dict[str, object]]:
    """Return the results as plain data, of what JSON can say."""
    return [{"name": result.experiment.name, "role": result.experiment.role,
             "source": result.experiment.source, "errors": result.errors,
             "left_out": result.left_out, "readings": [row.record() for row in rows(result)]}
            for result in validation.results]


def terminal(validation: Validation) -> str:
    """Return a table of all numbers for each experiment, and under it what could not be computed."""
    names = [walker.name for walker in validation.walkers]
    return "\n\n".join("\n".join(_lines(result, names)) for result in validation.results)


def _lines(result: ExperimentResult, walkers: Sequence[str]) -> Iterator[str]:
    yield f"{result.experiment.name}: {result.experiment.title}"
    if cells := [[row.what, row.expected, *map(row.cell, walkers), "-" if row.by_pedpy is None else number(row.by_pedpy)]
                 for row in rows(result)]:
        table = [["", "expected", *walkers, "PedPy"], *cells]
        yield aligned(table if result.by_pedpy else [line[:-1] for line in table])
    for name, why in result.errors.items():
        yield f"{name}: could not be computed: {why}"
    for name, why in result.left_out.items():
        yield f"{name}: left out: {why}"


# --- the page --------------------------------------------------------------------------------------------------------

def write_page(validation: Validation, folder: Path) -> None:
    """Write the page, its pictures and the numbers into a folder. Raises ImportError without matplotlib, and OSError."""
    pictures = folder / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    for result in validation.results:
        if result.runs:
            save_plot(result, pictures / f"{result.experiment.name}.png")
    write_file(folder / PAGE, page(validation).encode())
    write_file(folder / NUMBERS, f"{terminal(validation)}\n".encode())


def save_plot(result: ExperimentResult, path: Path) -> None:
    """Write a PNG of what everybody did."""
    from matplotlib.figure import Figure

    figure = Figure(SIZE_INCHES, DPI, layout="constrained")
    axes = figure.subplots()
    result.experiment.draw(axes, result.runs)
    axes.set_title(result.experiment.title, loc="left", fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    with replacing(path) as unfinished:
        figure.savefig(unfinished, metadata={"Software": None})  # the same bytes for the same results


def page(validation: Validation) -> str:
    walkers = [walker.name for walker in validation.walkers]
    shown = [SLOW_DOWN.name] if SLOW_DOWN.name in walkers else walkers
    parts = [HEAD, "\n".join(f"- **{walker.name}**: {walker.about}" for walker in validation.walkers)]
    parts += [SEEDS.format(seeds=len(validation.seeds))] * (len(validation.seeds) > 1)
    parts += [_held(validation, walkers), ROLES, _summary(validation, walkers), NUMBERS_TEXT]
    for role in (HELD_OUT, NEW, FITTED):
        if results := [result for result in validation.results if result.experiment.role == role]:
            parts += [f"## {role.capitalize()}", *(part for result in results for part in _section(result, shown))]
    return "\n\n".join(parts) + "\n"


def _held(validation: Validation, walkers: Sequence[str]) -> str:
    """Return the first table: how many numbers hold for each walker, of those that it can walk."""
    by_role = {role: [row.found for result in validation.results if result.experiment.role == role for row in rows(result)]
               for role in (HELD_OUT, NEW, FITTED)}
    known = by_role[HELD_OUT] + by_role[FITTED]
    shared = [found for found in known if set(walkers) <= set(found)]
    lines = [["numbers that hold", *walkers]]
    for text, of in (("**held out**", by_role[HELD_OUT]), ("**new, held out**", by_role[NEW]), ("fitted", by_role[FITTED]),
                     ("all but new", known), ("of these, those that all can walk", shared)):
        lines.append([text, *(_share([found[name].passes for found in of if name in found]) for name in walkers)])
    return markdown_table(lines)


def _summary(validation: Validation, walkers: Sequence[str]) -> str:
    """Return a table of how many readings of each experiment everybody passes."""
    lines = [["experiment", "role", *walkers]]
    for result in validation.results:
        anchor = result.experiment.title.lower().replace(" ", "-").replace(",", "")
        scores = (_share([reading.passes for reading in result.readings.get(name, ())]) for name in walkers)
        lines.append([f"[{result.experiment.title}](#{anchor})", result.experiment.role, *scores])
    return markdown_table(lines)


def _share(passed: Sequence[bool]) -> str:
    """`3/7`, or a dash."""
    return f"{sum(passed)}/{len(passed)}" if passed else "-"


def _section(result: ExperimentResult, walkers: Sequence[str]) -> Iterator[str]:
    experiment = result.experiment
    yield f"### {experiment.title}"
    yield f"{experiment.about} Expected: {experiment.source}."
    if found := list(rows(result)):
        yield markdown_table([["", "expected", *walkers], *(
            [row.what, row.expected.replace(" to ", "-"), *map(row.page_cell, walkers)] for row in found)])
    if notes := [*(f"{name} could not be computed: {why}." for name, why in result.errors.items()),
                 *(f"{why}." for why in dict.fromkeys(result.left_out.values()))]:
        yield " ".join(notes)
    if result.runs:
        yield f"![{experiment.title}]({PICTURES}/{experiment.name}.png)"
