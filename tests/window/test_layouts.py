"""Keys on a US, a German and a French keyboard: pressed by their places, as a hand does."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest
from layouts import ways

from crowd_demo.config.loader import load_config
from crowd_demo.registry.techniques import BY_PATH

ROWS = {"1234567890-=": 10, "qwertyuiop[]": 24, "asdfghjkl;'": 38, "zxcvbnm,./": 52}
NUMBERS = {place: first + at for row, first in ROWS.items() for at, place in enumerate(row)}
"""X's numbers of the keys, by their places on a US keyboard."""
MODIFIERS = {"shift": "50", "altgr": "108", "ctrl": "37"}


class Hands:
    """Press the keys of a keyboard of that layout; the program has been started on it."""

    def __init__(self, running: Any, layout: str) -> None:
        self.running, self.layout = running, layout

    def place(self, place: str, held: str = "", seconds: float = 0.0) -> None:
        """Press the key at the place that has that name on a US keyboard."""
        keys = [*([MODIFIERS[held]] if held else []), str(NUMBERS[place])]
        down, up = ([word for key in order for word in (way, key)]
                    for way, order in (("keydown", keys), ("keyup", keys[::-1])))
        self.running.tool(*down, "sleep", str(seconds), *up)  # by one process: several may take so long that keys repeat
        time.sleep(0.1)

    def type(self, characters: str, held: str = "") -> None:
        for character in characters:
            place, needed = ways(self.layout, character)
            self.place(place, held or needed)


@pytest.fixture(params=["fr", *(pytest.param(layout, marks=pytest.mark.slow) for layout in ("us", "de"))])
def hands(request: pytest.FixtureRequest, display: str, start: Callable[..., Any]) -> Hands:
    if not shutil.which("setxkbmap"):
        give_up = pytest.fail if "CROWD_DEMO_REQUIRE_WINDOW" in os.environ else pytest.skip
        give_up("setxkbmap not installed")
    subprocess.run(["setxkbmap", "-display", display, request.param], check=True)
    program = start("--set", "window.hud=off")
    program.until(program.shows_the_crowd)
    return Hands(program, request.param)


def left_with(hands: Hands) -> Any:
    """Copy what is on the screen as YAML, leave, and return the configuration."""
    place, _ = ways(hands.layout, "y")
    hands.place(place, "shift")
    assert hands.running.leave() == 0
    path = hands.running.folder / "copied.yaml"
    path.write_text(hands.running.process.stderr.read(), "utf-8")
    return load_config(str(path))


def test_keys_do_what_is_printed_on_them_or_what_their_places_say(hands: Hands) -> None:
    hands.place("7")
    hands.place("8", "shift")
    hands.type("//,=")
    hands.running.press("Insert", "Insert", "Delete")
    hands.type("e]]][")
    hands.running.press("Page_Up", "Page_Up", "Page_Down", "Tab", "space")
    hands.running.tool("mousemove", "--window", hands.running.window, "320", "180", "click", "--repeat", "8", "4")
    hands.place("w", seconds=0.3)
    hands.place("a", seconds=0.3)
    config = left_with(hands)
    options = config.optimizations
    assert options.cull == choice("cull", 1)
    assert options.depth == choice("depth", 1)
    assert options.reorder.every == choice("reorder.every", 1) + 3 * 20
    assert (config.time.speed, config.agents, config.window.hud) == (2.0, 1500, "compact")
    assert config.camera.center
    x, y = config.camera.center
    assert x < config.world.width / 2 and y < config.world.height / 2


def choice(path: str, steps: int) -> Any:
    """What a technique is set to, so many choices after its default."""
    technique = BY_PATH[path]
    return technique.choices[(technique.choices.index(technique.default) + steps) % len(technique.choices)]
