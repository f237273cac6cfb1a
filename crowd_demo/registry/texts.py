"""Texts and errors in one line of printable characters, whoever wrote them; and what is said on standard error."""

from __future__ import annotations

import sys
from contextlib import suppress

MAX = 400  # characters of an error
_said: set[str] = set()


def printable(text: str) -> str:
    """Escape what cannot be printed, as Python does: a terminal obeys control characters, and fonts refuse some."""
    if text.isprintable():  # nearly always, and looked up for every text of the window
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def decimals(number: float, below: float = 1.0) -> int:
    """How many decimals a number has: two if it is less than `below`, one if it is less than ten times that, else none."""
    return 2 if number < below - 0.005 else 1 if number < 10 * below - 0.05 else 0


def digits_text(number: float, below: float = 1.0, thousands: str = "") -> str:
    """A number with so many decimals: 0.52, 3.1, 140."""
    return f"{number:{thousands}.{decimals(number, below)}f}"


def error_line(error: BaseException) -> str:
    """Its kind and the first line of its text; the kind alone where it cannot say more."""
    try:
        text = str(error)
    except BaseException:  # another package's error may raise anything
        text = ""
    return printable(" ".join([f"{type(error).__name__}:", *text.splitlines()[:1]]).rstrip(":"))[:MAX]


def reason(error: BaseException) -> str:
    """Return the cause that the system gives for an error of files, or else the error's own text."""
    return getattr(error, "strerror", None) or str(error)


def say(text: str) -> None:
    """Print a line on standard error, over a line of progress."""
    with suppress(OSError, ValueError, AttributeError):  # nobody reads it, or there is no standard error
        over_progress = "\r\x1b[K" if sys.stderr.isatty() else ""
        print(over_progress + printable(f"crowd-demo: {text}"), file=sys.stderr, flush=True)


def say_once(text: str, topic: str = "") -> None:
    """Say it, unless something on this topic has been said."""
    if not was_said(topic or text):
        _said.add(topic or text)
        say(text)


def was_said(topic: str) -> bool:
    return topic in _said
