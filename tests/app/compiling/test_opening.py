"""Another configuration is opened in a running program."""

import gc
import json
import weakref
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock

import pygame
import pytest
from driven import Driven, run_headless

from crowd_demo.app import loop
from crowd_demo.app.files import replay_command
from crowd_demo.app.loop import Loop
from crowd_demo.app.program import Program
from crowd_demo.app.screen import screen
from crowd_demo.host.recording.format import read_recording

BIRDS = "agents: 300\nbehaviour: flock\nworld: {width: 900, height: 600}\nscene: {ground: sky}\nwindow: {title: birds}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a configuration of the user's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "birds.yaml").write_text(BIRDS, "utf-8")
    return tmp_path


def test_the_present_crowd_goes_on_until_the_last_one_is_there_and_the_window_stays_as_it_is(driven: Driven) -> None:
    driven.settled("tab", "f7", "9")
    pygame.display.set_mode((500, 300), pygame.RESIZABLE, 32)
    driven.program.open_scenario("maze")
    driven.frames(2)
    driven.program.open_scenario("birds")
    tick, left = driven.program.sim.tick, driven.program
    driven.until(lambda: driven.loop.opened)
    assert left.sim.tick > tick
    driven.follow()
    program = driven.program
    caption = driven.status().caption
    assert program is not left and program.config_name == "birds" and caption and caption.name == "birds"
    assert program.config.behaviour == "flock" and program.sim.agents.count == 300
    assert program.sim.tick == 1 and pygame.display.get_caption()[0] == "birds"
    assert program.panels.now.hud == "full" and not program.timeline_shown
    assert program.sim.optimizations.blitter == "compiled", "techniques start as the configuration says"
    assert screen().get_size() == program.camera.size == (500, 300)
    assert program.camera.zoom == pytest.approx(0.97 * 300 / 600), "the whole world fits into the window that is there"


def test_the_crowd_that_is_left_is_freed_and_going_back_does_not_lead_into_it(driven: Driven) -> None:
    driven.frames(20)
    driven.press("tab")
    left = weakref.ref(driven.program.sim)
    driven.open("birds")
    gc.collect()
    assert left() is None
    driven.frames(5)
    for _ in range(10):
        driven.press("backspace", frames=3)
    assert driven.program.sim.tick == 0 and driven.program.sim.agents.count == 300


def test_a_recording_ends_with_its_crowd(driven: Driven) -> None:
    driven.press("f8", frames=6)
    last = driven.program
    driven.open("birds")
    driven.program.files.finish(10)
    (path,) = Path().glob("*.replay")
    assert replay_command(Path("my runs", "a.replay")) == "crowd-demo replay 'my runs/a.replay'"
    script = read_recording(path)
    assert script.ended and not script.crash and script.parts[-1].end == last.sim.tick
    line = f"another scenario ended the recording {path}. Replay it: crowd-demo replay {path}"
    assert driven.program.crowd.recording is None and line in driven.status().notices


def test_a_mistake_is_a_notice_and_the_present_crowd_goes_on(driven: Driven, folder: Path) -> None:
    (folder / "birds.yaml").write_text("agents: many\n", "utf-8")
    driven.program.open_scenario("birds")
    line = "birds.yaml:1: agents: must be a whole number from 0 to 32000000, not 'many'"
    driven.until(lambda: line in driven.status().notices)
    assert driven.loop.opening is None and driven.loop.opened is None
    driven.frames(3)
    driven.program.crowd.player = object()  # type: ignore[assignment]
    driven.program.act("scenarios")
    assert driven.program.dialogs.top is None, "a replay is not left for another crowd"
    driven.program.crowd.player = None


def test_too_little_memory_is_a_notice_and_another_error_is_none(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_with(error: type[Exception]) -> None:
        monkeypatch.setattr(loop, "build", MagicMock(side_effect=error))
        driven.program.open_scenario("birds")

    fails_with(MemoryError)
    driven.until(lambda: "birds: too little memory for it beside the present crowd" in driven.status().notices)
    fails_with(ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        driven.until(lambda: False)


# --- whole runs ------------------------------------------------------------------------------------------------------

@pytest.fixture
def after_ten_frames(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Program]]:
    """A run asks for the birds in its tenth frame; the programs that ran."""
    programs: list[Program] = []
    frame = Loop.frame

    def asking(loop: Loop) -> None:
        if loop.program not in programs:
            programs.append(loop.program)
        if loop.program.sim.tick == 10 and len(programs) == 1:
            loop.program.open_scenario("birds")
        frame(loop)

    monkeypatch.setattr(Loop, "frame", asking)
    yield programs


def test_frames_are_counted_over_all_crowds_and_the_report_is_about_the_last(
        after_ten_frames: list[Program], folder: Path) -> None:
    paths = {"report": folder / "a.json", "screenshot": folder / "a.png", "trace": folder / "trace.json"}
    assert run_headless("agents=200", frames=800, **paths) == 0
    first, second = after_ten_frames
    assert first.sim.tick + second.sim.tick == 800
    report = json.loads((folder / "a.json").read_text("utf-8"))
    assert (report["agents"], report["config"]["behaviour"]) == (300, "flock")
    assert report["frames"] == report["steps"] == second.sim.tick
    assert report["config"]["window"]["width"] == 320 and (folder / "a.png").exists()
    spans = [event["name"] for event in json.loads((folder / "trace.json").read_text("utf-8")) if event["ph"] == "X"]
    assert spans.count("frame") == 800
