"""A screen for each test (Xvfb) and fingers (xdotool) for the real program."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from table import screen

from crowd_demo.config.loader import load_config
from crowd_demo.sim.simulation import Simulation

PATIENCE_S = 120.0  # for whatever a slow machine does; no test measures a time
SMALL = ("--config", "1k", "--set", "map=null", "--set", "camera.center=null", "--set", "camera.zoom=null",
         "--size", "640x360")
TOOLS = ("Xvfb", "xdotool")
Found = TypeVar("Found")


def until(found: Callable[[], Found], ended: Callable[[], str | None]) -> Found:
    """Wait until something is found. Raises AssertionError when it never is, or what `ended` says when there is no hope."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if why := ended():
            raise AssertionError(why)
        if what := found():
            return what
        time.sleep(0.05)
    raise AssertionError("it never happened")


def xdotool(display: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "DISPLAY": display}
    return subprocess.run(["xdotool", *arguments], env=env, check=check, capture_output=True, encoding="utf-8")


@pytest.fixture
def server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The test's own screen, once it answers, and the process that it is."""
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        give_up = pytest.fail if "CROWD_DEMO_REQUIRE_WINDOW" in os.environ else pytest.skip
        give_up(f"{' and '.join(missing)} not installed")
    with screen() as (display, server):
        until(lambda: xdotool(display, "getdisplaygeometry", check=False).returncode == 0,
              lambda: None if server.poll() is None else "Xvfb has ended")
        yield display, server


@pytest.fixture
def display(server: tuple[str, subprocess.Popen[bytes]]) -> str:
    return server[0]


class Running:
    """The program in a window; `report` is what it wrote when it was left."""

    def __init__(self, display: str, folder: Path, *arguments: str, base: Sequence[str] = SMALL, **environment: str) -> None:
        self.display, self.folder = display, folder
        env = {**os.environ, "DISPLAY": display, "SDL_VIDEODRIVER": "x11", **environment,
               "PYTHONPATH": os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])}
        command = [sys.executable, "-m", "crowd_demo", *base, "--report", "report.json", *arguments]
        self.process = subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, encoding="utf-8")
        self.window = ""

    def open(self) -> None:
        """Wait for the window, and turn to it."""
        self.focus()

    def focus(self) -> None:
        self.until(self._focused)

    def _focused(self) -> bool:
        """Has it been turned to? SDL destroys its first window and makes another, which then gets a title of ours."""
        self.window = self.tool("search", "--onlyvisible", "--pid", str(self.process.pid), check=False).strip()
        title = self.tool("getwindowname", self.window, check=False).strip() if self.window else ""
        if title in ("", "pygame window"):
            return False
        return xdotool(self.display, "windowfocus", "--sync", self.window, check=False).returncode == 0

    def tool(self, *arguments: str, check: bool = True) -> str:
        return xdotool(self.display, *arguments, check=check).stdout

    def press(self, *keys: str) -> None:
        """One after another, as a hand would: a key by its symbol, or by its number, which is its place on any layout."""
        for key in keys:
            self.tool("key", key)
            time.sleep(0.1)

    def picture(self) -> Path:
        """F12, and the file that it leaves."""
        before = self.pictures()
        self.press("F12")
        (new,) = self.until(lambda: self.pictures() - before)
        return new

    def pictures(self) -> set[Path]:
        return set(self.folder.glob("*.png"))

    def shows_the_crowd(self) -> bool:
        """Keys are not read while it loads; so press one now and then until it has an effect."""
        self.press("F12")
        time.sleep(0.5)
        return bool(self.pictures())

    def until(self, found: Callable[[], Found]) -> Found:
        return until(found, self._ended)

    def _ended(self) -> str | None:
        if self.process.poll() is None:
            return None
        return f"the program has ended: {self.process.stderr and self.process.stderr.read()}"

    def leave(self) -> int:
        """Esc, and Esc again to the question, which nobody asks while it loads; return the exit code."""
        self.press("Escape", "Escape")
        return self.process.wait(PATIENCE_S)

    def report(self) -> Any:
        return json.loads((self.folder / "report.json").read_text("utf-8"))

    def crowd_is_as_if_alone(self) -> bool:
        """Has it come, after so many steps, to where it comes without a window and without anybody who looks?"""
        report, alone = self.report(), Simulation(load_config("1k", ["map=null"]))
        alone.step(report["steps"])
        return bool(report["state_hash"] == alone.state_hash())


@pytest.fixture
def start(display: str, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start the program; whatever is left of it is ended after the test."""
    started: list[Running] = []

    def launch(*arguments: str, base: Sequence[str] = SMALL, **environment: str) -> Running:
        started.append(Running(display, tmp_path, *arguments, base=base, **environment))
        started[-1].open()
        return started[-1]

    yield launch
    for running in started:
        running.process.kill()
        running.process.wait()
        assert running.process.stderr
        running.process.stderr.close()


@pytest.fixture
def running(start: Callable[..., Running]) -> Running:
    """The program when its crowd is on the screen."""
    program = start()
    program.until(program.shows_the_crowd)
    return program
