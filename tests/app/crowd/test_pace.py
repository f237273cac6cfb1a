"""Fixed steps from an unsteady clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.app.crowd.pace import CATCH_UP_S, LONGEST_FRAME_S, STEPS_S, Pace, StepRate

pytestmark = pytest.mark.quick
DT = 1 / 64  # exact in binary, so that sums are


def started(catch_up: int = 4) -> Pace:
    pace = Pace(DT, catch_up)
    pace.steps(0.0, 1.0)
    return pace


def test_the_first_frame_makes_a_step_and_speed_stretches_time() -> None:
    assert Pace(DT, 4).steps(0.0, 1.0) == 1
    assert (started().steps(DT, 3.0), started().steps(DT, 0.5)) == (3, 0)


def test_a_slow_frame_catches_up_as_much_of_the_clock_at_any_speed_and_forgets_the_rest() -> None:
    pace = started(catch_up=4)
    assert [pace.steps(10 * DT, 1.0), pace.steps(DT, 1.0), pace.steps(DT, 64.0)] == [4, 1, 64]
    assert [pace.steps(10 * DT, 16.0), pace.steps(10 * DT, 0.5)] == [4 * 16, 4]
    assert started(catch_up=10**6).steps(3600.0, 1.0) == LONGEST_FRAME_S / DT, "a very long frame counts as a long one"


@given(st.lists(st.integers(0, 16).map(lambda quarters: quarters * DT / 4), max_size=50))
def test_no_time_is_lost_or_made_while_it_keeps_up(frames: list[float]) -> None:
    pace = started(catch_up=1000)
    steps = sum(pace.steps(elapsed_s, 1.0) for elapsed_s in frames)
    assert steps * DT + pace.owed_s == sum(frames)
    assert 0 <= pace.owed_s < DT


def test_the_first_steps_have_more_time_than_those_of_a_high_speed() -> None:
    pace = started(catch_up=4)
    assert [pace.is_enough(made, STEPS_S * 1.01) for made in (1, 3, 4, 100)] == [False, False, True, True]
    assert [pace.is_enough(made, STEPS_S * 0.99) for made in (1, 4, 100)] == [False, False, False]
    assert pace.is_enough(1, CATCH_UP_S * 1.01)


# --- what is reached -------------------------------------------------------------------------------------------------

def rate(frames_per_s: int, steps: list[int]) -> StepRate:
    """After as many steps in frames of equal length."""
    counted, made = StepRate(), 0
    for frame, more in enumerate(steps):
        made += more
        counted.add(frame / frames_per_s, made)
    return counted


def test_steps_are_counted_over_the_last_second_and_so_is_the_real_speed() -> None:
    assert StepRate().per_s == 0.0
    assert rate(8, [5]).per_s == 0.0
    assert rate(8, [5, 1, 2]).per_s == 3 * 4
    assert rate(8, [4] * 100 + [1] * 8).per_s == 8
    assert (rate(64, [4] * 100).real_speed(16.0, DT), rate(8, [4] * 20).real_speed(1.0, DT)) == (4.0, 0.5)


def test_a_speed_that_is_reached_is_not_told_whatever_falls_between_frames() -> None:
    for speed in (1 / 8, 0.3, 1.0, 64.0):
        pace, made, counted = started(), 0, StepRate()
        for frame in range(500):
            made += pace.steps(1 / 50, speed)
            counted.add(frame / 50, made)
            assert counted.real_speed(speed, DT) is None


def run(speed: float, step_s: float, picture_s: float) -> tuple[StepRate, float]:
    """Two seconds on a machine with a clock of its own; the steps a second at the end, and the longest frame."""
    pace, counted, made, now_s, longest_s, frame_s = started(), StepRate(), 0, 0.0, 0.0, picture_s
    while now_s < 2.0:
        now_s += frame_s
        steps = pace.steps(frame_s, speed)
        done = next((done for done in range(1, steps + 1) if pace.is_enough(done, done * step_s)), steps)
        made += done
        frame_s = picture_s + done * step_s
        longest_s = max(longest_s, frame_s)
        counted.add(now_s, made)
    return counted, longest_s


@pytest.mark.parametrize(("speed", "step_s", "picture_s"), [
    (1.0, 0.010, 0.004), (4.0, 0.0025, 0.005), (16.0, 0.0005, 0.005), (64.0, 0.0001, 0.005), (64.0, 0.00015, 0.008),
    (16.0, 0.005, 0.008), (64.0, 0.001, 0.008), (64.0, 0.03, 0.008)])
def test_a_machine_reaches_the_speed_or_the_picture_still_moves_and_the_real_speed_is_told(
        speed: float, step_s: float, picture_s: float) -> None:
    counted, longest_s = run(speed, step_s, picture_s)
    assert longest_s <= max(STEPS_S, min(4 * step_s, CATCH_UP_S)) + step_s + picture_s + 1e-9
    real = counted.real_speed(speed, DT)
    if step_s * speed < DT:
        assert real is None and counted.per_s == pytest.approx(speed / DT, rel=0.05)
    else:
        assert real and real == pytest.approx(counted.per_s * DT) and real < speed / 2
