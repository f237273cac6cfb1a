"""The table of an ensemble: a row for each run of the plan, in its order, whoever made it.

First comes what was asked for and what came of it, which is the same wherever and however often a run is made; then how it was
made: times, worker, processor, versions. A key that was made several times must have one state hash; the column `differs` has
the others.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from crowd_demo.ensemble.job import Row
from crowd_demo.ensemble.plan import Cell, Plan, Run, cell_text
from crowd_demo.registry.measures import of_column

RESULT = ("steps", "state_hash", "error", "differs", "key")  # what follows the settings, the seed and the measures
CIRCUMSTANCES = ("seconds", "worker", "cpu", "versions")


class Difference(NamedTuple):
    """One key with several state hashes."""

    run: Run
    rows: tuple[Row, ...]  # the first of each hash

    def __str__(self) -> str:
        return "; ".join(f"{row.state_hash} by {row.worker} on {row.cpu}" for row in self.rows)


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
    for row in rows:
        by_key[row.key].append(row)
    times = [column for column in plan.columns if of_column(column).time]
    circumstances = (*times, *CIRCUMSTANCES)
    columns = (*plan.varied, "seed", *(column for column in plan.columns if column not in times), *RESULT, *circumstances)
    merged = tuple(table_row(plan, run, by_key[run.key]) for run in plan.runs)
    differences = (Difference(run, tuple(_first_of_each_hash(by_key[run.key]))) for run in plan.runs)
    return Table(columns, merged, tuple(each for each in differences if len(each.rows) > 1), circumstances)


def finished_keys(rows: Iterable[Row]) -> set[str]:
    """The keys that need not be made again. What failed is tried again."""
    return {row.key for row in rows if row.state_hash}


def table_row(plan: Plan, run: Run, rows: Sequence[Row]) -> dict[str, Cell]:
    """One row of the table: that which finished first, else the last that failed."""
    row = next((row for row in rows if row.state_hash), rows[-1] if rows else Row(key=run.key))
    others = [other.state_hash for other in _first_of_each_hash(rows)][1:]
    return {**dict(zip(plan.varied, run.settings, strict=True)), "seed": run.seed,
            **{name: row.values.get(name) for name in plan.columns},
            "steps": row.steps, "state_hash": row.state_hash, "error": row.error, "differs": " ".join(others), "key": run.key,
            "seconds": round(row.seconds, 3), "worker": row.worker, "cpu": row.cpu, "versions": row.versions}


def _first_of_each_hash(rows: Iterable[Row]) -> list[Row]:
    found: dict[str, Row] = {}
    for row in rows:
        if row.state_hash:
            found.setdefault(row.state_hash, row)
    return list(found.values())
