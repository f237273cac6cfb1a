"""Variants run interleaved blocks, and what is concluded from them: of made-up times, and of small crowds."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from crowds import FLOCK, simulation

import crowd_demo
from crowd_demo.measure.comparison import (
    WARM_UP,
    Finished,
    TimedBlock,
    VariantResult,
    block_lengths,
    collect,
    compare,
    counters_of,
    interleave,
)
from crowd_demo.measure.crowd_variant import CrowdVariant, Picture, picture_hash
from crowd_demo.measure.experiment import VERSION, header
from crowd_demo.measure.statistics import LEAST_BLOCKS
from crowd_demo.profile import HISTORY

quick = pytest.mark.quick
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
    measured = collect(variants, interleave(variants, [STEPS] * BLOCKS, warm_up=STEPS))
    return compare(measured, dict.fromkeys(variants, "same"), "base", "again")


@quick
def test_a_variant_against_itself_is_no_difference() -> None:
    found = compared(same=2.0)
    assert found["same"].step.verdict == found["again"].step.verdict == "no difference"
    assert found["again"].step.ratio.low <= 1 <= found["again"].step.ratio.high


@quick
def test_a_variant_that_does_more_work_is_told_apart() -> None:
    found = compared(slower=2.6, faster=1.5)
    slower, faster, base = (found[name] for name in ("slower", "faster", "base"))
    assert (slower.step.verdict, faster.step.verdict) == ("slower", "faster")
    assert slower.step.ratio.low < 1.3 < slower.step.ratio.high and slower.stages["interaction"].verdict == "slower"
    assert (base.counters, slower.counters) == ({"work": 2000}, {"work": 2600})
    assert base.step.b.value == sum(base.stages_ms.values()) == pytest.approx(4, rel=0.05)


@quick
def test_a_difference_smaller_than_that_of_two_copies_is_none() -> None:
    assert compared(other=2.2)["other"].step.verdict == "slower"
    assert compared(other=2.2, again=2.4)["other"].step.verdict == "no difference"


@quick
def test_a_stage_that_the_base_does_not_have_has_no_ratio() -> None:
    variants = {"base": MadeUp(2, 0), "again": MadeUp(2, 1), "more": MadeUp(2, 2, ("interaction", "links", "move"))}
    found = compare(collect(variants, interleave(variants, [STEPS] * BLOCKS)), dict.fromkeys(variants, ""), "base", "again")
    assert set(found["base"].stages) == {"interaction", "move"}
    more = found["more"]
    assert more.stages["links"].verdict == "unknown" and math.isnan(more.stages["links"].ratio.value)
    assert more.step.verdict == "slower" and more.stages["interaction"].verdict == "no difference"
    assert more.stages["links"].record()["ratio"] == {"value": None, "low": None, "high": None}


@quick
def test_a_stage_that_first_ran_late_counts_for_its_share() -> None:
    late = [TimedBlock(2, {"interaction": np.array([1, 1], np.float32)}),
            TimedBlock(2, {"interaction": np.array([1, 1], np.float32), "sort": np.array([4, 0], np.float32)})]
    assert compare({"a": late}, {"a": ""}, "a", "a")["a"].stages_ms == {"interaction": 1, "sort": 1}


@quick
def test_a_stage_that_ran_in_few_blocks_tells_nothing_but_its_time() -> None:
    rng = np.random.default_rng(4)

    def blocks(sort_ms: float) -> list[TimedBlock]:
        sorts = [np.array([sort_ms, 0] if number in (3, 13) else [0, 0], np.float32) for number in range(BLOCKS)]
        return [TimedBlock(2, {"interaction": rng.lognormal(0, 0.1, 2).astype(np.float32), "sort": sort}) for sort in sorts]

    found = compare({"a": blocks(20), "b": blocks(20), "c": blocks(60)}, dict.fromkeys("abc", ""), "a", "b")["c"]
    assert found.stages["sort"].verdict == "unknown" and found.stages["sort"].ratio.value == pytest.approx(3)
    assert found.stages_ms["sort"] == pytest.approx(60 / BLOCKS) and not found.stages["sort"].b.known
    assert found.step.verdict == "slower" and found.step.ratio.value == pytest.approx(2, rel=0.1)


@quick
def test_nothing_measured_is_an_error() -> None:
    with pytest.raises(ValueError, match="no block was measured with every variant"):
        compare({"a": [], "b": []}, {"a": "", "b": ""}, "a", "b")


@quick
def test_the_record_has_a_version_and_is_json() -> None:
    found = json.loads(json.dumps({**header("test"), **compared(slower=3)["slower"].record()}, allow_nan=False))
    assert (found["version"], found["kind"]) == (VERSION, "test") == (1, "test")
    assert found["versions"]["crowd-demo"] == crowd_demo.__version__ and {"python", "numba", "numpy"} < set(found["versions"])
    assert set(found["machine"]) == {"cpu", "cores", "os", "simd"}
    assert found["step"]["verdict"] == "slower" and set(found["step"]["ratio"]) == {"value", "low", "high"}
    assert (found["state_hash"], found["counters"]["work"]) == ("same", 3000)


@quick
def test_counters_are_of_all_steps() -> None:
    log = [{"due": 1.0, "candidates_per_agent": 8.0, "registers": 1.0, "sorts": 1, "found_max": 5.0},
           {"due": 3.0, "candidates_per_agent": 4.0, "registers": 2.0, "sorts": 2, "found_max": 4.0}]
    assert counters_of(log) == {"due": 2, "candidates_per_agent": 5, "registers": 1.5, "sorts": 2, "found_max": 5}
    assert counters_of([{"due": 0.0, "candidates_per_agent": 0.0}]) == {"due": 0, "candidates_per_agent": 0}
    assert counters_of([]) == {}


@quick
def test_counters_are_of_the_records_that_have_them() -> None:
    """A frame that is drawn before the first step, or with another structure, knows nothing of agents that were due."""
    drawn, stepped = {"drawn": 1.0}, {"due": 5.0, "candidates_per_agent": 3.0, "neighbours_per_agent": 2.0, "cells": 7.0}
    assert counters_of([drawn, stepped]) == counters_of([stepped, stepped]) == stepped
    assert counters_of([stepped, drawn]) == drawn
    assert counters_of([{"candidates_per_agent": 4.0}]) == {"candidates_per_agent": 0}


def test_a_crowd_in_blocks_is_the_crowd_in_one_go() -> None:
    variants = {"base": CrowdVariant(simulation(**FLOCK)), "again": CrowdVariant(simulation(**FLOCK)),
            "brute": CrowdVariant(simulation(**FLOCK, optimizations__neighbours="none"))}
    measured = collect(variants, interleave(variants, [2] * 3, warm_up=2))
    stages = {name: [block.stages for block in blocks] for name, blocks in measured.items()}
    found = compare(stages, {name: variant.sim.state_hash() for name, variant in variants.items()}, "base", "again")
    alone = simulation(**FLOCK)
    alone.step(8)
    assert all(result.state_hash == alone.state_hash() for result in found.values())
    base, brute = found["base"], found["brute"]
    assert base.counters["neighbours_per_agent"] == brute.counters["neighbours_per_agent"] > 0
    assert brute.counters["candidates_per_agent"] == 500 > base.counters["candidates_per_agent"]
    assert {"interaction", "move", "other"} < set(base.stages)
    assert all(len(block.counters) == block.steps == 2 for block in stages["base"])


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


def test_a_block_longer_than_the_profile_is_refused() -> None:
    with pytest.raises(ValueError, match=f"a block of {HISTORY} steps: the times of at most {HISTORY - 1} are kept"):
        CrowdVariant(simulation(**FLOCK)).run(HISTORY)


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


@quick
def test_every_variant_warms_up_and_then_runs_every_block() -> None:
    variants = counting("abc")
    turns = list(interleave(variants, [4, 4, 2], warm_up=10))
    assert [turn.block for turn in turns] == [WARM_UP] * 3 + [0] * 3 + [1] * 3 + [2] * 3
    assert all(variant.made == [10, 4, 4, 2] for variant in variants.values())
    assert collect(variants, turns) == {name: [14, 18, 20] for name in "abc"}


@quick
def test_without_a_warm_up_every_block_counts() -> None:
    assert collect("ab", interleave(counting("ab"), [3])) == {"a": [3], "b": [3]}


@quick
def test_each_block_has_an_order_of_its_own_that_the_seed_decides() -> None:
    def orders(seed: int) -> list[str]:
        names = [turn.name for turn in interleave(counting("abc"), [1] * 60, seed=seed)]
        return ["".join(names[start:start + 3]) for start in range(0, len(names), 3)]

    assert orders(1) == orders(1) != orders(2)
    found = Counter(orders(1))
    assert len(found) == 6 and max(found.values()) <= 20  # all six orders, none of them mostly


@quick
def test_who_stops_keeps_the_blocks_that_all_variants_finished() -> None:
    variants = counting("ab")
    turns = islice(interleave(variants, [5] * 100, warm_up=1), 7)  # the warm-up, two blocks, and half of the third
    measured = collect(variants, turns)
    assert measured == {"a": [6, 11], "b": [6, 11]}
    assert sorted(sum(variant.made) for variant in variants.values()) == [11, 16]
    assert collect(variants, islice(interleave(variants, [5]), 1)) == collect(variants, ()) == {"a": [], "b": []}


@quick
def test_turns_are_plain_records() -> None:
    assert next(interleave(counting("a"), [2])) == Finished(0, "a", 2)


@quick
@pytest.mark.parametrize("steps, wanted", [(120, [10] * 12), (125, [10] * 12 + [5]), (30, [5] * 6), (4, [1] * 4), (1, [1])])
def test_steps_are_cut_into_blocks_enough_for_an_interval(steps: int, wanted: list[int]) -> None:
    assert block_lengths(steps) == wanted
    assert sum(wanted) == steps and len(wanted) >= min(steps, LEAST_BLOCKS)
