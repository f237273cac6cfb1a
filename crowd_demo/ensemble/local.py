"""Processes of this machine, of one thread each. Each gets a job as a line, and answers with a row as a line.

A process that dies, whatever kills it, is replaced, and its job is done again. It ends when its input does, which is when this
process ends or crashes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from pydantic import ValidationError

from crowd_demo.app.process import child
from crowd_demo.ensemble.job import MOST_DEATHS, ExecutorError, Job, RunRow, carry_out
from crowd_demo.registry.texts import error_line

POLL_S = 0.1
CLOSE_S = 5.0
ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Process:
    """One worker. Only one thread may talk to it; any may close it."""

    def __init__(self) -> None:
        self._process = child.start(
            __name__, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
            start_new_session=True)  # Ctrl-C is for the program, which then ends its workers

    def carry_out(self, job: Job) -> RunRow | None:
        """Wait for the row of a job; None if the process has died."""
        assert self._process.stdin and self._process.stdout
        with suppress(OSError, ValueError, ValidationError):  # ValueError: closed meanwhile
            print(job.text(), file=self._process.stdin, flush=True)
            return RunRow.model_validate_json(self._process.stdout.readline())
        return None

    def how_it_died(self) -> str:
        """In words."""
        code = self._process.wait()
        if code >= 0:
            return f"exit code {code}"
        with suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"killed by signal {-code}"

    def close(self) -> None:
        """Kill it, and wait for its end."""
        with suppress(OSError):
            self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_S)
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError, ValueError):
                assert stream
                stream.close()


class LocalExecutor:
    """So many processes, which are started when there is something to do."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def rows(self, jobs: Sequence[Job]) -> Generator[RunRow | None, None, None]:
        waiting, done = SimpleQueue[Job](), SimpleQueue[RunRow | BaseException]()
        for job in jobs:
            waiting.put(job)
        crew = [_Hand(waiting, done) for _ in range(min(self.workers, len(jobs)))]
        try:
            for hand in crew:
                hand.start()
            left = len(jobs)
            while left:
                try:
                    row = done.get(timeout=POLL_S)
                except Empty:
                    yield None
                    continue
                if isinstance(row, BaseException):
                    raise ExecutorError(f"no process can be started: {error_line(row)}") from row
                left -= 1
                yield row
        finally:
            for hand in crew:
                hand.close()

    def close(self) -> None:
        """Nothing outlives `rows`."""


class _Hand(threading.Thread):
    """Gives jobs to a process, and replaces it when it has died."""

    def __init__(self, waiting: SimpleQueue[Job], done: SimpleQueue[RunRow | BaseException]) -> None:
        super().__init__(name="crowd-demo ensemble", daemon=True)
        self._waiting, self._done = waiting, done
        self._process: Process | None = None
        self._closed, self._starting = False, threading.Lock()

    def run(self) -> None:
        try:
            while process := self._alive():
                self._done.put(self._row(self._waiting.get_nowait(), process))
        except Empty:
            self.close()
        except BaseException as error:  # whatever it is, the main thread has to know
            self._done.put(error)

    def _row(self, job: Job, process: Process | None) -> RunRow:
        how, deaths = "", 0
        while process and deaths < MOST_DEATHS:
            if row := process.carry_out(job):
                return row
            how, deaths = process.how_it_died(), deaths + 1
            self._process = None
            process.close()
            process = self._alive()
        return RunRow(key=job.key, error=f"its worker died {deaths} times ({how})")

    def _alive(self) -> Process | None:
        """The process, which is started if there is none; None after the end."""
        with self._starting:
            if not self._closed and not self._process:
                self._process = Process()
            return None if self._closed else self._process

    def close(self) -> None:
        """End the process. Any thread may call it."""
        with self._starting:
            self._closed = True
        if process := self._process:
            process.close()


# --- the process itself ----------------------------------------------------------------------------------------------

def main() -> None:
    """Carry out job after job."""
    lines, answers = child.standard_lines()
    while True:
        row = carry_out(Job.of(lines.get()))
        print(row.model_dump_json(), file=answers, flush=True)
