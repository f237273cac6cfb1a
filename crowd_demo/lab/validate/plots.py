"""A picture of each experiment, by matplotlib, which comes with the extra `validation`."""

from __future__ import annotations

from pathlib import Path

from crowd_demo.lab.validate.validation import Result

SIZE_INCHES, DPI = (7.0, 3.6), 90


def save_plot(result: Result, path: Path) -> None:
    """Write a PNG of what everybody did. Raises ImportError without matplotlib, and OSError."""
    from matplotlib.figure import Figure

    figure = Figure(SIZE_INCHES, DPI, layout="constrained")
    axes = figure.subplots()
    result.experiment.plot(axes, result.runs)
    axes.set_title(result.experiment.title, loc="left", fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, metadata={"Software": None})  # the same bytes for the same results
