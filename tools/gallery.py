"""Take the pictures of the window: `python tools/gallery.py [name ...]`, all of them or those of these names.

The program runs without a display and is used as by a person: actions are performed, frames pass, and the picture is saved
as `docs/pictures/window/NAME.jpg`; overlays are called `overlay-NAME.jpg`, colour modes `colours-NAME.jpg`.
What is measured in them is measured while they are taken, so take them on a quiet machine; all of them need some minutes.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pygame
from PIL import Image

from crowd_demo.app.loop import Loop
from crowd_demo.app import RunOptions
from crowd_demo.app.program import Program
from crowd_demo.app.screen import close_window, open_window
from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.loading import LoadingProgress, load_program
from crowd_demo.host.system import Worker
from crowd_demo.registry.built_in import OWN_COLOURS as COLOUR_MODES
from crowd_demo.registry.built_in import OWN_OVERLAYS as OVERLAYS
from crowd_demo.registry.techniques import BY_PATH

FOLDER = Path(__file__).resolve().parents[1] / "docs/pictures/window"
WINDOW, OVERLAY, INSPECTED, COLOURED = (1280, 720), (960, 540), (800, 450), (640, 360)  # pixels
FILM_HZ, FILM_QUALITY = 12, 40


class Visit:
    """A running program that saves screenshots."""

    def __init__(self, config: str, *overrides: str, size: tuple[int, int] = WINDOW) -> None:
        loaded_config = load_config(config, [*overrides, f"window.width={size[0]}", f"window.height={size[1]}"])
        open_window(loaded_config.window, headless=True)
        worker = Worker()
        loaded = worker.submit(lambda: load_program(loaded_config, True, LoadingProgress())).result()
        options = RunOptions(headless=True, frames=sys.maxsize, config_name=config)
        self.program = Program(loaded_config, loaded, options)
        self.loop = Loop(self.program, options, worker)

    def do(self, *actions: str) -> None:
        for action in actions:
            self.program.act(action, False)

    def until(self, done: Callable[[], bool]) -> None:
        """Let frames pass as in a window: by the clock, with cards, and into another configuration if one was opened."""
        while not done():
            self.program.crowd.unpaced, self.program.cards.on = False, True
            self.loop.frame()
            if self.loop.opened:
                self.loop.change_over(self.loop.opened)
                self.program = self.loop.program

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end)

    def switch(self, path: str, seconds: float = 9.0) -> None:
        """Switch a technique, and let its card fill."""
        self.do(path)
        self.until(lambda: not self.program.techniques.switcher.pending)
        self.wait(seconds)

    def play(self, each: str | float) -> None:
        """Let seconds pass, switch a technique, or perform an action to the end of what it begins."""
        if isinstance(each, float):
            self.wait(each)
        elif each in BY_PATH:
            self.switch(each)
        else:
            self.do(each)
            self.until(lambda: not self.program.experiments.dialog)

    def save(self, name: str) -> None:
        """Save the picture; some frames pass before, for the HUD is not drawn in each."""
        self.wait(0.6)
        pygame.image.save(pygame.display.get_surface(), FOLDER / f"{name}.jpg")
        print(f"{name}.jpg")


class Seen(NamedTuple):
    """Where something is seen best: a scenario, changes of it, and the view; without a zoom it is the scenario's."""

    config: str = "20k"
    overrides: tuple[str, ...] = ()
    center: tuple[float, float] = (1960.0, 1880.0)
    zoom: float | None = 0.7
    script: tuple[str | float, ...] = ()  # what `Visit.play` does

    @contextmanager
    def visit(self, size: tuple[int, int] = WINDOW, *overrides: str) -> Iterator[Visit]:
        """Open it, let the first seconds pass, and play its script."""
        it = Visit(self.config, *self.overrides, *overrides, size=size)
        it.wait(4.0)
        if self.zoom:
            it.program.camera.look_at(*self.center, self.zoom)
        for each in self.script:
            it.play(each)
        yield it
        close_window()


# --- the pictures ----------------------------------------------------------------------------------------------------

