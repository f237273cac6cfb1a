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
