"""The process's memory."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


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