STILLS = {
    "card-720": Seen(zoom=None, script=("simd", 17.0, "simd")),  # the first card is over by then, and times are steady
    "apart-720": Seen(zoom=None, script=("stagger.avoidance",)),
    "ablation-720": Seen(zoom=None, script=("ablate",)), "ladder-720": Seen("5k", zoom=None, script=("largest",)),
    "scenarios-720": Seen(zoom=None, script=("scenarios",)),
    "menu-720": Seen("20k", ("window.theme=light",), zoom=None, script=("menu",)),
    "evacuation-720": Seen("evacuation", zoom=None, script=("faster", "faster", 9.0)),  # twenty seconds after the alarm
}


def still(name: str) -> None:
    with STILLS[name].visit() as it:
        it.save(name)


def tour() -> None:
    """The first tour, at its third step."""
    with Seen(zoom=None).visit() as it:
        it.do("tour")
        it.program.dialogs.press("return", False)
        for _ in range(2):
            it.wait(6.0)
            it.program.guide.press("return")
        it.wait(8.0)
        it.save("tour-720")


def tools() -> None:
    """A wall with a door in the way of a crowd, the tool bar, a force and the numbers."""
    with Seen("doorway", zoom=None).visit() as it:
        hand, camera = it.program.tools, it.program.camera
        for tool, points in (("tool_wall", ((300, 60), (300, 460))), ("tool_erase", ((300, 250), (300, 290))),
                             ("tool_attract", ((180, 130),))):
            it.do(tool)
            hand.begin(*camera.world_to_screen(*points[0]))
            hand.move(*camera.world_to_screen(*points[-1]))
            hand.end()
            it.wait(0.5)
        it.do("tools", "parameters", "tool_erase")
        it.wait(9.0)
        it.save("tools-720")


WHOLE = Seen(zoom=None)
SEEN = {
    "show_streams": Seen("100k", ("scene.overlays=[]",), zoom=None),
    "show_throughput": Seen(zoom=0.5), "show_fundamental": Seen(zoom=0.5), "show_density": WHOLE,
    "show_candidates": WHOLE, "show_due": WHOLE, "show_bands": Seen(), "show_culling": Seen(),
    "show_cells": Seen(overrides=("optimizations.neighbours=aabb_tree",)),
    "show_curve": WHOLE._replace(overrides=("optimizations.curve=hilbert",)), "show_flow": Seen(zoom=0.8),
    "show_sight": Seen(),
    "show_avoidance": Seen(overrides=("optimizations.avoidance=anticipate",), zoom=2.0),
    "show_links": Seen("rope", zoom=0.9), "show_life": Seen("births-250k", ("scene.overlays=[]",), zoom=None),
    "show_bodies": Seen(zoom=2.4), "show_velocity": Seen(zoom=1.2), "freeze": Seen(),
}
COLOURS = {
    "looks": Seen(), "state": Seen(), "heading": Seen("20k-flock", zoom=None), "speed": Seen(),
    "density": Seen(zoom=0.5), "flow": Seen(zoom=0.5), "patience": Seen(zoom=0.5), "tension": Seen("cloth", zoom=None),
    "memory": Seen("1m-flock", zoom=None), "age": Seen("20k-flock", zoom=None),
    "due": Seen("20k-flock", zoom=None), "worker": Seen("20k-flock", ("optimizations.threads=4",), zoom=None),
    "cell": Seen(zoom=0.6),
}


def overlays() -> None:
    """Each overlay of the program itself, with its legend."""
    for entry in OVERLAYS:
        seen = SEEN[entry.name]
        with seen.visit(OVERLAY) as it:
            if entry.name in ("freeze", "show_culling"):
                it.do("freeze")
                it.program.camera.look_at(seen.center[0], seen.center[1] + 150, 0.4)
            if entry.name != "freeze":
                it.do(entry.name)
            it.save(f"overlay-{entry.label}")


