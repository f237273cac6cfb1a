"""The table of targets: what is a met target, what is written, and the process that is asked about the whole program."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import table
from table import TARGETS, Found, SkippedError, Target, asked, reported
from variants import ChildError

from crowd_demo.registry.built_in import COLOURS, OVERLAYS

quick = pytest.mark.quick


def target(name: str, *founds: Found, error: Exception | None = None) -> Target:
    def measure(quick: bool) -> Iterator[Found]:
        yield from founds
        if error:
            raise error
    return Target(name, "what", "target", "how", measure)


@quick
def test_a_bound_is_an_upper_one_unless_it_says_otherwise() -> None:
    assert [Found("", value, 1.0).verdict for value in (0.9, 1.0, 1.1, math.nan)] == ["met", "met", "missed", "unknown"]
    assert [Found("", value, 1.0, at_least=True).verdict for value in (0.9, 1.0)] == ["missed", "met"]


@quick
def test_every_line_has_a_name_of_its_own_and_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert len({each.name for each in TARGETS}) == len(TARGETS)
    assert table.main(["--list"]) == 0
    told = capsys.readouterr().out
    assert all(part in told for each in TARGETS for part in (each.name, each.what, each.target, each.how))


@quick
def test_lines_are_met_or_missed_or_say_why_not(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (target("one", Found("birds", 1.2, 1.5), Found("people", 2.0, 1.5)),
             target("two", error=SkippedError("no C here")),
             target("three", Found("cats", 1, 1), error=ChildError("here: ended with code 1: x")))
    monkeypatch.setattr(table, "TARGETS", lines)
    assert table.main([]) == 1
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in told[1:3]] == ["met", "missed"]
    assert "skipped: no C here" in told[3] and "failed: here: ended" in told[5]
    assert table.main(["two"]) == 0


@quick
def test_an_unknown_line_is_a_mistake_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main(["speed"]) == 2
    assert capsys.readouterr().err.startswith("speed: no such line; there are looking, ")


# --- the process that runs the whole program -------------------------------------------------------------------------

def test_keys_are_pressed_and_each_answer_is_timed() -> None:
    waited = asked("keys", "1k", "agents=50", frames=120)["waited_ms"]
    assert waited and min(waited) > 0


def test_the_report_of_the_program_has_what_the_lines_want() -> None:
    found = reported("1k", "agents=50", frames=20)
    assert found["frame_ms"]["median"] > found["stages"]["other"]["median_ms"] > 0 and found["rss_mb"]["current"] > 10


def test_each_colour_mode_and_each_overlay_takes_its_turn() -> None:
    modes = asked("colours", "1k", "agents=50", frames=16)
    overlays = asked("overlays", "1k", "agents=50", frames=16)
    assert set(modes) == {"", *COLOURS} - {"looks"} and set(overlays) == {"", *OVERLAYS}
    assert all(len(blocks) == 2 and min(blocks) > 0 for blocks in (*modes.values(), *overlays.values()))
