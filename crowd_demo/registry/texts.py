"""Texts and errors in one line of printable characters, whoever wrote them."""

from __future__ import annotations

MOST = 400  # characters of an error


def printable(text: str) -> str:
    """Escape what cannot be printed, as Python does: a terminal obeys control characters, and fonts refuse some."""
    if text.isprintable():  # nearly always, and looked up for every text of the window
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def error_line(error: BaseException) -> str:
    """Its kind and the first line of its text; the kind alone where it cannot say more."""
    try:
        text = str(error)
    except BaseException:  # another package's error may raise anything
        text = ""
    return printable(" ".join([f"{type(error).__name__}:", *text.splitlines()[:1]]).rstrip(":"))[:MOST]
