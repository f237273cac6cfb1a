"""The kernels of all other choices, compiled into the disk cache by a process of its own that only runs when a core is free.

A thread would do it for less memory, but it would take the interpreter from the frame forty times in it. When a technique
is then switched on for the first time, its kernels are loaded (0.1 s) instead of compiled (seconds).
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


class Precompiler:
    """The process; it ends when all is compiled, and when the program does, however that ends.

    To be started only where `jit.CACHE_LASTS`: another process would not find a temporary cache.
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
        """Numba's cache is written whole or not at all, so it may end at any moment."""
        self.process.kill()
        with suppress(OSError):
            self.process.communicate()


def all_choices(options: Optimizations) -> Iterator[Optimizations]:
    """The options with each technique at each of its choices, one differing at a time."""
    for technique in TECHNIQUES:
        for value in technique.choices:
            other = options.model_copy(deep=True)
            other.set(technique.path, value)
            yield other


def be_idle() -> None:
    """Run only when nobody else wants a core."""
    with suppress(OSError, AttributeError):
        os.nice(19)
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def end_with_parent() -> None:
    """The pipe ends when nobody holds its other end."""
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
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
