"""Contenders: simulations of the same crowd, each with another value of one technique, that take turns of a few steps.

Because they take turns, other load on the machine slows all of them alike. The first turn compiles what is not compiled
yet, warms up, and is not timed. For techniques of the picture (culling, depth, blitter) pictures are drawn into memory.

The time of a stage is the median over the steps in which it ran, times the share of steps in which it ran: a sort every 60
steps counts with a 60th of its time. A step is the sum of its stages. Counters are means over the steps, because with
staggering a single step shows only some of the agents; locality is that of memory after the last step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.app.loading import Progress, load
from crowd_demo.app.window import open_window, screen
from crowd_demo.compute.arrays import Doubles
from crowd_demo.config.model import Config
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import is_approximate
from crowd_demo.render.camera import Camera
from crowd_demo.render.scene import Scene
from crowd_demo.sim.metrics.locality import locality
from crowd_demo.sim.simulation import Simulation

ROUND = 10  # steps of a turn: the first runs with the caches of another simulation, which hardly changes a median
PICTURE = ("cull", "depth", "blitter")  # techniques of the picture
A_DUE_AGENT = ("candidates_per_agent", "neighbours_per_agent", "found_mean")  # counters whose mean is one over agents


class Contender(NamedTuple):
    """A value, and the simulation that has it."""

    value: Value
    sim: Simulation
    draw: Callable[[], None]
    log: list[dict[str, float]]  # the counters after each step


class Result(NamedTuple):
    """What was measured of a contender."""

    value: Value
    approximate: bool
    stages_ms: dict[str, float]
    measures: dict[str, float]  # counters and locality
    state_hash: str
    picture_hash: str  # empty where none was drawn

    @property
    def step_ms(self) -> float:
        return sum(self.stages_ms.values())


def contenders(config: Config, technique: Technique, values: Iterable[Value]) -> list[Contender]:
    """One for each value, with its kernels compiled. Raises ValueError for a value that is not legal."""
    if technique.path in PICTURE:
        open_window(config.window, headless=True)
    return [_contender(config, technique, value) for value in values]


def compete(contenders: Sequence[Contender], steps: int) -> None:
    """Make `steps` steps with each, after `ROUND` steps to warm up."""
    for done in range(-ROUND, steps, ROUND):
        for each in contenders:
            _take_turn(each, min(ROUND, steps - done))


def result(technique: Technique, contender: Contender, steps: int) -> Result:
    """The measurements of its last `steps` steps."""
    value, sim, draw, log = contender
    state, picture = sim.state_hash(), ""
    if technique.path in PICTURE:
        draw()
        picture = hashlib.blake2b(screen().get_buffer().raw, digest_size=16).hexdigest()
    near, misses, _ = locality(sim)
    return Result(value, is_approximate(technique, value, sim.optimizations.get), stages_ms(sim.profile, steps),
                  {**counters_of(log[-steps:]), "near_reads": near, "l1_misses": misses}, state, picture)


def stages_ms(profile: Profile, steps: int) -> dict[str, float]:
    """By stage, in the order of the step: its mean time a step, by the median where it ran."""
    times = {stage: profile.stage_ms(stage, steps) for stage in profile.stages}
    return {stage: float(np.median(ms[ms > 0]) * (ms > 0).mean()) for stage, ms in times.items() if ms.any()}


def counters_of(log: Sequence[dict[str, float]]) -> dict[str, float]:
    """One number a counter: sorts so far, the largest of what counts a maximum, the mean of all others."""
    return {name: _over_steps(name, np.array([step.get(name, 0) for step in log], np.float64), log) for name in log[-1]}


def _over_steps(name: str, numbers: Doubles, log: Sequence[dict[str, float]]) -> float:
    if name == "sorts" or name.endswith("_max"):
        return float(numbers.max())
    due = np.array([step["due"] if name in A_DUE_AGENT else 1 for step in log])
    return float((numbers * due).sum() / max(due.sum(), 1))


def _contender(config: Config, technique: Technique, value: Value) -> Contender:
    options = config.optimizations.model_copy(deep=True)
    options.set(technique.path, value)
    loaded = load(config.model_copy(update={"optimizations": options}), technique.path in PICTURE, Progress())
    return Contender(value, loaded.sim, _drawn(loaded.scene, config) if loaded.scene else lambda: None, [])


def _drawn(scene: Scene, config: Config) -> Callable[[], None]:
    """A function that draws the configuration's first view."""
    walls, view = scene.sim.terrain.walls, config.camera
    camera = Camera((float(walls.width), float(walls.height)), (config.window.width, config.window.height))
    camera.look_at(*(view.center or (camera.x, camera.y)), view.zoom or camera.zoom)

    def draw() -> None:
        scene.sim.prepare_picture()
        scene.draw(screen(), camera)
    return draw


def _take_turn(contender: Contender, steps: int) -> None:
    for _ in range(steps):
        contender.sim.profile.begin_frame()
        contender.sim.step()
        contender.draw()
        contender.sim.profile.end_frame()
        contender.log.append(dict(contender.sim.profile.counters))
