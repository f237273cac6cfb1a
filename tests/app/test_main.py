"""Whole runs: exit codes, the report, the picture."""

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pygame
import pytest
from driven import run_headless, without_progress

from crowd_demo.app import main
from crowd_demo.config.loader import load_config
from crowd_demo.host.system import STDOUT
from crowd_demo.sim.simulation import Simulation

SMALL = ["agents=300", "map=null", "window.width=320", "window.height=180"]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "crowd_demo", "--config", "1k", "--set", "map=null", *arguments]


def test_the_report_says_what_ran(tmp_path: Path) -> None:
    assert run_headless(frames=30, report=tmp_path / "report.json") == 0
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert (report["agents"], report["frames"], report["steps"], report["seed"]) == (300, 30, 30, 1)
    assert report["warmup_frames"] == 7
    assert report["config"]["window"]["width"] == 320
    assert report["optimizations"]["neighbours"] == "sorted"
    assert set(report["frame_ms"]) == {"median", "p95", "p99", "max"}
    assert 0 <= sum(report["long_frames"].values()) < report["frames"]
    assert 0 < report["frame_ms"]["median"] <= report["frame_ms"]["p99"] <= report["frame_ms"]["max"]
    assert {"index", "interaction", "move", "cull", "depth", "blit", "hud", "flip"} <= set(report["phases_ms"])
    assert list(report["stages"]) == [*report["phases_ms"], "other"] and report["interrupted"] is False
    assert {"visible", "drawn", "candidates_per_agent", "neighbours_per_agent"} <= set(report["counters"])
    assert report["rss_mb"]["peak"] > 10 and set(report["startup_s"]) == {"import", "compile", "first_frame"}
    assert {"crowd-demo", "python", "numpy", "numba", "pygame-ce"} <= set(report["versions"])
    assert {"cpu", "cores", "simd", "os"} == set(report["machine"])
    sim = Simulation(load_config("1k", SMALL))
    sim.step(30)
    assert report["state_hash"] == sim.state_hash(), "that of the same steps without a program"


def test_the_report_explains_a_stage_when_that_was_asked(tmp_path: Path) -> None:
    assert run_headless(frames=10, report=tmp_path / "report.json", why="interaction") == 0
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert [row["name"] for row in report["why"]][:2] == ["time", "pairs"] and report["why"][-1]["name"] == "bottleneck"
    assert report["steps"] == 10
    assert run_headless(frames=10, report=tmp_path / "plain.json") == 0
    plain = json.loads((tmp_path / "plain.json").read_text("utf-8"))
    assert "why" not in plain and plain["state_hash"] == report["state_hash"]


def test_a_run_without_a_picture_has_no_stages_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_headless(frames=8, report=STDOUT, render=False) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"interaction", "move"} <= set(report["phases_ms"]) and "blit" not in report["phases_ms"]


def test_the_picture_is_the_last_frame(tmp_path: Path) -> None:
    assert run_headless(frames=3, screenshot=tmp_path / "shot.png") == 0
    picture = pygame.image.load(tmp_path / "shot.png")
    assert picture.get_size() == (320, 180)
    assert len({tuple(picture.get_at((x, y))) for x in range(0, 320, 4) for y in range(0, 180, 4)}) > 8


@pytest.mark.parametrize(("broken", "left"), [("report", "b.png"), ("screenshot", "a.json")])
def test_what_cannot_be_written_is_a_line_and_leaves_the_other(
        broken: str, left: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = {"report": tmp_path / "a.json", "screenshot": tmp_path / "b.png"}
    paths[broken] = tmp_path / "gone" / paths[broken].name
    assert run_headless(frames=2, **paths) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"crowd-demo: --{broken}: cannot write {paths[broken]}: ") and said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [left]


@pytest.mark.parametrize(("owner", "name"), [(main, "load_program"), (Simulation, "step")])
def test_a_crash_while_loading_or_in_the_worker_is_raised(owner: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, name, MagicMock(side_effect=ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        run_headless(frames=1)


def test_only_the_report_is_written_to_standard_output() -> None:
    done = subprocess.run(command("--headless", "--frames", "3", "--report", "-"), capture_output=True, encoding="utf-8")
    assert done.returncode == 0 and without_progress(done.stderr) == ""
    assert json.loads(done.stdout)["frames"] == 3


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there always is a display")
@pytest.mark.parametrize("more", [{}, {"XDG_RUNTIME_DIR": "/nowhere"}], ids=["no folder", "a wrong folder"])
def test_without_a_display_there_is_one_line_and_code_3(more: dict[str, str]) -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "XDG_RUNTIME_DIR")
    env = {name: value for name, value in os.environ.items() if name not in hidden} | more
    done = subprocess.run(command(), capture_output=True, encoding="utf-8", env=env)
    assert done.returncode == 3 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "--headless" in done.stderr


def test_the_window_opens_before_the_compiler_is_imported() -> None:
    code = "import sys, crowd_demo.app.main; sys.exit('numba' in sys.modules or 'llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
