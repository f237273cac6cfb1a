"""No frame is lost or counted twice."""

from __future__ import annotations

import pytest

from crowd_demo.host.report import COLLECT_EVERY, Recorder, stages
from crowd_demo.profile import Profile

pytestmark = pytest.mark.quick


def run(profile: Profile, frames: range, stage: str = "interaction") -> None:
    for frame in frames:
        profile.add(stage, frame)
        profile.end_frame()


def test_more_frames_than_the_profile_holds() -> None:
    profile = Profile()
    recorder = Recorder(profile)
    for start in range(0, 4 * COLLECT_EVERY, COLLECT_EVERY):
        run(profile, range(start, start + COLLECT_EVERY))
        recorder.collect()
        recorder.collect()
    assert len(recorder.frames().frame_ms) == 4 * COLLECT_EVERY
    assert recorder.frames().stage_ms["interaction"].tolist() == list(range(4 * COLLECT_EVERY))


def test_frames_before_it_do_not_count_and_a_stage_that_came_later_took_no_time_before() -> None:
    profile = Profile()
    run(profile, range(10))
    recorder = Recorder(profile)
    run(profile, range(1, 3))
    recorder.collect()
    run(profile, range(3, 5), "move")
    recorder.collect()
    assert recorder.frames().stage_ms["move"].tolist() == [0, 0, 3, 4]
    assert recorder.frames().stage_ms["interaction"].tolist() == [1, 2, 0, 0]


def test_stages_add_up_to_the_frame_and_what_is_in_none_is_one() -> None:
    profile = Profile()
    recorder = Recorder(profile)
    for frame in range(60):
        profile.add("interaction", 2)
        if frame == 30:
            profile.add("reorder", 30)
        profile.end_frame(34 if frame == 30 else 4)
    recorder.collect()
    found = stages(recorder.frames())
    assert found["interaction"] == {"median_ms": 2, "mean_ms": 2, "share": round(2 / 4.5, 4)}
    assert found["reorder"] == {"median_ms": 0, "mean_ms": 0.5, "share": round(0.5 / 4.5, 4)}
    assert found["other"] == {"median_ms": 2, "mean_ms": 2, "share": round(2 / 4.5, 4)}
    assert sum(part["mean_ms"] or 0 for part in found.values()) == recorder.frames().frame_ms.mean() == 4.5
    assert profile.other_ms(3).tolist() == [2, 2, 2]


def test_stages_of_no_frame_are_unknown() -> None:
    recorder = Recorder(Profile())
    recorder.collect()
    assert recorder.frames().frame_ms.size == 0 and list(recorder.frames().stage_ms) == ["other"]
    assert stages(recorder.frames()) == {"other": {"median_ms": None, "mean_ms": None, "share": None}}
