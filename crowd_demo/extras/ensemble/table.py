"""The table of an ensemble: a row for each run of the plan, in its order.

In its picture a dot is a run, a line or a larger dot the mean of some, and a band or a bar one standard deviation to
either side. Each combination of the other settings has its colour, where there are few; else all runs are one group.

Format:

`table.csv` has a row for each run of the plan. Settings, seed, measures, `steps`, `state_hash`, `error`, `differs` and
`key` are the same bytes on any machine. Times, worker, processor and versions follow. `differs` has other hashes and
measures of the same key, which are errors. `table.parquet` is the same with types. `manifest.json` has the configuration,
versions, machine and the fingerprint of the code. `rows/` has a checksummed line per run.
"""

from __future__ import annotations

import csv
import io
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crowd_demo.extras.ensemble.plan import Cell, Plan, Run, RunRow, cell_text, cell_word
from crowd_demo.registry.built_in import of_column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HASH = "state_hash"
RESULT = ("steps", HASH, "error", "differs", "key")  # what follows the settings, the seed and the measures
CIRCUMSTANCES = ("seconds", "worker", "cpu", "versions")


class Difference(NamedTuple):
    """One key with several state hashes, or with several values of a measure."""

    run: Run
    column: str
    rows: tuple[RunRow, ...]  # the first of each value

    def __str__(self) -> str:
        return "; ".join(f"{cell_text(_value(row, self.column))} by {row.worker} on {row.cpu}" for row in self.rows)


