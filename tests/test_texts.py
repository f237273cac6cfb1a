"""What others wrote, in one line."""

from __future__ import annotations

import pytest

from crowd_demo.registry.texts import error_line, printable

pytestmark = pytest.mark.quick


class SilentError(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


def test_what_cannot_be_printed_is_escaped() -> None:
    assert printable("a\nb\x1b[2J\u202e\ud800 é") == r"a\nb\x1b[2J\u202e\ud800 é"


def test_an_error_is_its_kind_and_its_first_line() -> None:
    assert error_line(ValueError("this\nand that")) == "ValueError: this" and error_line(KeyError()) == "KeyError"
    assert error_line(ValueError("\x1b[2J")) == r"ValueError: \x1b[2J" and len(error_line(ValueError("x" * 5000))) == 400


def test_an_error_that_cannot_say_what_it_is_has_its_kind() -> None:
    assert error_line(SilentError()) == "SilentError"
