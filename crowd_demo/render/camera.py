"""The camera: which part of the world is on the screen, and at what size.

World and screen have the same axes (y grows downward); a screen pixel is `(world - corner) * zoom`. The centre always
stays inside the world, so the user cannot lose the crowd. The camera calculates in Python floats; `view()` gives the
same numbers as float32, with which all of the renderer calculates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.config.model import CameraSettings

LEAST_ZOOM, MAX_ZOOM = 0.05, 8.0
FIT_MARGIN = 0.97


class Rect(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


class Docked(NamedTuple):
    """Pixels at each edge of the window that panels cover."""

    left: int = 0
    top: int = 0
    right: int = 0
    bottom: int = 0


class View(NamedTuple):
    """What a kernel needs to find the pixel of a world point: the corner in world units, pixels a unit, the size in pixels."""

    left: np.float32
    top: np.float32
    zoom: np.float32
    width: np.int32
    height: np.int32


def clamp(value: float, low: float, high: float) -> float:
    return max(low, min(high, value))


class Camera:
    """Shows a part of a world of `world` units: (`x`, `y`) in the middle of `size` pixels, `zoom` pixels a unit.

    Only `fit` looks at what is `docked`. A fitted world is fitted again when that or the size changes, until the view
    is moved.
    """

    def __init__(self, world: tuple[float, float], size: tuple[int, int], docked: Docked | None = None) -> None:
        self.world = world
        self.size = size
        self.docked = docked or Docked()
        self.fit()

    def show(self, settings: CameraSettings) -> None:
        """Show what a configuration says; what it leaves out stays."""
        if settings.center or settings.zoom:
            self.look_at(*(settings.center or (self.x, self.y)), settings.zoom)

    def settings(self) -> CameraSettings:
        """The settings of this view; without its zoom where a configuration could not have it."""
        return CameraSettings(center=(self.x, self.y), zoom=self.zoom if self.zoom >= LEAST_ZOOM else None)

    @property
    def least_zoom(self) -> float:
        """`LEAST_ZOOM`, or less if the world would not fit."""
        return min(LEAST_ZOOM, self._fitting_zoom())

    def fit(self) -> None:
        """Show the whole world, in the middle of what panels leave free."""
        left, top, right, bottom = self.docked
        self.zoom = clamp(self._fitting_zoom(), self.least_zoom, MAX_ZOOM)
        self.look_at(self.world[0] / 2 + (right - left) / 2 / self.zoom, self.world[1] / 2 + (bottom - top) / 2 / self.zoom)
        self.is_fitted = True

    def look_at(self, x: float, y: float, zoom: float | None = None) -> None:
        """Look at a world point, kept inside the world; `zoom` in pixels a unit, None for the present one."""
        self.is_fitted = False
        if zoom is not None:
            self.zoom = clamp(zoom, self.least_zoom, MAX_ZOOM)
        self.x = clamp(x, 0.0, self.world[0])
        self.y = clamp(y, 0.0, self.world[1])

    def resize(self, size: tuple[int, int], docked: Docked | None = None) -> None:
        docked = docked or self.docked
        if (size, docked) == (self.size, self.docked):
            return
        self.size, self.docked = size, docked
        if self.is_fitted:
            self.fit()
        else:
            self.look_at(self.x, self.y, self.zoom)

    def pan(self, dx_px: float, dy_px: float) -> None:
        self.look_at(self.x + dx_px / self.zoom, self.y + dy_px / self.zoom)

    def zoom_at(self, px: float, py: float, factor: float) -> None:
        """Zoom by `factor`; the world point under pixel (px, py) stays there, if the centre can stay in the world."""
        x, y = self.screen_to_world(px, py)
        self.zoom = clamp(self.zoom * factor, self.least_zoom, MAX_ZOOM)
        self.look_at(x - (px - self.size[0] / 2) / self.zoom, y - (py - self.size[1] / 2) / self.zoom)

    def screen_to_world(self, px: float, py: float) -> tuple[float, float]:
        left, top, _, _ = self.view_rect()
        return left + px / self.zoom, top + py / self.zoom

    def world_to_screen(self, x: float, y: float) -> tuple[float, float]:
        left, top, _, _ = self.view_rect()
        return (x - left) * self.zoom, (y - top) * self.zoom

    def view_rect(self) -> Rect:
        half_width, half_height = self.size[0] / 2 / self.zoom, self.size[1] / 2 / self.zoom
        return Rect(self.x - half_width, self.y - half_height, self.x + half_width, self.y + half_height)

    def band(self, top: int, bottom: int) -> Camera:
        """A camera of the rows of pixels [top, bottom) of this picture."""
        band = Camera(self.world, (self.size[0], bottom - top))
        band.zoom, band.x = self.zoom, self.x
        band.y = self.y + ((top + bottom) / 2 - self.size[1] / 2) / self.zoom
        return band

    def view(self) -> View:
        left, top, _, _ = self.view_rect()
        width, height = self.size
        return View(np.float32(left), np.float32(top), np.float32(self.zoom), np.int32(width), np.int32(height))

    def _fitting_zoom(self) -> float:
        left, top, right, bottom = self.docked
        return FIT_MARGIN * min((self.size[0] - left - right) / self.world[0], (self.size[1] - top - bottom) / self.world[1])
