"""A crowd as an arm: a simulation whose steps are timed by stage, and a picture after each step if one is given.

Compile the kernels before the first block that counts. What a step spends in no stage is a stage of its own, `other`.
"""

from __future__ import annotations

import hashlib

import pygame

from crowd_demo.measure.arm import Block
from crowd_demo.profile import HISTORY, OTHER
from crowd_demo.render.camera import Camera
from crowd_demo.render.pixels import plain_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation


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


class CrowdArm:
    """`sim` steps, and `picture` is drawn after each step. Nobody else may step it meanwhile."""

    def __init__(self, sim: Simulation, picture: Picture | None = None) -> None:
        self.sim, self.picture = sim, picture

    def run(self, steps: int) -> Block:
        """Raises ValueError for more steps than a profile remembers."""
        if steps >= HISTORY:
            raise ValueError(f"a block of {steps} steps: the times of at most {HISTORY - 1} are kept")
        counters = [self._step() for _ in range(steps)]
        profile = self.sim.profile
        times = {stage: profile.stage_ms(stage, steps) for stage in profile.stages}
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
