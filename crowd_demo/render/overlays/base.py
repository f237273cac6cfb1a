"""What an overlay gets to draw with, and which are shown. An overlay reads and never writes."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple, Protocol

import pygame

from crowd_demo.registry.entries import load
from crowd_demo.registry.overlays import OVERLAYS
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.theme import Pen
from crowd_demo.sim.simulation import Simulation


class Looking(NamedTuple):
    """The crowd, and how it is looked at."""

    sim: Simulation
    camera: Camera
    frozen: Rect | None  # the rectangle of the world by which is culled, if it was frozen


class Draw(Protocol):
    """An overlay's function."""

    def __call__(self, on: pygame.Surface, looking: Looking, pen: Pen) -> None:
        """Draw over the picture `on`, in its pixels; `looking.camera` tells where a point of the world is."""


def draw_overlays(on: pygame.Surface, shown: Set[str], looking: Looking, pen: Pen) -> None:
    """Those whose names are shown, in the order of the registry."""
    for name, entry in OVERLAYS.items():
        if name in shown:
            draw: Draw = load(entry.draw)
            draw(on, looking, pen)
