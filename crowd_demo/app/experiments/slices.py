"""An experiment in the worker's thread, slice by slice.

Between slices the window is drawn and events are read, so nothing runs beside what is measured; only a slice that takes long,
such as compiling a kernel or a step of brute force, is not waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress

from crowd_demo.app.compiling.loading import eager_threads
from crowd_demo.app.process.worker import Worker
from crowd_demo.measure.experiment import InSlices, Progress

SLICES_S = 0.1  # how long slices run before the window is drawn again


class Running:
    """The slices of an experiment; `make` is called in the worker's thread, where the crowd can be read."""

    def __init__(self, make: Callable[[], InSlices]) -> None:
        self.progress = Progress("starting", 0.0)
        self.over = False
        self.refused = ""  # why it cannot be done
        self._slices = self._all(make)
        self._job: Future[bool] | None = None

    def stop(self) -> None:
        """Stop it; its results so far remain. A slice that is under way runs to its end."""
        self.over = True
        self._slices = iter(())

    def advance(self, worker: Worker) -> None:
        """Run slices for `SLICES_S`. Raises what a slice raises, but for a ValueError, which is kept as a refusal."""
        end = time.monotonic() + SLICES_S
        while not self.over and (left := end - time.monotonic()) > 0:
            self._job = self._job or worker.submit(self._slice)
            with suppress(TimeoutError):
                self._job.exception(left)
            if not self._job.done():
                return
            job, self._job = self._job, None
            self.over = self.over or not job.result()

    def _all(self, make: Callable[[], InSlices]) -> Iterator[Progress]:
        yield self.progress
        yield from make().run()

    def _slice(self) -> bool:
        """Run one; return whether there is another."""
        try:
            with eager_threads():  # so that the window responds while a kernel is compiled
                self.progress = next(self._slices)
        except StopIteration:
            return False
        except ValueError as error:
            self.refused = str(error)
            return False
        return True
