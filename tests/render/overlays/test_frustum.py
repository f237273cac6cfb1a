"""The outline of the frozen frustum."""

from __future__ import annotations

import numpy as np
import pytest

from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.inks import ORANGE
from crowd_demo.render.overlays.base import OverlayView
from crowd_demo.render.overlays.sketch import Scales, Sketch
from crowd_demo.render.overlays.space import draw_frustum

pytestmark = pytest.mark.quick
BACKGROUND = 0xB0AA9E
COLOUR = ORANGE[0] << 16 | ORANGE[1] << 8 | ORANGE[2]


def outlined(camera: Camera, frozen: Rect | None) -> np.ndarray:
    sketch, frame = Sketch(camera), np.full(camera.size[::-1], BACKGROUND, np.uint32)
    draw_frustum(sketch, OverlayView(None, camera, frozen, None, Scales()))  # type: ignore[arg-type]
    sketch.launch(1, frame).run()
    return frame & 0xFFFFFF


def test_the_frozen_frustum_is_outlined_where_it_is() -> None:
    camera = Camera((2000, 2000), (640, 360))
    camera.look_at(1000, 1000, 0.5)
    frame = outlined(camera, Rect(800, 900, 1200, 1100))
    left, top = (round(place) for place in camera.world_to_screen(800, 900))
    right, bottom = (round(place) for place in camera.world_to_screen(1200, 1100))
    middle_x, middle_y = (left + right) // 2, (top + bottom) // 2
    assert all(frame[y, x] == COLOUR for x, y in ((left, middle_y), (right, middle_y), (middle_x, top), (middle_x, bottom)))
    assert frame[bottom - 20, right - 20] == frame[top - 20, middle_x] == BACKGROUND


def test_of_a_frustum_far_outside_the_screen_nothing_is_drawn() -> None:
    camera = Camera((1e6, 1e6), (640, 360))
    camera.look_at(10, 10, 8.0)
    assert (outlined(camera, Rect(5e5, 5e5, 9e5, 9e5)) == BACKGROUND).all()


def test_nothing_is_outlined_while_nothing_is_frozen() -> None:
    assert (outlined(Camera((2000, 2000), (640, 360)), None) == BACKGROUND).all()
