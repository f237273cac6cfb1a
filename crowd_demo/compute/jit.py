"""How kernels are made and called.

A kernel is a function that does one worker's share; `@kernel` makes of it what is called with the number of workers:

    @kernel
    def move(worker, workers, x, ...):
        for slot in range(len(x) * worker // workers, len(x) * (worker + 1) // workers): ...

    move(workers, x, ...)

The shares go to Numba's pool of threads (workers.py), which starts a kernel in 7 to 30 us; Python threads around `nogil`
kernels needed 30-80 us and stalled when the GIL was wanted. Kernels are called from one thread at a time: Numba's `workqueue`
layer aborts the process otherwise.

They are compiled with private names of Numba (numba_private.py), or without (numba_plain.py): where `CROWD_DEMO_PLAIN_NUMBA`
is set, and where such a name is missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar, cast

from crowd_demo.compute import cache, numba_plain
from crowd_demo.compute.workers import WORTH_NS, max_threads, threading_layer
from crowd_demo.registry import texts

# isort: split
import numba

__all__ = ["CACHE_LASTS", "WORTH_NS", "Kernel", "Launch", "compile_launches", "device", "is_compiled", "is_on_disk",
           "kernel", "launch", "machine_code", "max_threads", "run", "threading_layer"]

P = ParamSpec("P")
R = TypeVar("R")


def _compiler() -> ModuleType:
    if not os.environ.get("CROWD_DEMO_PLAIN_NUMBA"):
        try:
            from crowd_demo.compute import numba_private

            return numba_private
        except (ImportError, AttributeError) as error:
            what = str(error).partition(" (")[0]  # without the path of Numba's file
            texts.say_once(f"kernels take longer to compile with this version of Numba: {what}")
    return numba_plain


compiler = _compiler()  # numba_private or numba_plain
CACHE_LASTS = cache.has_room()


def device(function: Callable[P, R]) -> Callable[P, R]:
    """A compiled function that kernels call; it neither raises nor makes arrays. A division by zero is inf or nan.

    It is always inlined: a record of 17 columns would travel through a call as 119 arguments, which doubled the time of a
    walk (docs/design/lanes.md).
    """
    return cast(Callable[P, R], compiler.Device(function))


class Kernel(Generic[P]):
    """A compiled function that is called with a number of workers and the arguments of each worker's share."""

    def __init__(self, share: Callable[Concatenate[int, int, P], None]) -> None:
        self.entry = compiler.entry_of(share)
        self.share = share
        self.__name__, self.__module__, self.__doc__ = share.__name__, share.__module__, share.__doc__

    def __call__(self, workers: int, /, *args: P.args, **kwargs: P.kwargs) -> None:
        self.entry(workers, args)

    def is_on_disk(self, signature: tuple[object, ...]) -> bool:
        return bool(compiler.holds(self.entry, signature))


def kernel(share: Callable[Concatenate[int, int, P], None]) -> Callable[Concatenate[int, P], None]:
    """A kernel from what one worker does: share(worker, workers, ...), for worker in range(workers)."""
    return Kernel(share)


class Launch(NamedTuple):
    """A kernel and its arguments, to be run, compiled ahead or counted; `launch` makes it.

    The first argument of a kernel is its number of workers: as many threads as there are share them. A `@device` function
    may be called too: it has no workers, and runs in the calling thread.
    """

    kernel: Callable[..., object]
    args: tuple[object, ...]

    def run(self) -> object:
        return self.kernel(*self.args)

    def signature(self) -> tuple[object, ...]:
        args = (self.args[0], self.args[1:]) if isinstance(self.kernel, Kernel) else self.args
        return tuple(numba.typeof(argument) for argument in args)

    @property
    def compiled(self) -> Any:
        """The compiled function, with its `overloads` by signature."""
        kernel = self.kernel
        return kernel.entry if isinstance(kernel, Kernel) else getattr(kernel, "from_python", kernel)

    @property
    def name(self) -> str:
        return str(self.kernel.__name__)


def launch(kernel: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> Launch:
    """Return the launch of a kernel with these arguments; the type checker checks them against the kernel's signature."""
    assert not kwargs, "kernels take their arguments by position"
    return Launch(kernel, args)


def run(launches: Iterable[Launch]) -> None:
    for each in launches:
        each.run()


def is_compiled(launch: Launch) -> bool:
    return launch.signature() in launch.compiled.overloads


def machine_code(launch: Launch) -> bytes | None:
    """Return the object file of a kernel for these arguments; None where none was kept."""
    return cast("bytes | None", compiler.machine_code(launch.compiled, launch.signature()))


def is_on_disk(launch: Launch) -> bool:
    """Return whether the kernel can be loaded instead of compiled."""
    kernel, signature = launch.kernel, launch.signature()
    return kernel.is_on_disk(signature) if isinstance(kernel, Kernel) else bool(compiler.holds(launch.compiled, signature))


def compile_launches(launches: Iterable[Launch]) -> None:
    """Compile (or load from the cache) without running anything; safe in a background thread."""
    for each in launches:
        signature = each.signature()  # finding it takes a millisecond
        if signature not in each.compiled.overloads:
            each.compiled.compile(signature)
            compiler.note(each.compiled, signature)
