"""The process as the system and Python see it: its age, its memory, and whose turn its threads are."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_IMPORTED = time.perf_counter()
NICENESS = 15  # of threads beside the frames, on systems where a thread has a niceness
EAGER_S = 0.0002  # after this time a compiling thread lets another one run Python code


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


def free_cycles() -> None:
    """Free what is left of a program at once: its parts refer to each other, and with them a crowd would wait to be freed."""
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
