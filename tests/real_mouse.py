"""A hand at a real window: keys of actions, presses and drags on the ground, and what was done in the end."""

from typing import Any

from recorded_run import replayed

from crowd_demo.host.recording.format import read_recording
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.sim.actions import Action

SETTINGS = "map=null", "world.width=1280", "world.height=720", "camera.center=null", "camera.zoom=1"
OPEN = ("--config", "1k", *(word for setting in SETTINGS for word in ("--set", setting)))


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
