"""The overlays that are shown: the main thread turns them on and off, the worker's thread draws them.

Some are drawn on the ground, so that agents walk over them, the others over the finished picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import partial

import pygame

from crowd_demo.app.crowd.crowd import Crowd
from crowd_demo.app.input.actions import KeyAction, KeyActions
from crowd_demo.app.seeing.inspector import Inspector
from crowd_demo.registry.overlays import AT_FIRST, OVERLAYS
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.canvas import THEMES, Pen
from crowd_demo.render.hud.status import LegendItem, PanelSettings
from crowd_demo.render.overlays.agents import draw_box
from crowd_demo.render.overlays.base import OverlayView, draw_overlays, on_ground
from crowd_demo.render.overlays.sketch import Moved, Scales, Sketch
from crowd_demo.render.pixels import frame_of


class Overlays:
    """`shown` are their names, `frozen` is the part of the world that culling keeps while the frustum is frozen."""

    def __init__(self, crowd: Crowd, camera: Camera, inspector: Inspector, at_first: Iterable[str] = (),
                 compiled: Callable[[], bool] = lambda: True) -> None:
        """Until what they draw with is `compiled`, nothing is drawn."""
        self.shown: set[str] = {AT_FIRST[label] for label in at_first}
        self.frozen: Rect | None = None
        self.cursor: tuple[float, float] | None = None  # in pixels, if it is in the window
        self.legend_items: tuple[LegendItem, ...] = ()  # for the legend
        self.moved: Moved = lambda rect: rect  # away from the HUD
        self._items_of_ground: tuple[LegendItem, ...] = ()
        self._crowd, self._camera, self._inspector, self._compiled = crowd, camera, inspector, compiled
        self._pen: Pen | None = None
        self._scales = Scales()

    @property
    def at_first(self) -> tuple[str, ...]:
        """The labels with which a configuration begins with what is shown."""
        return tuple(label for label, name in AT_FIRST.items() if name in self.shown)

    @property
    def actions(self) -> KeyActions:
        return {**{name: KeyAction(partial(self.toggle, name)) for name in OVERLAYS}, "freeze": KeyAction(self.freeze)}

    def toggle(self, name: str) -> None:
        self.shown ^= {name}

    def freeze(self) -> None:
        """Go on to cull by the present view and show it as a rectangle; or cull by the camera's view again."""
        self.toggle("freeze")
        self.frozen = self._camera.view_rect() if "freeze" in self.shown else None

    def draw_on_ground(self, looks: PanelSettings, on: pygame.Surface) -> None:
        """Begin with those that agents are drawn over. Call from the worker's thread, like `draw`: this runs kernels."""
        shown = on_ground(self.shown)
        self._items_of_ground = self._draw(on, shown, looks) if shown else ()

    def draw(self, on: pygame.Surface, looks: PanelSettings) -> None:
        """Draw the others over the picture that the scene has just drawn, and what is inspected."""
        shown = self.shown - on_ground(self.shown)
        is_drawing = shown or self._inspector.active
        self.legend_items = self._items_of_ground + (self._draw(on, shown, looks, self._inspector.draw) if is_drawing else ())

    def draw_on_both(self, on: pygame.Surface) -> None:
        """Draw on the picture of another crowd what belongs to the place: the rectangle that is inspected."""
        if (box := self._inspector.box) and self._compiled():
            sketch = Sketch(self._camera)
            draw_box(sketch, box)
            sketch.call(self._crowd.sim.world.workers, frame_of(on)).run()

    def _draw(self, on: pygame.Surface, shown: Set[str], looks: PanelSettings,
              more: Callable[[OverlayView, Sketch], None] = lambda view, sketch: None) -> tuple[LegendItem, ...]:
        scene, sim = self._crowd.scene, self._crowd.sim
        if not (scene and scene.used and self._compiled()):
            return ()
        self._pen = self._pen or Pen()
        self._pen.theme = THEMES[looks.theme]
        with sim.profile.stage("overlays"):
            view = OverlayView(sim, self._camera, self.frozen, scene.used, self._scales, self.cursor)
            return tuple(draw_overlays(on, shown, view, self._pen, partial(more, view), looks.scale, self.moved))
