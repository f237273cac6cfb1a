"""What is made of the results of a validation: the terminal's table, JSON, and docs/validation.md with its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from crowd_demo.extras.lab.validate.validation import ExperimentResult, Validation
from crowd_demo.extras.lab.validate.validation_experiment import FITTED, HELD_OUT, NEW, SeededReading, number
from crowd_demo.host.files import replacing, write_file
from crowd_demo.measure.experiment import aligned, markdown_table
from crowd_demo.measure.statistics import finite

PASSED, FAILED = "passed", "failed"
PAGE, PICTURES = "validation.md", "pictures/validation"
SIZE_INCHES, DPI = (7.0, 3.6), 90  # of a picture
HEAD = """\
# Held against the literature

<!-- made by `crowd-demo validate`; do not edit -->

Do these people walk as people do? Each experiment below lets them walk a scene of the literature and reads numbers from their
trajectories, in metres (one is 26 world units) and seconds. `crowd-demo validate` makes this page in some minutes, with the
same numbers for this program's models on every machine; `crowd-demo validate --short` runs smaller scenes in less than one.
What fails is bold. The default, *slow_down*, walks alone, in streams, in dense crowds and through doors much as people do.
The two older models do not slow down, so in dense crowds their speeds and flows are too high. Do not plan evacuations with
this: [model.md](model.md#how-people-walk-in-words) describes how people walk and what the model cannot do,
[findings.md](findings.md#people-held-against-the-literature) what was learned."""
PEDPY = """\
Numbers under *PedPy* are what [PedPy](https://pedpy.readthedocs.io) measures of the trajectories of {walker}, where it has
that measure; all others are measured by `crowd_demo/extras/trajectories.py`."""

SEEDS = """\
This program's models walk everything with {seeds} seeds: where people begin and how fast they want to walk is drawn
for each. A cell shows the median, and the least and the most in brackets; it passes only if each seed does. JuPedSim,
PedPy and the pictures have the first seed."""
ROLES = """\
Eight constants of *slow_down* were fitted by `benchmarks/calibrate.py` to the experiments marked *fitted*, and to how many
people are stuck and turn in `20k`. So the result to judge by is that of the experiments that are held out. New ones were
written after the fit, and nothing is ever fitted to them. JuPedSim's models have their defaults and are not fitted to any of
these experiments, so their numbers compare only with those that are held out here.
[findings.md](findings.md#where-the-numbers-of-people-come-from) lists where each number of people comes from, and
[whether crowds keep flowing](findings.md#crowds-that-keep-flowing) on whole maps."""


class ReadingRow(NamedTuple):
    """One reading of an experiment by everybody who walked it."""

    what: str
    expected: str  # with its unit
    found: Mapping[str, SeededReading]
    by_pedpy: float | None  # where PedPy has the measure

    def cell(self, walker: str, failed: str = "{}") -> str:
        """A walker's number and verdict, a dash if there is none; `failed` is the form of what failed."""
        if walker not in self.found:
            return "-"
        reading = self.found[walker]
        text = f"{reading} {passed_or_failed(reading)}"
        return text if reading.passes else failed.format(text)

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
    return [{"name": result.experiment.name, "role": result.experiment.role,
             "source": result.experiment.source, "errors": result.errors,
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
    parts = [HEAD, "\n".join(f"- **{walker.name}**: {walker.about}" for walker in validation.walkers)]
    if validation.pedpy:
        parts.append(PEDPY.format(walker=validation.measured))
    parts += [SEEDS.format(seeds=len(validation.seeds))] * (len(validation.seeds) > 1)
    parts += [_held(validation, walkers), ROLES, _summary(validation, walkers)]
    for result in validation.results:
        parts += _section(result, walkers)
    return "\n\n".join(parts) + "\n"


def _held(validation: Validation, walkers: Sequence[str]) -> str:
    """Return the first table: how many numbers everybody holds, of those that they can walk."""
    by_role = {role: [row.found for result in validation.results if result.experiment.role == role for row in rows(result)]
               for role in (HELD_OUT, NEW, FITTED)}
    known = by_role[HELD_OUT] + by_role[FITTED]
    shared = [found for found in known if set(walkers) <= set(found)]
    lines = [["held", *walkers]]
    for text, of in (("**held out: of {} numbers**", by_role[HELD_OUT]), ("**new, held out: of {}**", by_role[NEW]),
                     ("fitted: of {}", by_role[FITTED]), ("of all {} but the new ones", known),
                     ("of the {} of these that all walkers here can walk", shared)):
        lines.append([text.format(len(of)), *(_share([found[name].passes for found in of if name in found])
                                              for name in walkers)])
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
    """`3 of 7`, or a dash."""
    return f"{sum(passed)} of {len(passed)}" if passed else "-"


def _section(result: ExperimentResult, walkers: Sequence[str]) -> Iterator[str]:
    experiment = result.experiment
    yield f"## {experiment.title}"
    yield f"*{experiment.role.capitalize()}.* {experiment.about}"
    if found := list(rows(result)):
        lines = [["", "expected", *walkers, "PedPy"]]
        for row in found:
            pedpy = "-" if row.by_pedpy is None else number(row.by_pedpy)
            lines.append([row.what, row.expected, *(row.cell(name, "**{}**") for name in walkers), pedpy])
        by_pedpy = any(row.by_pedpy is not None for row in found)
        yield markdown_table(lines if by_pedpy else [line[:-1] for line in lines])
    notes = [*(f"{name} could not be computed: {why}." for name, why in result.errors.items()),
             *(f"{why}." for why in dict.fromkeys(result.left_out.values()))]
    if notes:
        yield " ".join(notes)
    if result.runs:
        yield f"![{experiment.title}]({PICTURES}/{experiment.name}.png)"
    yield f"Source: {experiment.source}."
