"""Variants run interleaved blocks, and what is concluded from them: of made-up times, and of small crowds."""

import json
import math
from collections import Counter

import numpy as np
import pytest
from crowds import FLOCK, simulation

import crowd_demo
from crowd_demo.measure.comparison import (
    BLOCK_MS,
    FRAME,
    BlockTimes,
    InterleavedTiming,
    TimedBlock,
    VariantResult,
    block_lengths,
    compare,
    counters_of,
    effect_of,
    interleave,
)
from crowd_demo.measure.experiment import VERSION, header, result_of
from crowd_demo.measure.proof import CrowdVariant, Picture, picture_hash
from crowd_demo.measure.statistics import LEAST_BLOCKS, Interval, cost_of, median_interval, ratio_interval, verdict, widened
from crowd_demo.profile import HISTORY, Profile

BLOCKS, STEPS = 20, 10


class MadeUp:
    """A variant whose steps take `ms` and some noise that is its own, and do as much work as `ms` says."""

    def __init__(self, ms: float, seed: int, stages: tuple[str, ...] = ("interaction", "move")) -> None:
        self.ms, self.rng, self.stages, self.steps = ms, np.random.default_rng(seed), stages, 0

    def run(self, steps: int) -> TimedBlock:
        times = {stage: (self.ms * self.rng.lognormal(0, 0.1, steps)).astype(np.float32) for stage in self.stages}
        self.steps += steps
        return TimedBlock(steps, times, [{"work": self.ms * 1000}] * steps)


def compared(*, again: float = 2.0, **others: float) -> dict[str, VariantResult]:
    """Variants that take 2 ms a stage, against others; `again` is what the base takes the second time."""
    variants = {name: MadeUp(ms, seed) for seed, (name, ms) in enumerate({"base": 2.0, "again": again, **others}.items())}
    measured = result_of(interleave(variants, [STEPS] * BLOCKS, warm_up=STEPS))
    return compare(measured, dict.fromkeys(variants, "same"), "base", "again")


@pytest.mark.quick
def test_a_variant_against_itself_is_no_difference() -> None:
    found = compared(same=2.0)
    assert found["same"].step.verdict == found["again"].step.verdict == "no difference"
    assert found["again"].step.ratio.low <= 1 <= found["again"].step.ratio.high


@pytest.mark.quick
def test_a_variant_that_does_more_work_is_told_apart() -> None:
    found = compared(slower=2.6, faster=1.5)
    slower, faster, base = (found[name] for name in ("slower", "faster", "base"))
    assert (slower.step.verdict, faster.step.verdict) == ("slower", "faster")
    assert slower.step.ratio.low < 1.3 < slower.step.ratio.high and slower.stages["interaction"].verdict == "slower"
    assert (base.counters, slower.counters) == ({"work": 2000}, {"work": 2600})
    assert base.step.b.value == sum(base.stages_ms.values()) == pytest.approx(4, rel=0.05)


@pytest.mark.quick
def test_a_difference_smaller_than_that_of_two_copies_is_none() -> None:
    assert compared(other=2.2)["other"].step.verdict == "slower"
    assert compared(other=2.2, again=2.4)["other"].step.verdict == "no difference"


@pytest.mark.quick
def test_a_stage_that_the_base_does_not_have_has_no_ratio() -> None:
    variants = {"base": MadeUp(2, 0), "again": MadeUp(2, 1), "more": MadeUp(2, 2, ("interaction", "links", "move"))}
    found = compare(result_of(interleave(variants, [STEPS] * BLOCKS)), dict.fromkeys(variants, ""), "base", "again")
    assert set(found["base"].stages) == {"interaction", "move"}
    more = found["more"]
    assert more.stages["links"].verdict == "unknown" and math.isnan(more.stages["links"].ratio.value)
    assert more.step.verdict == "slower" and more.stages["interaction"].verdict == "no difference"
    assert more.stages["links"].record()["ratio"] == {"value": None, "low": None, "high": None}


