"""A program that runs without a window, driven by posted events."""

import time
from collections.abc import Callable
from typing import Any

import pygame

from crowd_demo.app import RunOptions
from crowd_demo.app.screen import open_window
from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.loading import LoadingProgress, load_program
from crowd_demo.host.system import Worker
from crowd_demo.render.hud.status import Status, TourView
from crowd_demo.render.hud.views import ListView

PATIENCE_S = 300.0  # for what other processes compile on a slow machine


def without_progress(stderr: str) -> str:
    """What a program said, but for what it was compiling, which depends on the cache and on the machine."""
    progress = ("crowd-demo: starting ", "crowd-demo: compiling ", "crowd-demo: importing ", "crowd-demo: building ")
    return "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith(progress))


def wait_until(happened: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Wait until another thread or process has done something."""
    end = time.monotonic() + patience_s
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.001)


def run_headless(*settings: str, **options: Any) -> int:
    """Run a small crowd as the command does, without a window; return its exit code."""
    from crowd_demo.app import main

    small = "agents=300", "map=null", "window.width=320", "window.height=180"
    return main.run(load_config("1k", [*small, *settings]), RunOptions(headless=True, **options))


SMALL = "agents=200", "map=null", "window.width=640", "window.height=360"
WHOLE = "camera.center=null", "camera.zoom=null"  # `1k` opens at one of its doors, which are not there without its map


class Driven:
    """A loaded program; `press` and its like post an event and let the program see it, in as many frames as they are told."""

    def __init__(self, *settings: str, config: str = "1k", quick: bool = False, frames: int | None = None) -> None:
        from crowd_demo.app.loop import Loop
        from crowd_demo.app.program import Program

        self.config = load_config(config, [*SMALL, *WHOLE * (config == "1k"), *settings])
        open_window(self.config.window, headless=True)
        worker = Worker()
        loaded = worker.submit(lambda: load_program(self.config, True, LoadingProgress(), quick)).result()
        options = RunOptions(headless=True, frames=frames)
        self.program = Program(self.config, loaded, options)
        self.program.techniques.follow(loaded.follow)
        self.loop = Loop(self.program, options, worker)

    def frames(self, count: int = 1) -> None:
        for _ in range(count):
            self.loop.frame()

    def status(self) -> Status:
        """What the HUD is told now."""
        self.program.collect_news()
        return self.program.status()

    def press(self, key: str, mod: int = 0, hold: bool = False, frames: int = 1) -> None:
        pygame.event.post(pygame.Event(pygame.KEYDOWN, key=pygame.key.key_code(key), mod=mod))
        if not hold:
            self.release(key)
        self.frames(frames)

    def keys(self, *names: str, mod: int = 0, frames: int = 1) -> None:
        """Press keys, one after another, and have so many frames from the last one on."""
        for name in names:
            self.press(name, mod)
        self.frames(frames - 1)

    def settled(self, *names: str, mod: int = 0) -> None:
        """Press keys, and go on until no technique waits for its kernels."""
        self.keys(*names, mod=mod)
        self.settle()

    def release(self, key: str) -> None:
        pygame.event.post(pygame.Event(pygame.KEYUP, key=pygame.key.key_code(key), mod=0))

    def post(self, kind: int, **values: Any) -> None:
        pygame.event.post(pygame.Event(kind, **values))
        self.frames()

    def drag(self, *way: tuple[float, float], button: int = 1, release: bool = True, frames: int = 1) -> None:
        """Press a button of the mouse at the first pixel, move to the others, and release it: a click if there are none."""
        self.post(pygame.MOUSEBUTTONDOWN, pos=way[0], button=button)
        for at in way[1:]:
            self.move(at, button)
        if release:
            self.post(pygame.MOUSEBUTTONUP, pos=way[-1], button=button)
        self.frames(frames - 1)

    def move(self, at: tuple[float, float], button: int = 0) -> None:
        """Move the mouse to a pixel, with a button held or none (0)."""
        self.post(pygame.MOUSEMOTION, pos=at, rel=(0, 0), buttons=tuple(int(number == button) for number in (1, 2, 3)))

    def wheel(self, notches: int) -> None:
        self.post(pygame.MOUSEWHEEL, x=0, y=notches, precise_y=float(notches))

    def find(self, *target: str) -> tuple[int, int]:
        """A pixel at which the HUD has a target, by its kind or by kind and name; without any a pixel of the ground."""
        width, height = self.program.camera.size
        at = ((x, y) for y in range(0, height, 2) for x in range(0, width, 2))
        return next((x, y) for x, y in at if (self.program.hud.target_at(x, y) or ())[:len(target) or None] == target)

    def view(self) -> ListView:
        """What is drawn of the list that is open."""
        view = self.status().view
        assert view
        return view

    def tour(self) -> TourView:
        """What is shown of the tour."""
        view = self.status().tour
        assert view
        return view

    def until_told(self) -> TourView:
        """Go on until the page of the tour has its numbers, also in what it opens; return what is shown then."""
        def is_told() -> bool:
            self.frames()
            if self.loop.opened:
                self.follow()
            return not (self.tour().doing or self.program.crowd.changes)
        self.until(is_told)
        return self.tour()

    def turn_page(self, key: str) -> TourView:
        """Press a key of the tour, and go on until the page that it leads to has its numbers."""
        self.press(key)
        return self.until_told()

    def until(self, found: Callable[[], object]) -> None:
        """Run frames until something holds."""
        end = time.monotonic() + PATIENCE_S
        while not found():
            assert time.monotonic() < end, "it never happened"
            self.frames()

    def open(self, name: str) -> None:
        """Open a configuration, and go on in it once it is ready."""
        self.program.open_scenario(name)
        self.until(lambda: self.loop.opened)
        self.follow()

    def follow(self) -> None:
        """Go on in the configuration that was opened."""
        assert self.loop.opened
        self.loop.change_over(self.loop.opened)
        self.program = self.loop.program
        self.frames()

    def settle(self) -> None:
        """Until no technique waits for its kernels."""
        while self.program.techniques.switcher.pending:
            self.frames()
        self.frames()