def colours() -> None:
    """Each colour mode of the program itself, with its legend; of *memory* beside the same crowd unsorted."""
    for entry in COLOUR_MODES:
        with COLOURS[entry.name].visit(COLOURED, f"scene.colours={entry.name}") as it:
            it.save(f"colours-{entry.name}")
            if entry.name == "memory":
                sorted_crowd = pygame.display.get_surface().copy()
    with COLOURS["memory"].visit(COLOURED, "scene.colours=memory", "optimizations.reorder.when=off") as it:
        it.wait(0.6)
        half = pygame.Rect(COLOURED[0] // 2, 0, COLOURED[0] // 2, COLOURED[1])
        sorted_crowd.blit(pygame.display.get_surface(), half, half)
        pygame.draw.line(sorted_crowd, "white", half.topleft, half.bottomleft, 2)
        pygame.image.save(sorted_crowd, FOLDER / "colours-memory.jpg")


def inspector() -> None:
    """Somebody in the middle of a crowd, paused."""
    with Seen(zoom=2.2, script=("pause", "inspect", 0.5)).visit(INSPECTED) as it:
        it.program.camera.pan(80, -30)  # away from the panel
        it.save("inspector")


def side_by_side() -> None:
    """A jam of people who do not overlap, and of people who do."""
    with Seen("crush", center=(1270, 1060), zoom=1.1).visit(INSPECTED) as it:
        it.program.techniques.touched = "overlap_passes"
        it.do("split")
        it.wait(15.0)
        it.save("side-by-side")


class Film:
    """Pictures of a visit, as an animation in WebP that repeats."""

    def __init__(self, it: Visit, size: tuple[int, int]) -> None:
        self._it, self._size = it, size
        self._pictures: list[Image.Image] = []

    def shoot(self, seconds: float, lapse: float = 1.0) -> None:
        """Take what lasts so long in the film, `lapse` times as long in the program."""
        for _ in range(round(seconds * FILM_HZ)):
            self._it.wait(lapse / FILM_HZ)
            surface = pygame.transform.smoothscale(pygame.display.get_surface(), self._size)
            self._pictures.append(Image.frombytes("RGB", self._size, pygame.image.tobytes(surface, "RGB")))

    def save(self, path: Path) -> None:
        first, *others = self._pictures
        first.save(path, save_all=True, append_images=others, duration=round(1000 / FILM_HZ), loop=0,
                   quality=FILM_QUALITY, method=6)
        print(f"{path.name}: {len(self._pictures)} pictures, {path.stat().st_size / 1e6:.1f} MB")


def film() -> None:
    """An animation for the README: lanes off and their card, down to brute force and back, the frozen view from outside."""
    with Seen(zoom=None).visit((1200, 675)) as it:
        it.switch("simd", seconds=20.0)  # both values are compiled, and the card is over
        it.switch("simd", seconds=20.0)
        frames = Film(it, (800, 450))
        frames.shoot(1.0)
        it.do("simd")
        frames.shoot(2.6, lapse=5.0)
        it.do("simd")
        frames.shoot(0.6)
        structure = it.program.sim.optimizations.neighbours
        it.program.techniques.choose(BY_PATH["neighbours"], "none")
        frames.shoot(1.6, lapse=3.0)
        it.program.techniques.choose(BY_PATH["neighbours"], structure)
        frames.shoot(1.4, lapse=3.0)
        it.do("freeze")
        frames.shoot(0.4)
        for _ in range(round(1.4 * FILM_HZ)):
            it.program.camera.zoom_at(600, 337, 0.94)
            frames.shoot(1 / FILM_HZ)
        frames.shoot(1.0)
        frames.save(FOLDER / "film.webp")


PICTURES: dict[str, Callable[[], None]] = {
    **{name: partial(still, name) for name in STILLS},
    **{function.__name__.replace("_", "-"): function for function in (
        tour, tools, overlays, colours, inspector, side_by_side, film)}}


def main(names: Sequence[str]) -> int:
    if unknown := [name for name in names if name not in PICTURES]:
        print(f"gallery: no picture {unknown[0]!r}; there are {', '.join(PICTURES)}", file=sys.stderr)
        return 2
    FOLDER.mkdir(exist_ok=True)
    for name in names or PICTURES:
        PICTURES[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
