"""The bar that shows how far back one can go."""

from __future__ import annotations

import numpy as np
import pygame
import pytest

from crowd_demo.render.hud.canvas import Pen, scale_for
from crowd_demo.render.hud.navigation import TimelineBar, Times, column_of, label, rendered, tick_at
from crowd_demo.render.hud.panel_layout import bar_of, timeline_px
from crowd_demo.render.hud.status import Past

pytestmark = pytest.mark.quick
SPAN = 3600


def past(oldest: int = 1000, newest: int = 4000, tick: int = 4000, ms: float = 5.0) -> Past:
    return Past(oldest, newest, tick, SPAN, 60.0, 61_000_000, 64_000_000, np.full(SPAN, ms, np.float32))


@pytest.mark.parametrize("size", [(800, 600), (1280, 720), (2560, 1440), (64, 64)])
def test_a_press_on_the_column_of_a_tick_goes_to_it_as_nearly_as_pixels_allow(size: tuple[int, int]) -> None:
    scale = scale_for(size)
    bar, known = bar_of(size, scale), past()
    assert pygame.Rect((0, 0), size).contains(bar) and timeline_px(size, scale) > bar.height
    for tick in (1000, 1234, 2500, 3999, 4000):
        found = tick_at(known, bar.left + column_of(known, tick, bar.width), bar)
        assert abs(found - tick) <= SPAN / bar.width + 1
    assert tick_at(known, -500, bar) == 1000 and tick_at(known, 10_000, bar) == 4000


def test_it_says_where_one_is_and_how_far_back_one_can_go() -> None:
    assert label(past()) == "rewind 50 s (61 of 64 MB)"
    assert label(past()._replace(recorded=12_345)) == "rewind 50 s (61 of 64 MB), recording 0.01 MB"
    assert label(past(tick=3700)) == (
        "5.00 s ago, tick 3,700: what you change begins a new future   (rewind 50 s (61 of 64 MB))")


def test_what_cannot_be_returned_to_is_darker_and_slow_frames_are_higher() -> None:
    pygame.font.init()
    times = np.full(SPAN, 2, np.float32)
    times[3000:3100] = 18
    sheet = rendered((360, 30), past()._replace(frame_ms=times), Times(SPAN, 360), Pen())
    pixels = pygame.surfarray.array3d(sheet).astype(int).sum(axis=2)
    assert (pixels[150, 7:25] > pixels[20, 7:25]).all(), "ground within reach"
    heights = (pixels[:, 7:29] != pixels[150, 7]).sum(axis=1)
    assert heights[305] > 18 and heights[200] < 10


def test_the_line_moves_though_the_bar_is_rendered_seldom() -> None:
    pygame.font.init()
    screen = pygame.Surface((640, 360))
    bar, box = TimelineBar(Pen()), bar_of(screen.get_size(), 1.0)
    seen = []
    for tick in (1500, 2500):
        bar.draw(screen, past(tick=tick), 1.0, 1.0)
        blue = pygame.surfarray.array3d(screen).astype(int)[box.left:box.right, box.centery]
        seen.append(int((blue[:, 2] - blue[:, 0]).argmax()))
        assert abs(seen[-1] - column_of(past(), tick, box.width)) <= 2
    assert seen[0] < seen[1]
