"""Labels in the world: where they stand, what they count, and when they fade."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pygame
import pytest

from crowd_demo.config.loader import load_config
from crowd_demo.config.resources import list_configs
from crowd_demo.render.camera import Camera
from crowd_demo.render.figures.people import UNITS
from crowd_demo.render.hud.canvas import Pen
from crowd_demo.render.overlays.agents import LEAST_PX, NAMED_PX, draw_labels, opening
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.sim.fundamental_diagram import Line
from crowd_demo.sprites.pixels import frame_of, plain_surface

TILE, SIZE = 20.0, (640, 480)
DOOR = Line(100, 0, 100, 400)  # all of a wall, as in doorway


class Ground(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]


def wall(*free: int, closed: bool = False) -> Any:
    """Return a map with a door: free tiles in column 5 of a wall. `closed` blocks the column behind the door."""
    blocked = np.zeros((20, 30), np.uint8)
    blocked[:, 5] = 1
    blocked[list(free), 5] = 0
    blocked[:, 6] = closed
    return Ground(walls=SimpleNamespace(blocked=blocked, tile=np.float32(TILE)), version=0)


@pytest.mark.quick
def test_an_opening_is_the_longest_free_part_of_a_line_and_a_wall_behind_it_blocks_it() -> None:
    assert opening(wall(0, 8, 9, 10), 0, DOOR) == pytest.approx((100, 160, 100, 220))
    assert opening(wall(), 0, DOOR) is None and opening(wall(8, 9, closed=True), 0, DOOR) is None


def labels(zoom: float, ground: Any) -> Sketch:
    config = load_config("doorway")
    config = config.model_copy(update={"measure": config.measure.model_copy(update={"lines": {"door": DOOR}}),
                                       "scene": config.scene.model_copy(update={"labels": {"hall": (50.0, 50.0)}})})
    counts = SimpleNamespace(flows=lambda seconds: np.array([[1.25]]), of_line=lambda name: 54)
    camera = Camera((600.0, 400.0), SIZE)
    camera.look_at(100.0, 200.0, zoom)
    sketch = Sketch(camera)
    draw_labels(sketch, SimpleNamespace(sim=SimpleNamespace(config=config, counts=counts, terrain=ground)))  # type: ignore[arg-type]
    return sketch


def texts(sketch: Sketch) -> list[list[str]]:
    return [[text for text, _ in parts] for parts, *_ in sketch._labels]


@pytest.mark.quick
def test_from_afar_only_counts_are_left_and_then_nothing() -> None:
    ground, near = wall(8, 9), NAMED_PX / UNITS
    assert texts(labels(near, ground)) == [["door", "54", "1.2/s"], ["hall"]]
    assert texts(labels(near * 0.9, ground)) == [["54"]]
    assert texts(labels(LEAST_PX / UNITS * 0.9, ground)) == []
    assert texts(labels(near, wall()))[0] == ["door", "54", "blocked"]
    assert labels(near, ground)._labels[0][2] > labels(near * 0.6, ground)._labels[0][2], "they fade"


@pytest.mark.quick
def test_a_label_stands_beside_its_opening_and_nowhere_if_a_panel_covers_both_of_its_sides() -> None:
    pygame.font.init()
    sketch = labels(1.0, wall(8, 9))
    sketch._labels = sketch._labels[:1]

    def written(covered: pygame.Rect) -> list[int]:
        """The rows of pixels that are written, where what is covered would be moved."""
        surface = plain_surface(SIZE)
        sketch.write(surface, Pen(), 1.0, lambda rect: rect.move(9, 9) if rect.colliderect(covered) else rect)
        return np.flatnonzero(frame_of(surface).any(axis=1)).tolist()

    top, bottom = 240 - 40, 240  # of the opening, pixels: its middle is y = 180, the screen's 200
    above, below = written(pygame.Rect(0, 0, 1, 1)), written(pygame.Rect(0, 0, 640, top))
    assert above and max(above) < top and min(below) >= bottom
    assert not written(pygame.Rect(0, 0, 640, 480))


@pytest.mark.quick
def test_people_are_at_least_twelve_pixels_high_where_a_scenario_begins_close() -> None:
    for name in list_configs():
        config = load_config(name)
        if config.behaviour == "crowd":
            zoom = config.camera.zoom or Camera((config.world.width, config.world.height), (1280, 720)).zoom
            assert zoom * UNITS >= (12 if config.camera.zoom else NAMED_PX), name
