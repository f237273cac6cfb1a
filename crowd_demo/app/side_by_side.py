"""Side by side: the window is split by a line; right of it is the second crowd, under the same camera.

The second crowd is a replica of the crowd that is shown, with another setting of one technique. It begins as a copy
of the present state and then takes as many steps. When something else happens to the crowd (an action, a restart, a
step back, other walls), or when it is so far ahead that the window would stand still meanwhile, it begins again, as a
copy of what is there then; so both always come from one snapshot.

Beside measured people it is a run of ours instead. That begins at its own beginning, in their map, and is always made
to the same tick; so it begins again where the first goes back in time.

Where a step of each takes longer than a frame may, they take turns: one steps in one frame, the other in the next.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path

import numpy as np
import pygame

from crowd_demo.app.crowd import OTHER_CROWD, OTHER_TIME, Change, Crowd
from crowd_demo.app.screen import Notices
from crowd_demo.app.technique_controls import BESIDE, TOUCHED_FIRST, Request, Techniques, next_choice, next_number
from crowd_demo.config.loader import ConfigError, ReadConfig, as_overrides
from crowd_demo.config.memory import TooManyError, check_agents
from crowd_demo.config.model import Config
from crowd_demo.host.system import beside_frames
from crowd_demo.measure.proof import short
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import EXACT, Technique, Value
from crowd_demo.registry.techniques import BY_PATH, hud_word, kind_of
from crowd_demo.registry.texts import printable
from crowd_demo.render.camera import Camera, clamp
from crowd_demo.render.hud.canvas import Target
from crowd_demo.render.hud.card import ProofKind, ProofLine
from crowd_demo.render.hud.frame_sections import Rates, rates_of
from crowd_demo.render.hud.status import Half, Halves, time_text
from crowd_demo.render.scene import Scene
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import Snapshot
from crowd_demo.sprites.pixels import plain_surface

EDGE_PX, GRIP_PX = 20.0, 6.0  # least width of a side; how near to the line the mouse takes it
LINE = Target("line")  # between the two crowds
RIGHT = "right"  # the number that a drag over the right value changes
FRAME_MS = 50.0  # for the steps of both crowds in a frame; where one of each takes longer, they take turns,
STILL_MS = 40.0  # until they take no longer than this
LEAST_STEPS = 5  # before that the times of a step are not known
READ_EVERY_S = 0.125
HASH_EVERY_S = 1.0  # the least time between two hashes
COPY_SHARE = 0.02  # of the time, at most, for the copies of the states that are hashed
CATCH_UP_S = 0.5  # how long a frame may wait for it: some steps of brute force, but not all those of a drag on the timeline


class SideBySide:
    """`second` is the other crowd while the window is split, `share` the part of the width that is left of the line.

    The value on the right is compiled ahead, like every value: until its kernels are there, the second crowd waits.
    """

    def __init__(self, crowd: Crowd, camera: Camera, techniques: Techniques, notices: Notices) -> None:
        self.second: SecondCrowd | None = None
        self.share = 0.5
        self.request: Request | None = None  # of the value on the right
        self._crowd, self._camera, self._techniques, self._notices = crowd, camera, techniques, notices
        self._is_compiled = False  # is what the second crowd runs with?
        self.halves: Halves | None = None  # what is said of them, since the last picture
        self.takes_turns = False
        self._rates, self._read_at_s = (UNKNOWN, UNKNOWN), 0.0  # of the crowd and of the second one, and since when

    @property
    def line_px(self) -> int:
        return round(self.share * self._camera.size[0])

    @property
    def _technique(self) -> Technique:
        return BY_PATH[self.second.path if self.second and self.second.path else self._techniques.touched or TOUCHED_FIRST]

    # --- what is shown -----------------------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Show the technique that was touched last with its present value and with another one; or one crowd again."""
        if self.second:
            self.second = self.request = self.halves = None
            return
        try:
            check_agents(self._crowd.sim.agents.count, self._crowd.config)
        except TooManyError as error:
            self._notices.add(f"side by side: {error}", "split")
            return
        self.takes_turns, self._rates = False, (UNKNOWN, UNKNOWN)
        config = None  # of the run beside measured people, if there is one
        try:
            config = config_beside(self._crowd.sim.config)
        except ConfigError as error:
            self._notices.add(str(error).splitlines()[0], "split")
        self._is_compiled = config is not None
        if config:
            self.second = SecondRun(config)
        else:
            technique = self._technique
            self.second = SecondCrowd(technique.path, other_value(technique, self._techniques.value(technique.path)))
            self._choose(self.second.value)

    def next_value(self, backwards: bool = False) -> None:
        """Show the next choice on the right, but for the one that is on the left."""
        if not self.second:
            self.toggle()
        elif self.request:
            value = next_choice(self._technique.choices, self.request.value, backwards)
            if value == self._techniques.value(self._technique.path):
                value = next_choice(self._technique.choices, value, backwards)
            self._choose(value)

    def change_number(self, steps: int) -> None:
        """Change the number on the right by so many steps, if it is one."""
        if self.request and (numbers := self._technique.numbers) and not isinstance(value := self.request.value, str):
            self._choose(next_number(numbers, float(value), steps))

    def _choose(self, value: Value) -> None:
        technique = self._technique
        self.request = self._techniques.switcher.request(technique.path, value, BESIDE, take=self._take)
        self._notices.add(f"{technique.label.strip()}: {hud_word(value)} on the right", "split",
                          holds=lambda: self.request and self.request.value == value)

    def _take(self, value: Value) -> None:
        """Show on the right what is asked for, now that its kernels are compiled."""
        if self.second and self.request:
            self.second.value, self._is_compiled = value, True

    def crowd_changed(self, change: Change) -> None:
        """Let the second crowd begin again, with kernels for the present techniques. Call from the worker's thread."""
        if not self.second or not self.request:
            return
        self.second.sim = None
        if change.path not in ("", self.second.path) or change.what in (OTHER_TIME, OTHER_CROWD):
            value = self.request.value
            self.request = self._techniques.switcher.request(self.second.path, value, BESIDE, take=self._take)
            self._is_compiled &= not change.path

    # --- steps -------------------------------------------------------------------------------------------------------

    @property
    def is_behind(self) -> bool:
        second = self.second.sim if self.second and self.takes_turns and self._is_compiled else None
        return second is not None and second.tick < self._crowd.sim.tick

    def fitting(self, due: int) -> int:
        """So many of the due steps that those of both crowds fit into a frame."""
        step_ms = sum(live.step_ms for live in self._rates)
        return min(due, max(int(FRAME_MS / step_ms), 1)) if self.second and step_ms > 0 else due

    # --- the line and the picture ------------------------------------------------------------------------------------

    def target_at(self, x: float, y: float) -> Target | None:
        return LINE if self.second and abs(x - self.line_px) <= GRIP_PX else None

    def move(self, x: float) -> None:
        width = self._camera.size[0]
        self.share = clamp(x, EDGE_PX, width - EDGE_PX) / width

    def draw(self, on: pygame.Surface, alpha: float, more: Callable[[pygame.Surface], None]) -> None:
        """Draw the second crowd, and `more` on it, over the right part of the picture.

        Call from the worker's thread, after the overlays, which show what the first crowd has used.
        """
        second, scene, sim = self.second, self._crowd.scene, self._crowd.sim
        if not second or not scene:
            return
        with sim.profile.stage("proof"):
            if self._is_compiled:
                waits = self.takes_turns and sim.profile.steps_in_frame > 0
                other = second.keep_up(sim, waits)
                second.is_exact = second.is_exact and are_exact(
                    self._technique, (sim.optimizations.get(second.path), second.value), sim.optimizations.get)
                if not (waits and second.view == view_of(scene, self._camera)):
                    more(second.draw(scene, self._camera, alpha))
                on.blit(second.picture, (self.line_px, 0), second.picture.get_rect().move(self.line_px, 0))
                if other.tick == sim.tick:
                    second.compare(sim, other)
                if (now_s := time.perf_counter()) - self._read_at_s >= READ_EVERY_S:
                    self._read_at_s, self._rates = now_s, (live_rates(sim.profile), live_rates(other.profile))
                    step_ms = sum(live.step_ms for live in self._rates)
                    if not math.isnan(step_ms):
                        self.takes_turns = step_ms > (STILL_MS if self.takes_turns else FRAME_MS)
        for colour, width in (((12, 14, 18), 5), ((250, 250, 246), 1)):
            pygame.draw.line(on, colour, (self.line_px, 0), (self.line_px, on.get_height()), width)
        self.halves = self._read_halves(second, sim)

    def _read_halves(self, second: SecondCrowd, sim: Simulation) -> Halves:
        """What the labels say: of each crowd its value, times and hash; on the right also since when it is a copy."""
        turns = ("steps every other frame",) * self.takes_turns
        if isinstance(second, SecondRun):
            measured, run = Path(sim.config.playback.file or ""), Path(sim.config.playback.beside or "")
            left, names = RIGHT, [printable(measured.name), printable(run.stem)]
            notes = ("catching up",) * (second.sim is not None and second.sim.tick < sim.tick)
        else:
            label, value = self._technique.label.strip(), self.request.value if self.request else second.value
            names = [f"{label}: {hud_word(each)}" for each in (sim.optimizations.get(second.path), value)]
            left = second.path
            copied = f"{'exact, ' * second.is_exact}copied at {time_text(second.begun_at * sim.dt)}"
            notes = (copied if self._is_compiled and second.value == value else "compiling",)
        parts = zip((left, RIGHT), names, self._rates, second.hash_lines(sim.dt), (turns, notes + turns), strict=True)
        return Halves(self.line_px, *(Half(target, name, live.step_ms, live.frame_ms, state, said)
                                      for target, name, live, state, said in parts))


