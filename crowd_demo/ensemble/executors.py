"""Which executor there is: a Dask cluster if a scheduler's address is given, else processes of this machine."""

from __future__ import annotations

from crowd_demo.ensemble.capacity import capacity
from crowd_demo.ensemble.executor import Executor
from crowd_demo.ensemble.local import LocalExecutor
from crowd_demo.ensemble.plan import Plan


def make_executor(plan: Plan, workers: int | None = None, scheduler: str | None = None) -> Executor:
    """Make it. Raises ExecutorError where there is no such cluster."""
    if scheduler is not None:
        from crowd_demo.ensemble.cluster import ClusterExecutor

        return ClusterExecutor(scheduler)
    fits = capacity(plan.configs)
    asked = workers or fits.cores
    return LocalExecutor(asked if fits.fit is None else max(1, min(asked, fits.fit)))
