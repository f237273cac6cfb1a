"""A crowd as a variant: a simulation whose steps are timed, and a picture after each step if one is given.

Compile the kernels before the first block that counts. The time of a frame that belongs to no stage is the stage
`other`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

import numpy as np
import pygame

from crowd_demo.config.resources import assets_folder
from crowd_demo.measure.comparison import DRAW, STEP, BlockTimes, TimedBlock
from crowd_demo.profile import HISTORY, OTHER
from crowd_demo.registry.entries import Value
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sprites.pixels import plain_surface

PAIR_NS = {True: 0.1, False: 1.0}  # with lanes and without: 36 and 390 ms for 20k birds on two threads


class Picture:
    """The configuration's first view, drawn into memory; as large as the window if no size is given. Needs no display."""

    def __init__(self, sim: Simulation, scene: Scene | None = None, size: tuple[int, int] | None = None) -> None:
        config, walls = sim.config, sim.terrain.walls
        size = size or (config.window.width, config.window.height)
        self.sim, self.scene, self.surface = sim, scene or Scene(sim, config, assets_folder()), plain_surface(size)
        self.camera = Camera((float(walls.width), float(walls.height)), size)
        self.camera.show(config.camera)
        self.frozen: Rect | None = None
        self.alpha = 0.0

    def draw(self) -> pygame.Surface:
        with self.scene.showing(self.sim):
            self.sim.prepare_picture()
            self.scene.draw(self.surface, self.camera, self.frozen, self.alpha)
        return self.surface


def picture_hash(picture: Picture) -> str:
    """Hash of the picture as it would be drawn now: 32 hex digits."""
    return hashlib.blake2b(picture.draw().get_buffer().raw, digest_size=16).hexdigest()


class CrowdVariant:
    """Each frame makes a step of `sim` and draws `picture`, if there is one. Nothing else may step `sim` meanwhile."""

    def __init__(self, sim: Simulation, picture: Picture | None = None) -> None:
        self.sim, self.picture = sim, picture

    def run(self, steps: int) -> BlockTimes:
        """Raises ValueError for more steps than a profile remembers."""
        if steps >= HISTORY:
            raise ValueError(f"a block of {steps} steps: the times of at most {HISTORY - 1} are kept")
        profile = self.sim.profile
        step_ms, draw_ms = np.zeros((2, steps), np.float32)
        for frame in range(steps):
            profile.begin_frame()
            began = time.perf_counter()
            self.sim.step()
            stepped = time.perf_counter()
            if self.picture:
                self.picture.draw()
            step_ms[frame], draw_ms[frame] = (stepped - began) * 1e3, (time.perf_counter() - stepped) * 1e3
            profile.end_frame()
        stages = {stage: profile.stage_ms(stage, steps).copy() for stage in profile.stages}
        return BlockTimes(
            TimedBlock(steps, {STEP: step_ms, DRAW: draw_ms} if self.picture else {STEP: step_ms}),
            TimedBlock(steps, {**stages, OTHER: profile.other_ms(steps)},
                      [record.counters for record in profile.records(steps)]))


def all_pairs_s(agents: int, get: Callable[[str], Value]) -> float:
    """Seconds in which a step tests all pairs with these techniques, about; 0 with any neighbour structure.

    It may be minutes: nobody has to wait for one to know.
    """
    if get("neighbours") != "none":
        return 0.0
    return agents**2 / float(get("stagger.avoidance")) * PAIR_NS[bool(get("simd"))] * 1e-9
