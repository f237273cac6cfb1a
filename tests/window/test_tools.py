"""Every tool, a slider, undoing and a bet in the real window, by real keys and a real mouse, and the recording of it all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pygame
from driven import Driven
from picture_files import pixels
from recorded_run import replayed

from crowd_demo.app.screen.window import close_window
from crowd_demo.host.recording.format import read_recording
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.render.hud.sections import SLIDER
from crowd_demo.sim.actions import Action, Populate, Switch
from crowd_demo.sim.edits import (
    AddGoal,
    BringIn,
    PaintWalls,
    PlaceLine,
    PutBack,
    PutForce,
    Remove,
    RemoveForce,
    SetExit,
    SetGoal,
    TakeOut,
)
from crowd_demo.sim.tuning import Tune

SIZE = 1280, 720
SETTINGS = "map=null", "world.width=1280", "world.height=720", "camera.center=null", "camera.zoom=1"
OPEN = ("--config", "1k", *(word for setting in SETTINGS for word in ("--set", setting)))
HIDDEN = (*OPEN, "--size", "1280x720", "--set", "window.hud=off")
TOUR = """config: 1k
steps:
  - say: Everybody tests everybody.
    do: {set: {neighbours: none}}
    bet: {ask: "How many will be tested?", of: candidates, low: 0, high: 3000}
