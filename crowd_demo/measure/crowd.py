"""A crowd as an arm: a simulation whose steps are timed by stage, and a picture after each step if one is given.

Compile the kernels before the first block that counts. The time of a step that belongs to no stage is the stage `other`.
"""

from __future__ import annotations

import hashlib
import time

import numpy as np
import pygame

from crowd_demo.measure.arm import Block
from crowd_demo.profile import HISTORY, OTHER
from crowd_demo.render.camera import Camera
from crowd_demo.render.pixels import plain_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation

STEP, DRAW = "step", "draw"


class Picture:
    """The configuration's first view, drawn into memory. Needs no display."""

    def __init__(self, scene: Scene) -> None:
        config, walls = scene.sim.config, scene.sim.terrain.walls
        size = config.window.width, config.window.height
        self.scene, self.surface = scene, plain_surface(size)
        self.camera = Camera((float(walls.width), float(walls.height)), size)
        self.camera.show(config.camera)

    def draw(self) -> pygame.Surface:
        self.scene.sim.prepare_picture()
        self.scene.draw(self.surface, self.camera)
        return self.surface

    def hash(self) -> str:
        """Hash of the picture as it would be drawn now: 32 hex digits."""
        return hashlib.blake2b(self.draw().get_buffer().raw, digest_size=16).hexdigest()


class FrameArm:
    """Frames of a crowd: a step, and a picture if one is given. The stages of its blocks are `STEP` and `DRAW`,
    and the stages of these are their parts."""

    def __init__(self, sim: Simulation, picture: Picture | None = None) -> None:
        self.sim, self.picture = sim, picture

    def run(self, steps: int) -> Block:
        """Raises ValueError for more steps than a profile remembers."""
        check_length(steps)
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
        return Block(steps, {STEP: step_ms, DRAW: draw_ms} if self.picture else {STEP: step_ms},
                     parts_ms={stage: profile.stage_ms(stage, steps).copy() for stage in profile.stages})


class CrowdArm:
    """`sim` steps, and `picture` is drawn after each step. Nobody else may step it meanwhile."""

    def __init__(self, sim: Simulation, picture: Picture | None = None) -> None:
        self.sim, self.picture = sim, picture

    def run(self, steps: int) -> Block:
        """Raises ValueError for more steps than a profile remembers."""
        check_length(steps)
        counters = [self._step() for _ in range(steps)]
        profile = self.sim.profile
        times = {stage: profile.stage_ms(stage, steps).copy() for stage in profile.stages}
        return Block(steps, {**times, OTHER: profile.other_ms(steps)}, counters)

    def state_hash(self) -> str:
        return self.sim.state_hash()

    def _step(self) -> dict[str, float]:
        profile = self.sim.profile
        profile.begin_frame()
        self.sim.step()
        if self.picture:
            self.picture.draw()
        profile.end_frame()
        return dict(profile.counters)


def check_length(steps: int) -> None:
    """Raises ValueError for more steps in a block than a profile remembers."""
    if steps >= HISTORY:
        raise ValueError(f"a block of {steps} steps: the times of at most {HISTORY - 1} are kept")
