"""Two interleaved variants: what made-up times say, and that both make the same steps."""

import math

import numpy as np
import pytest

from crowd_demo.measure.comparison import BLOCK_MS, FRAME, BlockTimes, InterleavedTiming, TimedBlock, effect_of

pytestmark = pytest.mark.quick


class MadeUp:
    """A variant whose times are given: steps, with a sort now and then, and pictures."""

    def __init__(self, step_ms: float, draw_ms: float = 1.0, sort_every: int = 0, seed: int = 0) -> None:
        self.step_ms, self.draw_ms, self.sort_every = step_ms, draw_ms, sort_every
        self.steps, self.blocks = 0, list[int]()
        self.rng = np.random.default_rng(seed)

    def run(self, steps: int) -> BlockTimes:
        ticks = np.arange(self.steps, self.steps + steps)
        self.steps, self.blocks = self.steps + steps, [*self.blocks, steps]
        sorts = np.where(ticks % self.sort_every == 0, 6.0, 0) if self.sort_every else np.zeros(steps)
        step = (self.step_ms * self.rng.uniform(0.98, 1.02, steps) + sorts).astype(np.float32)
        draw = np.full(steps, self.draw_ms, np.float32)
        stages = {"interaction": step - np.float32(sorts), "reorder": sorts.astype(np.float32), "blit": draw}
        return BlockTimes(TimedBlock(steps, {"step": step, "draw": draw}), TimedBlock(steps, stages))


def turns_of(old: MadeUp, new: MadeUp, turns: int = 10) -> InterleavedTiming:
    interleaved = InterleavedTiming(old, new)
    for _ in range(2 * turns):
        for _ in interleaved.half_turn():
            pass
    return interleaved


def test_factors_are_those_of_the_times() -> None:
    found = turns_of(MadeUp(3), MadeUp(1, seed=1))
    step, draw, frame = (found.effect(name) for name in ("step", "draw", FRAME))
    assert (step.a.value, step.b.value, step.ratio.inverse.value) == pytest.approx((3, 1, 3), rel=0.02)
    assert (frame.a.value, frame.b.value, frame.ratio.inverse.value) == pytest.approx((4, 2, 2), rel=0.02)
    low, high = step.ratio.inverse[1:]
    assert low < 3 < high < 1.1 * low and step.verdict == frame.verdict == "faster"
    assert draw.verdict == "no difference" and draw.ratio.inverse.value == 1
    assert found.effect("interaction").ratio.inverse.value == pytest.approx(3, rel=0.02)
    assert (found.changed_most("step"), found.changed_most("draw")) == ("interaction", "blit")


def test_both_make_the_same_steps_and_each_goes_first_in_turn() -> None:
    old, new = MadeUp(1.5), MadeUp(1, seed=1)
    order = list[str]()
    for name, variant in (("old", old), ("new", new)):
        run = variant.run
        variant.run = lambda steps, run=run, name=name: order.append(name) or run(steps)  # type: ignore[method-assign, misc]
    found = turns_of(old, new, turns=2)
    assert old.steps == new.steps == found.steps
    assert order[::2] == ["old", "new", "new", "old"] * 2
    first, *others = old.blocks[1::2]
    assert first in (1, 2) and set(others) <= {fitting := int(BLOCK_MS / 2.5), fitting + 1}, "the slower one says how many"
    assert old.blocks == new.blocks and set(old.blocks[::2]) == {1}, "of which the first is not timed"
    assert found.turns == 2 and found.timed == first + sum(others)


def test_a_sort_counts_with_its_share_of_the_steps() -> None:
    """The median step has none."""
    found = turns_of(MadeUp(1, sort_every=5), MadeUp(1, sort_every=10, seed=1), turns=50)
    step = found.effect("step")
    assert (step.a.value, step.b.value) == pytest.approx((1 + 6 / 5, 1 + 6 / 10), rel=0.1)
    assert step.verdict == "faster"


def test_fewer_than_three_turns_have_no_interval() -> None:
    step = turns_of(MadeUp(3), MadeUp(1), turns=2).effect("step")
    assert step.verdict == "unknown" and not step.ratio.known and step.a.value == pytest.approx(3, rel=0.02)
    assert math.isnan(turns_of(MadeUp(3), MadeUp(1), turns=0).effect("step").a.value)


@pytest.mark.parametrize("turns", [3, 4, 5])
def test_few_turns_have_an_interval_that_holds_the_truth(turns: int) -> None:
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        old, new = (rng.lognormal(0, 0.3, (turns, 1)) * ms * rng.lognormal(0, 0.1, (turns, 2)) for ms in (5, 10))
        found.append(effect_of(old, new))
    assert all(effect.ratio.known for effect in found)
    assert sum(effect.ratio.low <= 2 <= effect.ratio.high for effect in found) >= 190


def test_a_stage_is_compared_in_the_turns_alone_in_which_all_blocks_ran_it() -> None:
    """In the others its cost is an average, the same in each: an interval of them would have no width."""
    seldom = turns_of(MadeUp(1, sort_every=60), MadeUp(1, sort_every=61, seed=1), turns=20)
    sorts = seldom.effect("reorder")
    assert 0 < sorts.a.value < 6 and not sorts.ratio.known and sorts.verdict == "unknown"
    ran = np.arange(12) % 2 == 0
    slow = np.random.default_rng(1).lognormal(0, 0.05, (12, 2))
    old, new = (np.where(ran[:, None], slow * ms, 1.0) for ms in (2, 4))
    assert effect_of(old, new, ran).ratio.value == pytest.approx(2)


@pytest.mark.parametrize("factor, wanted", [(1, "no difference"), (1.2, "slower"), (0.8, "faster")])
def test_verdicts_are_right_in_nearly_all_cases_and_intervals_hold_the_truth(factor: float, wanted: str) -> None:
    """Each block is slowed by something of its own, and each turn by something that lasts."""
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        slow = rng.lognormal(0, 0.3, (12, 1))
        old, new = (slow * ms * rng.lognormal(0, 0.03, (12, 2)) for ms in (5, 5 * factor))
        found.append(effect_of(old, new))
    assert sum(effect.verdict == wanted for effect in found) >= 95
    assert sum(effect.ratio.low <= factor <= effect.ratio.high for effect in found) >= 95
    assert np.mean([effect.ratio.high / effect.ratio.low for effect in found]) < 1.15
