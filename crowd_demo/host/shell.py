"""How the program meets the shell that started it: standard output and error, exit codes, signals, and the end.

The standard streams are open, without control characters of others, and have errors that can be told apart from those of
other files; a line on standard error shows progress.

The wish to quit may come from a person or a signal. Neither a kernel nor the compiler can be stopped, so they run in the
worker's thread: the main thread looks at the wish meanwhile, waits a little for what is under way, and then ends the
process all the same.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, Self, TextIO, TypeVar, cast

from crowd_demo.host.system import in_thread
from crowd_demo.registry.texts import printable

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


# --- standard streams -------------------------------------------------------------------------------------------------

STDOUT = Path("-")  # the name of a file that stands for standard output
ERASE = "\r\x1b[K"  # erases the line of a terminal
REDRAW_EVERY_S = 0.1  # at most, on a terminal
SAY_EVERY_S = 5.0  # elsewhere, unless another time is asked for


class OutputError(OSError):
    """Standard output cannot be written."""


class StandardStream:
    """A stream that escapes what cannot be printed, but line ends and an `ERASE` with which a text begins.

    Errors of standard output are OutputErrors; but a pipe without a reader stays a BrokenPipeError. The first error is
    raised again by `flush`: argparse goes on after one.
    """

    def __init__(self, stream: TextIO, is_output: bool) -> None:
        self._stream, self._is_output = stream, is_output
        self._error: OSError | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        erase = ERASE * text.startswith(ERASE)
        with self._translated_errors():
            self._stream.write(erase + "\n".join(map(printable, text.removeprefix(ERASE).split("\n"))))
        return len(text)

    def flush(self) -> None:
        with self._translated_errors():
            if self._error:
                raise self._error
            self._stream.flush()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not self._is_output:
                raise
            self._error = error if isinstance(error, BrokenPipeError) else OutputError(error.errno, error.strerror)
            raise self._error from None


@contextmanager
def standard_streams() -> Iterator[None]:
    """Within, standard output and error are open, whatever the caller has closed; and output raises OutputErrors.

    Writing to what was closed fails, but is ignored for errors.
    """
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:  # so that no other file gets the number of a closed one
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115  (it stays open)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        cast(TextIO, StandardStream(sys.stdout, is_output=True)), cast(TextIO, StandardStream(sys.stderr, is_output=False)))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def discard_output() -> None:
    """Send standard output to the null device, so that the flush at exit does not fail again."""
    with suppress(OSError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class ProgressLine:
    """`with ProgressLine("sweep") as line: line.show("30 %")`; at the end nothing of it is left on a terminal."""

    def __init__(self, name: str, every_s: float = SAY_EVERY_S) -> None:
        """`every_s` is the least time between two lines where standard error is no terminal."""
        self._name, self._terminal = name, sys.stderr.isatty()
        self._every_s = REDRAW_EVERY_S if self._terminal else every_s
        self._shown_s = -math.inf if self._terminal else time.monotonic()

    def show(self, what: object) -> None:
        """Show what is being done; cheap enough to be called often."""
        if time.monotonic() - self._shown_s < self._every_s:
            return
        self._shown_s = time.monotonic()
        line = f"{self._name}: {what}"
        if self._terminal:
            print(f"{ERASE}{line[:shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            print(ERASE, end="", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """0.3 s, 45 s, 12 min, 3 h 20 min."""
    if seconds < 1:
        return f"{max(seconds, 0.01):.1g} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60:,} h {minutes % 60} min"
