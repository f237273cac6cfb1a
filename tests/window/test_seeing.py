"""What is on the screen after real keys and a real mouse, what they leave behind, and that the crowd does not notice."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pygame
from picture_files import pixels

from crowd_demo.app.screen.notices import NOTICE_S
from crowd_demo.app.screen.preferences import read
from crowd_demo.cli.arguments import parser_of
from crowd_demo.cli.run import RUN
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.canvas import DARK, GOOD, PANEL, TEXT
from crowd_demo.render.inks import WHITE

REST_S = 0.6  # a glide of the zoom is over, and the HUD was drawn again


def seen(running: Any) -> Any:
    time.sleep(REST_S)
    return pygame.surfarray.array3d(pygame.image.load(running.picture())).astype(int)


def dark(picture: Any) -> float:
    """The share of pixels that are about as dark as a panel."""
    return float((picture.max(axis=2) < max(DARK[PANEL][:3]) + 40).mean())


def test_q_goes_through_the_colours_with_a_legend_and_shift_q_back_and_the_crowd_does_not_notice(running: Any) -> None:
    running.press("space", "Home")  # a compact HUD, and the world in all of the window
    plain = seen(running)
    running.press("q")
    time.sleep(NOTICE_S)  # the legend comes after the message about the picture
    told = seen(running)
    running.press("shift+Tab")  # no HUD
    coloured = seen(running)
    running.press("shift+q")
    back = seen(running)
    assert (coloured != back).any(axis=2).mean() > 0.01, "people have other colours"
    strip = slice(85, 180), slice(-34, -18)  # beside the clock
    assert dark(told[strip]) > 0.3 and (told[strip] != plain[strip]).any(axis=2).mean() > 0.3, "the legend"
    running.press("q", "space")
    time.sleep(REST_S)
    running.press("space")
    assert running.leave() == 0
    assert running.crowd_is_as_if_alone()


# --- The card of a switch, as a person sees it: real keys, and what is on the screen then ----------------------------

SIZE = 1280, 720


def proved(path: Path) -> int:
    """Pixels in the colour of a proof that holds, in the upper left part, where the card is."""
    pixels = pygame.surfarray.array3d(pygame.image.load(path)).astype(int)
    left, top, right, bottom = 0, 0, SIZE[0] * 7 // 10, SIZE[1] // 2
    return int((abs(pixels[left:right, top:bottom] - DARK[GOOD][:3]).max(axis=2) < 8).sum())


def shown(path: Path) -> int:
    """Pixels in the colour of text where the rows of Why are, left of the middle and below the head of the card."""
    pixels = pygame.surfarray.array3d(pygame.image.load(path)).astype(int)
    return int((abs(pixels[20:SIZE[0] * 2 // 5, 250:400] - DARK[TEXT][:3]).max(axis=2) < 30).sum())


def test_a_key_shows_the_card_with_its_proof_and_i_shows_why_hides_and_shows_it(start: Callable[..., Any]) -> None:
    program = start("--size", "1280x720")
    program.until(program.shows_the_crowd)
    assert proved(program.picture()) < 50
    program.press("2")
    program.until(lambda: proved(program.picture()) > 400)
    program.press("i")
    program.until(lambda: shown(program.picture()) > 300 > 50 > proved(program.picture()))
    program.press("i")
    program.until(lambda: shown(program.picture()) < 30)
    program.press("i")
    program.until(lambda: proved(program.picture()) > 400)
    assert program.leave() == 0
    assert program.report()["optimizations"]["simd"] is False and program.crowd_is_as_if_alone()


# --- Experiments by real keys: what a table says is saved by S -------------------------------------------------------

SAVES_WITHIN_S = 5.0  # on a slow machine, once it may


def saved(program: Any) -> Any:
    """Save a table with S, and return the record. S does nothing before the experiment is over, so it is pressed again."""
    before = records(program)

    def new() -> set[Path]:
        return records(program) - before

    def pressed_once() -> set[Path]:
        program.press("s")
        end = time.monotonic() + SAVES_WITHIN_S
        while not new() and time.monotonic() < end:
            time.sleep(0.1)
        return new()

    (path,) = program.until(pressed_once)
    return json.loads(path.read_text("utf-8"))


def records(program: Any) -> set[Path]:
    return set(program.folder.glob("crowd-*.json"))


def test_m_measures_the_technique_touched_last_and_the_crowd_goes_on(running: Any) -> None:
    running.press("8")  # depth order
    running.picture()
    running.press("m")
    record = saved(running)
    depth = BY_PATH["depth"]
    assert depth.choices[(depth.choices.index(depth.default) + 1) % len(depth.choices)] == depth.baseline  # what 8 leads to
    assert (record["kind"], record["technique"]) == ("measurement", "depth")
    assert (record["value"], record["other"]) == (depth.default, depth.baseline)  # what it buys, though it is off
    assert record["complete"] and record["crowd"] == "same" and record["agents"] == 1000 and record["picture"]
    running.press("Escape")
    assert running.leave() == 0
    assert running.report()["steps"] > record["tick"]


# --- The inspector by a real mouse and real keys ---------------------------------------------------------------------

def test_a_click_on_an_agent_rings_it_and_opens_a_panel_and_nothing_changes(running: Any) -> None:
    running.press("space", "Home")
    plain = pixels(running.picture())
    running.press("F6")  # whoever is in the middle
    time.sleep(0.3)
    ringed = pixels(running.picture())
    assert dark(ringed[320:]) > dark(plain[320:]) + 5000 / (320 * 360), "a panel in the right half"
    ring = np.argwhere((ringed == WHITE).all(axis=2) & (plain != WHITE).any(axis=2))
    near = ring[(abs(ring - (320, 180)) < 60).all(axis=1)]
    x, y = near.mean(axis=0).round().astype(int)
    running.press("F6")
    running.tool("mousemove", "--window", running.window, str(x), str(y), "click", "1")
    running.tool("mousemove", "--window", running.window, "5", "300")
    time.sleep(0.3)
    assert (pixels(running.picture()) == ringed).all(axis=2).mean() > 0.99, "the same one"
    running.press("F6", "space", "semicolon", "semicolon", "shift+semicolon")
    time.sleep(0.5)
    running.press("space", "Escape")  # closes the inspector
    assert running.leave() == 0
    assert running.crowd_is_as_if_alone()


# --- Overlays by real keys and a real mouse: they appear, go, and change nothing of the crowd ------------------------

SHOWN = 4  # overlays, the first of the list


def test_f10_lists_overlays_return_shows_them_and_the_crowd_is_what_it_would_have_been(running: Any) -> None:
    running.press("F10", *["Return", "Down"] * SHOWN)
    time.sleep(1.0)
    running.press("Escape", "space", "shift+Tab")
    shown = pixels(running.picture())
    running.press("F10", *["Return", "Down"] * SHOWN, "Escape")
    assert (shown != pixels(running.picture())).any(axis=2).mean() > 0.1
    assert running.leave() == 0
    assert running.report()["stages"]["overlays"]["mean_ms"] > 0
    assert running.crowd_is_as_if_alone()


# --- Side by side by a real mouse and real keys ----------------------------------------------------------------------

def line_of(path: Any) -> int:
    """The column that is light from top to bottom."""
    picture = pygame.surfarray.array3d(pygame.image.load(path)).astype(int)
    return int(np.argmax((picture == (250, 250, 246)).all(axis=2).mean(axis=1)))


def test_a_key_splits_the_window_the_mouse_drags_the_line_and_the_first_crowd_does_not_notice(running: Any) -> None:
    running.press("4", "backslash")
    time.sleep(1.0)
    running.press("space", "shift+Tab")
    assert line_of(running.picture()) == 320
    running.tool("mousemove", "--window", running.window, "320", "90", "mousedown", "1")
    running.tool("mousemove_relative", "--sync", "100", "0")
    running.tool("mouseup", "1")
    time.sleep(0.3)
    assert line_of(running.picture()) == 420
    running.press("backslash")
    assert running.leave() == 0
    report = running.report()
    assert report["steps"] > 0 and report["stages"]["proof"]["mean_ms"] > 0


# --- Speed, copying, slow frames and traces in the real window, by real keys -----------------------------------------

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


# --- What the user changes in the window is there the next time ------------------------------------------------------

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
