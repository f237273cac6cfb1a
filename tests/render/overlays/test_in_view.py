"""Those who are on the screen, and where, as NumPy says; and the outline of the frozen frustum."""

from __future__ import annotations

import numpy as np
import pytest

from crowd_demo.compute.hashing import scramble
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.drawing import Moving
from crowd_demo.render.inks import ORANGE
from crowd_demo.render.overlays.base import OverlayView, find_launch
from crowd_demo.render.overlays.sketch import Scales, Sketch
from crowd_demo.render.overlays.space import draw_frustum

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
@pytest.mark.parametrize("listed", [0, 1, 5, 400])
def test_agents_in_view_and_their_places_are_those_of_numpy(workers: int, listed: int) -> None:
    rng = np.random.default_rng(listed)
    ids = np.arange(500, dtype=np.int32)
    x, y, vx, vy = (rng.uniform(-100, 100, 500).astype(np.float32) for _ in range(4))
    agents, ahead = Moving(ids, x, y, vx, vy), np.float32(0.013)
    slots = rng.permutation(ids)[:listed]
    at_x, at_y = (x + vx * ahead)[slots], (y + vy * ahead)[slots]
    edge = float(at_x[0]) if listed else 0.0  # just on the edge, which belongs to the view
    everywhere = Rect(-np.inf, -np.inf, np.inf, np.inf)
    views = Rect(-40.0, -70.0, edge, 55.0), everywhere, everywhere, Rect(300.0, 0.0, 400.0, 9.0)
    for view, mask in zip(views, (0, 0, 3, 1), strict=True):
        find, in_view = find_launch(workers, slots, agents, ahead, view, mask)
        find.run()
        kept = (at_x >= view.left) & (at_x <= view.right) & (at_y >= view.top) & (at_y <= view.bottom)
        kept &= scramble(slots.astype(np.uint32)) & np.uint32(mask) == 0  # an id is its slot here
        found, found_x, found_y = in_view.joined()
        assert found.tolist() == slots[kept].tolist()
        assert (found_x == at_x[kept]).all() and (found_y == at_y[kept]).all()
        assert found.dtype == np.int32 and found_x.dtype == found_y.dtype == np.float64


# --- the frozen frustum ----------------------------------------------------------------------------------------------

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


def test_nothing_is_outlined_while_nothing_is_frozen() -> None:
    assert (outlined(Camera((2000, 2000), (640, 360)), None) == BACKGROUND).all()
