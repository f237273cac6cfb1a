"""Speed, copying, slow frames and traces in the real window, by real keys."""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def test_shift_copies_yaml_that_the_program_starts_with(running: Any, start: Callable[..., Any], tmp_path: Path) -> None:
    running.press("9", "shift+y")
    yaml = running.until(lambda: clipboard(running))
    assert running.leave() == 0
    (tmp_path / "copied.yaml").write_text(yaml, "utf-8")
    again = start("--config", "copied.yaml")
    again.until(again.shows_the_crowd)
    assert again.leave() == 0
    assert again.report()["optimizations"]["blitter"] == running.report()["optimizations"]["blitter"] == "pygame"


def test_f3_saves_the_last_second(running: Any) -> None:
    running.press("F4")
    (path,) = running.until(lambda: list(running.folder.glob("*.csv")))
    assert running.leave() == 0
    lines = path.read_text("utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    assert lines[1].startswith("# slowest: frame ") and len(rows) > 1
    assert sum(int(row["slowest"]) for row in rows) == 1
    assert [int(row["frame"]) for row in rows] == list(range(int(rows[0]["frame"]), int(rows[-1]["frame"]) + 1))


def test_a_run_in_the_window_is_traced(start: Callable[..., Any]) -> None:
    program = start("--trace", "trace.json")
    program.until(program.shows_the_crowd)
    program.press("8")
    assert program.leave() == 0
    events = json.loads((program.folder / "trace.json").read_text("utf-8"))
    frames = [event["args"]["frame"] for event in events if event["name"] == "frame"]
    assert frames == list(range(program.report()["frames"]))
    assert any(event["ph"] == "i" and event["name"].startswith("Switch(path='depth'") for event in events)
    steps = sum(event["name"] == "step" for event in events)
    assert steps == program.report()["steps"]
