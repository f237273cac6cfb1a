"""The public API: what scripts and notebooks import from `crowd_demo`. Everything else may change."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Bytes
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.memory import shortage
from crowd_demo.config.model import Config
from crowd_demo.config.section import whole
from crowd_demo.sim import simulation
from crowd_demo.sim.actions import ACTIONS, Action, Place, Populate, SetWalls, checked
from crowd_demo.sim.terrain.tiles import Rectangle

if TYPE_CHECKING:
    from crowd_demo.extras.export.page import PlayedRun
    from crowd_demo.extras.export.trajectories import TrajectoryTable

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting has no place in somebody's notebook

__all__ = ["Config", "ConfigError", "Simulation", "load_config"]
MAX_SIDE = 16_384  # pixels of a picture
MAX_STEPS = 1_000_000_000
PIXEL_BYTES, ROW_BYTES = 16, 128  # of memory for a pixel of a picture, and for a row of a table, while they are made


class Simulation(simulation.Simulation):
    """A crowd and its world, made from a `Config`.

    A simulation can be pickled and copied. Several can live side by side.
    """

    def apply(self, action: Action) -> None:
        """Apply an action before the next step, and record it in `history`. Raises ValueError if it is impossible."""
        if not isinstance(action, tuple(ACTIONS.values())):
            raise TypeError(f"action: must be one such as Populate(500), not {action!r:.60}")
        super().apply(checked(action))

    def populate(self, count: int) -> None:
        """Set the number of agents: newcomers take the lowest free ids, the highest ids leave. Raises ValueError."""
        super().populate(checked(Populate(count)).count)

    def place(self, id: int, x: float, y: float) -> None:
        """Put an agent at a place, out of walls and into the world. Raises ValueError if no agent has the id."""
        checked(Place(id, x, y)).apply(self)

    def set_walls(self, rectangle: Rectangle, wall: bool) -> None:
        """Build or remove walls on tiles [left, top, right, bottom); agents in a new wall step out or are removed."""
        asked = checked(SetWalls(rectangle, wall))
        super().set_walls(asked.rectangle, asked.wall)

    def picture(self, width: SupportsIndex = 1280, height: SupportsIndex = 720, center: ArrayLike | None = None,
                zoom: SupportsFloat | None = None) -> Bytes:
        """Return the crowd as the window shows it, without the HUD: RGB, uint8[height, width, 3].

        `center` is in world units, `zoom` in pixels per unit; by default as in the configuration. Needs no display.
        Raises ValueError for sides that are not from 1 to 16,384 pixels or too large for
        memory, and TypeError for sides that are not whole.
        """
        size = _whole("width", width, 1, MAX_SIDE), _whole("height", height, 1, MAX_SIDE)
        if short := shortage(size[0] * size[1] * PIXEL_BYTES):
            raise ValueError(f"a picture of {size[0]:,} x {size[1]:,} pixels {short}")
        (scale,) = _numbers("zoom", 1 if zoom is None else zoom, 1)
        if scale <= 0:
            raise ValueError(f"zoom: must be above 0 pixels per unit, not {zoom}")
        import pygame

        from crowd_demo.measure.proof import Picture

        picture = Picture(self, size=size)
        x, y = _numbers("center", (picture.camera.x, picture.camera.y) if center is None else center, 2)
        picture.camera.look_at(x, y, None if zoom is None else scale)
        return np.ascontiguousarray(pygame.surfarray.array3d(picture.draw()).swapaxes(0, 1))

    def show(self, width: SupportsIndex = 800, height: SupportsIndex = 450, steps: SupportsIndex = 600) -> PlayedRun:
        """Return the next steps of a copy as a page that plays in a notebook, in `width` x `height` pixels.

        The page is that of `crowd-demo export`, in memory (`.page`).
        Raises ValueError for impossible numbers.
        """
        from crowd_demo.extras.export.page import played

        return played(self, _whole("width", width, 1, MAX_SIDE), _whole("height", height, 1, MAX_SIDE),
                      _whole("steps", steps, 0, MAX_STEPS))

    def trajectories(self, every: SupportsIndex = 6, steps: SupportsIndex = 600,
                     metres: bool | np.bool_ = True) -> TrajectoryTable:
        """Return the current positions, and those after every few of the next steps of a copy.

        A record array of id, frame (int64), x and y (float64, in metres or world units). Newcomers have new ids.
        `.to_pandas()` makes a DataFrame. Raises ValueError for impossible numbers and too
        little memory.
        """
        every, steps = _whole("every", every, 1, MAX_STEPS), _whole("steps", steps, 0, MAX_STEPS)
        if not isinstance(metres, bool | np.bool_):
            raise TypeError(f"metres: must be True or False, not {metres!r:.60}")
        if short := shortage((steps // every + 1) * self.agents.count * ROW_BYTES):
            raise ValueError(f"a table of {steps // every + 1:,} frames {short}")
        from crowd_demo.extras.export.trajectories import table_of

        return table_of(self, every, steps, bool(metres))


def _whole(name: str, value: SupportsIndex, least: int, most: int) -> int:
    """Return a whole number of any integer type. Raises TypeError for anything else, ValueError out of bounds."""
    number = whole(name, value)
    if not least <= number <= most:
        raise ValueError(f"{name}: must be from {least:,} to {most:,}, not {number:,}")
    return number


def _numbers(name: str, value: ArrayLike | SupportsFloat, count: int) -> list[float]:
    """Return so many finite numbers, of any kind of number. Raises ValueError."""
    with suppress(ValueError):
        found = np.asarray(value)
        if found.dtype.kind in "iuf" and found.size == count and np.isfinite(found).all():
            return [float(number) for number in found.ravel()]
    wanted = "a finite number" if count == 1 else f"{count} finite numbers"
    raise ValueError(f"{name}: must be {wanted}, not {value!r:.60}")
