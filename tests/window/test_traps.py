"""What once misled a user, by real keys and a real mouse, and the recording of it all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from picture_files import pixels
from real_mouse import OPEN, Mouse, key_of, recorded
from recorded_run import replayed

from crowd_demo.host.recording.format import read_recording
from crowd_demo.sim.actions import Populate, Switch
from crowd_demo.sim.edits import PaintWalls, PlaceLine

HIDDEN = (*OPEN, "--size", "1280x720", "--set", "window.hud=off")


def test_one_undo_for_keys_and_strokes(start: Callable[..., Any]) -> None:
    running = start("--record", "run.replay", base=HIDDEN)
    running.until(running.shows_the_crowd)
    running.press("l", "minus")
    Mouse(running).use("tool_wall", (700, 200), (900, 200))
    running.press("ctrl+z", "ctrl+z", "ctrl+z", "ctrl+y")
    running.until(running.shows_the_crowd)
    done = [action for action in recorded(running) if not isinstance(action, PaintWalls)]
    leaf, fewer, again, back, redone = done
    assert (leaf, back, redone) == (Switch("leaf_size", 64), Switch("leaf_size", 32), Switch("leaf_size", 64))
    assert isinstance(fewer, Populate) and isinstance(again, Populate) and fewer.count < again.count


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
    assert counts.line == line.ends and counts.both.sum() > 0 and len(counts.line_flows(5)) >= 2


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
