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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from crowd_demo.app.process.child import lines_of, standard_lines
from crowd_demo.app.process.system import importing
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.registry.techniques import TECHNIQUES

if TYPE_CHECKING:
    from crowd_demo.app.compiling.ahead import Ahead
    from crowd_demo.compute.jit import Launch

FORKS = "forks"  # the argument of the process that makes copies of itself
AS_TOLD, ALL_CHOICES = "t", "a"  # what to compile, one letter
MOST_KERNELS = {AS_TOLD: 8, ALL_CHOICES: 3}  # that a process compiles before another one takes its place
WATCH_MS = 30  # how soon the first process notices, while it gets ready, that nobody wants it any more
DONE, MORE = "done", "more"

Tell = Callable[[str], None]


def main(work: str) -> None:
    """Compile what standard input says; or, if the work is FORKS, make copies that do."""
    if sys.platform == "linux" and work == FORKS:
        fork_when_told(socket.socket(fileno=0))
    lines, answers = standard_lines()
    ahead = ahead_of(lines.get())
    COMPILE[work](ahead, lines, lambda line: print(line, file=answers, flush=True))


def fork_when_told(orders: socket.socket) -> None:
    """Read a configuration; then each letter comes with a socket to a process that compiles that."""
    if sys.platform != "linux":
        raise NotImplementedError
    signal.signal(signal.SIGCHLD, lambda *_: count_the_ended())
    with orders.makefile("rb", buffering=0) as stream:
        config = stream.readline().decode()
    with ending_with(orders):
        ahead = ahead_of(config)
    gc.freeze()  # or a copy that looks for garbage would write to all it shares
    while True:
        letter, sockets, _, _ = socket.recv_fds(orders, 1, 1)
        if not letter:
            os._exit(0)
        if os.fork() == 0:
            orders.close()
            try:
                compile_for(ahead, letter.decode(), socket.socket(fileno=sockets[0]))
            finally:
                os._exit(0)
        os.close(sockets[0])


@contextmanager
def ending_with(orders: socket.socket) -> Iterator[None]:
    """Exit in the middle of it when the other end is closed. Its thread has ended afterwards, before copies are made."""
    if sys.platform != "linux":
        raise NotImplementedError
    done = threading.Event()

    def watch() -> None:
        poll = select.poll()
        poll.register(orders, select.POLLRDHUP)
        while not done.is_set():
            if poll.poll(WATCH_MS):
                os._exit(0)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def count_the_ended() -> None:
    """Take leave of copies that have ended, so that their CPU time counts as this process's."""
    if sys.platform != "linux":
        raise NotImplementedError
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def compile_for(ahead: Ahead, letter: str, program: socket.socket) -> None:
    answers = program.makefile("w", encoding="utf-8")
    COMPILE[letter](ahead, lines_of(program.makefile(encoding="utf-8")), lambda line: print(line, file=answers, flush=True))


def ahead_of(config: str) -> Ahead:
    """Make the compiler ready, and what finds the kernels of a configuration."""
    with importing():
        from crowd_demo.app.compiling.ahead import Ahead
        from crowd_demo.compute.jit import make_compiler_ready

        make_compiler_ready()
    return Ahead(Config.model_validate_json(config))


def compile_as_told(ahead: Ahead, lines: SimpleQueue[str], tell: Tell) -> None:
    """Compile each kernel of which the key comes, with the options that need it; say so when it is in the cache."""
    from crowd_demo.app.compiling.ahead import compile_one, key_of

    found: object = None
    launches: dict[str, Launch] = {}
    while True:
        kernel, options = json.loads(lines.get())
        if options != found:
            found = options
            missing = ahead.missing(Optimizations.model_validate_json(json.dumps(options)))
            launches = {key_of(launch): launch for launch in missing}
        if kernel in launches:  # else it has been compiled already
            compile_one(launches[kernel])
        tell(kernel)


def compile_all_choices(ahead: Ahead, lines: SimpleQueue[str], tell: Tell) -> None:
    """Compile the next kernels that any single other choice needs, and those of all colour modes, when a core is free."""
    from crowd_demo.app.compiling.ahead import compile_one
    from crowd_demo.compute.jit import is_on_disk

    be_idle()
    compiled = 0
    for launch in missing_anywhere(ahead, Optimizations.model_validate_json(lines.get())):
        if not is_on_disk(launch):
            if compiled == MOST_KERNELS[ALL_CHOICES]:
                tell(MORE)
                return
            compile_one(launch)
            compiled += 1
            if not is_on_disk(launch):  # it cannot be written
                break
    tell(DONE)


Work = Callable[["Ahead", SimpleQueue[str], Tell], None]
COMPILE: dict[str, Work] = {AS_TOLD: compile_as_told, ALL_CHOICES: compile_all_choices}


def missing_anywhere(ahead: Ahead, options: Optimizations) -> Iterator[Launch]:
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
