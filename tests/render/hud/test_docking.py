"""What the HUD says that it covers is what it covers."""

from __future__ import annotations

import numpy as np
import pytest
from hud_spy import KEYS, crowd, pixels

from crowd_demo.render.hud.hud import Hud
from crowd_demo.render.hud.panel_layout import docked
from crowd_demo.render.hud.status import PanelSettings, Past, Status
from crowd_demo.sprites.pixels import plain_surface

pytestmark = pytest.mark.quick
SIZES = [(1280, 720), (1920, 1080), (2560, 1440)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", [0.7, 1.0])
def test_panels_and_timeline_lie_within_what_is_docked_and_fill_it(size: tuple[int, int], scale: float) -> None:
    past = Past(0, 100, 100, 3600, 60.0, 0, 1, np.zeros(3600, np.float32))
    looks, surface = PanelSettings(scale=scale), plain_surface(size)
    surface.fill((1, 2, 3))
    before = pixels(surface).copy()
    Hud(KEYS).draw(surface, crowd(), Status(panels=looks, past=past), 0.0)
    covered = (pixels(surface) != before).any(axis=2)
    left, top, right, bottom = docked(size, looks, True)
    assert left > 100 < right and top == 0 < bottom
    free = slice(left, size[0] - right), slice(top, size[1] - bottom)
    assert not covered[free].any()
    assert covered[left - 1].any() and covered[size[0] - right].any() and covered[:, size[1] - bottom].any()
