"""Make the runs of a plan that a folder does not have yet.

    DIR/rows/             what workers have finished: a file for each, only ever appended to
    DIR/manifest.json     what was asked for, and what with
    DIR/table.csv         a row for each run of the plan, also in the middle of it; and table.parquet, where pyarrow is there
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from crowd_demo.app.output.files import write_file
from crowd_demo.ensemble.executor import Executor
from crowd_demo.ensemble.job import Row
from crowd_demo.ensemble.manifest import manifest
from crowd_demo.ensemble.parquet import parquet
from crowd_demo.ensemble.plan import Plan, Run
from crowd_demo.ensemble.plot import PLOT
from crowd_demo.ensemble.rows import Found, RowFiles, check_file, check_inside, read_rows
from crowd_demo.ensemble.table import Table, finished_keys, make_table

ROWS, MANIFEST, TABLE, PARQUET = "rows", "manifest.json", "table.csv", "table.parquet"


class Begun(NamedTuple):
    """What a folder has of a plan."""

    done: tuple[Row, ...]
    missing: tuple[Run, ...]
    damaged: tuple[str, ...]  # FILE:LINE of rows that cannot be read


def look(plan: Plan, out: Path, again: bool = False) -> Begun:
    """Read what the folder has, which need not exist; `again` asks for all runs once more.

    Raises OSError; ValueError where something else stands in the place of a file that is read or will be written.
    """
    for name in (MANIFEST, TABLE, PARQUET, PLOT):
        check_file(out / name, out)
    found = rows_of(out)
    finished = set() if again else finished_keys(found.rows)
    return Begun(found.rows, tuple(run for run in plan.runs if run.key not in finished), found.damaged)


def rows_of(out: Path) -> Found:
    """Read the rows of an ensemble's folder. Raises OSError and ValueError."""
    check_inside(out / ROWS, out)
    return read_rows(out / ROWS)


def carry_out_all(plan: Plan, out: Path, runs: Sequence[Run], executor: Executor) -> Generator[Row | None, None, None]:
    """Make these runs; yield each row when it is on disk, and None a few times a second. Raises OSError, ExecutorError."""
    jobs = [plan.job(run) for run in runs]
    with RowFiles(out / ROWS) as files:
        rows = executor.rows(jobs)
        try:
            for row in rows:
                if row:
                    row = row.model_copy(update={"finished": time.time()})
                    files.append(row)
                yield row
        finally:
            rows.close()


def write_manifest(plan: Plan, out: Path) -> None:
    """Make the folder, and say in it what is asked for. Raises OSError."""
    out.mkdir(parents=True, exist_ok=True)
    write_file(out / MANIFEST, manifest(plan).encode())


def write_table(plan: Plan, out: Path, rows: Iterable[Row] | None = None) -> Table:
    """Merge what the folder has, or these rows, and write the table. Raises OSError."""
    table = make_table(plan, rows_of(out).rows if rows is None else rows)
    write_file(out / TABLE, table.csv().encode())
    if content := parquet(table):
        write_file(out / PARQUET, content)
    return table
