"""Compare variants by their times: they take turns, block by block, and medians are compared with their intervals.

Each turn has another random order. Other load on the machine and its changes of clock rate then trouble all variants
alike, and no variant always follows the same one with that one's data in the caches. One of them, the base, is measured
twice: its repeat shows by how much a variant differs from itself on this machine at this time. What lies within that is
no difference.

`InterleavedTiming` times two copies of a running crowd beside its frames.
"""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Floats
from crowd_demo.measure.experiment import Slice
from crowd_demo.measure.statistics import (
    LEAST_BLOCKS,
    NARROW,
    OPPOSITE,
    STUDENT_T,
    UNCLEAR,
    UNKNOWN,
    Cost,
    Interval,
    Verdict,
    cost_of,
    factor,
    factors,
    finite,
    interval_json,
    median_interval,
    milliseconds,
    ratio_interval,
    verdict,
    widened,
)
from crowd_demo.registry.stages import stages_of

Outcome = TypeVar("Outcome")
Outcome_co = TypeVar("Outcome_co", covariant=True)
Costs = Mapping[str, Cost]  # by stage
STEP, DRAW, FRAME = "step", "draw", "frame"
LONGEST = 10  # steps of a block
MEAN_OF_DUE = ("candidates_per_agent", "neighbours_per_agent", "found_mean")  # counters that are a mean over agents


# --- interleaved blocks ----------------------------------------------------------------------------------------------

class Variant(Protocol[Outcome_co]):
    """One of the things that are compared. It runs blocks of steps, and each block continues where the last one ended."""

    def run(self, steps: int) -> Outcome_co:
        """Run the next block, of that many steps; the outcome of a block is mostly `BlockTimes`."""


class TimedBlock(NamedTuple):
    steps: int
    times_ms: Mapping[str, Floats]  # by stage, float32[steps], 0 where it did not run; stages add up to the whole step
    counters: Sequence[Mapping[str, float]] = ()  # after each step


class BlockTimes(NamedTuple):
    """The same block of frames, timed in two ways."""

    frame: TimedBlock  # step and picture, which add up to the frame
    stages: TimedBlock  # of both


def whole_steps(blocks: Sequence[BlockTimes]) -> list[TimedBlock]:
    """The frames of the blocks, where what runs in some steps only, such as a sort, stands beside the step.

    The median step has none of it. So it counts in the whole step by its share, once the costs of all parts are added
    up.
    """
    names = stages_of("step", dict.fromkeys(name for block in blocks for name in block.stages.times_ms))
    ran = {name: np.concatenate([_times(block.stages, name) > 0 for block in blocks]) for name in names}
    rare = [name for name in names if ran[name].any() and not ran[name].all()]
    return [block.frame._replace(times_ms=_beside(rare, block)) for block in blocks]


def without(block: TimedBlock, stage: str) -> TimedBlock:
    return block._replace(times_ms={name: times for name, times in block.times_ms.items() if name != stage})


def _beside(rare: Sequence[str], block: BlockTimes) -> dict[str, Floats]:
    apart = {name: _times(block.stages, name) for name in rare}
    return {**block.frame.times_ms, "step": block.frame.times_ms["step"] - sum(apart.values(), np.float32(0)), **apart}


def interleave(variants: Mapping[str, Variant[Outcome]], lengths: Sequence[int], warm_up: int = 0,
               seed: int = 0) -> Generator[Slice, None, dict[str, list[Outcome]]]:
    """Run one block of `warm_up` steps with each variant, then one of each length.

    Yield after every block of every variant, and return the outcomes of each variant without the block that warms up.
    """
    rng = random.Random(seed)
    blocks = [warm_up] * bool(warm_up) + list(lengths)
    found: dict[str, list[Outcome]] = {name: [] for name in variants}
    for number, steps in enumerate(blocks):
        for turn, name in enumerate(rng.sample(list(variants), len(variants)), 1):
            found[name].append(variants[name].run(steps))
            yield Slice(name, (number + turn / len(variants)) / len(blocks))
    return {name: outcomes[bool(warm_up):] for name, outcomes in found.items()}


