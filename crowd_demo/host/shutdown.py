"""The wish to quit, by a person or by a signal, and what it takes to carry it out while a kernel or the compiler is running.

Neither can be stopped, so they run in the worker's thread: the main thread looks at the wish meanwhile, waits a little for
what is under way, and then ends the process all the same.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, TypeVar

from crowd_demo.host.system import in_thread

# How the process ends: the codes of every command.
OK = 0
FAILED = 1  # a crash (one line, the traceback goes to a file), output that cannot be written, or a comparison that failed
USAGE_ERROR = 2  # also of a configuration
NO_DISPLAY = 3
INTERRUPTED = 130  # by Ctrl-C; 128 + n by signal n

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
POLL_S = 0.05  # how often whoever waits looks whether somebody wants to quit
Result = TypeVar("Result")
Files = Mapping[str, Path | None]  # by the option that asks for it


class Interrupted(KeyboardInterrupt):
    """A signal that ends the program; `code` is the exit code that shells expect for it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


class ShutdownRequest:
    """Whether the program has to end, `asked`; whether a signal is the reason, `interrupted`; and the exit code then."""

    def __init__(self) -> None:
        self.asked, self.interrupted, self.code = False, False, 0
        self._since = math.inf

    def ask(self) -> None:
        if not self.asked:
            self.asked, self._since = True, time.monotonic()

    def interrupt(self, number: int) -> None:
        self.ask()
        if not self.interrupted:
            self.interrupted, self.code = True, 128 + number

    def left_s(self, after_s: float) -> float:
        """Seconds until `after_s` after the wish to quit; infinite while nobody wishes to."""
        return self._since + after_s - time.monotonic()


def raise_interrupted(number: int) -> NoReturn:
    raise Interrupted(number)


@contextmanager
def signals_to(handle: Callable[[int], object]) -> Iterator[None]:
    """Have `handle` called with the number of a signal that wants the program to end.

    Those that whoever started the program lets it ignore (`nohup`, a shell's background) stay ignored. Only the main thread
    can do that; in others this does nothing.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    for number in heard:
        signal.signal(number, lambda number, frame: handle(number))
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number] or signal.SIG_DFL)


def interruptible(job: Callable[[], Result], files: Files | None = None) -> Result:
    """Do the job in a thread, so that a signal ends the process also while a kernel runs. Raises what it raises.

    `files` are those that it does not write if it is interrupted.
    """
    try:
        future = in_thread(job, "crowd-demo job")
        while not wait((future,), timeout=POLL_S).done:
            pass
    except Interrupted as interrupted:
        say_not_written("in the middle", files or {})
        end_process(interrupted.code)
    return future.result()


def say_not_written(when: str, files: Files) -> None:
    """Print a line with the files that were asked for and are not written, if there are any."""
    asked = ", ".join(f"{option} {path}" for option, path in files.items() if path)
    if asked:
        print(f"crowd-demo: left {when}: not written: {asked}", file=sys.stderr)


def end_process(code: int) -> NoReturn:
    """End it at once, whatever its threads are doing."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)



