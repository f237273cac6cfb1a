"""The interface of figures, which stand for agents in the picture; each behaviour names its own in the registry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pygame

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Call
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.render.camera import Camera, Rect, View
from crowd_demo.render.figures.light import Shades
from crowd_demo.render.figures.sprites import Manifest
from crowd_demo.render.pixels import Frame
from crowd_demo.render.projection import Bounds, Moving
from crowd_demo.sim.store.columns import Columns
from crowd_demo.sim.store.handles import Handles

MARGIN_PX = 1.0  # a figure has whole pixels, and its position is rounded


class Shot(NamedTuple):
    """What is the same for all stages of a frame."""

    workers: int
    options: Optimizations  # the techniques as they are now
    columns: Columns  # of the agents, by slot
    agents: Moving
    ahead: np.float32  # seconds from the last step to this frame
    time_s: np.float64  # of this frame
    camera: Camera
    view: View
    rect: Rect  # of the world: culling keeps what is in it
    bounds: Bounds  # of drawn positions: `rect`, and the margin of the figures around it
    handles: Handles  # of the crowd, for figures that remember how they drew somebody


class Figures(Protocol):
    """The figures of one behaviour. They own the memory that they need for a frame, and read the agents from the shot."""

    MARKS: bool  # whether the ground shows the agents' destinations

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        """Load what is needed of `folder`, whose sheets `manifest` describes."""

    def margin(self, zoom: float) -> Rect:
        """How far the pixels of any agent reach beyond its position on each side, in world units."""

    def ordered(self, zoom: float) -> bool:
        """Does the order in which they are drawn change the picture?"""

    def draw(self, target: pygame.Surface, shot: Shot, slots: Ints, shades: Shades | None = None) -> int:
        """Draw all of `slots`, in that order, with the blitter of the shot's options; return how many touch the screen.

        They have the colours of `shades`, or their own.
        """

    def calls(self, shot: Shot, frame: Frame) -> Iterator[Call]:
        """Every kernel that `draw` may run with the shot's options at any zoom, for compiling ahead."""
