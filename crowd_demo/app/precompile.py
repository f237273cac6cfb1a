"""Compile the kernels of all other choices into the disk cache, in a process of its own that only runs when a core is free.

A thread would need less memory, but it would interrupt each frame some forty times. When a technique is then switched on
for the first time, its kernels are loaded (0.1 s) instead of compiled (seconds).
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress

from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.registry.techniques import TECHNIQUES

CLOSE_S = 0.2  # the longest to wait for the end of the killed process


class Precompiler:
    """The process; it ends when all is compiled, or when the program ends or crashes.

    Start it only if `compute.jit.CACHE_LASTS`: another process cannot find a temporary cache.
    """

    def __init__(self, config: Config, options: Optimizations) -> None:
        wanted = config.model_copy(update={"optimizations": options})
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, creationflags=getattr(subprocess, "IDLE_PRIORITY_CLASS", 0))
        with suppress(OSError):  # it may have ended already
            assert self.process.stdin
            self.process.stdin.write(wanted.model_dump_json().encode() + b"\n")
            self.process.stdin.flush()

    def close(self) -> None:
        """Kill the process. It may end at any time: Numba writes a file of its cache completely or not at all.

        It needs a free core also to end, so wait for that only a little.
        """
        self.process.kill()
        with suppress(OSError):
            assert self.process.stdin
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(CLOSE_S)


def all_choices(options: Optimizations) -> Iterator[Optimizations]:
    """The options with one technique at another of its choices, for each technique and choice."""
    for technique in TECHNIQUES:
        for value in technique.choices:
            other = options.model_copy(deep=True)
            other.set(technique.path, value)
            yield other


def be_idle() -> None:
    """Run only when no other process wants the core."""
    with suppress(OSError, AttributeError):
        os.nice(19)
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def end_with_parent() -> None:
    """Exit when the pipe from the parent process is closed."""
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Compile everything for the configuration on standard input."""
    be_idle()
    config = Config.model_validate_json(sys.stdin.buffer.readline())
    threading.Thread(target=end_with_parent, daemon=True).start()
    from crowd_demo.app.ahead import Ahead, compile_one

    ahead = Ahead(config)
    for options in all_choices(config.optimizations):
        for call in ahead.missing(options):
            compile_one(call)


if __name__ == "__main__":
    main()
