"""How kernels are compiled: the one place that knows Numba's flags, its cache and its threads.

A kernel is written in two layers. The body is a plain function marked `@device`; it takes a worker number and does that
worker's share. The kernel is a loop of one line marked `@kernel` that hands each worker its number:

    @kernel
    def move(workers, ...):
        for worker in prange(workers):
            move_share(worker, workers, ...)

Only the loop pays for `parallel=True` (0.7 s to compile instead of 4). The threads are OpenMP's, which start a kernel in
about 30 us; Python threads around `nogil` kernels needed 30-80 us and stalled when the GIL was wanted. Kernels are called
from one thread at a time: Numba's `workqueue` layer aborts the process otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple, ParamSpec, Protocol, TypeVar, cast

# OpenMP's threads sleep between kernels instead of spinning. Spinning starts a kernel 30 us sooner (a step of 20k birds in
# 0.39 ms instead of 0.6), but as soon as another program wants a core it stalls whole frames: p99 0.8 ms against 50-90 ms.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numba
from numba import njit, prange

from crowd_demo.compute import cache

__all__ = ["CACHE_LASTS", "Call", "call", "compile_calls", "device", "is_compiled", "kernel", "max_threads", "prange", "run",
           "set_threads"]

CACHE_LASTS = cache.LASTS
P = ParamSpec("P")
R = TypeVar("R")


class _Compiled(Protocol):
    """What Numba makes of a function."""

    overloads: dict[tuple[object, ...], object]
    _cache: object

    def compile(self, signature: tuple[object, ...]) -> object: ...


def device(function: Callable[P, R]) -> Callable[P, R]:
    """A compiled function that kernels call. `error_model="numpy"`: a division by zero is inf or nan, never a branch.

    It is always inlined: a record of 17 columns would travel through a call as 119 arguments, which doubled the time of a
    walk (docs/design/lanes.md).
    """
    return _kept(function, njit(nogil=True, forceinline=True, error_model="numpy")(function))


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A compiled loop over workers; its body should be one call of a `@device` function."""
    return _kept(function, njit(nogil=True, parallel=True, error_model="numpy")(function))


def _kept(function: Callable[P, R], compiled: _Compiled) -> Callable[P, R]:
    """Keep on disk whatever is compiled of a function."""
    if cache.FOLDER:
        compiled._cache = cache.KernelCache(function)
    return cast(Callable[P, R], compiled)


class Call(NamedTuple):
    """A kernel and its arguments, to be run, compiled ahead or counted. `call` makes it.

    The first argument of a kernel is its number of workers, which sets the number of threads; kernels without it use all.
    """

    kernel: Callable[..., object]
    args: tuple[object, ...]

    def run(self) -> object:
        workers = self.args[0]
        set_threads(workers if isinstance(workers, int) else max_threads())
        return self.kernel(*self.args)

    def signature(self) -> tuple[object, ...]:
        return tuple(numba.typeof(argument) for argument in self.args)

    @property
    def compiled(self) -> _Compiled:
        return cast(_Compiled, self.kernel)

    @property
    def name(self) -> str:
        return str(self.kernel.__name__)


def call(kernel: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> Call:
    """Return the call of a kernel with these arguments; the type checker checks them against the kernel's signature."""
    assert not kwargs, "kernels take their arguments by position"
    return Call(kernel, args)


def run(calls: Iterable[Call]) -> None:
    """Run the calls in order."""
    for each in calls:
        each.run()


def is_compiled(call: Call) -> bool:
    return call.signature() in call.compiled.overloads


def compile_calls(calls: Iterable[Call]) -> None:
    """Compile (or load from the cache) without running anything; safe in a background thread."""
    for each in calls:
        if not is_compiled(each):
            each.compiled.compile(each.signature())


def max_threads() -> int:
    return int(numba.config.NUMBA_NUM_THREADS)


def set_threads(count: int) -> None:
    """Threads that kernels called from this thread may use; more workers than threads share them."""
    numba.set_num_threads(min(count, max_threads()))
