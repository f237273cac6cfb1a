"""What the processor counts while a stage runs, and samples of where it is.

The counters are those of Linux's `perf_event_open`, summed over the threads of this process. Most virtual machines have
none, and many systems forbid them (`kernel.perf_event_paranoid` above 2): then the reason is returned. Counters run in
user space only. Where the processor has too few, Linux takes turns, and counts are scaled up.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from itertools import cycle, product
from pathlib import Path
from typing import cast

import numpy as np

SYSCALL = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
ENABLE, DISABLE = 0x2400, 0x2401  # ioctl
HARDWARE, SOFTWARE, CACHE, LEVEL_1_READ_MISS = 0, 1, 3, 1 << 16  # types, and what of a cache
EVENTS = {"cycles": (HARDWARE, 0), "instructions": (HARDWARE, 1), "last-level misses": (HARDWARE, 3),
          "branch misses": (HARDWARE, 5), "L1 misses": (CACHE, LEVEL_1_READ_MISS)}
CLOCK = SOFTWARE, 0
SIZE = 112  # of perf_event_attr
FLAGS, TIMES = 1 | 1 << 5 | 1 << 6, 3  # disabled, without kernel and hypervisor; read enabled and running times, too
FREQUENT, PER_S, PLACE = 1 << 10, 25_000, 1  # samples per second of a thread's time, each with the place in memory
PAGES, SAMPLE, ANY_MODE = 16, np.uint64(9 | 16 << 48), np.uint64(0xFFFF << 32)  # of samples; the head of one, its mode
WHY_NOT = {
    **dict.fromkeys((errno.EPERM, errno.EACCES),
                    "sudo sysctl kernel.perf_event_paranoid=2 enables them, except in a container that forbids them"),
    **dict.fromkeys((errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP),
                    "this machine has none. Physical ones, and virtual ones with a PMU, have counters")}


def counted(run: Callable[[], object]) -> Mapping[str, int] | str:
    """Run a function and return each event's count over all threads, or return why not. Threads must exist before."""
    with ExitStack() as files:
        try:
            opened = opened_for_threads(files, EVENTS.values())
        except OSError as error:
            return f"not available: {WHY_NOT.get(error.errno or 0, error.strerror)}"
        switch(opened, ENABLE)
        run()
        counts = dict.fromkeys(EVENTS, 0)
        for name, file in zip(cycle(EVENTS), opened):
            value, enabled, running = struct.unpack("3Q", os.read(file, 24))
            counts[name] += value * enabled // max(running, 1)
        return counts


def opened_for_threads(files: ExitStack, events: Iterable[tuple[int, int]], per_s: int = 0) -> list[int]:
    """Return the files of counters, or of samples, of each thread, which are off. Raises OSError if there are none."""
    if sys.platform != "linux" or SYSCALL is None:
        raise OSError(0, "only Linux on x86-64 and ARM provides them")
    opened, library = list[int](), ctypes.CDLL(None, use_errno=True)
    for thread, (kind, config) in product(Path("/proc/self/task").iterdir(), events):
        attributes = struct.pack("IIQQQQQ", kind, SIZE, config, per_s, PLACE, TIMES, FLAGS | FREQUENT * bool(per_s))
        if (file := library.syscall(SYSCALL, attributes.ljust(SIZE, b"\0"), int(thread.name), -1, -1, 0)) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        files.callback(os.close, file)
        opened.append(file)
    return opened


def switch(opened: Iterable[int], on: int) -> None:
    if sys.platform != "win32":
        import fcntl

        for file in opened:
            fcntl.ioctl(file, on, 0)


def places_in(samples: mmap.mmap) -> list[int]:
    """Return where a thread was at each of its samples: what follows their heads."""
    words = np.frombuffer(samples, np.uint64)
    return cast("list[int]", words[1:][words[:-1] & ~ANY_MODE == SAMPLE].tolist())
