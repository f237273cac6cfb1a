"""Overlays by real keys and a real mouse: they appear, go, and change nothing of the crowd."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from picture_files import pixels

from crowd_demo.config.loader import load_config
from crowd_demo.registry.built_in import OVERLAYS
from crowd_demo.sim.simulation import Simulation


def test_f10_lists_overlays_return_shows_them_and_the_crowd_is_what_it_would_have_been(running: Any) -> None:
    running.press("F10", *["Return", "Down"] * len(OVERLAYS))  # all of them
    time.sleep(1.0)
    running.press("Escape", "space", "shift+Tab")
    shown = pixels(running.picture())
    running.press("F10", *["Return", "Down"] * len(OVERLAYS), "Escape")
    assert (shown != pixels(running.picture())).any(axis=2).mean() > 0.1
    assert running.leave() == 0
    report = running.report()
    assert report["stages"]["overlays"]["mean_ms"] > 0
    alone = Simulation(load_config("1k", ["map=null"]))
    alone.step(report["steps"])
    assert report["state_hash"] == alone.state_hash()


def test_a_click_in_the_list_shows_an_overlay_and_the_picture_comes_back_without_it(running: Any) -> None:
    running.press("space", "shift+Tab", "Home")
    plain = pixels(running.picture())
    running.press("F10")
    running.tool("mousemove", "--window", running.window, "320", "110", "click", "1")  # a row of the list
    running.press("Escape")
    running.tool("mousemove", "--window", running.window, "5", "5")
    marked = pixels(running.picture())
    assert (plain != marked).any()
    running.press("F10")
    running.tool("mousemove", "--window", running.window, "320", "110", "click", "1")
    running.press("Escape")
    assert (plain == pixels(running.picture())).all()
    assert running.leave() == 0


def test_both_blitters_show_overlays_alike(running: Any) -> None:
    running.press("space", "shift+Tab", "Home")
    running.press("F10", "Return", "Escape")
    compiled = pixels(running.picture())
    running.press("9")
    time.sleep(0.5)
    assert (compiled == pixels(running.picture())).all()
    assert np.ptp(compiled) > 0 and running.leave() == 0
