"""Scenarios and tours in the real window, by real keys and a real mouse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from picture_files import pixels

from crowd_demo.host.recording.format import read_recording
from crowd_demo.render.hud.canvas import DARK, TOUCHED
from crowd_demo.sim.events import Event

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


def test_a_click_on_a_row_opens_it(running: Any) -> None:
    running.press("F2", "End")
    selected = (pixels(running.picture()) == DARK[TOUCHED][:3]).all(axis=2)
    x, y = (int(np.median(found)) for found in np.nonzero(selected))
    running.press("Left")
    running.tool("mousemove", "--window", running.window, str(x), str(y), "click", "1")
    running.until(lambda: title(running) == "birds")
    assert running.leave() == 0
    assert running.report()["agents"] == 400


def test_the_crowd_goes_on_when_the_menu_is_closed(running: Any) -> None:
    running.press("F2", "Escape")
    assert running.leave() == 0
    assert running.report()["agents"] == 1000


def test_a_tour_from_the_command_line_goes_forth_and_back(start: Callable[..., Any]) -> None:
    program = start("--tour", "mine", base=("--size", "640x360"))
    program.until(program.shows_the_crowd)
    program.press("Return", "Right", "Left", "Escape")
    program.picture()
    assert program.leave() == 0
    report = program.report()
    assert (report["optimizations"]["neighbours"], report["optimizations"]["blitter"]) == ("none", "compiled")
    assert report["agents"] == 400


def test_tab_goes_through_the_modes_and_in_a_narrow_window_through_the_panels(start: Callable[..., Any]) -> None:
    program = start("--tour", "mine", base=("--size", "800x600"))
    program.until(program.shows_the_crowd)

    def shows_full_panels() -> bool:
        corner = pixels(program.picture())[20:220, 60:330]
        return bool((corner.max(axis=2) < 60).mean() > 0.5)

    assert not shows_full_panels()
    program.press("Tab")
    program.until(shows_full_panels)
    program.press("Tab")  # the right one
    program.until(lambda: not shows_full_panels())
    program.press("Escape")  # ends the tour
    program.picture()
    assert program.leave() == 0


def test_f3_begins_a_tour_in_its_own_configuration(running: Any) -> None:
    running.press("F3", "End", "Return")
    running.until(lambda: title(running) == "birds")
    running.press("Return", "Right", "BackSpace", "BackSpace", "Right")
    running.picture()
    running.press("F3")
    assert running.leave() == 0
    report = running.report()
    assert (report["optimizations"]["neighbours"], report["agents"]) == ("none", 400)


def test_ctrl_d_lets_a_scenario_do_what_it_leaves_to_a_hand(start: Callable[..., Any]) -> None:
    running = start("--record", "run.replay", base=("--config", "doorway", "--set", "agents=60", "--size", "640x360"))
    running.until(running.shows_the_crowd)
    running.press("ctrl+l")
    running.until(running.shows_the_crowd)
    assert running.leave() == 0
    part, = read_recording(running.folder / "run.replay").parts
    assert [action for _, action in part.actions][:2] == [Event(0), Event(1)]
    assert running.report()["outcome"]["agents"] <= 60
