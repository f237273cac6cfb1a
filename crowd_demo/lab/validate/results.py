"""The results as rows: what the terminal's table, the page's and the JSON are made of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from crowd_demo.lab.validate.experiment import Reading, number
from crowd_demo.lab.validate.validation import Result, Validation
from crowd_demo.measure.experiment import aligned

PASSED, FAILED = "passed", "failed"


class Row(NamedTuple):
    """One reading of an experiment by everybody who walked it."""

    what: str
    expected: str  # with its unit
    found: Mapping[str, Reading]
    by_pedpy: float | None  # where PedPy has the measure


def rows(result: Result) -> list[Row]:
    whats = list(dict.fromkeys(reading.what for readings in result.readings.values() for reading in readings))
    return [_row(result, what) for what in whats]


def verdict(reading: Reading) -> str:
    return PASSED if reading.passes else FAILED


def score(result: Result, walker: str) -> str:
    """Return how many of its readings somebody passes: `3 of 7`, or a dash."""
    readings = result.readings.get(walker)
    return f"{sum(reading.passes for reading in readings)} of {len(readings)}" if readings else "-"


def terminal(validation: Validation) -> str:
    """Return a table for each experiment, and under it what could not be computed."""
    return "\n\n".join("\n".join(_lines(result, [walker.name for walker in validation.walkers]))
                       for result in validation.results)


def as_data(validation: Validation) -> list[dict[str, object]]:
    """Return the results as plain data, of what JSON can say."""
    return [{"name": result.experiment.name, "source": result.experiment.source, "errors": result.errors,
             "left_out": result.left_out, "readings": [_reading_data(row) for row in rows(result)]}
            for result in validation.results]


def _row(result: Result, what: str) -> Row:
    found = {name: reading for name, readings in result.readings.items() for reading in readings if reading.what == what}
    pedpy = next((reading.value for reading in result.by_pedpy if reading.what == what and reading.measured), None)
    any_of_them = next(iter(found.values()))
    return Row(what, f"{any_of_them.expected} {any_of_them.unit}".rstrip(), found, pedpy)


def _lines(result: Result, walkers: Sequence[str]) -> Iterator[str]:
    yield f"{result.experiment.name}: {result.experiment.title}"
    cells = [[row.what, row.expected, *(_cell(row, name) for name in walkers)] for row in rows(result)]
    if cells:
        yield aligned([["", "expected", *walkers], *cells])
    for name, why in result.errors.items():
        yield f"{name}: could not be computed: {why}"
    for name, why in result.left_out.items():
        yield f"{name}: left out: {why}"


def _cell(row: Row, walker: str) -> str:
    return f"{number(row.found[walker].value)} {verdict(row.found[walker])}" if walker in row.found else "-"


def _reading_data(row: Row) -> dict[str, object]:
    any_of_them = next(iter(row.found.values()))
    return {"what": row.what, "unit": any_of_them.unit, "low": _finite(any_of_them.low), "high": _finite(any_of_them.high),
            "found": {name: {"value": _finite(each.value), "verdict": verdict(each)} for name, each in row.found.items()},
            "by_pedpy": None if row.by_pedpy is None else _finite(row.by_pedpy)}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
