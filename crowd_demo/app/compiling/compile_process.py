"""A process that compiles kernels into the cache, from which this one loads them in a fraction of the time.

Numba's compiler holds a lock, so that threads would wait for each other; and in the program's own process each frame would
wait some forty times for the thread that compiles. Two ways of using it: `Helper` compiles the kernels that it is told, beside
this process. `Precompiler` compiles whatever the present options do not need, when a core is free: a technique that is
switched on for the first time is then loaded (0.01 s) instead of compiled (seconds). They are two processes, because one of
idle priority may not leave it again where its user is not root.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from crowd_demo.app.process.heap import importing
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.registry.techniques import TECHNIQUES

if TYPE_CHECKING:
    from crowd_demo.compute.jit import Call

CLOSE_S = 0.2  # the longest to wait for the end of the killed process
ALL_CHOICES, AS_TOLD = "all choices", "as told"  # what to compile


class CompileProcess:
    """The process; it ends when its input does, which is when the program ends or crashes.

    Start it only if `compute.jit.CACHE_LASTS`: another process cannot find a temporary cache.
    """

    def __init__(self, config: Config, what: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0))
        self._paused = False
        self._tell(config.model_dump_json())

    def _tell(self, line: str) -> None:
        with suppress(OSError):  # it may have ended already
            assert self.process.stdin
            print(line, file=self.process.stdin, flush=True)

    def pause(self, paused: bool) -> None:
        """Let it stand still, where the system can do that, or go on."""
        if paused == self._paused:
            return
        self._paused = paused
        with suppress(OSError, AttributeError):  # AttributeError: not on Windows
            self.process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def close(self) -> None:
        """Kill the process. It may end at any time: a file of the cache is written completely or not at all.

        An idle one needs a free core also to end, so wait for that only a little.
        """
        self.process.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(CLOSE_S)  # then nobody is reading any more
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                assert stream
                stream.close()


class Helper(CompileProcess):
    """Compiles kernels of the configuration, each when it is told to. One at a time may be waited for."""

    def __init__(self, config: Config, niceness: int = 0) -> None:
        super().__init__(config, AS_TOLD)
        with suppress(OSError, AttributeError):  # AttributeError: not on Windows
            os.setpriority(os.PRIO_PROCESS, self.process.pid, niceness)

    def compile(self, kernel: str, options: Optimizations) -> bool:
        """Wait until the kernel of that key (ahead.py), which these options need, is in the cache; return whether it is.

        As far as the process knows: what it does not need to compile, it takes for there.
        """
        self._tell(json.dumps([kernel, options.model_dump(mode="json")]))
        assert self.process.stdout
        with suppress(OSError, ValueError):  # closed meanwhile
            return self.process.stdout.readline() == f"{kernel}\n"
        return False


class Precompiler(CompileProcess):
    """Compiles the kernels of all other choices, and of all colour modes, in idle moments."""

    def __init__(self, config: Config, options: Optimizations) -> None:
        super().__init__(config.model_copy(update={"optimizations": options}), ALL_CHOICES)


def all_choices(options: Optimizations) -> Iterator[Optimizations]:
    """The options with one technique at another of its choices, for each technique and choice."""
    for technique in TECHNIQUES:
        for value in technique.choices:
            other = options.model_copy(deep=True)
            other.set(technique.path, value)
            yield other


# --- the process itself ----------------------------------------------------------------------------------------------

def be_idle() -> None:
    """Run only when no other process wants the core."""
    with suppress(OSError, AttributeError):
        os.nice(19)
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def read_lines(lines: SimpleQueue[str]) -> None:
    """Pass on what the parent says, and exit in the middle of anything when it says no more."""
    for line in sys.stdin:
        lines.put(line.rstrip("\n"))
    os._exit(0)


def compile_all_choices(config: Config, lines: SimpleQueue[str]) -> None:
    be_idle()
    with importing():
        from crowd_demo.app.compiling.ahead import Ahead, compile_one
    ahead = Ahead(config)
    for options in all_choices(config.optimizations):
        for call in ahead.missing(options):
            compile_one(call)
    for call in ahead.missing_colours():
        compile_one(call)


def compile_as_told(config: Config, lines: SimpleQueue[str]) -> None:
    """Compile each kernel of which the key comes, with the options that need it; say so when it is in the cache."""
    with importing():
        from crowd_demo.app.compiling.ahead import Ahead, compile_one, key_of
        from crowd_demo.compute.jit import make_compiler_ready

        make_compiler_ready()
    ahead, found = Ahead(config), None
    calls: dict[str, Call] = {}
    while True:
        kernel, options = json.loads(lines.get())
        if options != found:
            found = options
            missing = ahead.missing(Optimizations.model_validate_json(json.dumps(options)))
            calls = {key_of(call): call for call in missing}
        if kernel in calls:  # else it has been compiled already
            compile_one(calls[kernel])
        print(kernel, flush=True)


def main() -> None:
    """Read a configuration, then what else there is to read."""
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=read_lines, args=(lines,), daemon=True).start()
    config = Config.model_validate_json(lines.get())
    {ALL_CHOICES: compile_all_choices, AS_TOLD: compile_as_told}[sys.argv[1]](config, lines)


if __name__ == "__main__":
    main()