class Table(NamedTuple):
    """The columns, and a value for each in every row; None where there is none."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Cell], ...]
    differences: tuple[Difference, ...]
    circumstances: tuple[str, ...]  # the columns at the end that tell how the runs were made

    @property
    def finished(self) -> int:
        return sum(bool(row["state_hash"]) for row in self.rows)

    @property
    def failed(self) -> int:
        return sum(bool(row["error"]) for row in self.rows)

    @property
    def missing(self) -> int:
        """Runs that have not been made."""
        return len(self.rows) - self.finished - self.failed

    def csv(self, circumstances: bool = True) -> str:
        """Return the table as CSV; without the circumstances it does not depend on the machine."""
        columns = [column for column in self.columns if circumstances or column not in self.circumstances]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([cell_text(row[column]) for column in columns] for row in self.rows)
        return text.getvalue()


def make_table(plan: Plan, rows: Iterable[RunRow]) -> Table:
    """Merge rows, of which some may be of other plans and some of the same key."""
    by_key: dict[str, list[RunRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.finished):
        by_key[row.key].append(row)
    times = [column for column in plan.columns if of_column(column).time]
    circumstances = (*times, *CIRCUMSTANCES)
    measured = tuple(column for column in plan.columns if column not in times)
    columns = (*plan.varied, "seed", *measured, *RESULT, *circumstances)
    differences = {run.key: [*_differences(run, by_key[run.key], measured)] for run in plan.runs}
    merged = tuple(table_row(plan, run, by_key[run.key], differences[run.key]) for run in plan.runs)
    return Table(columns, merged, tuple(chain.from_iterable(differences.values())), circumstances)


def table_row(plan: Plan, run: Run, rows: Sequence[RunRow], differences: Sequence[Difference] = ()) -> dict[str, Cell]:
    """One row of the table, of rows in the order of time: that which finished first, else the last that failed."""
    row = next((row for row in rows if row.state_hash), rows[-1] if rows else RunRow(key=run.key))
    return {**dict(zip(plan.varied, run.settings, strict=True)), "seed": run.seed,
            **{name: row.values.get(name) for name in plan.columns},
            "steps": row.steps if rows else None, "state_hash": row.state_hash, "error": row.error,
            "differs": " ".join(" ".join(other.state_hash for other in each.rows[1:]) if each.column == HASH else each.column
                                for each in differences), "key": run.key,
            "seconds": round(row.seconds, 3) if rows else None, "worker": row.worker, "cpu": row.cpu, "versions": row.versions}


def _differences(run: Run, rows: Iterable[RunRow], measured: Iterable[str]) -> Iterator[Difference]:
    """Of the state hash; where there is but one, of each measure."""
    for column in (HASH, *measured):
        first = dict[Cell, RunRow]()
        for row in rows:
            if row.state_hash:
                first.setdefault(_value(row, column), row)
        if len(first) > 1:
            yield Difference(run, column, tuple(first.values()))
            if column == HASH:
                return


def _value(row: RunRow, column: str) -> Cell:
    return row.state_hash if column == HASH else row.values.get(column)


# --- as Parquet --------------------------------------------------------------------------------------------------------

def parquet(table: Table) -> bytes | None:
    """Return the file; None without pyarrow. A column of mixed kinds becomes one of texts."""
    if find_spec("pyarrow") is None:
        return None
    import pyarrow
    from pyarrow.parquet import write_table

    columns = {name: _of_one_kind([row[name] for row in table.rows]) for name in table.columns}
    sink = pyarrow.BufferOutputStream()
    write_table(pyarrow.table(columns), sink)
    return sink.getvalue().to_pybytes()


def _of_one_kind(cells: list[Cell]) -> list[Cell]:
    kinds = {type(cell) for cell in cells if cell is not None}
    kind = float if kinds == {int, float} else str
    return cells if len(kinds) < 2 else [None if cell is None else kind(cell) for cell in cells]


# --- as a picture ----------------------------------------------------------------------------------------------------

PLOT = "plot.png"
PANEL = 3.6, 2.3  # inches
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # told apart by all eyes
MAX_PANELS = 12  # of a side
APART = 0.5  # of the way from one word to the next is taken by the groups


class RunGroup(NamedTuple):
    """Runs that differ in one setting and the seed alone."""

    name: str
    colour: str
    numbers: dict[Cell, list[float]]  # by the value of that setting


def plot(plan: Plan, table: Table) -> bytes:
    """Return a PNG: a row for each measure, a column for each varied setting; without any, runs stand over their seeds."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across, down = (plan.varied or ("seed",))[:MAX_PANELS], plan.columns[:MAX_PANELS]
    figure = Figure(figsize=(PANEL[0] * len(across), PANEL[1] * len(down) + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(down), len(across), squeeze=False, sharey="row", sharex="col")
    for row, measure in enumerate(down):
        for column, setting in enumerate(across):
            others = [other for other in plan.varied if other != setting]
            groups = groups_of(table, others, setting, measure)
            _draw(panels[row][column], groups, setting != "seed")
            if row == 0 and len(groups) > 1:
                panels[row][column].legend(title=", ".join(others), title_fontsize=7, fontsize=7, frameon=False,
                                           handlelength=1)
        unit = of_column(measure).unit.replace("^2", "²")
        panels[row][0].set_ylabel(f"{measure} [{unit}]" if unit else measure)
    for column, setting in enumerate(across):
        panels[-1][column].set_xlabel(setting)
    figure.suptitle(f"{Path(plan.config).stem}: {table.finished:,} runs of {plan.steps:,} steps", fontsize=10)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return content.getvalue()


def groups_of(table: Table, others: Sequence[str], setting: str, measure: str) -> list[RunGroup]:
    """The runs with each combination of the other settings, in the order of the plan; together if there are too many."""
    names = [", ".join(cell_word(row[other]) for other in others) for row in table.rows]
    if len(set(names)) > len(COLOURS):
        names = [""] * len(names)
    colours = dict(zip(dict.fromkeys(names), COLOURS, strict=False))
    found: dict[str, dict[Cell, list[float]]] = {name: defaultdict(list) for name in colours}
    for name, row in zip(names, table.rows, strict=True):
        if isinstance(number := row[measure], int | float):
            found[name][row[setting]].append(float(number))
    return [RunGroup(name, colours[name], numbers) for name, numbers in found.items()]


def _draw(axes: Axes, groups: Sequence[RunGroup], means: bool) -> None:
    """Numbers stand where they are on the axis; words one after another, and their groups side by side."""
    values = list(dict.fromkeys(value for group in groups for value in group.numbers))
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    positions = {value: float(value or 0) if numeric else float(number) for number, value in enumerate(values)}
    for number, group in enumerate(groups):
        aside = 0.0 if numeric else APART * ((number + 0.5) / len(groups) - 0.5)
        _draw_group(axes, group, {value: x + aside for value, x in positions.items()}, numeric, means)
    if not numeric:
        axes.set_xticks(list(positions.values()), [cell_word(value) for value in values])
        axes.set_xlim(-0.6, len(values) - 0.4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)


def _draw_group(axes: Axes, group: RunGroup, positions: dict[Cell, float], line: bool, means: bool) -> None:
    dots = [(positions[value], number) for value, numbers in group.numbers.items() for number in numbers]
    axes.scatter([x for x, _ in dots], [y for _, y in dots], s=7, color=group.colour, alpha=0.5, linewidths=0)
    if not means:
        return
    values = sorted(group.numbers, key=positions.__getitem__)
    at = [positions[value] for value in values]
    middle = [statistics.fmean(group.numbers[value]) for value in values]
    spread = [statistics.stdev(group.numbers[value]) if len(group.numbers[value]) > 1 else 0.0 for value in values]
    if line:
        low, high = ([mean + side * each for mean, each in zip(middle, spread, strict=True)] for side in (-1, 1))
        axes.fill_between(at, low, high, color=group.colour, alpha=0.2, linewidth=0)
        axes.plot(at, middle, color=group.colour, linewidth=1.4, marker="o", markersize=3.5, label=group.name)
    else:
        axes.errorbar(at, middle, spread, color=group.colour, linestyle="", marker="o", markersize=4, capsize=3,
                      label=group.name)
