"""Medians, intervals and verdicts, against distributions whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crowd_demo.measure.statistics import LEAST_BLOCKS, Interval, cost_of, median_interval, ratio_interval, verdict
from crowd_demo.profile import Profile

pytestmark = pytest.mark.quick
QUIET = Interval(1, 0.99, 1.01)


def rare(steps: int, every: int, ms: float) -> np.ndarray:
    """Times of a stage that runs every so many steps."""
    return np.where(np.arange(steps) % every == 0, ms, 0).astype(np.float32)


@pytest.mark.parametrize("blocks", [8, 12, 30])
@pytest.mark.parametrize("draw", [lambda rng, n: rng.normal(5, 1, n), lambda rng, n: 5 * rng.lognormal(0, 0.4, n),
                                  lambda rng, n: 5 + rng.standard_t(2, n)])
def test_the_interval_holds_the_true_median_in_about_95_of_100_cases(blocks: int, draw) -> None:
    rng = np.random.default_rng(blocks)
    held = [found.low <= 5 <= found.high for found in (median_interval(draw(rng, blocks)) for _ in range(300))]
    assert 0.88 <= np.mean(held) <= 0.995


def test_the_interval_narrows_with_more_blocks() -> None:
    rng = np.random.default_rng(1)
    widths = [found.high - found.low for found in (median_interval(rng.normal(5, 1, n)) for n in (10, 100, 1000))]
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_the_same_blocks_give_the_same_interval() -> None:
    values = np.random.default_rng(2).normal(5, 1, 40)
    found = median_interval(values)
    assert found == median_interval(values) != median_interval(values, seed=1)
    assert found.value == np.median(values) and found.low < found.value < found.high


def test_of_several_stages_the_medians_add_up() -> None:
    rows = np.array([[1, 1, 1, 1, 1, 1, 9], [2, 3, 2, 2, 2, 2, 2]], float)
    assert median_interval(rows).value == 3


def test_few_blocks_tell_nothing() -> None:
    few = median_interval(np.ones(LEAST_BLOCKS - 1))
    assert few == (1, -math.inf, math.inf) and not few.known
    assert median_interval(np.ones(LEAST_BLOCKS)) == (1, 1, 1)


def test_what_slows_both_arms_of_a_block_divides_out() -> None:
    base = np.random.default_rng(3).lognormal(0, 1, 12)
    assert ratio_interval(1.25 * base, base) == pytest.approx((1.25, 1.25, 1.25))
    assert median_interval(base).high > 1.5 * median_interval(base).low
    assert not ratio_interval(base, 0 * base).known


@pytest.mark.parametrize("ratio, wanted", [
    (Interval(0.9, 0.88, 0.92), "faster"), (Interval(1.1, 1.05, 1.2), "slower"),
    (Interval(1.03, 1.005, 1.05), "no difference"),  # reaches into the noise
    (Interval(1.0, 0.8, 1.3), "no difference"), (Interval(0.5, -math.inf, math.inf), "unknown")])
def test_what_lies_within_the_noise_is_no_difference(ratio: Interval, wanted: str) -> None:
    assert verdict(ratio, QUIET) == wanted


def test_noise_that_leans_to_one_side_does_not_make_an_arm_like_the_base_differ() -> None:
    noise = Interval(1.05, 1.03, 1.07)
    assert verdict(Interval(1.0, 0.99, 1.01), noise) == verdict(Interval(1.06, 1.05, 1.1), noise) == "no difference"
    assert verdict(Interval(1.1, 1.08, 1.12), noise) == "slower" and verdict(Interval(0.9, 0.85, 0.98), noise) == "faster"
    assert verdict(Interval(0.9, 0.85, 0.98), Interval(1, -math.inf, math.inf)) == "unknown"


@pytest.mark.parametrize("factor, wanted", [(1, "no difference"), (1.2, "slower"), (0.8, "faster")])
def test_verdicts_are_right_in_nearly_all_cases(factor: float, wanted: str) -> None:
    """Blocks that differ by 5 %, on a machine whose speed changes by 30 % from block to block."""
    rng = np.random.default_rng(7)

    def found() -> str:
        machine = rng.lognormal(0, 0.3, 12)
        base, repeat, other = (machine * rng.lognormal(0, 0.05, 12) for _ in range(3))
        return verdict(ratio_interval(factor * other, base), ratio_interval(repeat, base))

    assert np.mean([found() == wanted for _ in range(150)]) >= 0.95


def test_a_rare_stage_counts_for_its_share_of_steps_in_every_block() -> None:
    sort = rare(60, every=20, ms=12)
    cost = cost_of(np.split(sort, 6))
    assert list(cost.ms) == pytest.approx([0.6] * 6) and list(cost.ran) == [True, False] * 3
    never = cost_of([np.zeros(5, np.float32)] * 2)
    assert list(never.ms) == [0, 0] and not never.ran.any()
    see = [np.array([2, 2, 50], np.float32), np.array([3, 4, 3], np.float32)]
    assert list(cost_of(see).ms) == [2, 3]


def test_a_stage_costs_what_a_profile_says_it_costs_a_step() -> None:
    profile = Profile()
    for step in range(14):
        profile.begin_step()
        profile.add("interaction", 50 if step < 2 else 9 if step == 7 else 2)
        if step % 6 == 0:
            profile.add("reorder", 12)
        profile.end_step()
        profile.end_frame()
    assert profile.step_ms(12) == {"interaction": 2.0, "reorder": 2.0}
    assert {stage: cost_of([profile.stage_ms(stage, 12)]).ms for stage in profile.stages} == profile.step_ms(12)
