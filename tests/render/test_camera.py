import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crowd_demo.config.model import CameraSettings
from crowd_demo.render.camera import MAX_ZOOM, Camera, Docked, Rect

pytestmark = pytest.mark.quick
sizes = st.tuples(st.integers(1, 3000), st.integers(1, 3000))
worlds = st.tuples(st.floats(1, 20000), st.floats(1, 20000))
pixels = st.floats(-4000, 4000)


@st.composite
def cameras(draw):
    camera = Camera(draw(worlds), draw(sizes))
    camera.look_at(draw(pixels), draw(pixels), draw(st.floats(0.01, 20)))
    return camera


@given(cameras(), pixels, pixels)
def test_screen_and_world_are_inverse(camera, px, py):
    assert np.allclose(camera.world_to_screen(*camera.screen_to_world(px, py)), (px, py), atol=1e-4)


@given(cameras(), pixels, pixels)
def test_the_centre_stays_in_the_world_whatever_one_pans(camera, dx, dy):
    camera.pan(dx, dy)
    assert 0 <= camera.x <= camera.world[0] and 0 <= camera.y <= camera.world[1]


@given(st.floats(0.05, 20), st.floats(0, 1), st.floats(0, 1))
def test_zooming_keeps_the_world_point_under_the_cursor(factor, across, down):
    camera = Camera((4000, 3000), (1280, 720))
    camera.look_at(2000, 1500, 1.0)
    px, py = across * 1280, down * 720
    before = camera.screen_to_world(px, py)
    camera.zoom_at(px, py, factor)
    if 0 < camera.x < 4000 and 0 < camera.y < 3000:
        assert np.allclose(camera.screen_to_world(px, py), before, atol=1e-6)


@given(cameras(), st.floats(1e-3, 1e3))
def test_zoom_has_ends(camera, factor):
    camera.zoom_at(0, 0, factor)
    assert camera.least_zoom <= camera.zoom <= MAX_ZOOM


docks = st.builds(Docked, st.integers(0, 300), st.integers(0, 60), st.integers(0, 300), st.integers(0, 60))


sides = st.floats(1000, 3000)  # the middle of a view lies in the world, so a very thin one cannot be moved far aside


@given(st.tuples(sides, sides), st.tuples(st.integers(1000, 3000), st.integers(500, 2000)), docks)
@example((1000.0, 1520.0), (1000, 500), Docked(44, 60, 287, 60))
def test_fit_shows_the_whole_world_in_the_middle_of_what_panels_leave_free(world, size, docked):
    camera = Camera(world, size, docked)
    (left, top), (right, bottom) = camera.world_to_screen(0, 0), camera.world_to_screen(*world)
    if camera.zoom < MAX_ZOOM:
        free = Rect(docked.left, docked.top, size[0] - docked.right, size[1] - docked.bottom)
        assert left >= free.left and top >= free.top and right <= free.right and bottom <= free.bottom
        if abs(free.left + free.right - size[0]) <= right - left:  # else the middle of the window would lie beside the world
            assert left + right == pytest.approx(free.left + free.right, abs=1e-3)
        assert top + bottom == pytest.approx(free.top + free.bottom, abs=1e-3)
        assert max((right - left) / (free.right - free.left), (bottom - top) / (free.bottom - free.top)) > 0.9


@pytest.mark.parametrize("size", [(2560, 1440), (640, 360), (900, 1200)])
def test_a_fitted_world_fits_a_window_of_another_size_too_until_the_view_is_moved(size):
    camera, fitted = Camera((4000, 2250), (1280, 720)), Camera((4000, 2250), size)
    camera.show(CameraSettings(center=None, zoom=None))
    camera.resize(size)
    assert camera.view_rect() == fitted.view_rect()
    camera.pan(1, 0)
    zoom = camera.zoom
    camera.resize((1280, 720))
    assert camera.zoom == zoom
