"""Traces and the recorder of frame times."""

import csv
import gc
import json
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from driven import Driven

from crowd_demo import cli
from crowd_demo.app.technique_controls import Switcher
from crowd_demo.app.trace import Trace, TracedProfile
from crowd_demo.host.report import LEAST_FRAMES, Frames, Recorder, last_second, stages, to_csv
from crowd_demo.host.system import YOUNG, collect_young
from crowd_demo.profile import HISTORY, Profile
from crowd_demo.sim.simulation import Simulation

quick = pytest.mark.quick
SMALL = ["--config", "1k", "--set", "agents=200", "--set", "map=null", "--size", "320x200", "--headless"]
FULL = Path("/dev/full")
without_full_disk = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


@pytest.fixture
def profile(tmp_path: Path) -> TracedProfile:
    return TracedProfile(Trace(tmp_path / "trace.json"))


def measure(profile: Profile, frames: int = 4) -> None:
    for frame in range(frames):
        profile.begin_frame()
        with profile.stage("events"):
            pass
        for _ in range(frame):
            profile.begin_step()
            with profile.stage("interaction"), profile.stage("see inside"):
                sum(range(1000))
            profile.end_step()
        profile.counters.update(drawn=min(frame, 2), total=7)
        if frame == 2:
            profile.note('Switch(path="cull")')
        profile.end_frame(tick=10 * frame)


def events(text: str, kind: str = "X") -> list[dict[str, Any]]:
    return [event for event in json.loads(text) if event["ph"] == kind]


def ns(us: float) -> int:
    return round(us * 1000)


def holds(outer: dict[str, Any], inner: dict[str, Any]) -> bool:
    """Does the one span lie within the other?"""
    return ns(outer["ts"]) <= ns(inner["ts"]) and ns(inner["ts"] + inner["dur"]) <= ns(outer["ts"] + outer["dur"])


def stage_ms(spans: list[dict[str, Any]], stage: str) -> list[float]:
    """Milliseconds of a stage in each frame, added up as the profile does."""
    frames = [span for span in spans if span["name"] == "frame"]
    found = [0.0] * len(frames)
    for span in spans:
        if span["name"] == stage:
            at = next(number for number, frame in enumerate(frames) if holds(frame, span))
            found[at] += ns(span["dur"]) / 1e6
    return [float(np.float32(ms)) for ms in found]


def written(profile: TracedProfile, kind: str = "X") -> list[dict[str, Any]]:
    """The events of a kind in the file, once the trace is closed."""
    profile.trace.close()
    return events(profile.trace.path.read_text("utf-8"), kind)


@quick
def test_spans_are_the_times_of_the_profile_and_counters_are_written_where_they_change(profile: TracedProfile) -> None:
    measure(profile)
    spans, counted = written(profile), defaultdict(list)
    frames = [span for span in spans if span["name"] == "frame"]
    assert [np.float32(ns(frame["dur"]) / 1e6) for frame in frames] == profile.frame_ms().tolist()
    assert [frame["args"] for frame in frames] == [{"frame": number, "tick": 10 * number} for number in range(4)]
    for stage in profile.stages:
        assert stage_ms(spans, stage) == profile.stage_ms(stage).tolist()
    assert sum(span["name"] == "step" for span in spans) == profile.steps == 6
    for event in written(profile, "C"):
        counted[event["name"]].append(event["args"]["value"])
    assert counted == {"drawn": [0, 1, 2], "total": [7]}
    (instant,) = written(profile, "i")
    assert instant["name"] == 'Switch(path="cull")' and profile.records()[2].notes == (instant["name"],)
    names = {event["name"]: event["args"]["name"] for event in written(profile, "M")}
    assert names == {"process_name": "crowd-demo", "thread_name": "MainThread"}


@quick
def test_each_frame_is_in_the_file_as_it_ends(profile: TracedProfile) -> None:
    for frames in (1, 2, 3):
        measure(profile, frames=1)
        left = profile.trace.path.read_text("utf-8")  # by a crash, say: the array is open, and nothing is missing but its end
        assert sum(span["name"] == "frame" for span in events(left + "]")) == frames
    profile.trace.close()


