"""A picture of a crowd, and what overlays draw over it with."""

from __future__ import annotations

import numpy as np
import pygame

from crowd_demo.config.resources import assets_folder
from crowd_demo.render.camera import Camera
from crowd_demo.render.overlays.base import OverlayView
from crowd_demo.render.overlays.sketch import Scales
from crowd_demo.render.pixels import plain_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation

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


def pixels(surface: pygame.Surface) -> np.ndarray:
    return pygame.surfarray.array2d(surface) & 0xFFFFFF
