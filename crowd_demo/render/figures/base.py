"""The interface of figures, which stand for agents in the picture; each behaviour names its own in the registry.

`FrameInput` is what they are given in each frame, and `ReusedColumns` their memory for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import pygame

from crowd_demo.compute.arrays import Ints, with_room
from crowd_demo.compute.jit import Launch
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.render.camera import Camera, Rect, View
from crowd_demo.render.figures.light import Shades
from crowd_demo.render.figures.sprites import Manifest
from crowd_demo.render.formulas import Bounds, Moving
from crowd_demo.render.pixels import Frame
from crowd_demo.sim.store.columns import Columns
from crowd_demo.sim.store.sparse_set import Handles

C = TypeVar("C")
MARGIN_PX = 1.0  # a figure has whole pixels, and its position is rounded


class FrameInput(NamedTuple):
    """What all stages of a frame draw from."""

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


class ReusedColumns(Generic[C]):
    """Memory for a record of columns, int32 each, or of those types; it grows with room to spare."""

    def __init__(self, record: Any, **types: type[np.generic]) -> None:
        self._record, self._types = record, [types.get(name, np.int32) for name in record._fields]
        self._columns = [np.empty(0, kind) for kind in self._types]

    def first(self, count: int) -> C:
        """So many entries of each column, overwritten by whoever asks next."""
        if count > len(self._columns[0]):
            self._columns = [np.empty(with_room(count), kind) for kind in self._types]
        return self._record(*(column[:count] for column in self._columns))


class Figures(Protocol):
    """The figures of one behaviour. They own the memory that they need for a frame, and read the agents from the input."""

    MARKS: bool  # whether the ground shows the agents' destinations

    def __init__(self, config: Config, folder: Path, manifest: Manifest) -> None:
        """Load what is needed of `folder`, whose sheets `manifest` describes."""

    def margin(self, zoom: float) -> Rect:
        """How far the pixels of any agent reach beyond its position on each side, in world units."""

    def ordered(self, zoom: float) -> bool:
        """Does the order in which they are drawn change the picture?"""

    def draw(self, target: pygame.Surface, now: FrameInput, slots: Ints, shades: Shades | None = None) -> int:
        """Draw all of `slots`, in that order, with the blitter of the input's options; return how many touch the
        screen.

        They have the colours of `shades`, or their own.
        """

    def launches(self, now: FrameInput, frame: Frame) -> Iterator[Launch]:
        """Every kernel that `draw` may run with the input's options at any zoom, for compiling ahead."""
