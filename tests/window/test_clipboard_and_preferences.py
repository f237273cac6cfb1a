"""What the window shares with the rest of the system: the clipboard, and the preferences of the next start."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pygame

from crowd_demo.app.screen import read
from crowd_demo.cli.arguments import parser_of
from crowd_demo.cli.run import RUN

READ_CLIPBOARD = """
import pygame
pygame.display.init()
pygame.display.set_mode((50, 50))
pygame.event.pump()
print(pygame.scrap.get_text(), end="")
"""


def clipboard(running: Any) -> str:
    """What another program finds on the clipboard; its window takes the keyboard and gives it back."""
    env = {**os.environ, "DISPLAY": running.display, "SDL_VIDEODRIVER": "x11", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
    found = subprocess.run([sys.executable, "-c", READ_CLIPBOARD], env=env, capture_output=True, encoding="utf-8",
                           check=True).stdout
    running.focus()
    return found


def test_the_command_on_the_clipboard_and_in_the_terminal_shows_the_same(running: Any) -> None:
    running.press("8", "slash", "slash", "slash", "slash", "slash", "slash", "equal", "space", "Home", "shift+Tab", "y")
    copied = running.until(lambda: clipboard(running))
    assert running.leave() == 0
    assert running.process.stderr.read().endswith(copied)
    program, *arguments = shlex.split(copied, comments=True)
    found: Any = RUN.read(parser_of("run", RUN).parse_args(arguments))
    config = found[0]
    assert program == "crowd-demo"
    assert config.optimizations.model_dump() == running.report()["optimizations"]
    assert (config.agents, config.time.speed, config.window.hud, config.map) == (1200, 64.0, "off", None)
    assert (config.window.width, config.window.height) == (640, 360)
    assert copied.splitlines()[-1].startswith("# the screen was at tick ")


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
