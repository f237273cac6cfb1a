"""Other processes compile kernels into the cache, from which this one loads them in a fraction of the time.

Numba's compiler holds a lock, so that threads would wait for each other; and in the program's own process each frame would
wait some forty times for the thread that compiles. A `Helper` compiles the kernels that it is told. A `Precompiler` compiles
whatever the present options do not need, when a core is free: a technique that is switched on for the first time is then
loaded (0.01 s) instead of compiled (seconds). Both take their processes (compile_process.py) from one `CompilerSource`.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.host import child
from crowd_demo.host.compiling import compile_process
from crowd_demo.host.compiling.compile_process import ALL_CHOICES, FORKS

MAX_KERNELS = 8  # that a process compiles before another one takes its place
MAX_IDLE_KERNELS = 3  # of a process that compiles in idle moments
CLOSE_S = 0.2  # the longest to wait for the end of a killed process
CAN_FORK = sys.platform == "linux"
OWN_GROUP = None if sys.platform == "win32" else 0  # so that copies can be given a niceness, too


class Conversation:
    """Lines to a process that compiles, and its answers; the process may end at any time."""

    def __init__(self, says: IO[str], hears: IO[str], end: Callable[[], None]) -> None:
        self._says, self._hears, self.close = says, hears, end

    def ask(self, line: str) -> str:
        """Send a line and wait for the answer; return an empty text if the process has ended."""
        with suppress(OSError, ValueError):  # ValueError: closed here
            print(line, file=self._hears, flush=True)
            return self._says.readline().rstrip("\n")
        return ""


class CompilerSource:
    """Starts processes that compile kernels of a configuration.

    Use it only if `compute.jit.CACHE_LASTS`: another process cannot find a temporary cache.
    """

    def __init__(self, config: Config, niceness: int = 0) -> None:
        self._config, self._niceness = config.model_dump_json(), niceness
        self._processes: list[subprocess.Popen[str]] = []

    def start(self) -> Conversation:
        """Start a process and return the conversation with it. Raises OSError."""
        process = self._run("", subprocess.PIPE, subprocess.PIPE)
        assert process.stdin and process.stdout
        talk = Conversation(process.stdout, process.stdin, lambda: kill(process))
        with suppress(OSError):
            print(self._config, file=process.stdin, flush=True)
        return talk

    def wait(self) -> None:
        """Wait until processes can be started quickly."""

    def lower_priority(self, niceness: int) -> None:
        """Give all its processes, present and later ones, that niceness."""
        self._niceness = niceness
        self._processes = [process for process in self._processes if process.poll() is None]
        for process in self._processes:
            set_niceness(process, niceness)

    def close(self) -> None:
        """End what starts processes."""

    def _run(self, forks: str, stdin: int, stdout: int) -> subprocess.Popen[str]:
        process = child.start(compile_process.__name__, forks, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL,
                              process_group=OWN_GROUP)
        self._processes.append(process)
        set_niceness(process, self._niceness)
        return process


class ForkingSource(CompilerSource):
    """Starts one process, which then makes copies of itself. Raises OSError if it cannot be started."""

    def __init__(self, config: Config, niceness: int = 0) -> None:
        super().__init__(config, niceness)
        self._orders, its_end = socket.socketpair()
        try:
            with its_end:
                self.process = self._run(FORKS, its_end.fileno(), subprocess.DEVNULL)
        except OSError:
            self._orders.close()
            raise
        with suppress(OSError):
            self._orders.sendall(f"{self._config}\n".encode())

    def start(self) -> Conversation:
        if sys.platform != "linux":
            raise NotImplementedError
        mine, its_end = socket.socketpair()
        with its_end, suppress(OSError):
            socket.send_fds(self._orders, [b"+"], [its_end.fileno()])

        def hang_up() -> None:
            with suppress(OSError):
                mine.shutdown(socket.SHUT_RDWR)  # also for a thread that waits for an answer
            mine.close()

        return Conversation(mine.makefile(encoding="utf-8"), mine.makefile("w", encoding="utf-8"), hang_up)

    def wait(self) -> None:
        with suppress(OSError):
            talk = self.start()
            talk.ask(json.dumps(["no kernel", {}]))  # is answered when the first process can make copies, or has ended
            talk.close()

    def close(self) -> None:
        self._orders.close()
        kill(self.process)


def set_niceness(process: subprocess.Popen[str], niceness: int) -> None:
    """Set the niceness of the process and its copies, where the system can."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.setpriority(os.PRIO_PGRP, process.pid, niceness)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill the process: a file of the cache is written completely or not at all.

    An idle one needs a free core also to end, so a thread waits for that if it takes long.
    """
    process.kill()
    waiting = threading.Thread(target=close_when_ended, args=(process,), name="crowd-demo end of a compiler", daemon=True)
    waiting.start()
    waiting.join(CLOSE_S)


def close_when_ended(process: subprocess.Popen[str]) -> None:
    """Wait for its end, then close its streams; earlier, closing would wait for a thread that still reads."""
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream:
                stream.close()


def source_of(config: Config, niceness: int = 0) -> CompilerSource:
    if CAN_FORK:
        with suppress(OSError):
            return ForkingSource(config, niceness)
    return CompilerSource(config, niceness)


class Helper:
    """Compiles kernels, each when it is told to. Only one thread may wait for it; any may close it."""

    def __init__(self, source: CompilerSource, most_kernels: int = MAX_KERNELS) -> None:
        self._source, self._most = source, most_kernels
        self._closed, self._compiled = False, 0
        self._talk: Conversation | None = None
        if not CAN_FORK:
            self._start()

    def compile(self, kernel: str, options: Optimizations) -> bool:
        """Wait until the kernel of that key (ahead.py), which these options need, is in the cache; return whether it is.

        A kernel that the process does not need to compile counts as cached. For ALL_CHOICES return whether a kernel
        was left.
        """
        if not self._talk:
            self._start()
        talk = self._talk
        if self._closed or not talk:
            self._end()
            return False
        done = talk.ask(json.dumps([kernel, options.model_dump(mode="json")])) == kernel
        self._compiled += 1
        if self._compiled == self._most:
            self._end()
        return done

    def _start(self) -> None:
        """Start a process. One that cannot be started counts as one that has ended."""
        with suppress(OSError):
            self._talk = self._source.start()

    def rest(self) -> None:
        """End the process while there is nothing to compile, if another one can be started quickly."""
        if CAN_FORK:
            self._end()

    def close(self) -> None:
        self._closed = True
        self._end()

    def _end(self) -> None:
        talk, self._talk, self._compiled = self._talk, None, 0
        if talk:
            talk.close()


class Precompiler:
    """Compiles the kernels of all other choices, and of all colour modes, in idle moments. It is paused at first."""

    def __init__(self, source: CompilerSource, options: Optimizations) -> None:
        self._source, self._options = source, options.model_copy(deep=True)
        self._helper: Helper | None = None  # none while it is paused
        self._changed = threading.Condition()
        self._over = False
        self.thread = threading.Thread(target=self._run, name="crowd-demo precompiler", daemon=True)
        self.thread.start()

    def pause(self, paused: bool) -> None:
        """End its process, which runs at idle priority and so could not hurry; or go on with another one."""
        if paused != (self._helper is None) and not self._over:
            self._go_on_with(None if paused else Helper(self._source, MAX_IDLE_KERNELS))

    def close(self) -> None:
        self._over = True
        self._go_on_with(None)

    def _go_on_with(self, helper: Helper | None) -> None:
        with self._changed:
            before, self._helper = self._helper, helper
            self._changed.notify()
        if before:
            before.close()

    def _run(self) -> None:
        """Have one kernel after another compiled, until no kernel is left, or no process can be started."""
        while not self._over:
            with self._changed:
                self._changed.wait_for(lambda: self._helper or self._over)
                helper = self._helper
            if helper and not helper.compile(ALL_CHOICES, self._options) and helper is self._helper:  # else it was paused
                self.close()
