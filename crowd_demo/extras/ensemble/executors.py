"""Who carries out jobs: processes of this machine, or the workers of a Dask cluster.

A process of this machine has one thread; it gets a job as a line and answers with a row as a line. One that dies,
whatever kills it, is replaced, and its job is done again. It ends when its input does, which is when this process ends
or crashes.

A cluster has workers on as many machines as there are, each with this program and `pip install crowd-demo[cluster]`. It
does the scheduling: a run whose worker dies is given to another one. Rows come back to this machine, so no folder has
to be shared.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue

from pydantic import ValidationError

from crowd_demo.extras.ensemble.plan import Job, RunRow, carry_out
from crowd_demo.host import child
from crowd_demo.registry.texts import error_line

POLL_S = 0.1
MAX_DEATHS = 3  # of processes in one run, which is then taken to be the reason
CONNECT_S = 15.0
GONE = "the scheduler is gone"
NO_EXTRA = "Dask is not installed: pip install crowd-demo[cluster]"


class ExecutorError(Exception):
    """No worker can make runs; the text is one line."""


class Executor:
    """Carries out jobs, so many at a time as it has workers. `close` stops what is under way and leaves no process behind."""

    workers: int

    def __init__(self) -> None:
        self.given: dict[Future[RunRow], Job] = {}

    def rows(self, jobs: Sequence[Job]) -> Generator[RunRow | None, None, None]:
        """Yield a row for each job, in the order in which they come; None a few times a second while there is none.

        Every job gets a row: one whose worker dies is done again, and has an error once that has happened often.
        Raises ExecutorError where nothing can be carried out any more.
        """
        waiting, done = list(reversed(jobs)), SimpleQueue[Future[RunRow]]()
        while waiting or self.given:
            while waiting and len(self.given) < max(self.workers, 1):  # more would share the blame for a death
                job = waiting.pop()
                future = self.submit(job)
                self.given[future] = job
                future.add_done_callback(done.put)
            try:
                future = done.get(timeout=POLL_S)
            except Empty:
                self.check()
                yield None
            else:
                yield self.row_of(future, self.given.pop(future))

    def submit(self, job: Job) -> Future[RunRow]:
        raise NotImplementedError

    def row_of(self, future: Future[RunRow], job: Job) -> RunRow:
        raise NotImplementedError

    def check(self) -> None:
        """Raise ExecutorError if no more rows can come."""

    def close(self) -> None:
        raise NotImplementedError


# --- this machine ----------------------------------------------------------------------------------------------------

class LocalExecutor(Executor):
    """So many processes, each started by the thread that gives it jobs when there is one to do."""

    def __init__(self, workers: int) -> None:
        super().__init__()
        self.workers = workers
        self._pool = ThreadPoolExecutor(workers, "crowd-demo ensemble")
        self._processes: dict[int, Process] = {}  # by thread
        self._closed, self._starting = False, threading.Lock()

    def submit(self, job: Job) -> Future[RunRow]:
        return self._pool.submit(self._carry_out, job)

    def row_of(self, future: Future[RunRow], job: Job) -> RunRow:
        if error := future.exception():
            raise ExecutorError(f"no process can be started: {error_line(error)}") from error
        return future.result()

    def _carry_out(self, job: Job) -> RunRow:
        """Give the job to the process of this thread, and replace that when it has died."""
        how, deaths = "", 0
        while deaths < MAX_DEATHS and (process := self._alive()):
            if row := process.carry_out(job):
                return row
            how, deaths = process.how_it_died(), deaths + 1
            self._processes.pop(threading.get_ident()).close()
        return RunRow(key=job.key, error=f"its worker died {deaths} times ({how})")

    def _alive(self) -> Process | None:
        """The process of this thread, which is started if there is none; None once the executor is closed."""
        with self._starting:
            if not self._closed and threading.get_ident() not in self._processes:
                self._processes[threading.get_ident()] = Process()
            return None if self._closed else self._processes[threading.get_ident()]

    def close(self) -> None:
        with self._starting:
            self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in list(self._processes.values()):
            process.close()


class Process:
    """One worker. Only one thread may talk to it; any may close it."""

    def __init__(self) -> None:
        self._process = child.start(
            __name__, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **child.ONE_THREAD},
            start_new_session=True)  # Ctrl-C is for the program, which then ends its workers
        self._talk = child.talk_to(self._process)
        self.close = self._talk.close

    def carry_out(self, job: Job) -> RunRow | None:
        """Wait for the row of a job; None if the process has died."""
        with suppress(ValidationError):
            return RunRow.model_validate_json(self._talk.ask(job.model_dump_json()))
        return None

    def how_it_died(self) -> str:
        """Wait for its end; return `exit code 1` or `killed by SIGKILL`."""
        code = self._process.wait()
        if code >= 0:
            return f"exit code {code}"
        with suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"killed by signal {-code}"


def main() -> None:
    lines, answers = child.standard_lines()
    while True:
        row = carry_out(Job.model_validate_json(lines.get()))
        print(row.model_dump_json(), file=answers, flush=True)


# --- a cluster -------------------------------------------------------------------------------------------------------

class ClusterExecutor(Executor):
    """Connects to a scheduler such as tcp://10.0.0.1:8786. Raises ExecutorError where none answers."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._workers = 0  # when last heard of
        try:
            from distributed import Client
        except ImportError:
            raise ExecutorError(NO_EXTRA) from None
        for name in list(logging.root.manager.loggerDict):  # it logs tracebacks of what is an ExecutorError here
            if name.partition(".")[0] == "distributed":
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            self._client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:  # a TimeoutError is an OSError
            raise ExecutorError(f"no scheduler answers at {address} ({error_line(error)})") from None

    @property
    def workers(self) -> int:  # type: ignore[override]  # they come and go
        with suppress(Exception):  # of any kind, while the scheduler does not answer
            self._workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
        return self._workers

    def submit(self, job: Job) -> Future[RunRow]:
        name = f"crowd-demo-{job.key}-{uuid.uuid4().hex[:8]}"  # Dask makes a name but once
        return self._client.submit(on_worker, job.model_dump_json(), key=name, pure=False)

    def row_of(self, future: Future[RunRow], job: Job) -> RunRow:
        if future.status in ("lost", "cancelled"):  # type: ignore[attr-defined]  # a future of Dask's
            raise ExecutorError(GONE)
        try:
            return RunRow.model_validate_json(future.result())  # type: ignore[arg-type]
        except Exception as error:  # of any kind: whatever the worker or the cluster raised
            return RunRow(key=job.key, error=error_line(error))

    def check(self) -> None:
        if self._client.status in ("closing", "closed"):
            raise ExecutorError(GONE)

    def close(self) -> None:
        with suppress(Exception):  # the cluster may be gone
            self._client.cancel(list(self.given), force=True)
        with suppress(Exception):
            self._client.close(timeout=2)


def on_worker(text: str) -> str:
    from distributed import get_worker

    return carry_out(Job.model_validate_json(text), get_worker().address).model_dump_json()
