"""Standard output and error as the program wants them: open, without control characters of others, and with errors that can
be told from those of other files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO, cast

from crowd_demo.registry.texts import printable

STDOUT = Path("-")  # the name of a file that stands for standard output
ERASE = "\r\x1b[K"  # erases the line of a terminal


class OutputError(OSError):
    """Standard output cannot be written."""


class Printable:
    """A stream that escapes what cannot be printed, but line ends and an `ERASE` with which a text begins."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        erase = ERASE * text.startswith(ERASE)
        self._stream.write(erase + "\n".join(map(printable, text.removeprefix(ERASE).split("\n"))))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


class Output:
    """A stream whose errors are OutputErrors; but a pipe without a reader stays a BrokenPipeError.

    The first error is raised again by `flush`: argparse goes on after one.
    """

    def __init__(self, stream: Printable) -> None:
        self._stream = stream
        self._error: OSError | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._told_apart():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._told_apart():
            if self._error:
                raise self._error
            self._stream.flush()

    @contextmanager
    def _told_apart(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError as error:
            self._error = error
            raise
        except OSError as error:
            self._error = OutputError(error.errno, error.strerror)
            raise self._error from None


@contextmanager
def standard_streams() -> Iterator[None]:
    """Within, standard output and error are open, whatever the caller has closed; and output raises OutputErrors."""
    _reopen()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast(TextIO, Output(Printable(sys.stdout))), cast(TextIO, Printable(sys.stderr))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def discard_output() -> None:
    """Let what standard output could not take go nowhere, so that the flush at exit does not fail again."""
    with suppress(OSError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _reopen() -> None:
    """Open what the caller has closed, so that no other file gets its number: writing fails, but is ignored for errors."""
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115  (it stays open)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
