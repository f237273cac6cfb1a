"""Opening another configuration while the present one goes on.

A thread reads it and has its kernels compiled in other processes (compilers.py). What runs kernels itself, the making of the
crowd above all, is done on the worker's thread between two frames: up to a second for a million agents.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple, TypeVar

from crowd_demo.app.compiling.ahead import Ahead
from crowd_demo.app.compiling.compilers import Compilers, helpers_that_fit
from crowd_demo.app.compiling.loading import Loaded, Progress, build, building, eager_threads
from crowd_demo.app.compiling.switching import SWITCH_S
from crowd_demo.app.process.worker import Worker, carry_out, lower_priority
from crowd_demo.compute.jit import is_on_disk
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.model import Config

Result = TypeVar("Result")


class Opened(NamedTuple):
    """A configuration that is ready to be shown."""

    name: str
    config: Config
    loaded: Loaded


class CannotOpenError(Exception):
    """Why a configuration cannot be opened, in one line."""


class Opening:
    """A configuration that is being opened: a shipped name or a path. `progress` says how far it is."""

    def __init__(self, name: str, worker: Worker, render: bool) -> None:
        self.name = name
        self.progress = Progress()
        self._worker, self._render = worker, render
        self._result: Future[Opened] = Future()
        self._closed = False
        self._thread = threading.Thread(target=carry_out, args=(self._open, self._result), name="crowd-demo opening",
                                        daemon=True)
        self._thread.start()

    def opened(self) -> Opened | None:
        """What was opened, as soon as it is ready. Raises CannotOpenError."""
        return self._result.result() if self._result.done() else None

    @property
    def busy(self) -> bool:
        """Is the thread at work, so that it may be inside the compiler?"""
        return not self._result.done()

    def close(self, timeout_s: float = 0.0) -> None:
        """Give up as soon as possible, and wait for that at most so long."""
        self._closed = True
        self._thread.join(timeout_s)

    def _open(self) -> Opened:
        lower_priority()
        try:
            with eager_threads(SWITCH_S):
                return self._opened()
        except ConfigError as error:
            raise CannotOpenError(error.lines[0]) from None
        except MemoryError:
            raise CannotOpenError(f"{self.name}: too little memory for it beside the present crowd") from None

    def _opened(self) -> Opened:
        config = load_config(self.name)
        start = time.perf_counter()
        ahead = self._on_worker(lambda: Ahead(config, self._render))
        calls = ahead.missing(config.optimizations)
        with Compilers(config) as compilers:
            if missing := sum(not is_on_disk(call) for call in calls):
                compilers.start(min(max(helpers_that_fit(), 1), missing))
            compilers.want(calls, config.optimizations)
            compilers.work(self._tell, here=False)
        compiled = time.perf_counter()
        self.progress.say(building(config))
        sim, scene = self._on_worker(lambda: build(config, self._render))
        return Opened(self.name, config, Loaded(sim, scene, ahead, compilers, {}, 0.0, compiled - start))

    def _on_worker(self, job: Callable[[], Result]) -> Result:
        self._go_on()
        return self._worker.submit(job).result()

    def _tell(self, kernel: str, done: int, total: int) -> None:
        self._go_on()
        self.progress.compiling(kernel, done, total)

    def _go_on(self) -> None:
        if self._closed:
            raise CannotOpenError(f"{self.name}: given up")
