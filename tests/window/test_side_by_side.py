"""Side by side by a real mouse and real keys."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pygame


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


def test_without_a_switch_the_crowd_is_that_of_a_run_alone(running: Any) -> None:
    running.press("backslash")
    time.sleep(1.0)
    running.press("space")
    assert running.leave() == 0
    assert running.crowd_is_as_if_alone()


def test_keys_and_clicks_choose_the_value_on_the_right(running: Any) -> None:
    running.press("4", "backslash")
    time.sleep(1.0)
    running.press("space", "shift+Tab")
    first = running.picture().read_bytes()
    running.press("ctrl+backslash")
    second = running.picture().read_bytes()
    running.tool("mousemove", "--window", running.window, "380", "316", "click", "1")
    time.sleep(0.5)
    assert len({first, second, running.picture().read_bytes()}) == 3
    assert running.leave() == 0
