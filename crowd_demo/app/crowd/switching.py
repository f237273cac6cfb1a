"""Switching techniques, and opening another configuration, while the window responds and the present crowd goes on.

A value takes effect once a thread has its kernels. The thread loads from the disk cache what helpers compile (compilers.py),
and never runs a kernel; it ends when no value is pending. It shares Python's lock with the frames, so it compiles only where
there are no helpers.

A configuration is read by a thread that has its kernels compiled in other processes. What runs kernels itself, the making of
the crowd above all, is done on the worker's thread between two frames: up to a second for a million agents.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager
from typing import TypeVar

from crowd_demo.compute.jit import Launch
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.memory import TooManyError
from crowd_demo.config.optimizations import Optimizations, with_values
from crowd_demo.host.compiling.ahead import KernelFinder, kernel_name
from crowd_demo.host.compiling.compilers import Compilers, compile_cost, helpers_that_fit, to_compile
from crowd_demo.host.compiling.loading import Loaded, LoadingProgress, build, building
from crowd_demo.host.system import Worker, eager_threads, in_thread, lower_priority
from crowd_demo.registry.entries import Range, Technique, Value

SWITCH_S = 0.00005  # the longest that a frame waits for the compiling thread, which happens some forty times a frame
EXPERIMENT = "experiment"  # owns what `compile_one_by_one` wants
Result = TypeVar("Result")


def next_choice(technique: Technique, value: Value, backwards: bool = False) -> Value:
    """The choice after a value, or before it; of a value that is no choice the first, or the last."""
    choices = technique.choices
    if value not in choices:
        return choices[-1 if backwards else 0]
    return choices[(choices.index(value) + (-1 if backwards else 1)) % len(choices)]


def next_number(numbers: Range, value: float, direction: int) -> Value:
    """The next number above (direction 1) or below (-1), clamped to the range.

    The numbers are 1 2 .. 10 11 .. 20 22 .. 50 55 .. 100 110, a tenth to a twentieth at a time, the same in both directions.
    The unit is 1, or the least number of a range that begins between 0 and 1.
    """
    unit = min(numbers.low or 1, 1)
    units = round(value / unit, 6)
    step = _step_at(units if direction > 0 else units * (1 - 1e-9))
    units = (math.floor(units / step) + 1 if direction > 0 else math.ceil(units / step) - 1) * step
    return numbers.kind(min(max(round(units * unit, 6), numbers.low), numbers.high))


def _step_at(units: float) -> int:
    """The difference to the next number above."""
    power = 10 ** math.floor(math.log10(max(units, 10)) - 1)
    return int(power * (1 if units < 20 * power else 2 if units < 50 * power else 5))


class Switcher:
    """`pending` are the values whose kernels are not compiled yet, by path; `text` says what is being compiled.

    A value takes effect when all of its kernels are there. The values that are compiled soonest come first.
    """

    def __init__(self, ahead: KernelFinder, compilers: Compilers) -> None:
        self.pending: dict[str, Value] = {}
        self.text = ""
        self.compilers = compilers
        self._ahead = ahead
        self._asked = False  # since `ready` looked last
        self._work: Future[None] | None = None

    def request(self, path: str, value: Value) -> None:
        """Ask for a value; `ready` returns it once its kernels are compiled."""
        self.pending[path] = value
        self._asked = True

    def ready(self, options: Optimizations) -> dict[str, Value]:
        """Return the pending values whose kernels are compiled, each beside `options` and those before it; compile the others.

        Raises the thread's error. To be called in every frame: it looks for kernels, which takes milliseconds, after a
        request and when the thread is done.
        """
        if self._work and self._work.done():
            self._work.result()
        if not self.pending or (self.busy and not self._asked):
            return {}
        found: dict[str, Value] = {}
        missing: list[tuple[list[Launch], Optimizations]] = []
        for path, value in self.pending.items():
            asked = with_values(options, {**found, path: value})
            if launches := self._ahead.missing(asked):
                missing.append((launches, asked))
            else:
                found[path] = value
        for path in found:
            del self.pending[path]
        self._asked = bool(found and missing)  # beside what takes effect the others may need more
        if missing or self.busy or self.text:
            self._compile_cheapest(missing, options)
        return found

    def compile_one_by_one(self, options: Optimizations) -> Iterator[str]:
        """Compile what these options need, each kernel in a helper if there is one; yield a line before each.

        A process keeps some 5 MB of each kernel that it compiles, and a tenth of one that it loads.
        """
        for launch in self._ahead.missing(options):
            yield f"compiling {kernel_name(launch)}"
            self.compilers.want((launch,), options, owner=EXPERIMENT)
            self.compilers.work(lambda *_: None, here=False, owner=EXPERIMENT)

    @property
    def busy(self) -> bool:
        """Is the compiling thread at work?"""
        return self._work is not None and not self._work.done()

    def close(self, timeout_s: float = 0.0) -> None:
        """Stop after the present kernel, and wait for that at most so long."""
        self.compilers.close()
        if self._work:
            wait((self._work,), timeout_s)

    def _compile_cheapest(self, missing: list[tuple[list[Launch], Optimizations]], options: Optimizations) -> None:
        """Start compiling the launches that take the least time to compile; stop if there are none."""
        launches, asked = min(missing, key=lambda each: sum(map(compile_cost, each[0])), default=([], options))
        self.compilers.want(launches, asked, owner=self)
        if not launches:
            self.text = ""
        elif not self.busy:
            self._work = in_thread(self._compile, "crowd-demo compiler")

    def _compile(self) -> None:
        """Compile all that is wanted, which may change meanwhile; `ready` raises the error if there is one."""
        with compiling_beside_frames():
            self.compilers.work(self._show_progress, here=False, owner=self)

    def _show_progress(self, kernel: str, done: int, total: int) -> None:
        self.text = f"compiling {kernel}"


@contextmanager
def compiling_beside_frames() -> Iterator[None]:
    """Let frames go first while this thread may be inside the compiler."""
    lower_priority()
    with eager_threads(SWITCH_S):
        yield


# --- opening another configuration ------------------------------------------------------------------------------------

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
        """What was loaded, as soon as it is ready. Raises CannotOpenError."""
        return self._result.result() if self._result.done() else None

    @property
    def busy(self) -> bool:
        """Is the thread at work, so that it may be inside the compiler?"""
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