@pytest.mark.quick
def test_a_stage_that_ran_in_few_blocks_tells_nothing_but_its_time() -> None:
    rng = np.random.default_rng(4)

    def blocks(sort_ms: float) -> list[TimedBlock]:
        sorts = [np.array([sort_ms, 0] if number in (3, 13) else [0, 0], np.float32) for number in range(BLOCKS)]
        return [TimedBlock(2, {"interaction": rng.lognormal(0, 0.1, 2).astype(np.float32), "sort": sort}) for sort in sorts]

    found = compare({"a": blocks(20), "b": blocks(20), "c": blocks(60)}, dict.fromkeys("abc", ""), "a", "b")["c"]
    assert found.stages["sort"].verdict == "unknown" and found.stages["sort"].ratio.value == pytest.approx(3)
    assert found.stages_ms["sort"] == pytest.approx(60 / BLOCKS) and not found.stages["sort"].b.known
    assert found.step.verdict == "slower" and found.step.ratio.value == pytest.approx(2, rel=0.1)


@pytest.mark.quick
def test_the_record_has_a_version_and_is_json() -> None:
    found = json.loads(json.dumps({**header("test"), **compared(slower=3)["slower"].record()}, allow_nan=False))
    assert (found["version"], found["kind"]) == (VERSION, "test") == (1, "test")
    assert found["versions"]["crowd-demo"] == crowd_demo.__version__ and {"python", "numba", "numpy"} < set(found["versions"])
    assert set(found["machine"]) == {"cpu", "cores", "os", "simd"}
    assert found["step"]["verdict"] == "slower" and set(found["step"]["ratio"]) == {"value", "low", "high"}
    assert (found["state_hash"], found["counters"]["work"]) == ("same", 3000)


@pytest.mark.quick
def test_counters_are_of_all_steps() -> None:
    log = [{"due": 1.0, "candidates_per_agent": 8.0, "registers": 1.0, "sorts": 1, "found_max": 5.0},
           {"due": 3.0, "candidates_per_agent": 4.0, "registers": 2.0, "sorts": 2, "found_max": 4.0}]
    assert counters_of(log) == {"due": 2, "candidates_per_agent": 5, "registers": 1.5, "sorts": 2, "found_max": 5}
    assert counters_of([{"due": 0.0, "candidates_per_agent": 0.0}]) == {"due": 0, "candidates_per_agent": 0}
    assert counters_of([]) == {}


def test_a_picture_after_each_step_is_measured_too() -> None:
    def variant(**settings: str) -> CrowdVariant:
        sim = simulation(**FLOCK, window__width=64, window__height=64, **settings)
        return CrowdVariant(sim, Picture(sim))

    grid, everything = variant(), variant(optimizations__cull="off")
    block = grid.run(2).stages
    everything.run(2)
    assert {"cull", "blit"} < set(block.times_ms) and block.counters[-1]["total"] == 500
    assert grid.picture and everything.picture and picture_hash(grid.picture) == picture_hash(everything.picture)
    assert np.ptp(np.frombuffer(grid.picture.draw().get_buffer().raw, np.uint8)) > 0
    with pytest.raises(ValueError, match=f"a block of {HISTORY} steps: the times of at most {HISTORY - 1} are kept"):
        grid.run(HISTORY)


# --- the interleaved blocks ------------------------------------------------------------------------------------------


class Counting:
    """A variant whose blocks say how many steps it has made."""

    def __init__(self) -> None:
        self.made: list[int] = []

    def run(self, steps: int) -> int:
        self.made.append(steps)
        return sum(self.made)


def counting(names: str) -> dict[str, Counting]:
    return {name: Counting() for name in names}


@pytest.mark.quick
def test_every_variant_warms_up_and_then_runs_every_block() -> None:
    variants = counting("abc")
    assert result_of(interleave(variants, [4, 4, 2], warm_up=10)) == {name: [14, 18, 20] for name in "abc"}
    assert all(variant.made == [10, 4, 4, 2] for variant in variants.values())
    assert [turn.part for turn in interleave(counting("ab"), [1, 1])] == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.quick
