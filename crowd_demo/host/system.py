"""The process and its threads: the worker's, others beside the frames, whose turn they are; its age and its memory.

All kernels are called from the worker's thread, so the window responds however long one takes. Numba's number of threads and
OpenMP's pool of threads belong to the thread that calls kernels: another reason for only one. What takes long and runs no
kernel is done by threads beside the frames, of a lower priority.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

_IMPORTED = time.perf_counter()
NICENESS = 15  # of threads beside the frames, on systems where a thread has a niceness
SWITCH_S = 0.00005  # the longest that a frame waits for the compiling thread, which happens some forty times a frame
EAGER_S = 0.0002  # after this time a compiling thread lets another one run Python code
YOUNG = 350  # objects: fewer than start Python's own collector; there are about 20 more per frame
OLD = 200  # collections of young objects before one of all: that is every minute or so
Result = TypeVar("Result")


# --- threads ---------------------------------------------------------------------------------------------------------

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
        return not self._is_done()

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def carry_out(job: Callable[[], Result], future: Future[Result]) -> None:
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


def lower_priority() -> None:
    """Let the frame's threads run first; only on Linux does a thread have a niceness of its own."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


@contextmanager
def eager_threads(interval_s: float = EAGER_S) -> Iterator[None]:
    """Switch between threads often enough for the window to respond."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval_s)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def compiling_beside_frames() -> Iterator[None]:
    """Let frames go first while this thread may be inside the compiler."""
    lower_priority()
    with eager_threads(SWITCH_S):
        yield


# --- memory and age --------------------------------------------------------------------------------------------------

@contextmanager
def importing() -> Iterator[None]:
    """Import Numba in here: Python does not look for cycles among what stays anyway, now or later.

    That is a tenth of a start, and 50 ms of a frame now and then.
    """
    if "numba" in sys.modules:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def collect_young() -> None:
    """Free cycles once there are many young objects, at the end of a frame and seldom of all objects."""
    young, _, collections = gc.get_count()
    if young >= YOUNG:
        gc.collect(2 if collections >= OLD else 1)


def free_cycles() -> None:
    """Free a program that was left at once: its parts refer to each other, so its crowd would wait for Python's collector."""
    gc.collect()
    give_back_freed()


def give_back_freed() -> None:
    """Return what has been freed to the system, where the C library can (glibc); costs about a millisecond.

    Arrays of some hundred kB come from a heap that only shrinks at its end, so one small object keeps all that lies before
    it: after 1,000 restarts of 20,000 agents a process of 226 MB had 450.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library; Windows
        ctypes.CDLL(None).malloc_trim(0)


def seconds_since_start() -> float:
    """Seconds since the process was started; where the system does not say, since this module was imported."""
    if sys.platform == "linux":
        with suppress(OSError, ValueError):
            fields = Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()
            began = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # after boot
            return time.clock_gettime(time.CLOCK_BOOTTIME) - began
    return time.perf_counter() - _IMPORTED
