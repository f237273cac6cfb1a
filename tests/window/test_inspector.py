"""The inspector by a real mouse and real keys."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from picture_files import pixels

from crowd_demo.render.hud.canvas import DARK, PANEL
from crowd_demo.render.inks import WHITE


def dark(picture: Any) -> int:
    """Pixels about as dark as a panel, in the right half."""
    return int((picture[320:].max(axis=2) < max(DARK[PANEL][:3]) + 40).sum())


def test_a_click_on_an_agent_rings_it_and_opens_a_panel_and_nothing_changes(running: Any) -> None:
    running.press("space", "Home")
    plain = pixels(running.picture())
    running.press("F6")  # whoever is in the middle
    time.sleep(0.3)
    ringed = pixels(running.picture())
    assert dark(ringed) > dark(plain) + 5000
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


def test_a_drag_with_shift_selects_a_box_and_does_not_pan(running: Any) -> None:
    running.press("space", "shift+Tab", "Home")
    plain = pixels(running.picture())
    running.tool("mousemove", "--window", running.window, "50", "220", "keydown", "shift", "mousedown", "1")
    running.tool("mousemove_relative", "--sync", "100", "90")
    running.tool("mouseup", "1", "keyup", "shift")
    time.sleep(0.3)
    boxed = pixels(running.picture())
    changed = np.argwhere((plain != boxed)[:200].any(axis=2))  # further right is the panel of counts
    (left, top), (right, bottom) = changed.min(axis=0), changed.max(axis=0)
    assert abs(np.array([left, top, right, bottom]) - (50, 220, 150, 310)).max() <= 3
    running.press("F6")
    assert (plain == pixels(running.picture())).all()
    assert running.leave() == 0