def test_each_block_has_an_order_of_its_own_that_the_seed_decides() -> None:
    def orders(seed: int) -> list[str]:
        names = [turn.text for turn in interleave(counting("abc"), [1] * 60, seed=seed)]
        return ["".join(names[start:start + 3]) for start in range(0, len(names), 3)]

    assert orders(1) == orders(1) != orders(2)
    found = Counter(orders(1))
    assert len(found) == 6 and max(found.values()) <= 20  # all six orders, none of them mostly


@pytest.mark.quick
@pytest.mark.parametrize("steps, wanted", [(120, [10] * 12), (125, [10] * 12 + [5]), (30, [5] * 6), (4, [1] * 4), (1, [1])])
def test_steps_are_cut_into_blocks_enough_for_an_interval(steps: int, wanted: list[int]) -> None:
    assert block_lengths(steps) == wanted
    assert sum(wanted) == steps and len(wanted) >= min(steps, LEAST_BLOCKS)


# --- medians, intervals and verdicts ---------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize("blocks", [8, 12, 30])
@pytest.mark.parametrize("draw", [lambda rng, n: rng.normal(5, 1, n), lambda rng, n: 5 * rng.lognormal(0, 0.4, n),
                                  lambda rng, n: 5 + rng.standard_t(2, n)])
def test_the_interval_holds_the_true_median_in_about_95_of_100_cases(blocks: int, draw) -> None:
    rng = np.random.default_rng(blocks)
    held = [found.low <= 5 <= found.high for found in (median_interval(draw(rng, blocks)) for _ in range(300))]
    assert 0.88 <= np.mean(held) <= 0.995


@pytest.mark.quick
def test_few_blocks_tell_nothing() -> None:
    few = median_interval(np.ones(LEAST_BLOCKS - 1))
    assert few == (1, -math.inf, math.inf) and not few.known
    assert median_interval(np.ones(LEAST_BLOCKS)) == (1, 1, 1)


@pytest.mark.quick
def test_what_slows_both_arms_of_a_block_divides_out() -> None:
    base = np.random.default_rng(3).lognormal(0, 1, 12)
    assert ratio_interval(1.25 * base, base) == pytest.approx((1.25, 1.25, 1.25))
    assert median_interval(base).high > 1.5 * median_interval(base).low
    assert not ratio_interval(base, 0 * base).known


@pytest.mark.quick
@pytest.mark.parametrize("ratio, wanted", [
    (Interval(0.9, 0.88, 0.92), "faster"), (Interval(1.1, 1.05, 1.2), "slower"),
    (Interval(3.4, 2.3, 5.7), "slower"), (Interval(0.3, 0.18, 0.43), "faster"),
    (Interval(1.03, 0.99, 1.05), "no difference"), (Interval(0.5, -math.inf, math.inf), "unknown")])
def test_the_words_follow_the_interval(ratio: Interval, wanted: str) -> None:
    assert verdict(ratio) == wanted


@pytest.mark.quick
def test_what_lies_within_the_noise_is_no_difference() -> None:
    """The noise makes the interval wider, on both sides, and whichever side it leans to."""
    for noise in (Interval(1.05, 1.03, 1.07), Interval(0.95, 1 / 1.07, 1 / 1.03)):
        for ratio, wanted in ((Interval(1.0, 0.99, 1.01), "no difference"), (Interval(1.06, 1.05, 1.1), "no difference"),
                              (Interval(1.1, 1.08, 1.12), "slower"), (Interval(0.9, 0.85, 0.92), "faster")):
            assert verdict(widened(ratio, noise)) == wanted
            assert widened(ratio, noise).low < ratio.low < ratio.high < widened(ratio, noise).high
    assert verdict(widened(Interval(0.9, 0.85, 0.98), Interval(1, -math.inf, math.inf))) == "unknown"


@pytest.mark.quick
def test_a_rare_stage_counts_for_its_share_of_steps_in_every_block() -> None:
    cost = cost_of(np.split(np.where(np.arange(60) % 20 == 0, 12, 0).astype(np.float32), 6))
    assert list(cost.ms) == pytest.approx([0.6] * 6) and list(cost.ran) == [True, False] * 3
    never = cost_of([np.zeros(5, np.float32)] * 2)
    assert list(never.ms) == [0, 0] and not never.ran.any()
    see = [np.array([2, 2, 50], np.float32), np.array([3, 4, 3], np.float32)]
    assert list(cost_of(see).ms) == [2, 3]


