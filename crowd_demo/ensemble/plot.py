"""A picture of a table: each measure against each varied setting, and how much it differs from run to run.

A dot is a run, a line or a larger dot the mean of some, and a band or a bar one standard deviation to either side. Each
combination of the other settings has its colour, where there are few; else all runs are one group.
"""

from __future__ import annotations

import io
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crowd_demo.app.output.files import write_file
from crowd_demo.ensemble.plan import Cell, Plan, cell_text
from crowd_demo.ensemble.table import Table
from crowd_demo.registry.built_in import of_column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOT = "plot.png"
PANEL = 3.6, 2.3  # inches
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # told apart by all eyes
MOST_PANELS = 12  # of a side
APART = 0.5  # of the way from one word to the next is taken by the groups


class RunGroup(NamedTuple):
    """Runs that differ in one setting and the seed alone."""

    name: str
    colour: str
    numbers: dict[Cell, list[float]]  # by the value of that setting


def write_plot(plan: Plan, table: Table, out: Path) -> None:
    """Draw it into the folder. Raises OSError."""
    write_file(out / PLOT, plot(plan, table))


def plot(plan: Plan, table: Table) -> bytes:
    """Return a PNG: a row for each measure, a column for each varied setting; without any, runs stand over their seeds."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across, down = (plan.varied or ("seed",))[:MOST_PANELS], plan.columns[:MOST_PANELS]
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
    names = [", ".join(_text(row[other]) for other in others) for row in table.rows]
    if len(set(names)) > len(COLOURS):
        names = [""] * len(names)
    colours = dict(zip(dict.fromkeys(names), COLOURS, strict=False))
    found: dict[str, dict[Cell, list[float]]] = {name: defaultdict(list) for name in colours}
    for name, row in zip(names, table.rows, strict=True):
        number = row[measure]
        if isinstance(number, int | float):
            found[name][row[setting]].append(float(number))
    return [RunGroup(name, colours[name], numbers) for name, numbers in found.items()]


def _draw(axes: Axes, groups: Sequence[RunGroup], means: bool) -> None:
    """Numbers stand where they are on the axis; words one after another, and their groups side by side."""
    values = list(dict.fromkeys(value for group in groups for value in group.numbers))
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    places = {value: float(value or 0) if numeric else float(place) for place, value in enumerate(values)}
    for number, group in enumerate(groups):
        aside = 0.0 if numeric else APART * ((number + 0.5) / len(groups) - 0.5)
        _draw_group(axes, group, {value: place + aside for value, place in places.items()}, numeric, means)
    if not numeric:
        axes.set_xticks(list(places.values()), [_text(value) for value in values])
        axes.set_xlim(-0.6, len(values) - 0.4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)


def _draw_group(axes: Axes, group: RunGroup, places: dict[Cell, float], line: bool, means: bool) -> None:
    dots = [(places[value], number) for value, numbers in group.numbers.items() for number in numbers]
    axes.scatter([x for x, _ in dots], [y for _, y in dots], s=7, color=group.colour, alpha=0.5, linewidths=0)
    if not means:
        return
    values = sorted(group.numbers, key=places.__getitem__)
    at = [places[value] for value in values]
    middle = [statistics.fmean(group.numbers[value]) for value in values]
    spread = [statistics.stdev(group.numbers[value]) if len(group.numbers[value]) > 1 else 0.0 for value in values]
    if line:
        low, high = ([mean + side * each for mean, each in zip(middle, spread, strict=True)] for side in (-1, 1))
        axes.fill_between(at, low, high, color=group.colour, alpha=0.2, linewidth=0)
        axes.plot(at, middle, color=group.colour, linewidth=1.4, marker="o", markersize=3.5, label=group.name)
    else:
        axes.errorbar(at, middle, spread, color=group.colour, linestyle="", marker="o", markersize=4, capsize=3,
                      label=group.name)


def _text(value: Cell) -> str:
    return cell_text(value) or "null"
