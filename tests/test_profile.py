"""The record of a frame."""

from __future__ import annotations

import pytest

from crowd_demo.profile import Profile

pytestmark = pytest.mark.quick


def test_a_stage_that_seldom_runs_is_remembered_by_its_latest_run() -> None:
    profile = Profile()
    assert profile.last_run_ms("reorder") == 0
    for ms in (2.0, 0.0, 5.0, 0.0, 0.0):
        profile.begin_frame()
        if ms:
            profile.add("reorder", ms)
        profile.end_frame()
    assert profile.last_run_ms("reorder") == 5.0
    assert profile.stage_ms("reorder").tolist() == [2, 0, 5, 0, 0]


def test_the_last_second_is_that_of_the_frames_and_of_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [50.0]
    monkeypatch.setattr("crowd_demo.profile.time.perf_counter", lambda: now[0])
    profile = Profile()
    assert profile.recent_frames() == len(profile.recent_stepped()) == 0

    def frames(count: int, steps: int, each_s: float) -> None:
        for _ in range(count):
            now[0] += each_s
            for _ in range(steps):
                profile.begin_step()
                profile.end_step()
            profile.end_frame()

    frames(100, 1, 0.0625)
    assert profile.recent_frames() == len(profile.recent_stepped()) == 16
    frames(200, 0, 0.125)  # paused
    assert profile.recent_frames() == 8 and len(profile.recent_stepped()) == 16
    frames(5, 2, 3.0)
    assert profile.recent_frames() == len(profile.recent_stepped()) == 4, "at least"
