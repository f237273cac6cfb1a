"""The outline of the frozen frustum."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pygame
import pytest
from crowds import simulation

from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import DARK, WARM
from crowd_demo.render.overlays.base import Looking, draw_overlays
from crowd_demo.render.overlays.frustum import outline

BACKGROUND = 176, 170, 158
pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def font() -> Iterator[None]:
    pygame.font.init()
    yield
    pygame.font.quit()


@pytest.fixture
def picture() -> pygame.Surface:
    surface = pygame.Surface((640, 360), depth=32)
    surface.fill(BACKGROUND)
    return surface


def changed(picture: pygame.Surface) -> np.ndarray:
    """bool[width, height]"""
    return (pygame.surfarray.array3d(picture) != BACKGROUND).any(axis=2)


def test_the_frozen_frustum_is_outlined_where_it_is(picture: pygame.Surface) -> None:
    camera = Camera((2000, 2000), (640, 360))
    camera.look_at(1000, 1000, 0.5)
    outline(picture, camera, Rect(800, 900, 1200, 1100), Pen())
    left, top = camera.world_to_screen(800, 900)
    right, bottom = camera.world_to_screen(1200, 1100)
    middle_x, middle_y = round((left + right) / 2), round((top + bottom) / 2)
    on_edges = [(left, middle_y), (right - 1, middle_y), (middle_x, bottom - 1)]
    assert all(picture.get_at((round(x), round(y)))[:3] == DARK[WARM] for x, y in on_edges)
    assert picture.get_at((round(right) - 20, round(bottom) - 20))[:3] == BACKGROUND


def test_of_a_frustum_far_outside_the_screen_only_its_name_is_seen_at_the_edge_beside_it(picture: pygame.Surface) -> None:
    camera = Camera((1e6, 1e6), (640, 360))
    camera.look_at(10, 10, 8.0)
    outline(picture, camera, Rect(5e5, 5e5, 9e5, 9e5), Pen())
    x, y = np.nonzero(changed(picture))
    assert x.min() > 640 - 8 - 200 and x.max() == 640 - 8 - 1
    assert y.min() > 360 - 35 and y.max() == 360 - 8 - 1


def test_nothing_is_outlined_while_nothing_is_frozen(picture: pygame.Surface) -> None:
    sim = simulation(agents=0, map="null")
    camera = Camera((2000, 2000), (640, 360))
    draw_overlays(picture, {"freeze"}, Looking(sim, camera, None), Pen())
    assert not changed(picture).any()
    draw_overlays(picture, set(), Looking(sim, camera, Rect(0, 0, 2000, 2000)), Pen())
    assert not changed(picture).any()
    draw_overlays(picture, {"freeze"}, Looking(sim, camera, Rect(0, 0, 2000, 2000)), Pen())
    assert changed(picture).any()
