"""The minimap, and the bar that shows how far back one can go."""

from __future__ import annotations

import numpy as np
import pygame
import pytest
from crowds import FLOCK, simulation

from crowd_demo.render.camera import Rect
from crowd_demo.render.hud.canvas import Pen, scale_for
from crowd_demo.render.hud.navigation import (
    DARK,
    Minimap,
    Times,
    column_of,
    label,
    picture_of,
    rendered,
    tick_at,
)
from crowd_demo.render.hud.panel_layout import bar_of
from crowd_demo.render.hud.status import MinimapView, Past

SAND = np.full((3, 4, 3), (188, 178, 158), np.uint8)


def test_the_minimap_shows_the_world_the_crowd_and_the_view() -> None:
    sim = simulation(**FLOCK)
    before = sim.state_hash()
    columns, count = sim.agents.columns, sim.agents.count
    picture = picture_of(sim, SAND, (100, 80)).astype(int)
    dark = np.abs(picture - SAND[0, 0]).max(axis=2) > 8
    seen = np.zeros((100, 80), bool)
    seen[(columns.x[:count] / 5).astype(int).clip(0, 99), (columns.y[:count] / 5).astype(int).clip(0, 79)] = True
    assert np.array_equal(dark, seen) and not (picture == np.array(DARK)).all(axis=2).any()
    minimap, pen = Minimap(), Pen()
    views = (Rect(0, 0, 500, 400), None), (Rect(100, 100, 200, 200), None), (Rect(100, 100, 200, 200), Rect(50, 50, 300, 300))
    looks = [pygame.surfarray.array3d(minimap.draw(sim, MinimapView(view, frozen, SAND), pen, 1.0, 0.0).surface)
             for view, frozen in views]
    assert not np.array_equal(looks[0], looks[1]) and not np.array_equal(looks[1], looks[2])
    assert sim.state_hash() == before


@pytest.mark.parametrize("size", [(4000.0, 100.0), (100.0, 4000.0), (300.0, 300.0)])
def test_a_world_of_any_shape_has_a_small_map(size: tuple[float, float]) -> None:
    sim = simulation("20k-flock", agents=50, map="null", world__width=size[0], world__height=size[1])
    canvas = Minimap().draw(sim, MinimapView(Rect(-1e6, -1e6, 1e6, 1e6), None, SAND), Pen(), 1.0, 0.0)
    assert max(canvas.size) <= 162 and min(canvas.size) > 12


@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_each_pixel_is_a_place_of_the_world(scale: float) -> None:
    sim = simulation("20k-flock", agents=50, map="null", world__width=400.0, world__height=300.0)
    minimap = Minimap()
    canvas = minimap.draw(sim, MinimapView(Rect(190, 140, 210, 160), None, SAND), Pen(), scale, 0.0)
    width, height = canvas.surface.get_size()
    assert minimap.world_at(width / 2, height / 2) == pytest.approx((200, 150), abs=5)
    edge = 6 * scale
    assert minimap.world_at(edge, edge) == pytest.approx((0, 0), abs=5)
    assert minimap.world_at(width - edge, height - edge) == pytest.approx((400, 300), abs=5)


# --- the timeline ----------------------------------------------------------------------------------------------------

SPAN = 3600


def past(oldest: int = 1000, newest: int = 4000, tick: int = 4000, ms: float = 5.0) -> Past:
    return Past(oldest, newest, tick, SPAN, 60.0, 61_000_000, 64_000_000, np.full(SPAN, ms, np.float32))


@pytest.mark.quick
@pytest.mark.parametrize("size", [(800, 600), (1280, 720), (2560, 1440), (64, 64)])
def test_a_press_on_the_column_of_a_tick_goes_to_it_as_nearly_as_pixels_allow(size: tuple[int, int]) -> None:
    scale = scale_for(size)
    bar, known = bar_of(size, scale), past()
    assert pygame.Rect((0, 0), size).contains(bar)
    for tick in (1000, 1234, 2500, 3999, 4000):
        found = tick_at(known, bar.left + column_of(known, tick, bar.width), bar)
        assert abs(found - tick) <= SPAN / bar.width + 1
    assert tick_at(known, -500, bar) == 1000 and tick_at(known, 10_000, bar) == 4000


@pytest.mark.quick
def test_it_says_where_one_is_and_how_far_back_one_can_go() -> None:
    assert label(past()) == "rewind 50 s (61 of 64 MB)"
    assert label(past()._replace(recorded=12_345)) == "rewind 50 s (61 of 64 MB), recording 0.01 MB"
    assert label(past(tick=3700)) == (
        "5.00 s ago, tick 3,700: changes discard what follows   (rewind 50 s (61 of 64 MB))")


@pytest.mark.quick
def test_what_cannot_be_returned_to_is_darker_and_slow_frames_are_higher() -> None:
    pygame.font.init()
    times = np.full(SPAN, 2, np.float32)
    times[3000:3100] = 18
    sheet = rendered((360, 30), past()._replace(frame_ms=times), Times(SPAN, 360), Pen())
    pixels = pygame.surfarray.array3d(sheet).astype(int).sum(axis=2)
    assert (pixels[150, 7:25] > pixels[20, 7:25]).all(), "ground within reach"
    heights = (pixels[:, 7:29] != pixels[150, 7]).sum(axis=1)
    assert heights[305] > 18 and heights[200] < 10
