"""Other processes compile kernels into the cache, from which this one loads them in a fraction of the time.

Numba's compiler holds a lock, so that threads would wait for each other; and in the program's own process each frame would
wait some forty times for the thread that compiles. A `Helper` has kernels compiled by one process after another
(compile_process.py), which it takes from a `CompilerSource`.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from contextlib import suppress

from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.host.child import Conversation, kill, start, talk_to
from crowd_demo.host.compiling import compile_process
from crowd_demo.host.compiling.compile_process import FORKS

MAX_KERNELS = 8  # that a process compiles before another one takes its place
CAN_FORK = sys.platform == "linux"
OWN_GROUP = None if sys.platform == "win32" else 0  # Ctrl-C is for the program


class CompilerSource:
    """Starts processes that compile kernels of a configuration, each with a `niceness` that may be raised at any time.

    Use it only if `compute.jit.CACHE_LASTS`: another process cannot find a temporary cache.
    """

    def __init__(self, config: Config, niceness: int = 0) -> None:
        self._config, self.niceness = config.model_dump_json(), niceness

    def start(self) -> Conversation:
        """Start a process and return the conversation with it. Raises OSError."""
        process = self._run("", subprocess.PIPE, subprocess.PIPE)
        with suppress(OSError):
            print(self._config, file=process.stdin, flush=True)
        return talk_to(process)

    def close(self) -> None:
        """End what starts processes."""

    def _run(self, forks: str, stdin: int, stdout: int) -> subprocess.Popen[str]:
        return start(compile_process.__name__, forks, str(self.niceness), stdin=stdin, stdout=stdout,
                     stderr=subprocess.DEVNULL, process_group=OWN_GROUP)


class ForkingSource(CompilerSource):
    """Starts one process, which then makes copies of itself. If it cannot be started, all of them count as ended."""

    process: subprocess.Popen[str] | None = None

    def __init__(self, config: Config, niceness: int = 0) -> None:
        super().__init__(config, niceness)
        self._orders, its_end = socket.socketpair()
        with its_end, suppress(OSError):
            self.process = self._run(FORKS, its_end.fileno(), subprocess.DEVNULL)
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

    def close(self) -> None:
        self._orders.close()
        if self.process:
            kill(self.process)


def source_of(config: Config, niceness: int = 0) -> CompilerSource:
    return ForkingSource(config, niceness) if CAN_FORK else CompilerSource(config, niceness)


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
        talk = self._talk or self._start()
        line = json.dumps([kernel, options.model_dump_json(), self._source.niceness])
        done = talk is not None and talk.ask(line) == kernel
        self._compiled += 1
        if self._compiled == self._most:
            self._end()
        return done

    def _start(self) -> Conversation | None:
        """Start a process, unless this is closed. One that cannot be started counts as one that has ended."""
        with suppress(OSError):
            self._talk = self._source.start()
        if self._closed:
            self._end()
        return self._talk

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
