"""Two copies of a running crowd, with old values of techniques and with new ones, timed in turns beside its frames.

A turn is four blocks: old, new, new, old. So what drifts steadily, such as the clock rate, slows both values alike. A
block is a few frames: steps, each with its picture after it, as in the window. Before them come one or two that are not
timed: the window's own frames have evicted the copy's data from the caches meanwhile.

The factor is the median of the turns' ratios. The noise is that of a copy against itself: its second block in a turn
against its first one. The interval covers both, and says where another measurement lies.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.measure.comparison import LONGEST, BlockTimes, Costs, costs_of, whole_steps
from crowd_demo.measure.crowd_variant import DRAW, STEP, CrowdVariant
from crowd_demo.measure.statistics import (
    STUDENT_T,
    UNKNOWN,
    Interval,
    Verdict,
    few_ratios_interval,
    ratio_interval,
    verdict,
)
from crowd_demo.registry.stages import stages_of

BLOCK_MS = 8.0  # of what is timed; a block takes more only if a single frame does
RESAMPLES = 500  # so that an effect is found within a millisecond or two
FRAME = "frame"


class Effect(NamedTuple):
    """Milliseconds before and after, nan where they are not known, and what follows. Ratios are of times, later to earlier."""

    before_ms: float
    after_ms: float
    ratio: Interval = UNKNOWN
    noise: Interval = UNKNOWN
    verdict: Verdict = "unknown"

    @property
    def factor(self) -> Interval:
        """How many times as fast it is now; below 1 it is slower."""
        return inverse(self.ratio)


class InTurns:
    """Ask for one half of a turn after the other; `effect` says at any time what the turns so far have given.

    `steps` have been made with either copy.
    """

    def __init__(self, old: CrowdVariant, new: CrowdVariant) -> None:
        self._copies: tuple[CrowdVariant, ...] = old, new
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
        length = self._next_length()
        untimed = self._rng.randint(1, 2)  # or what runs in every tenth step might always or never be timed
        for which in (0, 1) if self._halves % 2 == 0 else (1, 0):
            self._copies[which].run(untimed)
            self._blocks[which].append(self._copies[which].run(length))
            yield
        self._halves, self.steps = self._halves + 1, self.steps + untimed + length

    def _next_length(self) -> int:
        """As many frames as fit into a block, by the shortest so far with the slower value: other load makes some longer."""
        shortest_ms = (min(map(_mean_ms, blocks), default=BLOCK_MS) for blocks in self._blocks)
        return int(min(max(BLOCK_MS / max(shortest_ms), 1), LONGEST))

    def _complete(self) -> Sequence[Sequence[BlockTimes]]:
        """The blocks of complete turns with the old values, and with the new ones."""
        return [blocks[:2 * self.turns] for blocks in self._blocks]

    def changed_most(self, part: str) -> str:
        """The stage of the step or of the picture whose median time changed most; nothing if none ran."""
        old, new = map(_costs_of_stages, self._complete())
        stages = stages_of(part, dict.fromkeys((*old, *new)))
        return max(stages, key=lambda name: abs(_median(old, name) - _median(new, name)), default="")

    def effect(self, name: str) -> Effect:
        """What has become of the step, the picture (`draw`), the frame, or a stage."""
        if not self.turns:
            return Effect(np.nan, np.nan)
        old, new = (_cost(blocks, name).reshape(-1, 2) for blocks in self._complete())
        return effect_of(old, new)


def effect_of(old: Doubles, new: Doubles) -> Effect:
    """From the costs of both blocks in each turn, float64[turns, 2] milliseconds."""
    ratio, again = _ratios(new.mean(axis=1), old.mean(axis=1)), _ratios(old[:, 1], old[:, 0])
    back = inverse(again)
    noise = Interval(again.value, min(again.low, back.low), max(again.high, back.high))  # either block may be the slower one
    before = float(np.median(old))
    if not ratio.value > 0:  # one of the two does not run
        return Effect(before, float(np.median(new)))
    ratio = of_another(ratio)
    return Effect(before, before * ratio.value, widened(ratio, noise), noise, verdict(ratio, noise))


def _ratios(values: Doubles, base: Doubles) -> Interval:
    if len(base) in STUDENT_T:  # on a busy machine there are no more turns
        return few_ratios_interval(values, base)
    return ratio_interval(values, base, RESAMPLES)


def of_another(ratio: Interval) -> Interval:
    """Where the factor of a second measurement, such as `M`, lies: both are uncertain, so this is wider by the root of 2."""
    if not ratio.known:
        return ratio
    value, power = ratio.value, math.sqrt(2)
    return Interval(value, value * (ratio.low / value) ** power, value * (ratio.high / value) ** power)


def widened(ratio: Interval, noise: Interval) -> Interval:
    """The interval of a ratio with the noise in it, which is independent of it: on either side their squares add up."""
    if not ratio.known:
        return ratio
    value = ratio.value
    low = value * math.exp(-math.hypot(math.log(value / ratio.low), math.log(min(noise.low, 1))))
    high = value * math.exp(math.hypot(math.log(ratio.high / value), math.log(max(noise.high, 1))))
    return Interval(value, low, high)


def inverse(ratio: Interval) -> Interval:
    value, high, low = (1 / number if number else np.inf for number in ratio)
    return Interval(value, low, high) if ratio.known else ratio._replace(value=value)


def _cost(blocks: Sequence[BlockTimes], name: str) -> Doubles:
    """The cost of the step, the picture, the frame or a stage in each block, float64[blocks]; 0 if a stage never ran."""
    if name in (STEP, DRAW, FRAME):
        costs = costs_of(whole_steps(blocks))
        parts = [part for part in costs if name == FRAME or (name == DRAW) == (part == DRAW)]
    else:
        costs = _costs_of_stages(blocks)
        parts = [name] if name in costs else []
    return sum((costs[part].ms for part in parts), np.zeros(len(blocks)))


def _costs_of_stages(blocks: Sequence[BlockTimes]) -> Costs:
    return costs_of([block.stages for block in blocks])


def _median(costs: Costs, name: str) -> float:
    return float(np.median(costs[name].ms)) if name in costs else 0.0


def _mean_ms(block: BlockTimes) -> float:
    """The mean time of the frames in a block, milliseconds."""
    return float(sum(times.mean() for times in block.frame.times_ms.values()))
