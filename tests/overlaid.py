"""A picture of a crowd, and what overlays draw over it with."""

from typing import Any

import numpy as np
import pygame

from crowd_demo.config.resources import assets_folder
from crowd_demo.render.camera import Camera
from crowd_demo.render.overlays.base import OverlayView, Scales, Sketch
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sprites.pixels import plain_surface

SIZE = 320, 240


def camera_of(sim: Simulation, zoom: float | None = None) -> Camera:
    walls = sim.terrain.walls
    camera = Camera((float(walls.width), float(walls.height)), SIZE)
    camera.look_at(camera.x, camera.y, zoom)
    return camera


def shown(sim: Simulation, camera: Camera) -> tuple[pygame.Surface, OverlayView]:
    """The picture without overlays, and what they get."""
    scene, surface = Scene(sim, sim.config, assets_folder()), plain_surface(SIZE)
    sim.prepare_picture()
    scene.draw(surface, camera, None, 0.5)
    assert scene.used
    return surface, OverlayView(sim, camera, camera.view_rect(), scene.used, Scales())


class Spy(Sketch):
    """Notes what is drawn, in world units."""

    def __init__(self, camera: Camera) -> None:
        super().__init__(camera)
        self.filled: list[tuple[Any, ...]] = []
        self.joined: list[tuple[Any, ...]] = []

    def areas(self, left: Any, top: Any, right: Any, bottom: Any, inks: Any) -> None:
        self.filled.append((left, top, right, bottom, inks))
        super().areas(left, top, right, bottom, inks)

    def lines(self, x0: Any, y0: Any, x1: Any, y1: Any, inks: Any, width: int = 1, dash: int = 0,
              shadow: int = 0) -> None:
        self.joined.append((*map(np.ravel, np.broadcast_arrays(x0, y0, x1, y1)), inks))
        super().lines(x0, y0, x1, y1, inks, width, dash, shadow)

    @property
    def by_place(self) -> dict[tuple[float, float], tuple[float, int]]:
        """The side and the colour of each square, none of which is filled twice, by its corner."""
        squares = [(float(x), float(y), float(end - x), int(colour)) for left, top, right, _, inks in self.filled
                   for x, y, end, colour in zip(left, top, right, inks, strict=True)]
        found = {(x, y): (side, colour) for x, y, side, colour in squares}
        assert len(found) == len(squares)
        return found


def spied(sim: Simulation, draw: Any, zoom: float | None = None, camera: Camera | None = None) -> tuple[Spy, OverlayView]:
    camera = camera or camera_of(sim, zoom)
    spy, view = Spy(camera), shown(sim, camera)[1]
    draw(spy, view)
    return spy, view


def pixels(surface: pygame.Surface) -> np.ndarray:
    return pygame.surfarray.array2d(surface) & 0xFFFFFF
