"""The CSV of the last second says what the profile says."""

from __future__ import annotations

import csv
import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from driven import Driven

from crowd_demo.app.technique_controls import Switcher
from crowd_demo.host.report import LEAST_FRAMES, Frames, last_second, to_csv
from crowd_demo.host.system import YOUNG, collect_young
from crowd_demo.profile import HISTORY, Profile

quick = pytest.mark.quick


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The profile's clock, which goes on by `ms` a frame."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("crowd_demo.profile.time.perf_counter", lambda: clock.now)
    return clock


def measured(clock: Any, frames: int = 100, slow: int = 90, ms: float = 20.1) -> Profile:
    """Frames of two steps, of which one is slow: it sorts, and sees more."""
    profile = Profile()
    for frame in range(frames):
        profile.begin_frame()
        profile.counters.update(drawn=100 + 50 * (frame == slow), due=float(frame % 3 == 0))
        for _ in range(2):
            profile.begin_step()
            profile.add("interaction", 3.3 + frame / 1000 + 10.0 * (frame == slow))
            if frame == slow:
                profile.add("reorder", 2.5)
                profile.note("Switch(path='depth', value='full')")
            profile.end_step()
        clock.now += ms / 1000
        profile.end_frame(ms + 25.0 * (frame == slow), tick=2 * frame + 2)
    return profile


def rows(text: str) -> tuple[list[str], list[dict[str, str]]]:
    """The comment lines, and the rows by their names."""
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith("# ")]
    return comments, list(csv.DictReader(lines[len(comments):]))


@quick
def test_every_number_is_the_profiles(clock: Any) -> None:
    profile = measured(clock)
    _, found = rows(to_csv(*last_second(profile)))
    assert [int(row["frame"]) for row in found] == list(range(100 - len(found), 100))
    assert [int(row["tick"]) for row in found] == [2 * int(row["frame"]) + 2 for row in found]
    for name, values in {"frame": profile.frame_ms(), "interaction": profile.stage_ms("interaction"),
                         "reorder": profile.stage_ms("reorder"), "other": profile.other_ms()}.items():
        assert [np.float32(row[f"{name}_ms"]) for row in found] == values[-len(found):].tolist()
    assert {row["steps"] for row in found} == {"2"}
    assert [float(row["drawn"]) for row in found] == [150.0 if row["frame"] == "90" else 100.0 for row in found]
    assert [row["frame"] for row in found if row["slowest"] == "1"] == ["90"]
    assert [row["notes"] for row in found if row["notes"]] == ["; ".join(["Switch(path='depth', value='full')"] * 2)]


@quick
def test_it_is_the_last_second_or_a_few_frames_or_all_that_is_kept(clock: Any) -> None:
    assert len(last_second(measured(clock))[1]) == 50  # of 20.1 ms
    assert len(last_second(measured(clock, ms=300.0))[1]) == LEAST_FRAMES
    assert len(last_second(measured(clock, frames=3, slow=1))[1]) == 3
    many, records = last_second(measured(clock, frames=2 * HISTORY, ms=0.1))
    assert len(records) == len(many.frame_ms) == HISTORY - 1 and many.first == HISTORY + 1


@quick
def test_what_was_different_in_the_slowest_frame_is_said(clock: Any) -> None:
    comments, _ = rows(to_csv(*last_second(measured(clock))))
    assert comments[1:] == [
        "# slowest: frame 90, tick 182, 45.10 ms, 2 steps; median: 20.10 ms, 2 steps",
        "# ms more than in the median frame (ms in this one): interaction +20.03 (26.78), reorder +5.00 (5.00)",
        "# cause: thread wake-up; happened in it: Switch(path='depth', value='full'); Switch(path='depth', value='full')",
        "# frames above 1.5 times the running median, by cause: thread wake-up 1",
        "# counters unlike their median: drawn 150 (100), due 1 (0)",
    ]


@quick
def test_each_long_frame_has_the_cause_that_its_stages_show(clock: Any) -> None:
    profile, causes = Profile(), {7: "HUD", 30: "prices and fields", 31: "meters", 90: "HUD", 95: "thread wake-up"}
    stages = {"HUD": "hud", "prices and fields": "paths", "meters": "meters", "thread wake-up": "blit"}
    for frame in range(100):
        for stage in ("paths", "blit", "hud"):
            profile.add(stage, 1.0)
        profile.add(stages[causes.get(frame, "HUD")], 2.0 * (frame in causes))
        profile.end_frame(4.0 + (frame == 50) + 2.1 * (frame in causes))
    frames = Frames.last(profile, 100)
    assert {frame: cause for frame, cause in enumerate(frames.causes()) if cause} == causes
    assert frames.long_frames() == {"HUD": 2, "prices and fields": 1, "meters": 1, "thread wake-up": 1}
    _, found = rows(to_csv(frames, profile.records()))
    assert [row["cause"] for row in found] == frames.causes()


@quick
def test_garbage_is_collected_between_frames_before_python_does() -> None:
    gc.collect()
    collect_young()
    kept: list[list[object]] = [[] for _ in range(YOUNG)]
    assert gc.get_count()[0] >= YOUNG > len(kept) / 2 and gc.get_threshold()[0] > YOUNG
    collect_young()
    assert gc.get_count()[0] < YOUNG


def test_the_key_saves_frames_of_the_program(driven: Driven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driven.press("f4")  # there is no frame yet
    assert driven.status().notices == ["cannot save the last second: there was no frame yet"]
    driven.press("8")
    driven.settle()
    driven.press("r")
    driven.frames(4)
    driven.keys("=", "f4")
    comments, found = rows((tmp_path / "crowd-0001.csv").read_text("utf-8"))
    assert f"saved {tmp_path}/crowd-0001.csv: " in driven.status().notices[-1]
    profile = driven.program.sim.profile
    assert int(found[-1]["frame"]) == profile.frames - 2  # the key's own frame is the last
    assert int(found[-1]["tick"]) == driven.program.sim.tick - 1 and len(comments) == 6
    assert [np.float32(row["interaction_ms"]) for row in found] == profile.stage_ms("interaction")[-1 - len(found):-1].tolist()
    notes = "; ".join(row["notes"] for row in found)
    for what in ("Switch(path='depth', value='off')", "another crowd", "Populate(count=250)"):
        assert what in notes
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    driven.press("f4")
    assert driven.status().notices[-1] == "cannot save the last second: No such file or directory"


def test_a_frame_beside_which_a_kernel_is_compiled_says_so(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    driven.frames()
    monkeypatch.setattr(Switcher, "busy", True)
    driven.frames()
    assert ["compiling" in record.notes for record in driven.program.sim.profile.records()] == [False, True]
