"""A picture of a table: each measure against each varied setting, and how much it differs from run to run."""

from __future__ import annotations

import io
import statistics
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_demo.app.output.files import write_file
from crowd_demo.ensemble.plan import Cell, Plan, cell_text
from crowd_demo.ensemble.table import Table
from crowd_demo.registry.measures import of_column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOT = "plot.png"
PANEL = 3.4, 2.4  # inches
DOT, LINE, BAND = "#4c72b0", "#1f3a68", "#c9d6ea"
MOST_PANELS = 12  # of a side


def write_plot(plan: Plan, table: Table, out: Path) -> None:
    """Draw it into the folder. Raises OSError."""
    write_file(out / PLOT, plot(plan, table))


def plot(plan: Plan, table: Table) -> bytes:
    """Return a PNG: a row for each measure, a column for each varied setting; a dot is a run, the line the mean,
    and the band one standard deviation to either side. Without varied settings runs stand over their seeds."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across, down = (plan.varied or ("seed",))[:MOST_PANELS], plan.columns[:MOST_PANELS]
    figure = Figure(figsize=(PANEL[0] * len(across), PANEL[1] * len(down) + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(down), len(across), squeeze=False, sharey="row", sharex="col")
    for row, measure in enumerate(down):
        for column, setting in enumerate(across):
            _panel(panels[row][column], table, setting, measure)
            if row == len(down) - 1:
                panels[row][column].set_xlabel(setting)
        unit = of_column(measure).unit.replace("^2", "²")
        panels[row][0].set_ylabel(f"{measure} [{unit}]" if unit else measure)
    figure.suptitle(f"{plan.config}: {table.finished:,} runs of {plan.steps:,} steps", fontsize=10)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120)
    return content.getvalue()


def _panel(axes: Axes, table: Table, setting: str, measure: str) -> None:
    """Numbers stand where they are on the axis, words one after another."""
    found = _by_value(table, setting, measure)
    values = list(found)
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if numeric:
        values.sort(key=float)  # type: ignore[arg-type]
    places = [float(value) for value in values] if numeric else list(map(float, range(len(values))))  # type: ignore[arg-type]
    dots = [(place, number) for place, value in zip(places, values, strict=True) for number in found[value]]
    axes.scatter([x for x, _ in dots], [y for _, y in dots], s=9, color=DOT, alpha=0.6, linewidths=0, zorder=2)
    if setting != "seed" and dots:
        means = [statistics.fmean(found[value]) for value in values]
        spreads = [statistics.stdev(found[value]) if len(found[value]) > 1 else 0.0 for value in values]
        low, high = ([mean + side * spread for mean, spread in zip(means, spreads, strict=True)] for side in (-1, 1))
        axes.fill_between(places, low, high, color=BAND, linewidth=0, zorder=0)
        axes.plot(places, means, color=LINE, linewidth=1.4, marker="o", markersize=3.5, zorder=3)
    if not numeric:
        axes.set_xticks(places, [cell_text(value) or "null" for value in values])
        axes.margins(x=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6, zorder=-1)


def _by_value(table: Table, setting: str, measure: str) -> dict[Cell, list[float]]:
    """The measure's numbers for each value of the setting, in the order of the plan."""
    found: dict[Cell, list[float]] = defaultdict(list)
    for row in table.rows:
        number = row[measure]
        if isinstance(number, int | float):
            found[row[setting]].append(float(number))
    return found
