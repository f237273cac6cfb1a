"""What carries out jobs: processes of this machine (local.py) or a Dask cluster (cluster.py). Nothing else knows of either."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from crowd_demo.ensemble.job import Job, Row

MOST_DEATHS = 3  # of workers in one run, which is then taken to be the reason


class Executor(Protocol):
    """`rows` may be called once at a time; closing its iterator stops what is under way and leaves no process behind."""

    @property
    def workers(self) -> int:
        """How many runs are made at a time."""

    def rows(self, jobs: Sequence[Job]) -> Generator[Row | None, None, None]:
        """Yield a row for each job, in the order in which they come; None a few times a second while there is none.

        Every job gets a row: one whose worker dies is done again, and has an error once that has happened often.
        Raises ExecutorError where nothing can be carried out any more.
        """

    def close(self) -> None:
        """Let go of whatever it holds."""


class ExecutorError(Exception):
    """There is nobody to carry out jobs; the text is one line."""
