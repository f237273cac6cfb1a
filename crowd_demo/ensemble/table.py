"""The table of an ensemble: a row for each run of the plan, in its order, whoever made it.

First comes what was asked for and what came of it, which is the same wherever and however often a run is made; then how it was
made: times, worker, processor, versions. A key that was made several times must have one state hash and one value of each
measure that is no time; the column `differs` has the other hashes, or else the measures.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import chain
from typing import NamedTuple

from crowd_demo.ensemble.job import Row
from crowd_demo.ensemble.plan import Cell, Plan, Run, cell_text
from crowd_demo.registry.built_in import of_column

HASH = "state_hash"
RESULT = ("steps", HASH, "error", "differs", "key")  # what follows the settings, the seed and the measures
CIRCUMSTANCES = ("seconds", "worker", "cpu", "versions")


class Difference(NamedTuple):
    """One key with several state hashes, or with several values of a measure."""

    run: Run
    column: str
    rows: tuple[Row, ...]  # the first of each value

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
        """As text; without the circumstances it is the same whoever made the runs."""
        columns = [column for column in self.columns if circumstances or column not in self.circumstances]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([cell_text(row[column]) for column in columns] for row in self.rows)
        return text.getvalue()


def make_table(plan: Plan, rows: Iterable[Row]) -> Table:
    """Merge rows, of which some may be of other plans and some of the same key."""
    by_key: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.finished):
        by_key[row.key].append(row)
    times = [column for column in plan.columns if of_column(column).time]
    circumstances = (*times, *CIRCUMSTANCES)
    measured = tuple(column for column in plan.columns if column not in times)
    columns = (*plan.varied, "seed", *measured, *RESULT, *circumstances)
    differences = {run.key: _differences(run, by_key[run.key], measured) for run in plan.runs if len(by_key[run.key]) > 1}
    merged = tuple(table_row(plan, run, by_key[run.key], differences.get(run.key, ())) for run in plan.runs)
    return Table(columns, merged, tuple(chain.from_iterable(differences.values())), circumstances)


def finished_keys(rows: Iterable[Row]) -> set[str]:
    """The keys that need not be made again. What failed is tried again."""
    return {row.key for row in rows if row.state_hash}


def table_row(plan: Plan, run: Run, rows: Sequence[Row], differences: Sequence[Difference] = ()) -> dict[str, Cell]:
    """One row of the table, of rows in the order of time: that which finished first, else the last that failed."""
    row = next((row for row in rows if row.state_hash), rows[-1] if rows else Row(key=run.key))
    return {**dict(zip(plan.varied, run.settings, strict=True)), "seed": run.seed,
            **{name: row.values.get(name) for name in plan.columns},
            "steps": row.steps if rows else None, "state_hash": row.state_hash, "error": row.error,
            "differs": " ".join(map(_differs, differences)), "key": run.key,
            "seconds": round(row.seconds, 3) if rows else None, "worker": row.worker, "cpu": row.cpu, "versions": row.versions}


def _differences(run: Run, rows: Iterable[Row], measured: Iterable[str]) -> tuple[Difference, ...]:
    """Of the state hash; where there is but one, of each measure."""
    made = [row for row in rows if row.state_hash]
    found = [Difference(run, column, _first_of_each(made, column)) for column in (HASH, *measured)]
    several = [difference for difference in found if len(difference.rows) > 1]
    return tuple(several[:1] if several and several[0].column == HASH else several)


def _first_of_each(rows: Iterable[Row], column: str) -> tuple[Row, ...]:
    found: dict[Cell, Row] = {}
    for row in rows:
        found.setdefault(_value(row, column), row)
    return tuple(found.values())


def _value(row: Row, column: str) -> Cell:
    return row.state_hash if column == HASH else row.values.get(column)


def _differs(difference: Difference) -> str:
    return " ".join(row.state_hash for row in difference.rows[1:]) if difference.column == HASH else difference.column


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
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _of_one_kind(cells: list[Cell]) -> list[Cell]:
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {int, float}:
        return [None if cell is None else float(cell) for cell in cells]
    return cells if len(kinds) < 2 else [None if cell is None else str(cell) for cell in cells]
