"""Loading: import the compiler, build the crowd, compile what the first frame needs; and the screen shown meanwhile.

`load` runs in the worker's thread and writes its `LoadingProgress`; the main thread reads that, draws it and reacts to Esc.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pygame

from crowd_demo.app.compiling.helpers import source_of
from crowd_demo.app.process.quitting import Quitting
from crowd_demo.app.process.streams import ProgressLine
from crowd_demo.app.process.system import importing
from crowd_demo.app.screen.window import screen
from crowd_demo.compute.cache import is_first_start, lasts
from crowd_demo.config.keys import key_text
from crowd_demo.config.model import Config
from crowd_demo.config.optimizations import with_values
from crowd_demo.config.resources import assets_folder
from crowd_demo.registry.entries import Value
from crowd_demo.render.hud.canvas import ACCENT, DIM, EDGE, HUGE, NORMAL, Canvas, Pen, scale_for

if TYPE_CHECKING:
    from crowd_demo.app.compiling.ahead import KernelFinder
    from crowd_demo.app.compiling.compilers import Compilers
    from crowd_demo.render.scene import Scene
    from crowd_demo.sim.simulation import Simulation

BACKGROUND = (16, 20, 27)
FRAME_S = 1 / 15  # the compilers need the time
PRINT_EVERY_S = 0.2
BAR = 640.0  # units
WHAT = "A crowd in which every data-oriented optimisation is a switch: see what each one buys."
FIRST_KEYS = {
    "simd": "SIMD lanes off and on: a card says what they buy, and that the crowd is the same",
    "tour": "a tour through the other techniques",
    "help": "all keys",
}
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
        until_when = ", for this and later starts" if lasts() else ""
        return f"{self.text} ({min(self.done + 1, self.total)} of {self.total}{until_when})"


class Loaded(NamedTuple):
    """What a run needs; `scene` is None if nothing is drawn."""

    sim: Simulation
    scene: Scene | None
    ahead: KernelFinder
    compilers: Compilers  # without helpers, unless values follow
    follow: Mapping[str, Value]  # by path: configured values that are compiled while others do their work, after overlays
    import_s: float
    compile_s: float


def load(config: Config, render: bool, progress: LoadingProgress, quick: bool = False) -> Loaded:
    """Build the simulation and compile every kernel that its first frames need.

    A `quick` start may begin with other values of some techniques, for the same crowd: those that are compiled sooner.
    """
    start = time.perf_counter()
    progress.say("importing the compiler")
    source = source_of(config) if is_first_start() else None  # it takes as long to start as all that comes before the kernels
    with importing():
        from crowd_demo.app.compiling.ahead import KernelFinder
        from crowd_demo.app.compiling.compilers import Compilers, quick_values

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
    """Describe what `build` does."""
    return f"building a world of {config.agents:,} agents" + (f" on {Path(config.map).stem}" if config.map else "")


def build(config: Config, render: bool) -> tuple[Simulation, Scene | None]:
    """Return the simulation and what draws it."""
    from crowd_demo.render.scene import Scene
    from crowd_demo.sim.simulation import Simulation

    sim = Simulation(config)
    return sim, Scene(sim, config, assets_folder()) if render else None


def show_progress(job: Future[Loaded], progress: LoadingProgress, quits: Callable[[pygame.Event], bool], quitting: Quitting,
                  keys: Mapping[str, Sequence[str]]) -> None:
    """Draw until the job is done or somebody wants to quit; `quits` says which events mean that."""
    pen, shown, first = Pen(), 0.0, first_keys(keys)
    while not job.done() and not quitting.asked:
        if any(quits(event) for event in pygame.event.get()):
            quitting.ask()
        shown = max(shown, progress.part()) if progress.total else 0.0  # a helper may end before an earlier kernel
        draw_progress(screen(), str(progress), shown, pen, first)
        pygame.display.flip()
        wait((job,), timeout=FRAME_S)


def first_keys(keys: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """The keys to press first, and what they do; `keys` by action."""
    named = ((keys.get(action, ()), what) for action, what in FIRST_KEYS.items())
    return [(names[0], what) for names, what in named if names]


def draw_progress(on: pygame.Surface, text: str, part: float, pen: Pen, keys: Sequence[tuple[str, str]] = ()) -> None:
    """Draw what the program is, a bar that is `part` full, a text, and keys; while `part` is 0, a light moves on the bar."""
    on.fill(BACKGROUND)
    scale = scale_for(on.get_size())
    canvas = Canvas((on.get_width() / scale, on.get_height() / scale), pen, scale, None)
    width, height = canvas.size
    wide = min(BAR, width - 40)
    left, top, bottom = (width - wide) / 2, height / 2 + 9, height / 2 + 15
    canvas.left("crowd-demo", left, top - 52, HUGE)
    canvas.left(canvas.fitted(WHAT, wide), left, top - 18, NORMAL, DIM)
    canvas.rect(EDGE, (left, top, wide, 6), radius=3)
    if part > 0:
        canvas.rect(ACCENT, (left, top, max(wide * part, 6), 6), radius=3)
    else:
        canvas.rect(ACCENT, (left + (wide - 40) * abs(time.monotonic() % 2 - 1), top, 40, 6), radius=3)
    canvas.left(canvas.fitted(text, wide), left, bottom + 18, NORMAL, DIM)
    for line, (key, what) in enumerate(keys):
        at = bottom + 52 + 20 * line
        canvas.left(key_text(key), left, at, NORMAL)
        canvas.left(canvas.fitted(what, wide - 60), left + 60, at, NORMAL, DIM)
    on.blit(canvas.surface, (0, 0))


def print_progress(job: Future[Loaded], progress: LoadingProgress, quitting: Quitting) -> None:
    """Wait without a window, as `show_progress` does; print to standard error what takes long."""
    with ProgressLine("crowd-demo") as line:
        while not quitting.asked and not wait((job,), timeout=PRINT_EVERY_S).done:
            line.show(progress)
