"""Fixed steps from an unsteady clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.app.pace import LONGEST_FRAME_S, Pace

pytestmark = pytest.mark.quick
DT = 1 / 64  # exact in binary, so that sums are


def started(catch_up: int = 4) -> Pace:
    pace = Pace(DT, catch_up)
    pace.steps(0.0, 1.0)
    return pace


def test_the_first_frame_makes_a_step() -> None:
    assert Pace(DT, 4).steps(0.0, 1.0) == 1


def test_time_that_fills_no_step_is_kept() -> None:
    pace = started()
    assert [pace.steps(DT * 0.75, 1.0) for _ in range(4)] == [0, 1, 1, 1]
    assert pace.owed_s == 0.0


def test_speed_stretches_time() -> None:
    assert started().steps(DT, 3.0) == 3
    assert started().steps(DT, 0.5) == 0


def test_a_slow_frame_catches_up_so_far_and_forgets_the_rest() -> None:
    pace = started(catch_up=4)
    assert pace.steps(10 * DT, 1.0) == 4
    assert pace.steps(DT, 1.0) == 1


def test_a_very_long_frame_counts_as_a_long_one() -> None:
    assert started(catch_up=10**6).steps(3600.0, 1.0) == LONGEST_FRAME_S / DT


@given(st.lists(st.integers(0, 16).map(lambda quarters: quarters * DT / 4), max_size=50))
def test_no_time_is_lost_or_made_while_it_keeps_up(frames: list[float]) -> None:
    pace = started(catch_up=1000)
    steps = sum(pace.steps(elapsed_s, 1.0) for elapsed_s in frames)
    assert steps * DT + pace.owed_s == sum(frames)
    assert 0 <= pace.owed_s < DT
