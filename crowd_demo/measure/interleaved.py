"""Two copies of a running crowd, with old values of techniques and with new ones, timed interleaved beside its frames.

A turn is four blocks: old, new, new, old. So what drifts steadily, such as the clock rate, slows both values alike. A
block is a few frames: steps, each with its picture after it, as in the window. Before them comes one that is not timed:
the window's own frames have evicted the copy's data from the caches meanwhile.

The factor is the median of the turns' ratios. The noise is that of a copy against itself: of either copy, its second
block in a turn against its first one. The interval is made wider by both, so that it holds the factor of another
measurement.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles
from crowd_demo.measure.comparison import LONGEST, BlockTimes, Comparison, Costs, Variant, costs_of, whole_steps
from crowd_demo.measure.crowd_variant import DRAW, STEP
from crowd_demo.measure.statistics import (
    STUDENT_T,
    UNKNOWN,
    Cost,
    Interval,
    ratio_interval,
    verdict,
    widened,
)
from crowd_demo.registry.stages import stages_of

BLOCK_MS = 8.0  # of what is timed, but for the last frame of a block
UNTIMED = 1  # frames before each block
RESAMPLES = 500  # so that an effect is found within a millisecond or two
FRAME = "frame"


class InterleavedTiming:
    """Ask for one half of a turn after the other; `effect` says at any time what the turns so far have given.

    `steps` have been made with either copy.
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
    ratio, after = of_another(ratio), UNKNOWN._replace(value=before.value * ratio.value)
    ratio = widened(ratio, noise)
    return Comparison(before, after, ratio, noise, verdict(ratio))


def _ratios(values: Doubles, base: Doubles) -> Interval:
    """Of three to five turns, as on a busy machine, by Student's t of the ratios' logarithms: wider than by a bootstrap."""
    count = len(base)
    if count not in STUDENT_T:
        return ratio_interval(values, base, RESAMPLES)
    if not (base > 0).all() or not (values > 0).all():
        return UNKNOWN
    logs = np.log(values / base)
    reach, centre = STUDENT_T[count] * float(logs.std(ddof=1)) / math.sqrt(count), float(logs.mean())
    return Interval(float(np.median(values / base)), math.exp(centre - reach), math.exp(centre + reach))


def of_another(ratio: Interval) -> Interval:
    """Where the ratio of a second measurement lies that is as uncertain: the interval, wider by the root of 2."""
    if not ratio.known:
        return ratio
    value, power = ratio.value, math.sqrt(2)
    return Interval(value, value * (ratio.low / value) ** power, value * (ratio.high / value) ** power)


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
