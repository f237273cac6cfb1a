"""What the user changes in the window is there the next time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pygame

from crowd_demo.app.screen.preferences import read


def test_scale_hud_and_size_are_kept(start: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "config" / "preferences.yaml"
    begin = ("--config", "1k", "--set", "map=null")
    first = start(base=begin, CROWD_DEMO_PREFERENCES=str(file))
    first.until(first.shows_the_crowd)
    first.press("ctrl+equal", "Tab")
    first.tool("windowsize", "--sync", first.window, "500", "400")
    first.until(lambda: file.exists() and read(file).size == (500, 400))
    assert first.leave() == 0
    assert read(file).model_dump(exclude_defaults=True) == {"scale": 1.1, "hud": "full", "size": (500, 400)}
    for picture in first.pictures():
        picture.unlink()

    second = start(base=begin, CROWD_DEMO_PREFERENCES=str(file))
    second.until(second.shows_the_crowd)
    assert pygame.image.load(second.picture()).get_size() == (500, 400)
    second.press("ctrl+equal", "shift+Tab", "shift+Tab")
    assert second.leave() == 0
    assert read(file).model_dump(exclude_defaults=True) == {"scale": 1.25, "size": (500, 400)}, "hidden panels come back"


def test_what_the_command_line_says_wins_and_is_no_preference(start: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "preferences.yaml"
    file.write_text("size: [500, 400]\ntheme: light\n", "utf-8")
    program = start(CROWD_DEMO_PREFERENCES=str(file))
    program.until(program.shows_the_crowd)
    assert pygame.image.load(program.picture()).get_size() == (640, 360)
    before = file.stat().st_mtime_ns
    time.sleep(1.5)
    assert program.leave() == 0 and file.stat().st_mtime_ns == before


def test_a_broken_file_is_told_and_kept(start: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "preferences.yaml"
    file.write_text("scale: huge\n", "utf-8")
    program = start(CROWD_DEMO_PREFERENCES=str(file))
    program.until(program.shows_the_crowd)
    program.press("ctrl+equal")
    assert program.leave() == 0 and file.read_text("utf-8") == "scale: huge\n"
