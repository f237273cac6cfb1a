"""Opening another configuration, while the window responds and the present crowd goes on.

A thread reads it and has its kernels compiled in other processes. What runs kernels itself, the making of the crowd
above all, is done on the worker's thread between two frames: up to a second for a million agents.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import closing
from typing import TypeVar

from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.memory import TooManyError
from crowd_demo.host.compiling.ahead import KernelFinder
from crowd_demo.host.compiling.compilers import Compilers, helpers_that_fit, to_compile
from crowd_demo.host.compiling.loading import Loaded, LoadingProgress, build, building
from crowd_demo.host.system import Worker, compiling_beside_frames, in_thread

Result = TypeVar("Result")


class CannotOpenError(Exception):
    """Why a configuration cannot be opened, in one line."""


class Opening:
    """A configuration that is being opened: a shipped name or a path. `progress` says how far it is."""

    def __init__(self, name: str, worker: Worker, render: bool) -> None:
        self.name = name
        self.progress = LoadingProgress()
        self._worker, self._render = worker, render
        self._closed = False
        self._result = in_thread(self._open, "crowd-demo opening")

    def opened(self) -> Loaded | None:
        """Return the loaded configuration, or None until it is ready. Raises CannotOpenError."""
        return self._result.result() if self._result.done() else None

    @property
    def busy(self) -> bool:
        """Return whether the thread is at work, so that it may be inside the compiler."""
        return not self._result.done()

    def close(self, timeout_s: float = 0.0) -> None:
        """Give up as soon as possible, and wait for that at most so long."""
        self._closed = True
        wait((self._result,), timeout_s)

    def _open(self) -> Loaded:
        try:
            with compiling_beside_frames():
                return self._opened()
        except ConfigError as error:
            raise CannotOpenError(error.lines[0]) from None
        except (MemoryError, TooManyError):
            raise CannotOpenError(f"{self.name}: too little memory for it beside the present crowd") from None

    def _opened(self) -> Loaded:
        config = load_config(self.name)
        start = time.perf_counter()
        ahead = self._on_worker(lambda: KernelFinder(config, self._render))
        launches = ahead.missing(config.optimizations)
        with closing(Compilers(config)) as compilers:
            if missing := to_compile(launches):
                compilers.start(min(max(helpers_that_fit(), 1), missing))
            compilers.want(launches, config.optimizations)
            compilers.work(self._show_progress, here=False)
        compiled = time.perf_counter()
        self.progress.say(building(config))
        sim, scene = self._on_worker(lambda: build(config, self._render))
        return Loaded(sim, scene, ahead, compilers, {}, 0.0, compiled - start)

    def _on_worker(self, job: Callable[[], Result]) -> Result:
        self._go_on()
        return self._worker.submit(job).result()

    def _show_progress(self, kernel: str, done: int, total: int) -> None:
        self._go_on()
        self.progress.compiling(kernel, done, total)

    def _go_on(self) -> None:
        if self._closed:
            raise CannotOpenError(f"{self.name}: given up")
