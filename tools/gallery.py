"""Take the pictures of the window: `python tools/gallery.py [name ...]`, all of them or those of these names.

The program runs without a display and is used as by a person: actions are performed, frames pass, and the picture is saved
as `docs/pictures/window/NAME-720.jpg`; overlays are called `overlay-NAME.jpg`, colour modes `colours-NAME.jpg`.
What is measured in them is measured while they are taken, so take them on a quiet machine; all of them need some minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pygame

from crowd_demo.app.loop import Loop
from crowd_demo.app.options import RunOptions
from crowd_demo.app.program import Program
from crowd_demo.app.screen.window import close_window, open_window
from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.loading import LoadingProgress, load_program
from crowd_demo.host.system import Worker
from crowd_demo.registry.built_in import OWN_COLOURS as COLOUR_MODES
from crowd_demo.registry.built_in import OWN_OVERLAYS as OVERLAYS

FOLDER = Path(__file__).resolve().parents[1] / "docs/pictures/window"
SIZE = 1280, 720
PATIENCE_S = 1800.0


class Visit:
    """A running program and a folder for its pictures."""

    def __init__(self, config: str, *overrides: str) -> None:
        self.config = load_config(config, overrides)
        open_window(self.config.window, headless=True)
        worker = Worker()
        loaded = worker.submit(lambda: load_program(self.config, True, LoadingProgress())).result()
        options = RunOptions(headless=True, frames=sys.maxsize, config_name=config)
        self.program = Program(self.config, loaded, options)
        self.loop = Loop(self.program, options, worker)
        self._as_a_window()

    def do(self, action: str, backwards: bool = False) -> None:
        self.program.act(action, backwards)

    def wait(self, seconds: float) -> None:
        """Let frames pass for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._frame()

    def until(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not done():
            assert time.monotonic() < end, "it never happened"
            self._frame()

    def _frame(self) -> None:
        """Show a frame, of another configuration if that was opened and is ready."""
        self.loop.frame()
        if self.loop.opened:
            self.loop = self.loop.next_loop()
            self.program = self.loop.program
            self._as_a_window()

    def _as_a_window(self) -> None:
        """Go by the clock and show cards, as a window does."""
        self.program.crowd.unpaced, self.program.cards.on = False, True

    def switch(self, path: str, backwards: bool = False, seconds: float = 9.0) -> None:
        """Switch a technique, and let its card fill."""
        self.do(path, backwards)
        self.until(lambda: not self.program.techniques.switcher.pending)
        self.wait(seconds)

    def save(self, name: str) -> None:
        """Save the picture in the size of most."""
        self.save_in(SIZE, f"{name}-{SIZE[1]}")

    def save_in(self, size: tuple[int, int], name: str) -> None:
        """Save the picture in one size; some frames pass after a change, for the HUD is not drawn in each."""
        if pygame.display.get_window_size() != size:
            pygame.display.set_mode(size, pygame.RESIZABLE, 32)
        self.wait(0.6)
        path = FOLDER / f"{name}.jpg"
        pygame.image.save(pygame.display.get_surface(), path)
        print(path.name)


@contextmanager
def visit(config: str, *overrides: str) -> Iterator[Visit]:
    """Open a configuration; the first seconds are over."""
    found = Visit(config, *overrides)
    found.wait(4.0)
    yield found
    close_window()


# --- the pictures ----------------------------------------------------------------------------------------------------

def card() -> None:
    """What lanes give, and the proof."""
    with visit("20k") as it:
        it.switch("simd", seconds=26.0)  # the card of this one is over by then, and times are steady
        it.switch("simd")
        it.save("card")


def apart() -> None:
    """An approximate technique: how far the crowds come apart."""
    with visit("20k") as it:
        it.switch("stagger.avoidance")
        it.save("apart")


class Shown(NamedTuple):
    """A dialog: the configuration, changes of it, and the action that opens it. Experiments run to their end."""

    config: str
    action: str
    overrides: tuple[str, ...] = ()


DIALOGS = {"ablation": Shown("20k", "ablate"), "ladder": Shown("5k", "largest"), "scenarios": Shown("20k", "scenarios"),
           "menu": Shown("20k", "menu", ("window.theme=light",))}


def dialog(name: str) -> None:
    config, action, overrides = DIALOGS[name]
    with visit(config, *overrides) as it:
        it.do(action)
        it.until(lambda: not it.program.experiments.dialog)
        it.save(name)


def tour() -> None:
    """The first tour, at its third step."""
    with visit("20k") as it:
        it.do("tour")
        it.program.dialogs.press("return", False)
        for _ in range(2):
            it.wait(6.0)
            it.program.guide.press("return")
        it.wait(8.0)
        it.save("tour")


def tools() -> None:
    """A wall with a door in the way of a crowd, the tool bar, a force and the numbers."""
    with visit("doorway") as it:
        hand, camera = it.program.tools, it.program.camera
        for tool, points in (("tool_wall", ((300, 60), (300, 460))), ("tool_erase", ((300, 250), (300, 290))),
                             ("tool_attract", ((180, 130),))):
            it.do(tool)
            hand.begin(*camera.world_to_screen(*points[0]))
            hand.move(*camera.world_to_screen(*points[-1]))
            hand.end()
            it.wait(0.5)
        for action in ("tools", "numbers", "tool_erase"):
            it.do(action)
        it.wait(9.0)
        it.save("tools")


def evacuation() -> None:
    """Twenty seconds after the alarm."""
    with visit("evacuation") as it:
        for _ in range(2):
            it.do("faster")
        it.until(lambda: it.program.sim.tick * it.program.sim.dt > 40)
        it.save("evacuation")


class Seen(NamedTuple):
    """Where something is seen best: a scenario, changes of it, and the view; without a zoom it is the scenario's."""

    config: str = "20k"
    overrides: tuple[str, ...] = ()
    center: tuple[float, float] = (1960.0, 1880.0)
    zoom: float | None = 0.7


WHOLE = Seen(zoom=None)
SEEN = {
    "show_streams": Seen("100k", ("scene.overlays=[]",), zoom=None),
    "show_throughput": Seen(zoom=0.5), "show_fundamental": Seen(zoom=0.5), "show_density": WHOLE,
    "show_candidates": WHOLE, "show_turns": WHOLE, "show_bands": Seen(), "show_culling": Seen(),
    "show_cells": Seen(overrides=("optimizations.neighbours=aabb_tree",)),
    "show_curve": WHOLE._replace(overrides=("optimizations.curve=hilbert",)), "show_flow": Seen(zoom=0.8),
    "show_sight": Seen(),
    "show_avoidance": Seen(overrides=("optimizations.avoidance=anticipate",), zoom=2.0),
    "show_links": Seen("rope", zoom=0.9), "show_life": Seen("births-250k", ("scene.overlays=[]",), zoom=None),
    "show_bodies": Seen(zoom=2.4), "show_velocity": Seen(zoom=1.2), "freeze": Seen(),
}
OVERLAY_PX = 960, 540
COMPACT = "window.hud=compact"


def overlays() -> None:
    """Each overlay of the program itself, with its legend."""
    for entry in OVERLAYS:
        seen = SEEN[entry.name]
        with visit(seen.config, *seen.overrides, COMPACT) as it:
            camera = it.program.camera
            if seen.zoom:
                camera.look_at(*seen.center, seen.zoom)
            if entry.name in ("freeze", "show_culling"):
                it.do("freeze")
                camera.look_at(seen.center[0], seen.center[1] + 150, 0.4)
            if entry.name != "freeze":
                it.do(entry.name)
            it.save_in(OVERLAY_PX, f"overlay-{entry.label}")


COLOURED = {
    "looks": Seen(), "state": Seen(), "heading": Seen("20k-flock", zoom=None), "speed": Seen(),
    "density": Seen(zoom=0.5), "flow": Seen(zoom=0.5), "tension": Seen("cloth", zoom=None),
    "memory": Seen("1m-flock", zoom=None), "age": Seen("20k-flock", zoom=None),
    "turn": Seen("20k-flock", zoom=None), "worker": Seen("20k-flock", ("optimizations.threads=4",), zoom=None),
    "cell": Seen(zoom=0.6),
}
COLOURED_PX, INSPECTED_PX = (640, 360), (800, 450)


def sized(size: tuple[int, int]) -> tuple[str, str]:
    """A window of that size."""
    return f"window.width={size[0]}", f"window.height={size[1]}"


def colours() -> None:
    """Each colour mode of the program itself, with its legend."""
    for entry in COLOUR_MODES:
        path = FOLDER / f"colours-{entry.name}.jpg"
        if entry.name == "memory":
            halves = coloured(entry.name), coloured(entry.name, "optimizations.reorder.when=off")
            pygame.image.save(beside(*halves), path)
        else:
            pygame.image.save(coloured(entry.name), path)
        print(path.name)


def coloured(name: str, *overrides: str) -> pygame.Surface:
    """A picture in that colour mode."""
    seen = COLOURED[name]
    with visit(seen.config, *seen.overrides, *overrides, f"scene.colours={name}", COMPACT, *sized(COLOURED_PX)) as it:
        if seen.zoom:
            it.program.camera.look_at(*seen.center, seen.zoom)
        it.wait(1.0)
        return pygame.display.get_surface().copy()


def beside(left: pygame.Surface, right: pygame.Surface) -> pygame.Surface:
    """The left half of one picture and the right half of another one of the same size, with a line between them."""
    both, (width, height) = left.copy(), left.get_size()
    half = pygame.Rect(width // 2, 0, width // 2, height)
    both.blit(right, half, half)
    pygame.draw.line(both, "white", half.topleft, half.bottomleft, 2)
    return both


def inspector() -> None:
    """Somebody in the middle of a crowd, paused."""
    with visit("20k", COMPACT, *sized(INSPECTED_PX)) as it:
        it.do("pause")
        it.program.camera.look_at(1960, 1880, 2.2)
        it.do("inspect")
        it.wait(0.5)
        it.program.camera.pan(80, -30)  # away from the panel
        it.save_in(INSPECTED_PX, "inspector")


def side_by_side() -> None:
    """A jam of people who do not overlap, and of people who do."""
    with visit("crush", COMPACT, *sized(INSPECTED_PX)) as it:
        it.program.camera.look_at(1270, 1060, 1.1)
        it.program.techniques.touched = "overlap_passes"
        it.do("split")
        it.wait(15.0)
        it.save_in(INSPECTED_PX, "side-by-side")


PICTURES: dict[str, Callable[[], None]] = {
    **{name: partial(dialog, name) for name in DIALOGS},
    **{function.__name__: function for function in (
        card, apart, tour, tools, evacuation, overlays, colours, inspector, side_by_side)}}


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
