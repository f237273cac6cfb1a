"""Loading: import the compiler, build the crowd, and compile what the first frame needs.

`load` runs in the worker's thread and writes its `LoadingProgress`, which the main thread reads and shows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crowd_demo.compute.cache import is_first_start, lasts
from crowd_demo.config.model import Config, with_values
from crowd_demo.config.resources import assets_folder
from crowd_demo.host.compiling.helpers import CompilerSource
from crowd_demo.host.system import importing
from crowd_demo.registry.entries import Value

if TYPE_CHECKING:
    from crowd_demo.host.compiling.ahead import KernelFinder
    from crowd_demo.host.compiling.compilers import Compilers
    from crowd_demo.render.scene import Scene
    from crowd_demo.sim.simulation import Simulation

USUAL_S = 2.0  # what a kernel takes: the bar moves on meanwhile, ever more slowly


class LoadingProgress:
    """What is being done while loading, and how much of it is done."""

    def __init__(self) -> None:
        self.text, self.done, self.total = "starting", 0, 0
        self._since = time.monotonic()  # the last kernel was done

    def say(self, text: str) -> None:
        """Set the text of something without a number of parts."""
        self.text, self.done, self.total = text, 0, 0

    def compiling(self, kernel: str, done: int, total: int) -> None:
        if done != self.done or not self.total:
            self._since = time.monotonic()
        self.text, self.done, self.total = f"compiling {kernel}", done, total

    def part(self) -> float:
        """Return the share that is done, 0 to 1; 0 where that is not known."""
        if not self.total:
            return 0.0
        present = 1 - math.exp(-(time.monotonic() - self._since) / USUAL_S)
        return min((self.done + present) / self.total, 1.0)

    def __str__(self) -> str:
        if not self.total:
            return self.text
        until_when = f", {self.how_often}" if self.how_often else ""
        return f"{self.text} ({min(self.done + 1, self.total)} of {self.total}{until_when})"

    @property
    def how_often(self) -> str:
        """Return whether kernels are kept for later starts."""
        return "only once: later starts are quick" if self.total and lasts() else ""


class Loaded(NamedTuple):
    """What a run needs; `scene` is None if nothing is drawn."""

    sim: Simulation
    scene: Scene | None
    ahead: KernelFinder
    compilers: Compilers  # without helpers, unless values follow
    follow: Mapping[str, Value]  # by path: configured values that are compiled while others do their work, after overlays
    import_s: float
    compile_s: float


def load_program(config: Config, render: bool, progress: LoadingProgress, quick: bool = False) -> Loaded:
    """Build the simulation and compile every kernel that its first frames need.

    A `quick` start may begin with other values of some techniques, for the same crowd: those that are compiled sooner.
    """
    start = time.perf_counter()
    progress.say("importing the compiler")
    source = CompilerSource(config) if is_first_start() else None  # as long to start as all that comes before kernels
    with importing():
        from crowd_demo.host.compiling.ahead import KernelFinder
        from crowd_demo.host.compiling.compilers import Compilers, quick_values

    imported = time.perf_counter()
    with ExitStack() as ending:
        compilers = ending.enter_context(closing(Compilers(config, source)))
        progress.say("starting the compilers")
        compilers.start_early()
        progress.say(building(config))
        sim, scene = build(config, render)
        built = time.perf_counter()
        ahead = KernelFinder(config, render)
        launches = ahead.missing(config.optimizations)
        first = quick_values(config, ahead, launches) if quick else {}
        if first:
            sim.optimizations = with_values(sim.optimizations, first)
            launches = ahead.missing(sim.optimizations, overlays=False)
        compilers.compile_first(launches, sim.optimizations, progress.compiling)
        if first:
            compilers.yield_to_frames()
            ending.pop_all()
    progress.say("ready")
    follow = {path: config.optimizations.get(path) for path in first}
    return Loaded(sim, scene, ahead, compilers, follow, imported - start, time.perf_counter() - built)


def building(config: Config) -> str:
    return f"building a world of {config.agents:,} agents" + (f" on {Path(config.map).stem}" if config.map else "")


def build(config: Config, render: bool) -> tuple[Simulation, Scene | None]:
    from crowd_demo.render.scene import Scene
    from crowd_demo.sim.simulation import Simulation

    sim = Simulation(config)
    return sim, Scene(sim, config, assets_folder()) if render else None
