"""Many runs of one configuration: seeds times settings, on the processes of this machine or on a cluster, into one table.

    from crowd_demo import ensemble

    plan = ensemble.make_plan("1k", seeds="1-10", vary={"crowd.radius": [20, 40]}, steps=600, measures=["stuck", "speed"])
    for row in ensemble.run(plan, "radii"):                   # makes what the folder does not have yet
        print(row["crowd.radius"], row["seed"], row["stuck"])
    table = ensemble.table(plan, "radii")                     # all rows, in the order of the plan

Who does what:

    plan               what there is to do; one run: its key, steps, a row
    measures           what is measured of it
    executors          who carries it out: processes of this machine, a cluster
    table              what comes of it, also as a picture
    running            all of it, and what is finished, on disk
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from crowd_demo.config.section import require
from crowd_demo.extras.ensemble.executors import ExecutorError
from crowd_demo.extras.ensemble.plan import Cell, Plan, make_plan
from crowd_demo.extras.ensemble.table import Table

__all__ = ["ExecutorError", "Plan", "Table", "make_plan", "run", "table"]


def run(plan: Plan, out: str | Path, *, workers: int | None = None, scheduler: str | None = None,
        again: bool = False) -> Generator[dict[str, Cell], None, None]:
    """Make the runs that the folder does not have yet; yield a row for each as it comes, and write the table at the end.

    `workers` processes make them, by default one per core as far as they fit into memory, or the workers of the Dask
    scheduler at the address `scheduler`. `again` makes all runs, and compares their state hashes.

    Raises OSError, ValueError for a folder with a link or a pipe in place of a file, and ExecutorError without workers.
    """
    from crowd_demo.extras.ensemble.running import Session, write_table
    from crowd_demo.extras.ensemble.table import table_row

    require("plan", plan, Plan)
    session = Session(plan, Path(out), again)
    runs = {run.key: run for run in session.missing}
    try:
        with closing(session.make(workers, scheduler)) as rows:
            yield from (table_row(plan, runs[row.key], [row]) for row in rows if row)
    finally:
        write_table(plan, Path(out))


def table(plan: Plan, out: str | Path) -> Table:
    """Return the table of what the folder has, in the order of the plan. Raises OSError and ValueError as `run` does."""
    from crowd_demo.extras.ensemble.running import table_of

    require("plan", plan, Plan)
    return table_of(plan, Path(out))
