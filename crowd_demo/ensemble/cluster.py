"""A Dask cluster: workers on as many machines as there are, each with this program and `pip install crowd-demo[cluster]`.

The cluster does the scheduling: a run whose worker dies is given to another one. Rows come back to this machine, so no folder
has to be shared.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Generator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from crowd_demo.ensemble.job import ExecutorError, Job, RunRow, carry_out
from crowd_demo.registry.texts import error_line

if TYPE_CHECKING:
    from distributed import Future

CONNECT_S = 15.0
POLL_S = 0.2
GONE = "the scheduler is gone"
NO_EXTRA = "Dask is not installed: pip install crowd-demo[cluster]"


class ClusterExecutor:
    """Connects to a scheduler such as tcp://10.0.0.1:8786. Raises ExecutorError where none answers."""

    def __init__(self, address: str) -> None:
        self._workers = 0  # when last heard of
        try:
            from distributed import Client
        except ImportError:
            raise ExecutorError(NO_EXTRA) from None
        _silence()
        try:
            self._client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:  # a TimeoutError is an OSError
            raise ExecutorError(f"no scheduler answers at {address} ({error_line(error)})") from None

    @property
    def workers(self) -> int:
        with suppress(Exception):  # of any kind, while the scheduler does not answer
            self._workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
        return self._workers

    def rows(self, jobs: Sequence[Job]) -> Generator[RunRow | None, None, None]:
        waiting = list(reversed(jobs))
        given: dict[Future, Job] = {}
        done: SimpleQueue[Future] = SimpleQueue()
        try:
            while waiting or given:
                while waiting and len(given) < max(self.workers, 1):  # more would share the blame for a death
                    job = waiting.pop()
                    name = f"crowd-demo-{job.key}-{uuid.uuid4().hex[:8]}"  # Dask makes a name but once
                    future = self._client.submit(on_worker, job.text(), key=name, pure=False)
                    given[future] = job
                    future.add_done_callback(done.put)
                try:
                    future = done.get(timeout=POLL_S)
                except Empty:
                    if self._client.status in ("closing", "closed"):
                        raise ExecutorError(GONE) from None
                    yield None
                else:
                    yield _row_of(future, given.pop(future))
        finally:
            with suppress(Exception):  # the cluster may be gone
                self._client.cancel(list(given), force=True)

    def close(self) -> None:
        with suppress(Exception):
            self._client.close(timeout=2)


def _silence() -> None:
    """Dask logs tracebacks of what is an ExecutorError here."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def on_worker(text: str) -> str:
    """What a worker of the cluster does."""
    from distributed import get_worker

    return carry_out(Job.of(text), get_worker().address).model_dump_json()


def _row_of(future: Future, job: Job) -> RunRow:
    if future.status in ("lost", "cancelled"):
        raise ExecutorError(GONE)
    try:
        return RunRow.model_validate_json(future.result())
    except Exception as error:  # of any kind: whatever the worker or the cluster raised
        return RunRow(key=job.key, error=error_line(error))
