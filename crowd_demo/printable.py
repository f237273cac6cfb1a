"""Texts of others, such as a file's name or its first comment, as they can be shown."""

from __future__ import annotations


def printable(text: str) -> str:
    """Escape what cannot be printed, as Python does: a terminal obeys control characters, and fonts refuse some."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
