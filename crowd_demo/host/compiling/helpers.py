"""Other processes compile kernels into the cache, from which this one loads them in a fraction of the time.

Numba's compiler holds a lock, so that threads would wait for each other; and in the program's own process each frame
would wait some forty times for the thread that compiles. A `Helper` has kernels compiled by one process after another,
which it takes from a `CompilerSource`.

On Linux one process has the compiler ready, and a small crowd to find kernels with, and makes copies of itself (forks),
which compile: a copy is there in 10 ms and shares what the first one has in memory. Each kernel leaves 3 to 4 MB
behind, which a copy takes with it when it ends. Elsewhere each process is started anew. All of them end when their
input does, which is when the program ends or crashes.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, TextIO

from crowd_demo.config.model import Config, Optimizations
from crowd_demo.host.child import Conversation, exit_at_once, kill, lines_of, standard_lines, start, talk_to
from crowd_demo.host.system import importing

if TYPE_CHECKING:
    from crowd_demo.host.compiling.ahead import KernelFinder

# --- in the processes that compile ------------------------------------------------------------------------------------

FORKS = "forks"  # the argument of the process that makes copies of itself
ALL_CHOICES = "all choices"  # in place of a kernel: the next one that any single other choice needs, or a colour mode
IDLE = 19  # the niceness of a process that runs only when no other one wants the core
WATCH_S = 0.03  # how soon the first process notices, while it gets ready, that the program has ended


def main(forks: str, niceness: str) -> None:
    """Compile what standard input says; or, with FORKS, make copies that do."""
    lower_priority(int(niceness))
    if sys.platform == "linux" and forks:
        serve_forks(socket.socket(fileno=0))
    lines, answers = standard_lines()
    serve(ahead_of(lines.get()), lines, answers)


if sys.platform == "linux":
    def serve_forks(orders: socket.socket) -> None:
        """Read a configuration; then make a copy for each socket that comes, which compiles what that says."""
        with orders.makefile("rb", buffering=0) as stream:
            config = stream.readline().decode()
        program = select.poll()
        program.register(orders, select.POLLRDHUP)
        with ThreadPoolExecutor(1) as pool:  # its thread has ended before copies are made
            ready = pool.submit(ahead_of, config)
            while not wait((ready,), WATCH_S).done:
                if program.poll(0):
                    exit_at_once()
        ahead = ready.result()
        gc.freeze()  # or a copy that looks for garbage would write to all it shares
        signal.signal(signal.SIGCHLD, lambda *_: reap_copies())
        while True:
            order, sockets, _, _ = socket.recv_fds(orders, 1, 1)
            if not order:
                exit_at_once()
            if os.fork() == 0:
                orders.close()
                talk = socket.socket(fileno=sockets[0])
                try:
                    serve(ahead, lines_of(talk.makefile(encoding="utf-8")), talk.makefile("w", encoding="utf-8"))
                finally:
                    exit_at_once()
            os.close(sockets[0])

    def reap_copies() -> None:
        """Reap copies that have ended, so that their CPU time is counted as this process's."""
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def ahead_of(config: str) -> KernelFinder:
    with importing():
        from crowd_demo.compute.jit import compiler
        from crowd_demo.host.compiling.ahead import KernelFinder

        compiler.make_compiler_ready()
    return KernelFinder(Config.model_validate_json(config))


def serve(ahead: KernelFinder, lines: SimpleQueue[str], answers: TextIO) -> None:
    """Compile the kernel of each key that comes, with the options that need it; repeat the key once it is in the cache.

    For ALL_CHOICES, which compiles only when a core is free, the answer is empty if no kernel is left or none can be
    kept.
    """
    from crowd_demo.compute.jit import compile_launches, is_on_disk
    from crowd_demo.host.compiling.ahead import key_of
    from crowd_demo.registry.built_in import COLOURS

    known = ""
    while True:
        wanted, options, niceness = json.loads(lines.get())
        lower_priority(IDLE if wanted == ALL_CHOICES else niceness)
        if options != known:
            known, asked = options, Optimizations.model_validate_json(options)
            launches = {key_of(launch): launch for launch in (*ahead.missing(asked), *ahead.missing_colours(*COLOURS))}
            others = (launch for launch in ahead.missing_anywhere(asked) if not is_on_disk(launch))
        # None: it has been compiled already, or no kernel is left.
        launch = next(others, None) if wanted == ALL_CHOICES else launches.get(wanted)
        if launch:
            compile_launches((launch,))
        done = wanted != ALL_CHOICES or (launch and is_on_disk(launch))
        print(wanted if done else "", file=answers, flush=True)


def lower_priority(niceness: int) -> None:
    """Set the niceness of this process, which only few users may lower again."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, niceness)
    if sys.platform == "linux" and niceness == IDLE:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


# --- in the program --------------------------------------------------------------------------------------------------

MAX_KERNELS = 8  # that a process compiles before another one takes its place
CAN_FORK = sys.platform == "linux"
OWN_GROUP = None if sys.platform == "win32" else 0  # Ctrl-C is for the program


class CompilerSource:
    """Starts processes that compile kernels of a configuration, each with a `niceness` that may be raised at any time.

    Where it can fork, it starts one process, which then makes copies of itself; if that one cannot be started, all of them
    count as ended. Use it only if `compute.jit.CACHE_LASTS`: another process cannot find a temporary cache.
    """

    process: subprocess.Popen[str] | None = None  # that makes copies of itself

    def __init__(self, config: Config, niceness: int = 0) -> None:
        self._config, self.niceness = config.model_dump_json(), niceness
        self._orders: socket.socket | None = None
        if CAN_FORK:
            self._orders, its_end = socket.socketpair()
            with its_end, suppress(OSError):
                self.process = self._run(FORKS, its_end.fileno(), subprocess.DEVNULL)
            with suppress(OSError):
                self._orders.sendall(f"{self._config}\n".encode())

    def start(self) -> Conversation:
        """Start a process and return the conversation with it. Raises OSError."""
        if sys.platform == "linux" and self._orders:
            mine, its_end = socket.socketpair()
            with its_end, suppress(OSError):
                socket.send_fds(self._orders, [b"+"], [its_end.fileno()])

            def hang_up() -> None:
                with suppress(OSError):
                    mine.shutdown(socket.SHUT_RDWR)  # also for a thread that waits for an answer
                mine.close()

            return Conversation(mine.makefile(encoding="utf-8"), mine.makefile("w", encoding="utf-8"), hang_up)
        process = self._run("", subprocess.PIPE, subprocess.PIPE)
        with suppress(OSError):
            print(self._config, file=process.stdin, flush=True)
        return talk_to(process)

    def close(self) -> None:
        """End what makes copies of itself."""
        if self._orders:
            self._orders.close()
        if self.process:
            kill(self.process)

    def _run(self, forks: str, stdin: int, stdout: int) -> subprocess.Popen[str]:
        return start(__name__, forks, str(self.niceness), stdin=stdin, stdout=stdout,
                     stderr=subprocess.DEVNULL, process_group=OWN_GROUP)


class Helper:
    """Compiles kernels, each when it is told to. Only one thread may wait for it; any may close it."""

    def __init__(self, source: CompilerSource, most_kernels: int = MAX_KERNELS) -> None:
        self._source, self._most = source, most_kernels
        self._closed, self._compiled = False, 0
        self._talk: Conversation | None = None
        if not CAN_FORK:
            self._start()

    def compile(self, kernel: str, options: Optimizations) -> bool:
        """Wait until the kernel of that key, which these options need, is in the cache; return whether it is.

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
