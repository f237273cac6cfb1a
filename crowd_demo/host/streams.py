"""Standard output and error as the program wants them: open, without control characters of others, and with errors that
can be told apart from those of other files; and the line on standard error that shows progress.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self, TextIO, cast

from crowd_demo.registry.texts import printable

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