@quick
def test_a_trace_is_bounded_and_says_so(
        profile: TracedProfile, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("crowd_demo.app.trace.MAX_BYTES", 5000)
    measure(profile, frames=12)
    assert 1 <= sum(span["name"] == "frame" for span in written(profile)) < 12
    path = profile.trace.path
    assert path.stat().st_size <= 5010 and profile.frames == 12
    assert capsys.readouterr().err == f"crowd-demo: --trace: {path} ends at 0.005 MB, the run goes on\n"
    assert profile.trace.error is None


@quick
@without_full_disk
def test_a_full_disk_costs_a_line_and_not_the_run(
        capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = TracedProfile(Trace(FULL))
    measure(profile)
    profile.trace.close()
    assert capsys.readouterr().err == "crowd-demo: --trace: cannot write /dev/full: No space left on device\n"
    assert profile.trace.error and profile.frames == 4
    assert Trace(tmp_path / "no" / "such").error
    monkeypatch.setattr("crowd_demo.cli.run.is_special", lambda path: False)
    assert cli.main([*SMALL, "--frames", "4", "--trace", str(FULL)]) == 1


@quick
@pytest.mark.parametrize(("path", "line"), [
    ("no/such/trace.json", "--trace: there is no folder no/such"), (".", "--trace: . is a folder"),
    ("/dev/null", "--trace: /dev/null is not a regular file"),
])
def test_a_path_that_cannot_be_written_is_one_line(path: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*SMALL, "--trace", path]) == 2
    assert capsys.readouterr().err == f"{line}\n"


def test_a_run_is_traced_and_its_report_agrees(tmp_path: Path) -> None:
    trace, report = tmp_path / "trace.json", tmp_path / "report.json"
    assert cli.main([*SMALL, "--frames", "8", "--trace", str(trace), "--report", str(report)]) == 0
    spans = events(trace.read_text("utf-8"))
    measured = json.loads(report.read_text("utf-8"))
    frames = [ns(span["dur"]) / 1e6 for span in spans if span["name"] == "frame"]
    assert len(frames) == measured["frames"] == 8
    assert round(float(np.float32(max(frames[2:]))), 4) == measured["frame_ms"]["max"]  # without those of warming up
    assert {*measured["phases_ms"]} <= {span["name"] for span in spans}
    named = [event for event in events(trace.read_text("utf-8"), "M") if event["name"] == "thread_name"]
    threads = {event["args"]["name"]: event["tid"] for event in named}
    on = {span["name"]: span["tid"] for span in spans}
    assert on["frame"] == on["flip"] == threads["MainThread"]
    assert on["step"] == on["interaction"] == on["blit"] == threads["crowd-demo worker"]
    for number, span in enumerate(spans):  # Perfetto drops spans of a thread that overlap in part
        for other in spans[number + 1:]:
            apart = ns(span["ts"] + span["dur"]) <= ns(other["ts"]) or ns(other["ts"] + other["dur"]) <= ns(span["ts"])
            assert span["tid"] != other["tid"] or apart or holds(span, other) or holds(other, span)
    plain = tmp_path / "plain.json"
    assert cli.main([*SMALL, "--frames", "8", "--report", str(plain)]) == 0
    assert json.loads(plain.read_text("utf-8"))["state_hash"] == measured["state_hash"]


def test_a_crash_leaves_a_trace_with_the_step_that_led_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Simulation.step

    def crash(sim: Simulation) -> None:
        step(sim)
        if sim.tick == 4:
            raise RuntimeError("the fourth step")

    monkeypatch.setattr(Simulation, "step", crash)
    trace = tmp_path / "trace.json"
    assert cli.main([*SMALL, "--frames", "8", "--trace", str(trace)]) == 1
    names = [span["name"] for span in events(trace.read_text("utf-8"))]
    assert names.count("frame") == 3 and names.count("step") == names.count("index") == 4


# --- No frame is lost or counted twice -------------------------------------------------------------------------------

def run(profile: Profile, frames: range, stage: str = "interaction") -> None:
    for frame in frames:
        profile.add(stage, frame)
        profile.end_frame()


@pytest.mark.quick
def test_stages_of_no_frame_are_unknown() -> None:
    recorder = Recorder(Profile())
    recorder.collect()
    assert recorder.frames().frame_ms.size == 0 and list(recorder.frames().stage_ms) == ["other"]
    assert stages(recorder.frames()) == {"other": {"median_ms": None, "mean_ms": None, "share": None}}


# --- The CSV of the last second --------------------------------------------------------------------------------------

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
    driven.settled("8")
    driven.press("r", frames=5)
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
