"""Overlays: what is drawn over the finished picture. An overlay reads the simulation and never writes it."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple, Protocol

import pygame

from crowd_demo.registry.entries import load
from crowd_demo.registry.overlays import OVERLAYS
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.pen import Pen
from crowd_demo.sim.simulation import Simulation


class Looking(NamedTuple):
    """The crowd, and the camera that shows it."""

    sim: Simulation
    camera: Camera
    frozen: Rect | None  # the part of the world that culling keeps, where that is frozen


class Draw(Protocol):
    """The function of an overlay."""

    def __call__(self, on: pygame.Surface, looking: Looking, pen: Pen) -> None:
        """Draw on the picture `on`; `looking.camera` converts points of the world to its pixels."""


def draw_overlays(on: pygame.Surface, shown: Set[str], looking: Looking, pen: Pen) -> None:
    """Draw the overlays named in `shown`, in the order of the registry."""
    for name, entry in OVERLAYS.items():
        if name in shown:
            draw: Draw = load(entry.draw)
            draw(on, looking, pen)
