"""A program that runs without a window, driven by posted events."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pygame

from crowd_demo.app.options import RunOptions
from crowd_demo.app.screen.window import open_window
from crowd_demo.config.loader import load_config
from crowd_demo.host.compiling.loading import LoadingProgress, load_program
from crowd_demo.host.system import Worker
from crowd_demo.render.hud.status import Status

PATIENCE_S = 300.0  # for what other processes compile on a slow machine


def without_progress(stderr: str) -> str:
    """What a program said, but for what it was compiling, which depends on the cache and on the machine."""
    progress = ("crowd-demo: starting ", "crowd-demo: compiling ", "crowd-demo: importing ", "crowd-demo: building ")
    return "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith(progress))


SMALL = "agents=200", "map=null", "window.width=640", "window.height=360"
WHOLE = "camera.center=null", "camera.zoom=null"  # `1k` opens at one of its doors, which are not there without its map


def wait_for(happened: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Wait until another thread or process has done something."""
    end = time.monotonic() + patience_s
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.001)


class Driven:
    """A loaded program; `press` and its like post an event, `frames` lets the program see it."""

    def __init__(self, *settings: str, config: str = "1k", quick: bool = False) -> None:
        from crowd_demo.app.loop import Loop
        from crowd_demo.app.program import Program

        self.config = load_config(config, [*SMALL, *WHOLE * (config == "1k"), *settings])
        open_window(self.config.window, headless=True)
        worker = Worker()
        loaded = worker.submit(lambda: load_program(self.config, True, LoadingProgress(), quick)).result()
        self.program = Program(self.config, loaded)
        self.program.techniques.follow(loaded.follow)
        self.loop = Loop(self.config, RunOptions(headless=True), self.program, worker)

    def frames(self, count: int = 1) -> None:
        for _ in range(count):
            self.loop.frame()

    def status(self) -> Status:
        """What the HUD is told now."""
        from crowd_demo.app.presenter import status_of

        self.program.collect_news()
        return status_of(self.program)

    def press(self, key: str, mod: int = 0, hold: bool = False) -> None:
        pygame.event.post(pygame.Event(pygame.KEYDOWN, key=pygame.key.key_code(key), mod=mod))
        if not hold:
            self.release(key)
        self.frames()

    def release(self, key: str) -> None:
        pygame.event.post(pygame.Event(pygame.KEYUP, key=pygame.key.key_code(key), mod=0))

    def post(self, kind: int, **values: Any) -> None:
        pygame.event.post(pygame.Event(kind, **values))
        self.frames()

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
        self.loop = self.loop.next_loop()
        self.program = self.loop.program
        self.frames()

    def settle(self) -> None:
        """Until no technique waits for its kernels."""
        while self.program.techniques.switcher.pending:
            self.frames()
        self.frames()
