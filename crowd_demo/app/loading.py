"""Loading: import the compiler, build the crowd, compile what the first frame needs; and the screen shown meanwhile.

`load` runs in the worker's thread and writes its `Progress`; the main thread reads that, draws it and reacts to Esc.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pygame

from crowd_demo.app.quitting import Quitting
from crowd_demo.app.window import screen
from crowd_demo.config.model import Config
from crowd_demo.config.resources import assets_folder
from crowd_demo.render.hud.theme import ACCENT, DIM, EDGE, HUGE, NORMAL, Pen

if TYPE_CHECKING:
    from crowd_demo.app.ahead import Ahead
    from crowd_demo.render.scene import Scene
    from crowd_demo.sim.simulation import Simulation

BACKGROUND = (16, 20, 27)
FRAME_S = 1 / 40
PRINT_EVERY_S = 0.2
SWITCH_S = 0.0002  # after this time a compiling thread lets another one run Python code


@dataclass
class Progress:
    """What is being done, and how far along it is."""

    text: str = "starting"
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.text} ({self.done + 1} of {self.total})" if self.total else self.text


class Loaded(NamedTuple):
    """What a run needs; `scene` is None if nothing is drawn."""

    sim: Simulation
    scene: Scene | None
    ahead: Ahead
    import_s: float
    compile_s: float


def load(config: Config, render: bool, progress: Progress) -> Loaded:
    """Build the simulation and compile every kernel that its first frames need."""
    start = time.perf_counter()
    progress.text = "importing the compiler"
    from crowd_demo.app.ahead import Ahead, compile_one, kernel_name
    from crowd_demo.render.scene import Scene
    from crowd_demo.sim.simulation import Simulation

    imported = time.perf_counter()
    progress.text = f"building a world of {config.agents:,} agents" + (f" on {Path(config.map).stem}" if config.map else "")
    sim = Simulation(config)
    scene = Scene(sim, config, assets_folder()) if render else None
    built = time.perf_counter()
    ahead = Ahead(config, render)
    calls = ahead.missing(config.optimizations)
    progress.total = len(calls)
    for number, call in enumerate(calls):
        progress.text, progress.done = f"compiling {kernel_name(call)}", number
        compile_one(call)
    progress.text, progress.total = "ready", 0
    return Loaded(sim, scene, ahead, imported - start, time.perf_counter() - built)


@contextmanager
def eager_threads(interval_s: float = SWITCH_S) -> Iterator[None]:
    """Switch between threads often enough for the window to respond."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval_s)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def show_progress(job: Future[Loaded], progress: Progress, quits: Callable[[pygame.Event], bool], quitting: Quitting) -> None:
    """Draw until the job is done or somebody wants to quit; `quits` says which events mean that."""
    pen, shown = Pen(), 0.0
    while not job.done() and not quitting.asked:
        if any(quits(event) for event in pygame.event.get()):
            quitting.ask()
        part = progress.done / progress.total if progress.total else 0.0
        shown += (part - shown) * 0.2
        draw_progress(screen(), str(progress), shown, pen)
        pygame.display.flip()
        time.sleep(FRAME_S)


def draw_progress(on: pygame.Surface, text: str, part: float, pen: Pen) -> None:
    """Draw the name, a bar that is `part` full, and a text; while `part` is 0, a light moves along the bar."""
    on.fill(BACKGROUND)
    width, height = on.get_size()
    bar = pygame.Rect(0, 0, min(420, width - 40), 6)
    bar.center = width // 2, height // 2 + 12
    pen.left(on, "crowd-demo", bar.left, bar.top - 34, HUGE)
    pygame.draw.rect(on, EDGE, bar, border_radius=3)
    if part > 0:
        pygame.draw.rect(on, ACCENT, (*bar.topleft, max(round(bar.width * part), 6), bar.height), border_radius=3)
    else:
        offset = round((bar.width - 40) * abs(time.monotonic() % 2 - 1))
        pygame.draw.rect(on, ACCENT, (bar.left + offset, bar.top, 40, bar.height), border_radius=3)
    pen.left(on, pen.fitted(text, bar.width), bar.left, bar.bottom + 18, NORMAL, DIM)


def print_progress(job: Future[Loaded], progress: Progress, quitting: Quitting) -> None:
    """Wait without a window, as `show_progress` does; print the progress to standard error if that is a terminal."""
    while not quitting.asked and not wait((job,), timeout=PRINT_EVERY_S).done:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{progress}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
