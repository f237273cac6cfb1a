"""Colours, zoom, bookmarks and the minimap by real keys."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pygame

from crowd_demo.app.screen.notices import NOTICE_S
from crowd_demo.config.loader import load_config
from crowd_demo.measure.crowd_variant import Picture
from crowd_demo.render.hud.canvas import DARK, PANEL
from crowd_demo.sim.simulation import Simulation

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


def test_every_colour_mode_that_tells_something_is_reached_by_its_key_and_changes_only_the_picture(running: Any) -> None:
    modes = Picture(Simulation(load_config("1k", ["map=null"]))).scene.telling_colours()
    running.press("shift+Tab", "Home", "space")  # no HUD
    plain, pictures = seen(running), []
    for _ in modes[1:]:
        running.press("q")
        pictures.append(seen(running))
    assert all((picture != plain).any(axis=2).mean() > 0.01 for picture in pictures)
    running.press("q")
    assert (seen(running) == plain).all(), "once round"
    running.press("space")
    for key in ("q", "shift+q"):
        running.press(*[key] * len(modes))
    assert running.leave() == 0
    assert running.crowd_is_as_if_alone()


def test_keys_zoom_keep_a_view_come_back_to_it_and_show_the_minimap_which_takes_clicks(running: Any) -> None:
    running.press("space", "shift+Tab", "Home")
    whole = seen(running)
    running.press("ctrl+Up", "ctrl+Up", "ctrl+Up")
    near = seen(running)
    assert (near != whole).any(axis=2).mean() > 0.5
    running.press("ctrl+shift+1", "ctrl+Down")
    assert (seen(running) != near).any(axis=2).mean() > 0.5
    running.press("ctrl+1")
    assert (seen(running) == near).all(), "the bookmark"
    running.press("End")
    mapped = np.argwhere((seen(running) != near).any(axis=2))
    (left, top), (right, bottom) = mapped.min(axis=0), mapped.max(axis=0)
    assert 320 < left < right < 640 and 180 < top < bottom < 360, "the minimap is in the right lower corner"
    assert right - left > 60 and len(mapped) > 0.8 * (right - left) * (bottom - top)
    running.tool("mousemove", "--window", running.window, str(left + 12), str(top + 12), "click", "1")
    assert (seen(running) != near)[:left].any(axis=2).mean() > 0.5, "a click on it looks there"
    running.press("End", "ctrl+1")
    assert (seen(running) == near).all()
    running.press("Home")
    assert (seen(running) == whole).all()
    running.press("space", "ctrl+Up", "ctrl+1", "End", "ctrl+Down", "Home", "End")
    assert running.leave() == 0
    assert running.crowd_is_as_if_alone()
