"""What a scene asks of the figures that stand for agents. `people`, `birds` and `crates` answer, a file each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pygame

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Call
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.render.camera import Camera, Rect, View
from crowd_demo.render.pixels import Frame
from crowd_demo.render.projection import Bounds, Moving
from crowd_demo.sim.store.columns import Columns

Manifest = Mapping[str, Any]  # sprites.json: what is on which sheet
MARGIN_PX = 1.0  # a figure's pixels are whole, and its place is rounded


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
    rect: Rect  # of the world, by which is culled
    bounds: Bounds  # of drawn places, which `rect` and the margin of the figures give


class Figures(Protocol):
    """Those of one behaviour. They own what they need for a frame, and read the agents from the shot."""

    MARKS: bool  # does the ground show where the agents want to go?

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        """`folder` has the sheets that `manifest` tells of."""

    def margin(self, zoom: float) -> Rect:
        """How far the pixels of any agent reach beyond its place on each side, in world units."""

    def ordered(self, zoom: float) -> bool:
        """Does it show in which order they are drawn?"""

    def draw(self, target: pygame.Surface, shot: Shot, slots: Ints) -> int:
        """All of `slots`, in that order, by the blitter of the shot's options; returns how many touch the screen."""

    def calls(self, shot: Shot, frame: Frame) -> Iterator[Call]:
        """Every kernel that `draw` may run with the shot's options at any zoom, for compiling ahead."""
