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

Import this module before `numba`: it chooses the cache folder, which Numba reads once.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, ParamSpec, Protocol, TypeVar, cast

from crowd_demo.registry import plugins

PACKAGE = Path(__file__).parents[1]


def _fingerprint() -> str:
    """Hash of every source that holds compiled code, and of the versions that compile it.

    Numba notices a changed file, but not a changed callee in another file; a folder a fingerprint cannot be stale.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path in (*sorted(PACKAGE.rglob("*.py")), *plugins.sources()):
        source = path.read_bytes()
        if any(word in source for word in (b"@device", b"@kernel", b"@implements", b"numba")):
            digest.update(path.name.encode() + source)
    digest.update(f"{version('numba')} {version('numpy')} {sys.version}".encode())
    return digest.hexdigest()


def _user_cache() -> Path:
    if "CROWD_DEMO_CACHE" in os.environ:
        return Path(os.environ["CROWD_DEMO_CACHE"])
    if platform.system() == "Windows":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "crowd-demo"
    if platform.system() == "Darwin":
        return Path.home() / "Library" / "Caches" / "crowd-demo"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "crowd-demo"


def _writable_cache() -> tuple[Path, bool]:
    """The user's cache folder, or a temporary one where that cannot be written."""
    folder = _user_cache() / _fingerprint()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder, True
    except (OSError, RuntimeError):
        temporary = tempfile.mkdtemp(prefix="crowd-demo-")
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return Path(temporary), False


_cache, CACHE_LASTS = _writable_cache()  # CACHE_LASTS: whether other processes and later ones find it
os.environ["NUMBA_CACHE_DIR"] = str(_cache)
# OpenMP's threads sleep between kernels instead of spinning. Spinning starts a kernel 30 us sooner (a step of 20k birds in
# 0.39 ms instead of 0.6), but as soon as another program wants a core it stalls whole frames: p99 0.8 ms against 50-90 ms.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numba  # noqa: E402  (the cache folder has to be set first)
from numba import njit, prange  # noqa: E402

__all__ = ["CACHE_LASTS", "Call", "call", "compile_calls", "device", "is_compiled", "kernel", "max_threads", "prange", "run",
           "set_threads"]

P = ParamSpec("P")
R = TypeVar("R")


class _Compiled(Protocol):
    """What Numba makes of a function."""

    overloads: dict[tuple[object, ...], object]

    def compile(self, signature: tuple[object, ...]) -> object: ...


def device(function: Callable[P, R]) -> Callable[P, R]:
    """A compiled function that kernels call. `error_model="numpy"`: a division by zero is inf or nan, never a branch.

    It is always inlined: a record of 17 columns would travel through a call as 119 arguments, which doubled the time of a
    walk (docs/design/lanes.md).
    """
    return njit(cache=True, nogil=True, forceinline=True, error_model="numpy")(function)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A compiled loop over workers; its body should be one call of a `@device` function."""
    return njit(cache=True, nogil=True, parallel=True, error_model="numpy")(function)


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