def block_lengths(steps: int) -> list[int]:
    """Cut steps into blocks: no longer than `LONGEST`, and enough of them for an interval if there are enough steps."""
    length = min(LONGEST, max(steps // LEAST_BLOCKS, 1))
    whole, rest = divmod(steps, length)
    return [length] * whole + [rest] * bool(rest)


# --- what blocks say -------------------------------------------------------------------------------------------------

class Comparison(NamedTuple):
    """A base, A, and a variant of it, B, in milliseconds, and what follows.

    `ratio` is that of the time of B to that of A, the median of the ratios turn by turn: so many times as fast A is,
    and below 1 it is slower. `noise` is that of a second copy of A to the first. `verdict` is about B.
    """

    a: Interval
    b: Interval
    ratio: Interval = UNKNOWN
    noise: Interval = UNKNOWN
    verdict: Verdict = "unknown"

    @property
    def verdict_of_a(self) -> Verdict:
        return OPPOSITE.get(self.verdict, self.verdict)

    @property
    def difference(self) -> str:
        """`no difference`, or that there may be one."""
        least, most = NARROW
        return "no difference" if least <= self.ratio.low and self.ratio.high <= most else UNCLEAR

    def cells(self) -> tuple[str, str, str, str]:
        """Milliseconds of A and of B, what A buys, and the interval of that.

        The factor is the median of the ratios turn by turn, and not quite the ratio of the medians. So as on the card,
        the second time is the first one times the factor (`AS_SHOWN`); the record has both medians.
        """
        is_known = not math.isnan(self.ratio.value)
        b = Interval(self.a.value * self.ratio.value, 0, 0) if is_known else self.b
        buys = factor(self.ratio.value) if is_known else "-"
        if self.verdict == "no difference":
            buys = self.difference
        return milliseconds(self.a), milliseconds(b), buys, factors(self.ratio)

    def sentence(self) -> str:
        """How fast A is: `3.1x faster (95%: 2.9-3.3)`, `1.2x slower (...)`, or what there is instead of such a number."""
        if self.verdict == "unknown":
            return f"{factor(self.ratio.value)} (too few steps to be sure)"
        if self.verdict == "no difference":
            return f"{self.difference} (95%: {factors(self.ratio)})"
        times = self.ratio if self.verdict_of_a == "faster" else self.ratio.inverse
        return f"{factor(times.value)} {self.verdict_of_a} (95%: {factors(times)})"

    def record(self) -> dict[str, object]:
        """Without A."""
        return {"ms": interval_json(self.b), "ratio": interval_json(self.ratio), "noise": interval_json(self.noise),
                "verdict": self.verdict}


class VariantResult(NamedTuple):
    step: Comparison  # the whole step: the sum of its stages
    stages: dict[str, Comparison]  # in the order of the step; those that ran
    counters: dict[str, float]
    state_hash: str

    @property
    def stages_ms(self) -> dict[str, float]:
        return {stage: found.b.value for stage, found in self.stages.items()}

    def record(self) -> dict[str, object]:
        return {"step_ms": finite(self.step.b.value), "stages_ms": self.stages_ms, "step": self.step.record(),
                "stages": {stage: found.record() for stage, found in self.stages.items()}, "counters": self.counters,
                "state_hash": self.state_hash}


def compare(measured: Mapping[str, Sequence[TimedBlock]], hashes: Mapping[str, str], base: str,
            repeat: str) -> dict[str, VariantResult]:
    """Compare variants by their blocks, the same number of each. Raises ValueError if there are none.

    `hashes` are the states of the variants after their last block; `base` and `repeat` name two of them.
    """
    if not measured[base]:
        raise ValueError("no block was measured with every variant")
    costs = {name: costs_of(of_variant) for name, of_variant in measured.items()}
    return {
        name: VariantResult(_step(costs[name], costs[base], costs[repeat]), _stages(costs[name], costs[base], costs[repeat]),
                            counters_of([step for block in of_variant for step in block.counters]), hashes[name])
        for name, of_variant in measured.items()}


def compare_stage(stage: str, blocks: Sequence[TimedBlock], base: Sequence[TimedBlock],
                  repeat: Sequence[TimedBlock]) -> Comparison | None:
    """Compare one stage of a variant by itself; None if it never ran in the variant or in the base."""
    cost, of_base, of_repeat = (cost_of([_times(block, stage) for block in each]) for each in (blocks, base, repeat))
    return _stage(cost, of_base, of_repeat) if cost.ran.any() and of_base.ran.any() else None


def costs_of(blocks: Sequence[TimedBlock]) -> Costs:
    """What each stage costs a step; only stages that ran."""
    names = dict.fromkeys(name for block in blocks for name in block.times_ms)
    costs = {name: cost_of([_times(block, name) for block in blocks]) for name in names}
    return {name: cost for name, cost in costs.items() if cost.ran.any()}


def counters_of(log: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """One number a counter: sorts so far, the largest of what counts a maximum, the mean of all others.

    Means of many steps, because with staggering a single step shows only some of the agents. Records without a counter,
    such as that of a frame before the first step, do not count for it.
    """
    found = {}
    for name in log[-1] if log else ():
        steps = [step for step in log if name in step]
        numbers = np.array([step[name] for step in steps], np.float64)
        due = np.array([step.get("due", 0) if name in MEAN_OF_DUE else 1 for step in steps])
        is_maximum = name == "sorts" or name.endswith("_max")
        found[name] = float(numbers.max() if is_maximum else (numbers * due).sum() / max(due.sum(), 1))
    return found


def _times(block: TimedBlock, stage: str) -> Floats:
    return block.times_ms[stage] if stage in block.times_ms else np.zeros(block.steps, np.float32)


def _step(costs: Costs, base: Costs, repeat: Costs) -> Comparison:
    a, b = (median_interval(np.array([cost.ms for cost in each.values()])) for each in (base, costs))
    wholes = (np.sum([cost.ms for cost in each.values()], axis=0) for each in (costs, base, repeat))
    return _comparison(a, b, *wholes)


def _stages(costs: Costs, base: Costs, repeat: Costs) -> dict[str, Comparison]:
    never = {name: Cost(np.zeros_like(cost.ms), np.zeros_like(cost.ran)) for name, cost in costs.items()}
    return {name: _stage(cost, *(each.get(name, never[name]) for each in (base, repeat))) for name, cost in costs.items()}


def _stage(cost: Cost, base: Cost, repeat: Cost) -> Comparison:
    """Only blocks in which it ran are compared; in the others its cost is an average."""
    both = cost.ran & base.ran & repeat.ran
    return _comparison(_ms(base), _ms(cost), *(each.ms[both] for each in (cost, base, repeat)))


def _ms(cost: Cost) -> Interval:
    found = median_interval(cost.ms)
    return found if cost.ran.sum() >= LEAST_BLOCKS else UNKNOWN._replace(value=found.value)


def _comparison(a: Interval, b: Interval, whole: Doubles, base: Doubles, repeat: Doubles) -> Comparison:
    noise = ratio_interval(repeat, base)
    ratio = widened(ratio_interval(whole, base), noise)
    return Comparison(a, b, ratio, noise, verdict(ratio))


# --- two copies of a running crowd -----------------------------------------------------------------------------------

BLOCK_MS = 8.0  # of what is timed, but for the last frame of a block
UNTIMED = 1  # frames before each block
TURN_RESAMPLES = 500  # so that an effect is found within a millisecond or two


class InterleavedTiming:
    """Time two copies, with old values of techniques and with new ones, interleaved beside the window's frames.

    Ask for one half of a turn after the other; `effect` says at any time what the turns so far have given. `steps` have
    been made with either copy.

    A turn is four blocks: old, new, new, old. So what drifts steadily, such as the clock rate, slows both values alike.
    A block is a few frames: steps, each with its picture after it, as in the window. Before them comes one that is not
    timed: the window's own frames have evicted the copy's data from the caches meanwhile.

    The factor is the median of the turns' ratios. The noise is that of a copy against itself: of either copy, its
    second block in a turn against its first one. The interval is made wider by both, so that it holds the factor of
    another measurement.
    """

    def __init__(self, old: Variant[BlockTimes], new: Variant[BlockTimes]) -> None:
        self._copies: tuple[Variant[BlockTimes], ...] = old, new
        self._rng = random.Random(0)
        self._blocks: tuple[list[BlockTimes], list[BlockTimes]] = [], []
        self._halves = self.steps = 0

    @property
    def turns(self) -> int:
        """How many are complete."""
        return self._halves // 2

    @property
    def timed(self) -> int:
        """Frames of either copy that were timed in complete turns."""
        return sum(block.frame.steps for block in self._complete()[0])

    def release(self) -> None:
        """Free the copies; what was timed remains."""
        self._copies = ()

    def half_turn(self) -> Iterator[None]:
        """Run a block with either copy, of as many frames; yield after each."""
        fitting = int(min(max(BLOCK_MS / (self.frame_ms or BLOCK_MS), 1), LONGEST - 1))
        length = fitting + self._rng.randint(0, 1)  # else what runs in every other step might never be timed
        for which in (0, 1) if self._halves % 2 == 0 else (1, 0):
            self._copies[which].run(UNTIMED)
            self._blocks[which].append(self._copies[which].run(length))
            yield
        self._halves, self.steps = self._halves + 1, self.steps + UNTIMED + length

    @property
    def frame_ms(self) -> float:
        """A frame of the slower copy, by its fastest block, as other load slows some; 0 before the first block."""
        return max(min((float(sum(times.mean() for times in block.frame.times_ms.values())) for block in blocks),
                       default=0.0) for blocks in self._blocks)

    def _complete(self) -> Sequence[Sequence[BlockTimes]]:
        """The blocks of complete turns: those of the old values, and those of the new ones."""
        return [blocks[:2 * self.turns] for blocks in self._blocks]

    def changed_most(self, part: str) -> str:
        """The stage of the step or of the picture whose median time changed most; nothing if none ran."""
        old, new = (costs_of([block.stages for block in blocks]) for blocks in self._complete())
        stages = stages_of(part, dict.fromkeys((*old, *new)))
        return max(stages, key=lambda name: abs(_median(old, name) - _median(new, name)), default="")

    def effect(self, name: str) -> Comparison:
        """The old values, A, against the new ones, B: the step, the picture (`draw`), the frame, or a stage.

        A and B are nan where they are not known. Where there is a ratio, B is A times it.
        """
        if not self.turns:
            return Comparison(UNKNOWN, UNKNOWN)
        old, new = (_cost(blocks, name) for blocks in self._complete())
        ran = np.all((old.ran & new.ran).reshape(-1, 2), axis=1, keepdims=False)
        return effect_of(old.ms.reshape(-1, 2), new.ms.reshape(-1, 2), ran)


def effect_of(old: Doubles, new: Doubles, ran: Bools | None = None) -> Comparison:
    """From the costs of both blocks in each turn, float64[turns, 2] milliseconds.

    `ran`, bool[turns], are the turns in which a stage ran in all blocks. Only these are compared: in a block without
    it, its cost is an average.
    """
    before, after = (UNKNOWN._replace(value=float(np.median(ms))) for ms in (old, new))
    if ran is not None:
        old, new = old[ran], new[ran]
    ratio, both = _ratios(new.mean(axis=1), old.mean(axis=1)), np.concatenate((old, new))
    again = _ratios(both[:, 1], both[:, 0])
    back = again.inverse
    noise = Interval(again.value, min(again.low, back.low), max(again.high, back.high))  # either block may be the slower one
    if not ratio.value > 0:  # there are no turns to compare
        return Comparison(before, after)
    value, power = ratio.value, math.sqrt(2)
    if ratio.known:  # where the ratio of a second measurement lies that is as uncertain: wider by the root of 2
        ratio = Interval(value, value * (ratio.low / value) ** power, value * (ratio.high / value) ** power)
    ratio = widened(ratio, noise)
    return Comparison(before, UNKNOWN._replace(value=before.value * value), ratio, noise, verdict(ratio))


def _ratios(values: Doubles, base: Doubles) -> Interval:
    """Of three to five turns, as on a busy machine, by Student's t of the ratios' logarithms: wider than by a bootstrap."""
    count = len(base)
    if count not in STUDENT_T:
        return ratio_interval(values, base, TURN_RESAMPLES)
    if not (base > 0).all() or not (values > 0).all():
        return UNKNOWN
    logs = np.log(values / base)
    reach, centre = STUDENT_T[count] * float(logs.std(ddof=1)) / math.sqrt(count), float(logs.mean())
    return Interval(float(np.median(values / base)), math.exp(centre - reach), math.exp(centre + reach))


def _cost(blocks: Sequence[BlockTimes], name: str) -> Cost:
    """What the step, the picture, the frame or a stage costs in each block, and in which blocks it ran."""
    none, ran = np.zeros(len(blocks)), np.ones(len(blocks), bool)
    if name not in (STEP, DRAW, FRAME):
        return costs_of([block.stages for block in blocks]).get(name, Cost(none, ~ran))
    costs = costs_of(whole_steps(blocks))
    parts = [part for part in costs if name == FRAME or (name == DRAW) == (part == DRAW)]
    return Cost(sum((costs[part].ms for part in parts), none), ran)


def _median(costs: Costs, name: str) -> float:
    return float(np.median(costs[name].ms)) if name in costs else 0.0
