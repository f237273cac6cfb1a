"""The worker's thread: all kernels are called from it, so the window responds however long one takes.

Numba's number of threads and OpenMP's pool of threads belong to the thread that calls kernels: another reason for only one.
What takes long and runs no kernel is done by threads beside the frames, of a lower priority.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

from crowd_demo.app.process.system import lower_priority

Result = TypeVar("Result")


class Worker:
    """Runs jobs one after another. A job's exception is raised by its `result()`. Submitting one costs about 30 us."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._is_done: Callable[[], bool] = lambda: True  # of the last job
        threading.Thread(target=self._work, name="crowd-demo worker", daemon=True).start()

    def submit(self, job: Callable[[], Result]) -> Future[Result]:
        """Run the job after those submitted before it."""
        future: Future[Result] = Future()
        self._is_done = future.done
        self._jobs.put(partial(carry_out, job, future))
        return future

    @property
    def busy(self) -> bool:
        """Is a job running or waiting?"""
        return not self._is_done()

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def carry_out(job: Callable[[], Result], future: Future[Result]) -> None:
    """Do the job, and let the future have its result or its exception."""
    try:
        result = job()
    except BaseException as error:  # whatever it is, the main thread has to know
        future.set_exception(error)
    else:
        future.set_result(result)


def in_thread(job: Callable[[], Result], name: str) -> Future[Result]:
    """Do the job in a thread of its own, for whose end the program does not wait when it exits."""
    future: Future[Result] = Future()
    threading.Thread(target=carry_out, args=(job, future), name=name, daemon=True).start()
    return future


def beside_frames() -> ThreadPoolExecutor:
    """A thread for one job after another, in the time that frames leave. No call of a job may keep Python's lock for long."""
    return ThreadPoolExecutor(1, initializer=lower_priority)
