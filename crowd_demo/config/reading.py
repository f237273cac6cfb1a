"""Read what a user names: in bounded time, no more of it than a bound, and without the lines that C libraries print."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowd_demo.config.memory import shortage


def read_bounded(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file, at most `most` + 1 of them, so that the caller can tell that it is too large.

    Raises OSError, also for what is no regular file: a device need not end, and a pipe may wait for its writer for
    ever. So does a file for which there is not enough memory.
    """
    # Without O_NONBLOCK already opening a pipe waits for its writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        size = min(found.st_size or most, most)  # a file of /proc has the size 0
        if short := shortage(size):
            raise OSError(errno.ENOMEM, short, str(path))
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(size + 1)  # which takes memory for as many as are asked for
        if data is None:  # a device that waits, and calls itself a regular file, such as /proc/kmsg
            raise OSError(errno.EAGAIN, "it has no data yet", str(path))
        return data
    except MemoryError:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), str(path)) from None
    finally:
        os.close(descriptor)


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Hide what C libraries write to standard error: the program says in its own line what went wrong."""
    if sys.stderr:
        sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # it is closed: nothing can be seen anyway
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
