"""Times before against times after, made up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crowd_demo.measure.statistics import MOST_BLOCKS, UNKNOWN, Baseline, Series, cost_of, costs, unpaired_ratio

pytestmark = pytest.mark.quick


def blocks(count: int, ms: float, seed: int, spread: float = 0.03) -> np.ndarray:
    return ms * np.random.default_rng(seed).lognormal(0, spread, count)


@pytest.mark.parametrize("factor, wanted", [(1, "no difference"), (1.2, "slower"), (0.8, "faster")])
def test_verdicts_are_right_in_nearly_all_cases(factor: float, wanted: str) -> None:
    found = [Baseline(blocks(24, 5, seed)).effect(blocks(24, 5 * factor, 1000 + seed)) for seed in range(100)]
    assert sum(effect.verdict == wanted for effect in found) >= 90
    assert sum(effect.ratio.low <= factor <= effect.ratio.high for effect in found) >= 88
    assert np.mean([effect.factor.value for effect in found]) == pytest.approx(1 / factor, rel=0.02)


def test_the_factor_is_the_inverse_of_the_ratio() -> None:
    effect = Baseline(np.full(20, 6.0)).effect(np.full(20, 2.0))
    assert effect.factor == (3, 3, 3) and effect.ratio == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (effect.before_ms, effect.after_ms, effect.verdict) == (6, 2, "faster")


@pytest.mark.parametrize(("before", "after"), [(11, 20), (20, 1), (0, 20), (20, 0)])
def test_too_few_blocks_tell_nothing(before: int, after: int) -> None:
    effect = Baseline(np.full(before, 6.0)).effect(np.full(after, 2.0))
    assert effect.verdict == "unknown" and not (effect.ratio.known and effect.noise.known)


@pytest.mark.parametrize(("after", "wanted"), [
    ([3000, 3500], "slower"), ([0.1, 0.2, 0.1], "faster"), ([3000, 5], "unknown"), ([9.0, 9.5], "unknown")])
def test_a_few_blocks_tell_what_is_plain(after: list[float], wanted: str) -> None:
    effect = Baseline(blocks(24, 5, 1)).effect(np.array(after))
    assert effect.verdict == wanted and not effect.ratio.known
    assert effect.after_ms == np.median(after) and effect.ratio.value == pytest.approx(np.median(after) / 5, rel=0.05)


@pytest.mark.parametrize(("after", "wanted"), [(6.0, "faster"), (150.0, "unknown")])
def test_a_few_blocks_before_tell_what_is_vast(after: float, wanted: str) -> None:
    """All pairs, of which there were five steps, against a grid: without a noise it takes ten times."""
    effect = Baseline(blocks(5, 1000, 1)).effect(blocks(17, after, 2))
    assert effect.verdict == wanted and not (effect.ratio.known or effect.noise.known)


def test_a_few_blocks_within_a_drift_tell_nothing() -> None:
    drifting = np.concatenate((blocks(12, 5, 1), blocks(12, 15, 2)))
    assert Baseline(drifting).effect(np.full(3, 40.0)).verdict == "unknown"
    assert Baseline(drifting).effect(np.full(3, 60.0)).verdict == "slower"


def test_two_blocks_by_chance_tell_nothing() -> None:
    found = [Baseline(blocks(24, 5, seed, 0.5)).effect(blocks(2, 5, 1000 + seed, 0.5)).verdict for seed in range(300)]
    assert found.count("unknown") >= 299


def test_what_runs_only_before_or_only_after_has_no_factor() -> None:
    for before, after in (2.0, 0.0), (0.0, 2.0):
        effect = Baseline(np.full(20, before)).effect(np.full(20, after))
        assert (effect.before_ms, effect.after_ms, effect.verdict) == (before, after, "unknown")
        assert math.isnan(effect.factor.value)


def test_a_drift_before_counts_in_both_directions() -> None:
    drifting = np.concatenate((blocks(12, 5, 1), blocks(12, 6, 2)))
    assert Baseline(drifting).noise.low < 1 / 1.15 and Baseline(drifting).noise.high > 1.15
    for ms in (4.8, 6.3):
        assert Baseline(drifting).effect(blocks(24, ms, 3)).verdict == "no difference"
    assert Baseline(drifting).effect(blocks(24, 3, 3)).verdict == "faster"


def test_a_ratio_without_a_base_is_unknown() -> None:
    some, none = Series.of(np.ones(9)), Series.of(np.zeros(9))
    assert unpaired_ratio(some, none) == UNKNOWN == unpaired_ratio(some, Series.of(np.zeros(0)))
    assert unpaired_ratio(some, some) == (1, 1, 1)


def test_costs_of_stages_add_up_and_there_are_enough_blocks_for_two_halves() -> None:
    times = {"interaction": np.full(130, 2, np.float32), "sort": np.where(np.arange(130) % 13 == 0, 26, 0).astype(np.float32)}
    assert costs(times, "interaction") == pytest.approx(np.full(13, 2))
    assert costs(times) == pytest.approx(np.full(13, 4))
    assert costs(times, "none").tolist() == [] == costs({}).tolist()
    for steps in (12, 13, 59, 121, 1000):
        found = costs({"interaction": np.full(steps, 2, np.float32)})
        assert 12 <= len(found) <= MOST_BLOCKS and found == pytest.approx(np.full(len(found), 2))
    assert len(costs({"interaction": np.full(5, 2, np.float32)})) == 5


def test_costs_are_those_of_blocks() -> None:
    rng = np.random.default_rng(4)
    times = np.where(rng.random(240) < 0.1, rng.lognormal(0, 1, 240), 0).astype(np.float32)
    count = len(costs({"sort": times}, "sort"))
    assert costs({"sort": times}, "sort") == pytest.approx(cost_of(np.split(times, count)).ms)
