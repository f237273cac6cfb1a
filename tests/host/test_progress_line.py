"""A line that tells how far something is."""

from __future__ import annotations

import sys

import pytest

from crowd_demo.host.streams import ERASE, REDRAW_EVERY_S, ProgressLine

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("terminal", "every_s"), [(True, REDRAW_EVERY_S), (False, 60.0)])
def test_a_terminal_has_one_line_and_others_get_one_now_and_then(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool, every_s: float) -> None:
    clock = [0.0]
    monkeypatch.setattr("crowd_demo.host.streams.time.monotonic", lambda: clock[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    with ProgressLine("ensemble", 60.0) as line:
        for _ in range(100):
            clock[0] += every_s / 20
            line.show("so far")
    said = capsys.readouterr().err
    lines = said.count("ensemble: so far")
    assert lines in (4, 5, 6) and said.count("\n") == (0 if terminal else lines)
    assert said.endswith(ERASE) == terminal


def test_a_line_is_no_wider_than_the_terminal(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "20")
    with ProgressLine("sweep") as line:
        line.show("x" * 100)
    assert capsys.readouterr().err == f"{ERASE}sweep: {'x' * 12}{ERASE}"
