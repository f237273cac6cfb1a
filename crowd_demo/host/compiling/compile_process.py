"""The processes that compile kernels into the cache.

On Linux one process has the compiler ready, and a small crowd to find kernels with, and makes copies of itself (forks), which
compile: a copy is there in 10 ms and shares what the first one has in memory. Each kernel leaves 3 to 4 MB behind, which a
copy takes with it when it ends. Elsewhere each process is started anew. All of them end when their input does, which is when
the program ends or crashes.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, TextIO

from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.host.child import lines_of, standard_lines
from crowd_demo.host.system import importing
from crowd_demo.registry.techniques import TECHNIQUES

if TYPE_CHECKING:
    from crowd_demo.compute.jit import Launch
    from crowd_demo.host.compiling.ahead import KernelFinder

FORKS = "forks"  # the argument of the process that makes copies of itself
ALL_CHOICES = "all choices"  # in place of a kernel: the next one that any single other choice needs, or a colour mode
ALL_DONE = "all done"  # the answer to that once there is none
WATCH_MS = 30  # how soon the first process notices, while it gets ready, that the program has ended


def main(forks: str = "") -> None:
    """Compile what standard input says; or, with FORKS, make copies that do."""
    if sys.platform == "linux" and forks == FORKS:
        serve_forks(socket.socket(fileno=0))
    lines, answers = standard_lines()
    serve(ahead_of(lines.get()), lines, answers)


if sys.platform == "linux":
    def serve_forks(orders: socket.socket) -> None:
        """Read a configuration; then make a copy for each socket that comes, which compiles what that says."""
        signal.signal(signal.SIGCHLD, lambda *_: reap_copies())
        with orders.makefile("rb", buffering=0) as stream:
            config = stream.readline().decode()
        with ending_with(orders):
            ahead = ahead_of(config)
        gc.freeze()  # or a copy that looks for garbage would write to all it shares
        while True:
            order, sockets, _, _ = socket.recv_fds(orders, 1, 1)
            if not order:
                os._exit(0)
            if os.fork() == 0:
                orders.close()
                program = socket.socket(fileno=sockets[0])
                lines = program.makefile(encoding="utf-8")
                try:
                    serve(ahead, lines_of(lines), program.makefile("w", encoding="utf-8"))
                finally:
                    os._exit(0)
            os.close(sockets[0])

    @contextmanager
    def ending_with(orders: socket.socket) -> Iterator[None]:
        """Exit as soon as the other end is closed. The thread that watches has ended afterwards, before copies are made."""
        ready, poll = threading.Event(), select.poll()
        poll.register(orders, select.POLLRDHUP)

        def watch() -> None:
            while not ready.is_set():
                if poll.poll(WATCH_MS):
                    os._exit(0)

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ready.set()
            thread.join()

    def reap_copies() -> None:
        """Reap copies that have ended, so that their CPU time is counted as this process's."""
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def ahead_of(config: str) -> KernelFinder:
    """Load the compiler, and return what finds the kernels of a configuration."""
    with importing():
        from crowd_demo.compute.jit import make_compiler_ready
        from crowd_demo.host.compiling.ahead import KernelFinder

        make_compiler_ready()
    return KernelFinder(Config.model_validate_json(config))


def serve(ahead: KernelFinder, lines: SimpleQueue[str], answers: TextIO) -> None:
    """Compile the kernel of each key that comes, with the options that need it; repeat the key once it is in the cache.

    For ALL_CHOICES, which compiles only when a core is free, the answer is ALL_DONE if no kernel is left or none can be kept.
    """
    from crowd_demo.compute.jit import compile_launches, is_on_disk
    from crowd_demo.host.compiling.ahead import key_of

    known: object = None
    while True:
        wanted, options = json.loads(lines.get())
        if options != known:
            known, asked = options, Optimizations.model_validate_json(json.dumps(options))
            launches = {key_of(launch): launch for launch in ahead.missing(asked)}
            others = (launch for launch in missing_anywhere(ahead, asked) if not is_on_disk(launch))
        if wanted == ALL_CHOICES:
            be_idle()
            launch = next(others, None)
        else:
            launch = launches.get(wanted)  # None if it has been compiled already
        if launch:
            compile_launches((launch,))
        is_over = wanted == ALL_CHOICES and not (launch and is_on_disk(launch))
        print(ALL_DONE if is_over else wanted, file=answers, flush=True)


def missing_anywhere(ahead: KernelFinder, options: Optimizations) -> Iterator[Launch]:
    """Yield the launches of each single other choice and of all colour modes whose kernels are not compiled yet."""
    for other in all_choices(options):
        yield from ahead.missing(other)
    yield from ahead.missing_colours()


def all_choices(options: Optimizations) -> Iterator[Optimizations]:
    """The options with one technique at another of its choices, for each technique and choice."""
    for technique in TECHNIQUES:
        for value in technique.choices:
            other = options.model_copy(deep=True)
            other.set(technique.path, value)
            yield other


def be_idle() -> None:
    """Run only when no other process wants the core."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.nice(19)
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
