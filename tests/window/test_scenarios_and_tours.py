"""Scenarios and tours in the real window, by real keys and a real mouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from picture_files import pixels

BIRDS = """# My birds.
agents: 400
behaviour: flock
world: {width: 900, height: 600}
scene: {ground: sky}
window: {title: birds}
"""
TOUR = """# My tour.
config: birds
steps:
  - say: Without numbers, so that nobody has to wait for them.
  - say: Everybody tests everybody.
    do: {set: {neighbours: none}}
  - say: Drawn by pygame.
    do: {set: {blitter: pygame}}
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "birds.yaml").write_text(BIRDS, "utf-8")
    (tmp_path / "configs" / "bad.yaml").write_text("agents: many\n", "utf-8")
    (tmp_path / "tours").mkdir()
    (tmp_path / "tours" / "mine.yaml").write_text(TOUR, "utf-8")


def title(running: Any) -> str:
    return running.tool("getwindowname", running.window).strip()


def test_f2_and_keys_open_another_crowd_in_the_window(running: Any) -> None:
    before = pixels(running.picture())
    running.press("F2", "End", "Left", "Return", "Right", "Return")  # the broken one cannot be chosen
    running.until(lambda: title(running) == "birds")
    after = pixels(running.picture())
    assert (before != after).any(axis=2).mean() > 0.3
    running.press("9")
    assert running.leave() == 0
    report = running.report()
    assert (report["agents"], report["config"]["behaviour"], report["optimizations"]["blitter"]) == (400, "flock", "pygame")
    assert (report["config"]["window"]["width"], report["config"]["window"]["height"]) == (640, 360)


def test_f3_begins_a_tour_in_its_own_configuration(running: Any) -> None:
    running.press("F3", "End", "Return")
    running.until(lambda: title(running) == "birds")
    running.press("Return", "Right", "BackSpace", "BackSpace", "Right")
    running.picture()
    running.press("F3")
    assert running.leave() == 0
    report = running.report()
    assert (report["optimizations"]["neighbours"], report["agents"]) == ("none", 400)
