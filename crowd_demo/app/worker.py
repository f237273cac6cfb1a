"""The thread that computes: all kernels are called from it, so the window answers however long one takes.

It also holds what Numba and OpenMP keep for each thread: the number of threads in use and the pool of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")


class Worker:
    """Runs jobs one after another. A job's exception is raised by its `result()`. Handing over costs about 30 us."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self.current: Future[Any] | None = None
        threading.Thread(target=self._work, name="crowd-demo worker", daemon=True).start()

    def submit(self, job: Callable[[], Result]) -> Future[Result]:
        self.current = Future()
        self._jobs.put((self.current, job))
        return self.current

    @property
    def busy(self) -> bool:
        return self.current is not None and not self.current.done()

    def _work(self) -> None:
        while True:
            future, job = self._jobs.get()
            try:
                result = job()
            except BaseException as error:  # whatever it is, the main thread has to hear of it
                future.set_exception(error)
            else:
                future.set_result(result)
