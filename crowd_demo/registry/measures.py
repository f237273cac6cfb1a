"""The registry of measures: what `crowd-demo ensemble` can say about a run."""

from __future__ import annotations

from crowd_demo.registry.entries import MeasureEntry
from crowd_demo.registry.plugins import with_plugins

_HOME = "crowd_demo.ensemble.measures"
_PEOPLE = ("crowd",)

BUILT_IN: tuple[MeasureEntry, ...] = (
    MeasureEntry("stuck", "share of people who are stuck", f"{_HOME}:stuck", behaviours=_PEOPLE),
    MeasureEntry("waiting", "share of people who wait at a goal", f"{_HOME}:waiting", behaviours=_PEOPLE),
    MeasureEntry("queuing", "share of people who queue for a goal", f"{_HOME}:queuing", behaviours=_PEOPLE),
    MeasureEntry("speed", "way of people who neither wait nor queue, as a part of what they prefer", f"{_HOME}:Speed",
                 behaviours=_PEOPLE),
    MeasureEntry("overlap", "share of people whose bodies overlap somebody's", f"{_HOME}:overlap", behaviours=_PEOPLE),
    MeasureEntry("densest", "most people in a square of 48 units", f"{_HOME}:densest", fold="most", behaviours=_PEOPLE),
    MeasureEntry("density", "agents in each area of measure.areas", f"{_HOME}:density", "1/m^2", places="areas"),
    MeasureEntry("flow", "agents who cross each line of measure.lines, either way", f"{_HOME}:Flow", "1/s",
                 places="lines"),
    MeasureEntry("neighbours", "neighbours of an agent that looked", f"{_HOME}:neighbours"),
    MeasureEntry("population", "agents that live", f"{_HOME}:population"),
    MeasureEntry("step_ms", "time of a step", f"{_HOME}:StepTime", "ms", fold="median", time=True),
)

MEASURES: dict[str, MeasureEntry] = {
    entry.name: entry for entry in with_plugins(BUILT_IN, lambda plugin: plugin.measures, lambda entry: (entry.name,))}


def of_column(column: str) -> MeasureEntry:
    """The measure of a table's column, `measure` or `measure.place`."""
    return MEASURES[column.partition(".")[0]]


def table() -> str:
    """The table of docs/ensemble.md."""
    return "\n".join(["| measure | what it is | unit | of a run | behaviour |", "|---|---|---|---|---|", *(
        f"| `{entry.name}` | {entry.why} | {entry.unit.replace('^2', '²')} | {entry.fold} |"
        f" {', '.join(entry.behaviours) or 'all'} |" for entry in MEASURES.values())])
