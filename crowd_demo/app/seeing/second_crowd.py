"""The second crowd of a split window: a copy of the first with another technique, or a run of another configuration.

The copy begins from the crowd's present state and makes the same steps. A run of ours beside measured people begins at
its own beginning, in their map, and is always made to the same tick; so it begins anew where the first goes back in
time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import pygame

from crowd_demo.config.loader import ReadConfig, as_overrides
from crowd_demo.config.model import Config
from crowd_demo.measure.proof import SameTickHashes, short
from crowd_demo.registry.entries import Value
from crowd_demo.render.camera import Camera
from crowd_demo.render.hud.card import ProofKind, ProofLine
from crowd_demo.render.hud.status import time_text
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sprites.pixels import plain_surface

HASH_EVERY_S, HASH_SHARE = 1.0, 0.05  # how often hashes are made anew at most, and in what share of the time
CATCH_UP_S = 0.5  # how long a frame may wait for it: some steps of brute force, but not all those of a drag on the timeline


class SecondCrowd:
    """`path` is the technique, `value` what it is set to here. All of this belongs to the worker's thread."""

    def __init__(self, path: str, value: Value) -> None:
        self.path, self.value = path, value
        self.begun_at = 0  # the tick of the snapshot
        self.is_exact = True  # were all values since then?
        self.sim: Simulation | None = None  # None: to begin again
        self.picture = plain_surface((1, 1))
        self._view: object = None  # that it shows
        self._hashes = SameTickHashes()
        self._hashing: Iterator[None] = iter(())
        self._hashed_at_s, self._asked_at_s, self._credit_s = -math.inf, time.perf_counter(), 0.0

    def keep_up(self, sim: Simulation, waits: bool = False) -> Simulation:
        """Make the steps that the crowd has made unless it `waits`, or begin again from the crowd's present state."""
        if self.sim is None:
            self.sim = sim.replica()
            self._begin(sim, self.sim)
        self.sim.optimizations.set(self.path, self.value)
        if not waits and not self._catch_up(self.sim.step, self.sim, sim.tick):
            self._begin(sim, self.sim)
        return self.sim

    @staticmethod
    def _catch_up(step: Callable[[], object], sim: Simulation, tick: int) -> bool:
        """Make steps up to a tick, as many as a frame has time for; return whether there was time for all."""
        end = time.perf_counter() + CATCH_UP_S
        while sim.tick < tick and time.perf_counter() < end:
            step()
        return sim.tick >= tick

    def _begin(self, sim: Simulation, replica: Simulation) -> None:
        """Copy the crowd's state, with all its techniques but one."""
        replica.restore(sim.state())
        replica.optimizations.set(self.path, self.value)
        self.begun_at, self.is_exact, self._view = sim.tick, True, None
        self._hashes, self._hashing = SameTickHashes(sim, replica), iter(())

    def compare(self, sim: Simulation) -> None:
        """Bring the hashes of both crowds up to date in a share of the time. Call when they are at the same tick."""
        now_s = time.perf_counter()
        self._credit_s = min(self._credit_s, 0.0) + HASH_SHARE * (now_s - self._asked_at_s)
        self._asked_at_s = now_s
        while self._credit_s > 0 and self._make_hashes(sim.tick, now_s):
            then_s, now_s = now_s, time.perf_counter()
            self._credit_s -= now_s - then_s

    def _make_hashes(self, tick: int, now_s: float) -> bool:
        """Compute the next part of the two hashes; return False if they are up to date."""
        for _ in self._hashing:
            return True
        if self._hashes.found and (tick == self._hashes.tick or now_s < self._hashed_at_s + HASH_EVERY_S):
            return False
        self._hashed_at_s, self._hashing = now_s, self._hashes.parts()
        return True

    def hash_lines(self, dt: float) -> tuple[ProofLine | None, ProofLine | None]:
        if not self._hashes.found:
            return None, None
        one, other = self._hashes.found
        kind: ProofKind = "same" if one == other else "differs" if self.is_exact else "apart"
        at = f"{'DIFFERS' if kind == 'differs' else kind} at {time_text(self._hashes.tick * dt)}"
        return ProofLine(kind, f"hash {short(one)} {at}"), ProofLine(kind, f"hash {short(other)} {at}")

    def is_drawn(self, scene: Scene, camera: Camera) -> bool:
        return self._view == view_of(scene, camera)

    def draw(self, scene: Scene, camera: Camera, alpha: float) -> pygame.Surface:
        """Draw it by the program's scene, which meanwhile draws nothing else; the picture is overwritten by the next one."""
        assert self.sim, "call keep_up before"
        self._view = view_of(scene, camera)
        if self.picture.get_size() != camera.size:
            self.picture = plain_surface(camera.size)
        used = scene.used
        with scene.showing(self.sim):
            self.sim.prepare_picture()
            scene.draw(self.picture, camera, None, alpha)
        scene.used = used
        self.sim.profile.end_frame(tick=self.sim.tick)
        return self.picture


def view_of(scene: Scene, camera: Camera) -> object:
    """Another value for another view."""
    return camera.view_rect(), camera.size, scene.colours


# --- a run of ours beside measured people ------------------------------------------------------------------------------

def config_beside(config: Config) -> Config | None:
    """Return the configuration that `playback.beside` names, with the map and the steps of this one; None if it names none.

    Raises ConfigError.
    """
    if config.behaviour != "playback" or config.playback.beside is None:
        return None
    same = {"map": config.map, "world.tile": config.world.tile, "world.y_axis": config.world.y_axis,
            "world.unit": config.world.unit, "playback.columns": config.playback.columns,
            "measure.metre": config.measure.metre, "time.step_hz": config.time.step_hz}
    return ReadConfig.read(config.playback.beside, as_overrides(same)).config


class SecondRun(SecondCrowd):
    """A run of `config`, by its own techniques; kernels that are missing are compiled when they are first called."""

    def __init__(self, config: Config) -> None:
        super().__init__("", "")
        self.config, self.is_exact = config, False

    def keep_up(self, sim: Simulation, waits: bool = False) -> Simulation:
        """Make the steps up to the tick of the crowd, as many as a frame has time for."""
        if self.sim is None or self.sim.tick > sim.tick:
            self.sim = Simulation(self.config)
        if not waits:
            self._catch_up(self.sim.play, self.sim, sim.tick)
        return self.sim

    def compare(self, sim: Simulation) -> None:
        """They are two crowds: nothing is compared."""