@pytest.mark.quick
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


# --- two copies, timed interleaved -----------------------------------------------------------------------------------

class Frames:
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


def turns_of(old: Frames, new: Frames, turns: int = 10) -> InterleavedTiming:
    interleaved = InterleavedTiming(old, new)
    for _ in range(2 * turns):
        for _ in interleaved.half_turn():
            pass
    return interleaved


@pytest.mark.quick
def test_factors_are_those_of_the_times() -> None:
    found = turns_of(Frames(3), Frames(1, seed=1))
    step, draw, frame = (found.effect(name) for name in ("step", "draw", FRAME))
    assert (step.a.value, step.b.value, step.ratio.inverse.value) == pytest.approx((3, 1, 3), rel=0.02)
    assert (frame.a.value, frame.b.value, frame.ratio.inverse.value) == pytest.approx((4, 2, 2), rel=0.02)
    low, high = step.ratio.inverse[1:]
    assert low < 3 < high < 1.1 * low and step.verdict == frame.verdict == "faster"
    assert draw.verdict == "no difference" and draw.ratio.inverse.value == 1
    assert found.effect("interaction").ratio.inverse.value == pytest.approx(3, rel=0.02)
    assert (found.changed_most("step"), found.changed_most("draw")) == ("interaction", "blit")


@pytest.mark.quick
def test_both_make_the_same_steps_and_each_goes_first_in_turn() -> None:
    old, new = Frames(1.5), Frames(1, seed=1)
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


@pytest.mark.quick
def test_a_sort_counts_with_its_share_of_the_steps() -> None:
    """The median step has none."""
    step = turns_of(Frames(1, sort_every=5), Frames(1, sort_every=10, seed=1), turns=50).effect("step")
    assert (step.a.value, step.b.value) == pytest.approx((1 + 6 / 5, 1 + 6 / 10), rel=0.1)
    assert step.verdict == "faster"


@pytest.mark.quick
def test_fewer_than_three_turns_have_no_interval() -> None:
    step = turns_of(Frames(3), Frames(1), turns=2).effect("step")
    assert step.verdict == "unknown" and not step.ratio.known and step.a.value == pytest.approx(3, rel=0.02)
    assert math.isnan(turns_of(Frames(3), Frames(1), turns=0).effect("step").a.value)


@pytest.mark.quick
@pytest.mark.parametrize("turns", [3, 4, 5])
@pytest.mark.quick
def test_few_turns_have_an_interval_that_holds_the_truth(turns: int) -> None:
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        old, new = (rng.lognormal(0, 0.3, (turns, 1)) * ms * rng.lognormal(0, 0.1, (turns, 2)) for ms in (5, 10))
        found.append(effect_of(old, new))
    assert all(effect.ratio.known for effect in found)
    assert sum(effect.ratio.low <= 2 <= effect.ratio.high for effect in found) >= 190


@pytest.mark.quick
def test_a_stage_is_compared_in_the_turns_alone_in_which_all_blocks_ran_it() -> None:
    """In the others its cost is an average, the same in each: an interval of them would have no width."""
    seldom = turns_of(Frames(1, sort_every=60), Frames(1, sort_every=61, seed=1), turns=20)
    sorts = seldom.effect("reorder")
    assert 0 < sorts.a.value < 6 and not sorts.ratio.known and sorts.verdict == "unknown"
    ran = np.arange(12) % 2 == 0
    slow = np.random.default_rng(1).lognormal(0, 0.05, (12, 2))
    old, new = (np.where(ran[:, None], slow * ms, 1.0) for ms in (2, 4))
    assert effect_of(old, new, ran).ratio.value == pytest.approx(2)


@pytest.mark.quick
@pytest.mark.parametrize("factor, wanted", [(1, "no difference"), (1.2, "slower"), (0.8, "faster")])
@pytest.mark.quick
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
