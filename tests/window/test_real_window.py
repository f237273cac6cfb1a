"""The program as a person meets it: a window, real keys, a real mouse."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pygame
from picture_files import pixels

from crowd_demo.app.screen import read
from crowd_demo.cli.arguments import parser_of
from crowd_demo.cli.run import RUN
from crowd_demo.host.recording.format import read_recording

GLIDE_S = 1.0  # after which the view stands still


def test_a_key_that_is_pressed_while_it_loads_is_not_lost(start: Callable[..., Any]) -> None:
    running = start()
    running.press("9")
    running.until(running.shows_the_crowd)
    assert running.leave() == 0
    assert running.report()["optimizations"]["blitter"] == "pygame"


def test_esc_asks_once_and_any_other_key_goes_on(running: Any) -> None:
    running.press("Escape", "space")
    running.picture()
    assert running.process.poll() is None
    running.press("F1", "Escape", "Escape", "Return")
    assert running.process.wait(120) == 0
    assert running.crowd_is_as_if_alone()


def test_a_lost_display_costs_a_line_that_says_where_the_whole_recording_is(
        start: Callable[..., Any], server: Any, tmp_path: Path) -> None:
    running = start("--record", "a.replay")
    running.until(running.shows_the_crowd)
    server[1].kill()
    assert running.process.wait(120) == 3
    said = [line for line in running.process.stderr.read().splitlines() if "compiling" not in line]
    assert said == [f"crowd-demo: the display was lost, the run is recorded in {tmp_path / 'a.replay'}",
                    "crowd-demo: left without a display: not written: --report report.json"]
    assert read_recording(tmp_path / "a.replay").ended


def test_the_picture_follows_the_wheel_at_the_cursor_and_either_button_and_home_fits(running: Any) -> None:
    running.press("space", "shift+Tab", "Home")
    fitted = pixels(running.picture())
    assert fitted.shape == (640, 360, 3) and len(np.unique(fitted.reshape(-1, 3), axis=0)) > 50
    running.tool("mousemove", "--window", running.window, "320", "180", "click", "--repeat", "8", "--delay", "30", "4")
    time.sleep(GLIDE_S)
    before = pixels(running.picture())
    assert (fitted != before).any(axis=2).mean() > 0.3
    for button in ("1", "3"):
        running.tool("mousemove", "--window", running.window, "320", "180")
        running.tool("mousedown", button, "mousemove_relative", "--sync", "60", "40", "mouseup", button)
        time.sleep(0.2)
        after = pixels(running.picture())
        assert (after[60:, 40:] == before[:-60, :-40]).all(axis=2).mean() > 0.8
        assert (after == before).all(axis=2).mean() < 0.8
        before = after
    running.press("Home")
    assert (fitted == pixels(running.picture())).all()
    assert running.leave() == 0
    assert running.report()["counters"]["drawn"] == 1000


BIRDS = "agents: 400\nbehaviour: flock\nworld: {width: 900, height: 600}\nscene: {ground: sky}\nwindow: {title: birds}\n"


def test_f2_and_keys_open_another_crowd_in_the_window(running: Any, tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "birds.yaml").write_text(BIRDS, "utf-8")
    before = pixels(running.picture())
    running.press("F2", "End", "Return")
    running.until(lambda: running.tool("getwindowname", running.window).strip() == "birds")
    assert (before != pixels(running.picture())).any(axis=2).mean() > 0.3
    running.press("9")
    assert running.leave() == 0
    report = running.report()
    assert (report["agents"], report["config"]["behaviour"], report["optimizations"]["blitter"]) == (400, "flock", "pygame")
    assert (report["config"]["window"]["width"], report["config"]["window"]["height"]) == (640, 360)


def test_the_window_may_be_resized_at_any_time(start: Callable[..., Any]) -> None:
    """Drawing takes most of each frame here, so most of the new sizes come while the worker draws."""
    program = start("--set", "agents=400000", "--set", "optimizations.cull=off", "--set", "optimizations.blitter=pygame")
    program.until(program.shows_the_crowd)
    for number in range(16):
        program.tool("windowsize", program.window, str(600 + 97 * (number % 5)), str(340 + 61 * (number % 7)))
        time.sleep(0.13)
    program.tool("windowsize", "--sync", program.window, "500", "300")
    program.until(lambda: pixels(program.picture()).shape == (500, 300, 3))
    assert program.leave() == 0, program.process.stderr.read()


def test_a_first_start_shows_its_window_and_answers_esc_while_it_compiles(
        start: Callable[..., Any], tmp_path: Path) -> None:
    kernels = tmp_path / "cache"
    program = start(CROWD_DEMO_CACHE=str(kernels))
    program.until(lambda: list(kernels.rglob("*.nbc")))
    assert program.leave() == 0
    assert not (tmp_path / "report.json").exists()
    assert program.process.stderr.read() == "crowd-demo: left while loading: not written: --report report.json\n"


def test_a_signal_leaves_the_window_with_a_report_that_says_so(running: Any) -> None:
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(120) == 143
    assert running.report()["interrupted"] is True


# --- Clipboard and preferences ---------------------------------------------------------------------------------------

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
