"""The overlays that are shown: the main thread turns them on and off, the worker's thread draws them over the crowd."""

from __future__ import annotations

from functools import partial

import pygame

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.input.actions import KeyAction, KeyActions
from crowd_demo.app.seeing.inspector import Inspector
from crowd_demo.registry.overlays import OVERLAYS
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import THEMES
from crowd_demo.render.overlays.base import Looking, draw_overlays
from crowd_demo.render.told import Told


class Overlays:
    """`shown` are their names, `frozen` is the part of the world that culling keeps while the frustum is frozen."""

    def __init__(self, crowd: Crowd, camera: Camera, inspector: Inspector) -> None:
        self.shown: set[str] = set()
        self.frozen: Rect | None = None
        self.cursor: tuple[float, float] | None = None  # in pixels, if it is in the window
        self.told: tuple[Told, ...] = ()  # for the legend
        self._crowd, self._camera, self._inspector = crowd, camera, inspector
        self._pen: Pen | None = None

    @property
    def actions(self) -> KeyActions:
        return {**{name: KeyAction(partial(self.toggle, name)) for name in OVERLAYS}, "freeze": KeyAction(self.freeze)}

    def toggle(self, name: str) -> None:
        self.shown ^= {name}

    def freeze(self) -> None:
        """Go on to cull by the present view and show it as a rectangle; or cull by the camera's view again."""
        self.toggle("freeze")
        self.frozen = self._camera.view_rect() if "freeze" in self.shown else None

    def draw(self, on: pygame.Surface, theme: str) -> None:
        """Draw them over the picture that the scene has just drawn. Call from the worker's thread: this runs kernels."""
        scene, sim = self._crowd.scene, self._crowd.sim
        if not ((self.shown or self._inspector.active) and scene and scene.used):
            self.told = ()
            return
        self._pen = self._pen or Pen()
        self._pen.theme = THEMES[theme]
        with sim.profile.stage("overlays"):
            looking = Looking(sim, self._camera, self.frozen, scene.used, self.cursor)
            more = partial(self._inspector.draw, looking)
            self.told = tuple(draw_overlays(on, self.shown, looking, self._pen, more))
