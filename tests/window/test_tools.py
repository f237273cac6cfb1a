"""Every tool, a slider, undoing and a bet in the real window, by real keys and a real mouse, and the recording of it all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pygame
from driven import Driven
from real_mouse import OPEN, SETTINGS, Mouse, key_of, recorded

from crowd_demo.app.screen.window import close_window
from crowd_demo.render.hud.number_rows import SLIDER
from crowd_demo.sim.actions import Switch
from crowd_demo.sim.edits import (
    AddGoal,
    BringIn,
    PaintWalls,
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
TOUR = """config: 1k
steps:
  - say: Everybody tests everybody.
    do: {set: {neighbours: none}}
    bet: {ask: "How many will be tested?", of: candidates, low: 0, high: 3000}
"""


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