# --- what is said of it ----------------------------------------------------------------------------------------------

UNKNOWN = Rates(math.nan, math.nan, math.nan, math.nan)


def live_rates(profile: Profile) -> Rates:
    """What the left panel says of the same profile; unknown before the first steps."""
    return rates_of(profile) if profile.steps >= LEAST_STEPS else UNKNOWN


def other_value(technique: Technique, present: Value) -> Value:
    """The baseline; if that is the present value, the choice that is farthest from it.

    A baseline that makes the same crowd would only be slow: then it is the next choice.
    """
    if present == technique.baseline:
        return next(choice for choice in reversed(technique.choices) if choice != present)
    one_crowd = are_exact(technique, (present, technique.baseline))
    return next_choice(technique.choices, present) if one_crowd else technique.baseline


def are_exact(technique: Technique, values: Iterable[Value], get: Callable[[str], Value] | None = None) -> bool:
    """Return whether all these values give the same crowd. `get` returns the present value of any other technique."""
    return all(kind_of(technique, value, get) is EXACT for value in values)


# --- the second crowd ------------------------------------------------------------------------------------------------

class SecondCrowd:
    """`path` is the technique, `value` what it is set to here. All of this belongs to the worker's thread."""

    def __init__(self, path: str, value: Value) -> None:
        self.path, self.value = path, value
        self.begun_at = 0  # the tick of the snapshot
        self.is_exact = True  # were all values since then?
        self.sim: Simulation | None = None  # None: to begin again
        self.picture = plain_surface((1, 1))
        self.view: object = None  # that it shows
        self.hashed: tuple[int, tuple[str, ...]] = -1, ()  # the last tick at which both states have been hashed
        self._hashing: tuple[int, list[Future[str]]] = -1, []
        self._hash_at_s, self._beside = -math.inf, beside_frames()
        self._memory = lru_cache(2)(lambda side, shape: np.empty(shape, np.int32))  # of the copies that are hashed

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
        self.begun_at, self.is_exact, self.view = sim.tick, True, None
        self.hashed, self._hashing, self._hash_at_s = (-1, ()), (-1, []), -math.inf

    def compare(self, sim: Simulation, other: Simulation) -> None:
        """Have the states of both crowds hashed beside the frames, now and then. Call when they are at the same tick."""
        tick, hashing = self._hashing
        if not all(each.done() for each in hashing):
            return
        if hashing:
            self.hashed = tick, tuple(each.result() for each in hashing)
        if sim.tick != tick and (now_s := time.perf_counter()) >= self._hash_at_s:
            copies = [self._copied(side, each) for side, each in enumerate((sim, other))]
            self._hash_at_s = now_s + max(HASH_EVERY_S, (time.perf_counter() - now_s) / COPY_SHARE)
            self._hashing = sim.tick, [self._beside.submit(copy.state_hash) for copy in copies]

    def _copied(self, side: int, sim: Simulation) -> Snapshot:
        """Return a snapshot in memory that the next one overwrites: new memory would take longer than the copy."""
        state, shape = sim.state(), sim.agents.matrix.shape
        copy = self._memory(side, shape)[:, :state.agents]
        np.copyto(copy, state.columns)
        return state._replace(columns=copy)

    def hash_lines(self, dt: float) -> tuple[ProofLine | None, ProofLine | None]:
        tick, hashes = self.hashed
        if not hashes:
            return None, None
        one, other = hashes
        kind: ProofKind = "same" if one == other else "differs" if self.is_exact else "apart"
        at = f"{'DIFFERS' if kind == 'differs' else kind} at {time_text(tick * dt)}"
        return ProofLine(kind, f"hash {short(one)} {at}"), ProofLine(kind, f"hash {short(other)} {at}")

    def draw(self, scene: Scene, camera: Camera, alpha: float) -> pygame.Surface:
        """Draw it by the program's scene, which meanwhile draws nothing else; the picture is overwritten by the next one."""
        assert self.sim, "call keep_up before"
        self.view = view_of(scene, camera)
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
    """Return a value that changes whenever the view or its colours do."""
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

    def compare(self, sim: Simulation, other: Simulation) -> None:
        """They are two crowds: nothing is compared."""
