"""Traces and the recorder of frame times."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowd_demo import cli
from crowd_demo.app.trace import Trace, TracedProfile
from crowd_demo.host.report import Recorder, stages
from crowd_demo.profile import Profile
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
