"""Verdicts and warnings, and that broken techniques are caught. No time is tested: blocks are made."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.extras.lab.claims.cases import CallArm, TimedCase, crowds
from crowd_demo.extras.lab.claims.claim import AGAIN, OWN, Answer, CaseFinding, Claim, Found, all_of
from crowd_demo.extras.lab.claims.judging import (
    FROM,
    HOLDS,
    NOT,
    UNCLEAR,
    claim_verdict,
    faster,
    judged,
    speed_up,
    suspicious,
    trend,
    two_modes,
    warnings,
)
from crowd_demo.measure.comparison import TimedBlock
from crowd_demo.measure.experiment import result_of
from crowd_demo.registry.techniques import STRUCTURES

quick = pytest.mark.quick
STEADY = [1.0, 1.02, 0.99, 1.01, 1.0, 0.98, 1.01, 1.0]
HALF = f"{NOT} (in 1 of 2 cases it does)"
TWICE = [2 * ms for ms in reversed(STEADY)]


def found(**blocks: list[float]) -> Found:
    first = next(iter(blocks))
    repeat = {first + AGAIN: list(reversed(blocks[first]))}
    return Found("1,000 birds", 1000, 1, 5, {**blocks, **repeat}, stages_ms={arm: {} for arm in (*blocks, *repeat)},
                 hashes=dict.fromkeys((*blocks, *repeat), "a"), same=list(blocks))


def claim(by_size: bool = True) -> Claim:
    return Claim("toy", "?", "faster", OWN, "", lambda scale: [], lambda found: faster(found, "new", "old"), by_size)


def findings(*answers: Answer) -> list[CaseFinding]:
    return [CaseFinding(found(old=STEADY)._replace(case=f"size {number}"), answer, {}, [])
            for number, answer in enumerate(answers)]


# --- ratios ----------------------------------------------------------------------------------------------------------

@quick
def test_twice_as_fast_is_faster_and_the_other_way_round_slower() -> None:
    both = found(old=TWICE, new=STEADY)
    assert faster(both, "new") == "yes" and faster(both, "old", "new") == "no"
    assert faster(both, "new", times=1.5) == "yes" and faster(both, "new", times=2.5) == "no"
    ratio = speed_up(both, "new")
    assert ratio.low < 2 < ratio.high and ratio.value == pytest.approx(2, rel=0.03)


@quick
def test_two_alike_are_not_faster_and_few_blocks_are_unclear() -> None:
    assert faster(found(old=STEADY, new=STEADY[::-1]), "new") == "no"
    assert faster(found(old=TWICE[:5], new=STEADY[:5]), "new") == "unclear"
    assert faster(found(old=TWICE), "new") == "unclear"


@quick
def test_other_hashes_leave_it_unclear_and_are_told() -> None:
    both = found(old=TWICE, new=STEADY)
    other = both._replace(hashes={**both.hashes, "new": "b"})
    assert faster(other, "new") == "unclear" and judged(claim(), other).answer == "unclear"
    assert any("THE CROWDS DIFFER" in line for line in warnings(other))
    assert judged(claim(), other._replace(same=[])).answer == "yes"  # approximate ones may


@quick
def test_of_a_stage() -> None:
    both = found(old=STEADY, new=STEADY)
    both = both._replace(stages_ms={"old": {"depth": TWICE}, "new": {"depth": STEADY}, "old" + AGAIN: {"depth": TWICE[::-1]}})
    assert faster(both, "new", stage="depth") == "yes" and faster(both, "new") == "no"


# --- verdicts --------------------------------------------------------------------------------------------------------

@quick
@pytest.mark.parametrize(("answers", "by_size", "text"), [
    (("yes", "yes"), True, HOLDS), (("no", "no"), True, NOT), (("unclear", "unclear"), True, UNCLEAR),
    (("no", "yes", "yes"), True, FROM.format("size 1")), (("unclear", "yes"), True, FROM.format("size 1")),
    (("yes", "no"), True, HALF), (("no", "unclear"), True, UNCLEAR), (("no", "yes"), False, HALF),
    (("unclear", "yes"), False, UNCLEAR), ((), True, UNCLEAR)])
def test_a_verdict_of_all_cases(answers: tuple[Answer, ...], by_size: bool, text: str) -> None:
    assert claim_verdict(claim(by_size), findings(*answers)).text == text


@quick
@given(st.lists(st.sampled_from(("yes", "no", "unclear"))))
def test_all_of_is_the_worst(answers: list[Answer]) -> None:
    wanted = "no" if "no" in answers else "unclear" if "unclear" in answers or not answers else "yes"
    assert all_of(answers) == wanted


# --- warnings --------------------------------------------------------------------------------------------------------

@quick
def test_a_trend_is_found_in_either_direction() -> None:
    rising = np.linspace(1, 1.4, 10) + 0.01 * np.sin(np.arange(10))
    assert trend(rising) == pytest.approx(0.34, abs=0.03) and trend(rising[::-1]) == pytest.approx(-0.33, abs=0.03)
    assert trend(np.array(STEADY)) == 0 and trend(np.ones(8)) == 0


@quick
def test_two_modes_are_found_and_an_outlier_is_none() -> None:
    assert two_modes(np.array([1, 2, 1.01, 2.02, 0.99, 2.01, 1, 1.98])) == pytest.approx(0.65, abs=0.05)
    assert two_modes(np.array([*STEADY[:7], 3.0])) == 0 and two_modes(np.array(STEADY)) == 0


@quick
@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=30))
def test_any_times_have_at_most_one_warning(values: list[float]) -> None:
    assert len(list(suspicious(np.array(values)))) <= 1
    assert math.isfinite(two_modes(np.array(values)))


@quick
def test_a_busy_machine_is_told() -> None:
    assert any("busy" in line for line in warnings(found(old=STEADY)._replace(load=1e3)))
    assert not list(warnings(found(old=STEADY)))


# --- what is broken is caught ----------------------------------------------------------------------------------------

class DriftingClock:
    """Its times grow by a tenth from block to block, as those of a clock that runs ever faster."""

    def __init__(self) -> None:
        self.blocks = 0

    def run(self, steps: int) -> TimedBlock:
        self.blocks += 1
        return TimedBlock(steps, {"call": np.full(steps, 0.5 * 1.1**self.blocks, np.float32)})

    def result(self) -> str:
        return "a"

    def figures(self) -> dict[str, float]:
        return {}


class SteadyClock(DriftingClock):
    def run(self, steps: int) -> TimedBlock:
        return TimedBlock(steps, {"call": np.full(steps, 1, np.float32)})


def measured(case: TimedCase, blocks: int = 8) -> Found:
    return result_of(case.run(blocks))


@quick
def test_a_clock_that_drifts() -> None:
    both = measured(TimedCase("toy", 1, {"old": SteadyClock, "new": DriftingClock}))._replace(load=0)
    assert any(line.startswith("new: slower by") for line in warnings(both))
    assert faster(both, "new", times=1.0) == "unclear"  # 0.5 to 1.2 of the time: the interval holds all blocks


@quick
def test_a_fake_that_skips_work() -> None:
    work = list(range(100))
    both = measured(TimedCase("toy", 1, {"sum": lambda: CallArm(lambda _: np.cumsum(work)), "fake": lambda: CallArm(
        lambda _: np.zeros(100, np.int64))}))
    assert not both.one_hash and judged(claim(), both).answer == "unclear"


def test_wrong_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRUCTURES, "linked", "wrong_structures:Forgetful")
    arms = crowds("20k-flock", 300, {"sorted": {"neighbours": "sorted"}, "linked": {"neighbours": "linked"}})
    both = measured(TimedCase("300 birds", 300, arms, steps=20), blocks=2)
    assert not both.one_hash and both.hashes["sorted"] == both.hashes["sorted" + AGAIN]