"""


def key_of(action: str) -> str:
    """What xdotool calls the key of an action."""
    return PROGRAM[action].keys[0].replace("[", "bracketleft").replace("]", "bracketright")


class Mouse:
    """Presses and drags on the ground, at pixels of the window."""

    def __init__(self, running: Any) -> None:
        self.running = running

    def press(self, *points: tuple[int, int]) -> None:
        """Press at the first point and release at the last."""
        for number, (x, y) in enumerate(points):
            press = () if number else ("mousedown", "1")
            self.running.tool("mousemove", "--window", self.running.window, str(x), str(y), *press)
            self.running.tool("sleep", "0.2")
        self.running.tool("mouseup", "1")
        self.running.tool("sleep", "0.2")

    def use(self, tool: str, *points: tuple[int, int]) -> None:
        self.running.press(key_of(tool))
        self.press(*points)


def recorded(running: Any) -> list[Action]:
    """Leave, and give up what was built; return what was done, once the recording was replayed to the same hash."""
    running.press(key_of("tool_hand"), "Escape", "Return", "Escape", "Escape")
    assert running.process.wait(120) == 0
    script = read_recording(running.folder / "run.replay")
    assert replayed(script)[1].state_hash() == running.report()["state_hash"]
    part, = script.parts
    return [action for _, action in part.actions]


def test_every_tool_does_what_it_is_for_and_is_undone(start: Callable[..., Any]) -> None:
    running = start("--record", "run.replay", base=(*OPEN, "--size", "1280x720", "--set", "window.hud=off"))
    running.until(running.shows_the_crowd)
    mouse = Mouse(running)
    mouse.use("tool_wall", (700, 200), (900, 200))
    mouse.use("tool_erase", (780, 200), (820, 200))
    mouse.use("tool_in", (600, 500))
    running.press(*[key_of("brush_larger")] * 6)
    mouse.use("tool_out", (400, 300), (500, 300))
    mouse.use("tool_attract", (640, 360), (660, 380))
    mouse.press((660, 380))
    mouse.use("tool_repel", (300, 500))
    mouse.use("tool_scare", (900, 500))
    mouse.use("tool_goal", (1000, 400))
    mouse.press((1000, 400), (1100, 450))
    mouse.use("tool_exit", (1100, 450))
    running.press("ctrl+z", "ctrl+shift+z", *["ctrl+z"] * 12)
    running.until(running.shows_the_crowd)
    done = recorded(running)
    walls = [action for action in done if isinstance(action, PaintWalls)]
    assert {action.wall for action in walls} == {True, False}
    kinds = [action.kind for action in done if isinstance(action, PutForce)]
    assert kinds.count("attract") >= 2 and {"repel", "scare"} < set(kinds)
    expected = {AddGoal, BringIn, PaintWalls, PutBack, PutForce, Remove, RemoveForce, SetExit, SetGoal, TakeOut}
    assert {type(action) for action in done} >= expected - {TakeOut, Remove} and expected & {TakeOut, Remove}


def test_a_slider_is_dragged_and_a_double_click_brings_the_shipped_value_back(start: Callable[..., Any]) -> None:
    driven = Driven(*SETTINGS, "window.width=1280", "window.height=720")
    driven.press("n", pygame.KMOD_LCTRL)
    driven.frames(2)
    hud = driven.program.hud
    found: dict[str, list[tuple[int, int]]] = {}
    for y in range(2, SIZE[1], 4):
        for x in range(2, SIZE[0], 4):
            target = hud.target_at(x, y)
            if target and target.kind == SLIDER:
                found.setdefault(target.name, []).append((x, y))
    close_window()
    path, spots = next(iter(found.items()))
    (left, y), (right, _) = spots[0], max(spot for spot in spots if spot[1] == spots[0][1])
    running = start("--record", "run.replay", base=(*OPEN, "--size", "1280x720"))
    running.until(running.shows_the_crowd)
    running.press(key_of("numbers"))
    mouse = Mouse(running)
    mouse.press((left + 4, y), ((left + right) // 2, y), (right - 8, y))
    tuned = [action for action in recorded(running) if isinstance(action, Tune)]
    assert tuned and {action.path for action in tuned} == {path}
    assert len({action.value for action in tuned}) > 1 and np.all(np.diff([action.value for action in tuned]) > 0)


def test_a_bet_takes_the_digits_and_its_step_comes_after_the_guess(start: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(TOUR, "utf-8")
    running = start("--tour", "mine.yaml", "--record", "run.replay", base=("--size", "1280x720"))
    running.until(running.shows_the_crowd)
    running.press("1", "2", "0", "Return")
    running.until(running.shows_the_crowd)
    running.press("F3")  # ends the tour
    switches = [action for action in recorded(running) if isinstance(action, Switch)]
    assert switches == [Switch("neighbours", "none")]


def test_one_undo_for_keys_and_strokes(start: Callable[..., Any]) -> None:
    running = start("--record", "run.replay", base=HIDDEN)
    running.until(running.shows_the_crowd)
    running.press("minus", "l")
    running.tool("sleep", "2")
    Mouse(running).use("tool_wall", (700, 200), (900, 200))
    running.press("ctrl+z", "ctrl+z", "ctrl+z", "ctrl+y", "ctrl+y")
    running.tool("sleep", "2")
    done = [action for action in recorded(running) if not isinstance(action, PaintWalls)]
    assert done == [Populate(800), Switch("leaf_size", 64), Switch("leaf_size", 32), Populate(1000), Populate(800),
                    Switch("leaf_size", 64)]


def test_a_wall_a_door_and_its_flow_in_four_actions(start: Callable[..., Any]) -> None:
    running = start("--record", "run.replay", base=HIDDEN)
    running.until(running.shows_the_crowd)
    mouse = Mouse(running)
    mouse.use("tool_wall", (640, 100), (640, 360), (640, 620))
    mouse.use("tool_erase", (640, 340), (640, 380))
    mouse.use("tool_line", (640, 300), (640, 360), (640, 420))
    running.tool("sleep", "10")
    *_, line = (action for action in recorded(running) if isinstance(action, PlaceLine))
    x, y, to_x, to_y = line.ends
    assert abs(x - 640) < 3 and abs(to_x - 640) < 3 and to_y - y > 90
    counts = replayed(read_recording(running.folder / "run.replay"))[1].counts
    assert counts.line == line.ends and counts.both.sum() > 0 and len(counts.flows(5, of_placed=True)) >= 2


def test_escape_stops_many_agents_who_come_in_slices(start: Callable[..., Any]) -> None:
    running = start("--record", "run.replay", base=HIDDEN)
    running.until(running.shows_the_crowd)
    running.press(key_of("agents"), *"900000", "Return", "Escape")
    running.until(running.shows_the_crowd)
    counts = [action.count for action in recorded(running) if isinstance(action, Populate)]
    assert counts == sorted(counts) and 1_000 < counts[0] <= 30_000 and counts[-1] < 900_000


def test_the_camera_follows_an_inspected_person(start: Callable[..., Any]) -> None:
    running = start("--record", "run.replay", base=HIDDEN)
    running.until(running.shows_the_crowd)
    running.press("space", "F6", "semicolon", "F6")
    before = pixels(running.picture())
    running.press("F6", "ctrl+semicolon", "semicolon", "semicolon", "F6")
    assert (pixels(running.picture()) != before).any(axis=2).mean() > 0.3, "the view is at another person"
    assert not recorded(running), "looking changes nothing"
