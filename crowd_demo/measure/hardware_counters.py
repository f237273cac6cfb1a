"""The processor's own counters while a function runs, summed over the threads of this process: Linux's `perf_event_open`.

Most virtual machines have none, and many systems forbid them (`kernel.perf_event_paranoid` above 2): then the reason is
returned. Counters run in user space only. Where the processor has too few, Linux takes turns, and counts are scaled up.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

SYSCALL = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
ENABLE, DISABLE = 0x2400, 0x2401  # ioctl
HARDWARE, CACHE = 0, 3  # types
LEVEL_1_READ_MISS = 0 | 0 << 8 | 1 << 16
EVENTS = {"cycles": (HARDWARE, 0), "instructions": (HARDWARE, 1), "last-level misses": (HARDWARE, 3),
          "branch misses": (HARDWARE, 5), "L1 misses": (CACHE, LEVEL_1_READ_MISS)}
SIZE = 112  # of perf_event_attr
FLAGS, TIMES = 1 | 1 << 5 | 1 << 6, 3  # disabled, without kernel and hypervisor; read the enabled and the running time too
ABSENT, FORBIDDEN = "most virtual machines have no counters", "kernel.perf_event_paranoid must be 2 or less"
WHY_NOT = {errno.EPERM: FORBIDDEN, errno.EACCES: FORBIDDEN}
WHY_NOT |= dict.fromkeys((errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP), ABSENT)


def counted(run: Callable[[], object]) -> Mapping[str, int] | str:
    """Run a function; return each event's count over all threads, or why there are none. Threads must exist before."""
    if sys.platform != "linux" or SYSCALL is None:
        run()
        return "only Linux on x86-64 and ARM provides them"
    import fcntl

    with ExitStack() as files:
        opened = []
        for thread in sorted(int(path.name) for path in Path("/proc/self/task").iterdir()):
            for name, (kind, config) in EVENTS.items():
                file = _open(kind, config, thread)
                if file < 0:
                    run()
                    return f"not available: {WHY_NOT.get(ctypes.get_errno(), os.strerror(ctypes.get_errno()))}"
                files.callback(os.close, file)
                opened.append((name, file))
        for _, file in opened:
            fcntl.ioctl(file, ENABLE, 0)
        run()
        for _, file in opened:
            fcntl.ioctl(file, DISABLE, 0)
        counts = dict.fromkeys(EVENTS, 0)
        for name, file in opened:
            value, enabled, running = struct.unpack("3Q", os.read(file, 24))
            counts[name] += value * enabled // max(running, 1)
        return counts


def _open(kind: int, config: int, thread: int) -> int:
    """Return the file of a counter of one thread, or -1."""
    attributes = struct.pack("IIQQQQQ", kind, SIZE, config, 0, 0, TIMES, FLAGS).ljust(SIZE, b"\0")
    library = ctypes.CDLL(None, use_errno=True)
    return int(library.syscall(SYSCALL, attributes, thread, -1, -1, 0))
