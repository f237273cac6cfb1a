"""Every tool in the real window, by real keys and a real mouse, and the recording of it all."""

from collections.abc import Callable
from typing import Any

from recorded_run import replayed

from crowd_demo.host.recording.format import read_recording
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.sim.actions import Action
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
from crowd_demo.sim.events import Event

SETTINGS = "map=null", "world.width=1280", "world.height=720", "camera.center=null", "camera.zoom=1"
OPEN = ("--config", "1k", *(word for setting in SETTINGS for word in ("--set", setting)))
HIDDEN = (*OPEN, "--size", "1280x720", "--set", "window.hud=off")


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


def recorded_parts(running: Any) -> list[list[Action]]:
    """Leave, and give up what was built; return what was done, once the recording was replayed to the same hash."""
    running.press(key_of("tool_pointer"), "Escape", "Return", "Escape", "Escape")
    assert running.process.wait(120) == 0
    script = read_recording(running.folder / "run.replay")
    assert replayed(script)[1].state_hash() == running.report()["state_hash"]
    return [[action for _, action in part.actions] for part in script.parts]


def test_every_tool_does_what_it_is_for_and_is_undone(start: Callable[..., Any]) -> None:
    closes = "events=[{hand: close, do: {walls: {rectangle: [200, 100, 260, 160]}}}]"
    running = start("--record", "run.replay", "--set", closes, base=HIDDEN)
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
    running.press(key_of("happen"), "ctrl+z", "ctrl+shift+z", *["ctrl+z"] * 13)
    running.until(running.shows_the_crowd)
    done, = recorded_parts(running)
    opened_again = done[done.index(Event(0)) + 1]
    assert isinstance(opened_again, PaintWalls) and not opened_again.wall, "what a manual event has built"
    walls = [action for action in done if isinstance(action, PaintWalls)]
    assert {action.wall for action in walls} == {True, False}
    kinds = [action.kind for action in done if isinstance(action, PutForce)]
    assert kinds.count("attract") >= 2 and {"repel", "scare"} < set(kinds)
    expected = {AddGoal, BringIn, PaintWalls, PutBack, PutForce, Remove, RemoveForce, SetExit, SetGoal, TakeOut}
    assert {type(action) for action in done} >= expected - {TakeOut, Remove} and expected & {TakeOut, Remove}


def test_a_restart_and_a_load_are_undone_by_the_same_keys_as_an_edit(start: Callable[..., Any]) -> None:
    running = start("--record", "run.replay", base=HIDDEN)
    running.until(running.shows_the_crowd)
    Mouse(running).use("tool_wall", (700, 200), (900, 200))
    running.press("F5")
    running.until(lambda: list(running.folder.glob("*.crowd")))
    running.press("r", "ctrl+z", "F9", "ctrl+z", "ctrl+z")
    running.until(running.shows_the_crowd)
    *parts, last = recorded_parts(running)
    assert [len(part) for part in parts[1:]] == [0, 0, 0], "the crowd of the restart, the one before it, and the loaded one"
    assert isinstance(parts[0][0], PaintWalls) and parts[0][0].wall
    undone, = last
    assert isinstance(undone, PaintWalls) and not undone.wall, "the one before it again: so its wall is undone"
