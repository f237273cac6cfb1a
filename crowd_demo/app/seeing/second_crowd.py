"""The second crowd of side by side: a replica of the crowd that is shown, with another setting of one technique.

It begins as a copy of the present state and then takes as many steps. When something else happens to the crowd (an action, a
restart, a step back, other walls), or when it is so far ahead that the window would stand still meanwhile, it begins again, as
a copy of what is there then; so both always come from one snapshot.
All of this belongs to the worker's thread.
"""

from __future__ import annotations

import time

import pygame

from crowd_demo.registry.entries import Value
from crowd_demo.render.camera import Camera
from crowd_demo.render.pixels import plain_surface
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation

CATCH_UP_S = 0.5  # how long a frame may wait for it: some steps of brute force, but not all those of a drag on the timeline


class SecondCrowd:
    """`path` is the technique, `value` what it is set to here."""

    def __init__(self, path: str, value: Value) -> None:
        self.path, self.value = path, value
        self.begun_at = 0  # the tick of the snapshot
        self.sim: Simulation | None = None
        self._like: tuple[object, ...] = ()  # what has to stay for the replica to be one
        self._picture: pygame.Surface | None = None

    def keep_up(self, sim: Simulation) -> None:
        """Make the steps that the crowd has made, or begin again from its present state."""
        like = id(sim), len(sim.history), sim.terrain.version
        if self.sim is None or like != self._like or sim.tick < self.sim.tick:
            self.sim, self._like = sim.replica(), like
            self._begin(sim, self.sim)
        self._copy_techniques(sim, self.sim)
        end = time.perf_counter() + CATCH_UP_S
        while self.sim.tick < sim.tick and time.perf_counter() < end:
            self.sim.step()
        if self.sim.tick < sim.tick:
            self._begin(sim, self.sim)

    def _begin(self, sim: Simulation, replica: Simulation) -> None:
        replica.restore(sim.state())
        self._copy_techniques(sim, replica)
        self.begun_at = sim.tick

    def draw(self, scene: Scene, camera: Camera, alpha: float) -> pygame.Surface:
        """Draw it by the program's scene, which meanwhile draws nothing else; the picture is overwritten by the next one."""
        assert self.sim, "call keep_up before"
        if self._picture is None or self._picture.get_size() != camera.size:
            self._picture = plain_surface(camera.size)
        running, used = scene.sim, scene.used
        scene.sim = self.sim
        try:
            self.sim.prepare_picture()
            scene.draw(self._picture, camera, None, alpha)
        finally:
            scene.sim, scene.used = running, used
        return self._picture

    def _copy_techniques(self, sim: Simulation, replica: Simulation) -> None:
        """All others are as they are there, also when they are switched."""
        replica.optimizations = sim.optimizations.model_copy(deep=True)
        replica.optimizations.set(self.path, self.value)
