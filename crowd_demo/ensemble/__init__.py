"""Many runs of one configuration: seeds times settings, on the processes of this machine or on a cluster, into one table.

    from crowd_demo import ensemble

    plan = ensemble.make_plan("1k", seeds="1-10", vary={"crowd.radius": [20, 40]}, steps=600, measures=["stuck", "speed"])
    for row in ensemble.run(plan, "radii"):                   # makes what the folder does not have yet
        print(row["crowd.radius"], row["seed"], row["stuck"])
    table = ensemble.table(plan, "radii")                     # all rows, in the order of the plan

Who does what:

    plan, fingerprint         what there is to do; a key for each run
    job, sampling, measures/  one run: steps, measures, a row
    executor, local, cluster  who carries it out; executors chooses
    rows                      what is finished, on disk
    table, parquet, manifest, plot    what comes of it
    capacity, warming         memory and time; kernels compiled before
    running, progress         all of it
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from crowd_demo.ensemble.executor import ExecutorError
from crowd_demo.ensemble.plan import Cell, Plan, make_plan
from crowd_demo.ensemble.table import Table

__all__ = ["ExecutorError", "Plan", "Table", "make_plan", "run", "table"]


def run(plan: Plan, out: str | Path, *, workers: int | None = None, scheduler: str | None = None,
        again: bool = False) -> Generator[dict[str, Cell], None, None]:
    """Make the runs that the folder does not have yet; yield a row for each as it comes, and write the table at the end.

    `workers` processes of this machine, as many as it has cores if that is None and no more than fit into memory; or those of
    a Dask `scheduler`'s address. `again` makes all runs, to compare their state hashes with those that are there.
    Raises OSError, ValueError for a folder in which something else stands in the place of a file, such as a link that leads
    out of it, and ExecutorError where nobody can make runs.
    """
    from crowd_demo.ensemble.executors import make_executor
    from crowd_demo.ensemble.running import carry_out_all, look, write_manifest, write_table
    from crowd_demo.ensemble.table import table_row
    from crowd_demo.ensemble.warming import warm

    folder = Path(out)
    missing = look(plan, folder, again).missing
    write_manifest(plan, folder)
    runs = {run.key: run for run in missing}
    if missing and scheduler is None:
        warm({run.settings: run.config for run in missing}.values(), lambda *_: None)
    executor = make_executor(plan, workers, scheduler)
    rows = carry_out_all(plan, folder, missing, executor)
    try:
        yield from (table_row(plan, runs[row.key], [row]) for row in rows if row)
    finally:
        rows.close()
        executor.close()
        write_table(plan, folder)


def table(plan: Plan, out: str | Path) -> Table:
    """Return the table of what the folder has, in the order of the plan. Raises OSError and ValueError as `run` does."""
    from crowd_demo.ensemble.running import rows_of
    from crowd_demo.ensemble.table import make_table

    return make_table(plan, rows_of(Path(out)).rows)
