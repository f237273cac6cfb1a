"""The page docs/validation.md and its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from crowd_demo.app.output.files import write_file
from crowd_demo.lab.validate.experiment import number
from crowd_demo.lab.validate.plots import save_plot
from crowd_demo.lab.validate.results import Row, rows, score, verdict
from crowd_demo.lab.validate.validation import Result, Validation

PAGE, PICTURES = "validation.md", "pictures/validation"
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


def write_page(validation: Validation, folder: Path) -> None:
    """Write the page and its pictures into a folder. Raises ImportError without matplotlib, and OSError."""
    pictures = folder / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    for result in validation.results:
        if result.runs:
            save_plot(result, pictures / f"{result.experiment.name}.png")
    write_file(folder / PAGE, page(validation).encode())


def page(validation: Validation) -> str:
    walkers = [walker.name for walker in validation.walkers]
    parts = [HEAD, *_who(validation), _summary(validation, walkers)]
    for result in validation.results:
        parts += _section(result, walkers)
    return "\n\n".join(parts) + "\n"


def _who(validation: Validation) -> Iterator[str]:
    yield "\n".join(f"- **{walker.name}**: {walker.about}" for walker in validation.walkers)
    if validation.pedpy:
        yield PEDPY.format(walker=validation.measured)


def _summary(validation: Validation, walkers: Sequence[str]) -> str:
    """Return a table of how many readings everybody passes."""
    lines = [["experiment", *walkers], ["---"] * (len(walkers) + 1)]
    for result in validation.results:
        anchor = result.experiment.title.lower().replace(" ", "-").replace(",", "")
        lines.append([f"[{result.experiment.title}](#{anchor})", *(score(result, name) for name in walkers)])
    return _table(lines)


def _section(result: Result, walkers: Sequence[str]) -> Iterator[str]:
    experiment = result.experiment
    yield f"## {experiment.title}"
    yield experiment.about
    found = rows(result)
    pedpy = any(row.by_pedpy is not None for row in found)
    if found:
        lines = [_cells(row, walkers) for row in found]
        head = ["", "expected", *walkers, "PedPy"]
        yield _table([line if pedpy else line[:-1] for line in (head, ["---"] * len(head), *lines)])
    notes = [*(f"{name} could not be computed: {why}." for name, why in result.errors.items()),
             *(f"{why}." for why in result.left_out.values())]
    if notes:
        yield " ".join(notes)
    if result.runs:
        yield f"![{experiment.title}]({PICTURES}/{experiment.name}.png)"
    yield f"Source: {experiment.source}."


def _cells(row: Row, walkers: Sequence[str]) -> list[str]:
    pedpy = "-" if row.by_pedpy is None else number(row.by_pedpy)
    return [row.what, row.expected, *(_cell(row, name) for name in walkers), pedpy]


def _cell(row: Row, walker: str) -> str:
    if walker not in row.found:
        return "-"
    reading = row.found[walker]
    text = f"{number(reading.value)} {verdict(reading)}"
    return text if reading.passes else f"**{text}**"


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
