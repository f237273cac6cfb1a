"""The sums of a frame's parts."""

from __future__ import annotations

import pytest

from crowd_demo.profile import Profile
from crowd_demo.render.hud.frame_sums import FrameSums, frame_sums

pytestmark = pytest.mark.quick


def test_the_parts_and_the_rest_add_up_to_the_frame() -> None:
    profile = Profile()
    for factor in 1, 3:
        for stage, ms in {"see": 1.0, "census": 0.5, "culling grid": 0.25, "blit": 2.0, "overlays": 0.25, "hud": 0.5}.items():
            profile.add(stage, factor * ms)
        profile.end_frame(factor * 5.0)
    sums = frame_sums(profile, 30)
    assert sums == pytest.approx(FrameSums(step=3.0, draw=5.0, present=1.0, rest=1.0)) and sums.frame == pytest.approx(10.0)
    assert frame_sums(profile, 1) == pytest.approx(FrameSums(4.5, 7.5, 1.5, 1.5))


def test_before_the_first_frame_there_is_nothing_to_add_up() -> None:
    assert frame_sums(Profile(), 30) == FrameSums(0, 0, 0, 0)
