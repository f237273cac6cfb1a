"""The public face: what scripts and notebooks import from `crowd_demo`. Whatever is not listed here may change tomorrow."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.compute.arrays import Bytes
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.model import Config
from crowd_demo.sim import simulation

if TYPE_CHECKING:
    from crowd_demo.extras.export.notebook import PlayedRun, TrajectoryTable

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting has no place in somebody's notebook

__all__ = ["Config", "ConfigError", "Simulation", "load_config"]


class Simulation(simulation.Simulation):
    """A crowd and its world, made from a `Config`: `step`, look, change `optimizations`, `step` on.

    `sim.agents.by_id()` gives all columns in the order of ids, as read-only arrays; `sim.profile.counters` the work of the
    last step; `sim.profile.step_ms()` the time of each stage; `sim.state_hash()` what no exact technique can change. A
    simulation can be pickled and copied; it has no global state, so several can live side by side.
    """

    def picture(self, width: int = 1280, height: int = 720, center: tuple[float, float] | None = None,
                zoom: float | None = None) -> Bytes:
        """The crowd as the window would show it, without the HUD: uint8[height, width, 3], red, green, blue.

        `center` in world units and `zoom` in pixels a unit are the configuration's if they are not given, and else fit the
        whole world. Needs no display. Raises ValueError for a size below 1 and for a zoom that is not above 0.
        """
        if min(width, height) < 1:
            raise ValueError(f"a picture of {width} x {height} pixels has nothing to show")
        if zoom is not None and not zoom > 0:
            raise ValueError(f"zoom: must be above 0 pixels a unit, not {zoom}")
        import pygame

        from crowd_demo.measure.crowd_variant import Picture

        picture = Picture(self, size=(width, height))
        picture.camera.look_at(*(center or (picture.camera.x, picture.camera.y)), zoom)
        return np.ascontiguousarray(pygame.surfarray.array3d(picture.draw()).swapaxes(0, 1))

    def show(self, width: int = 800, height: int = 450, steps: int = 600) -> PlayedRun:
        """The next `steps` steps as a page that plays, which a notebook shows in an area of so many pixels.

        It is the page of `crowd-demo export`: a text of HTML in memory (`.page`), without a server or a network. A copy makes
        the steps; the simulation stays where it is. Raises ValueError for a size below 1 and a negative number of steps.
        """
        from crowd_demo.extras.export.notebook import played

        return played(self, width, height, steps)

    def trajectories(self, every: int = 6, steps: int = 600, metres: bool = True) -> TrajectoryTable:
        """Who is where in each of the next `steps` steps that `every` divides, the present state first.

        A record array with the fields id, frame (int64), x and y (float64; metres, or world units). An id is one person:
        whoever is born or comes in at an exit has an id of its own. `.to_pandas()` makes a DataFrame, where pandas is
        installed. A copy makes the steps, as in `show`. Raises ValueError for `every` below 1 and a negative number of steps.
        """
        from crowd_demo.extras.export.notebook import table_of

        return table_of(self, every, steps, metres)
