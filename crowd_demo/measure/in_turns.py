"""Two copies of a running crowd, with old values of techniques and with new ones, timed in turns beside its frames.

A turn is four blocks: old, new, new, old. So what drifts steadily, such as the clock rate, slows both values alike. A
block is a few frames, each a step and its picture, and before them one or two that are not timed: the window's own
frames have evicted the copy's data from the caches meanwhile.

The factor is the median of the turns' ratios. The noise is that of a copy against itself: its second block in a turn
against its first one. The interval covers both.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.measure.comparison import LONGEST, BlockTimes, Costs, costs_of, whole_steps
from crowd_demo.measure.crowd_variant import DRAW, STEP, CrowdVariant
from crowd_demo.measure.statistics import UNKNOWN, Interval, Verdict, ratio_interval, verdict

BLOCK_MS = 8.0  # of timed frames; one takes more only if a single frame does
FRAME = "frame"
WHOLES = (STEP, DRAW, FRAME)  # the frame is the sum of the other two


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
        self._variants: tuple[CrowdVariant, ...] = old, new
        self._rng = random.Random(0)
        self._blocks: tuple[list[BlockTimes], list[BlockTimes]] = [], []
        self._halves = self._frames = self.steps = 0

    @property
    def turns(self) -> int:
        """How many are complete."""
        return self._halves // 2

    @property
    def timed(self) -> int:
        """Frames of either copy that were timed, in complete turns."""
        return sum(block.frame.steps for block in self._blocks[0][:2 * self.turns])

    def release(self) -> None:
        """Free the copies; what was timed remains."""
        self._variants = ()

    def half_turn(self) -> Iterator[None]:
        """Run a block with either copy, of as many steps; yield after each."""
        if not self._frames:
            frame_ms = max(_whole_ms(variant.run(1)) for variant in self._variants)
            self._frames, self.steps = int(min(max(BLOCK_MS / frame_ms, 1), LONGEST)), 1
            yield
        untimed = self._rng.randint(1, 2)  # or what runs in every tenth step might always or never be timed
        for which in (0, 1) if self._halves % 2 == 0 else (1, 0):
            self._variants[which].run(untimed)
            self._blocks[which].append(self._variants[which].run(self._frames))
            yield
        self._halves, self.steps = self._halves + 1, self.steps + untimed + self._frames

    def stages(self) -> list[str]:
        """All that ran in either copy, in the order of the frame."""
        return list(dict.fromkeys(name for costs in self._costs_of_stages() for name in costs))

    def effect(self, name: str) -> Effect:
        """What has become of the step, the picture (`draw`), the frame, or a stage."""
        if not self.turns:
            return Effect(np.nan, np.nan)
        if name in WHOLES:
            old, new = (_whole(costs_of(whole_steps(blocks[:2 * self.turns])), name) for blocks in self._blocks)
        else:
            none = np.zeros(2 * self.turns)
            old, new = (costs[name].ms if name in costs else none for costs in self._costs_of_stages())
        return effect_of(old.reshape(-1, 2), new.reshape(-1, 2))

    def _costs_of_stages(self) -> Sequence[Costs]:
        return [costs_of([block.stages for block in blocks[:2 * self.turns]]) for blocks in self._blocks]


def effect_of(old: Doubles, new: Doubles) -> Effect:
    """From the costs of both blocks in each turn, float64[turns, 2] milliseconds."""
    ratio = ratio_interval(new.mean(axis=1), old.mean(axis=1))
    again = ratio_interval(old[:, 1], old[:, 0])
    back = inverse(again)
    noise = Interval(again.value, min(again.low, back.low), max(again.high, back.high))  # either block may be the slower one
    before = float(np.median(old))
    if not ratio.value > 0:  # one of the two does not run
        return Effect(before, float(np.median(new)))
    wide = ratio._replace(low=ratio.low * min(noise.low, 1), high=ratio.high * max(noise.high, 1)) if ratio.known else ratio
    return Effect(before, before * ratio.value, wide, noise, verdict(ratio, noise))


def inverse(ratio: Interval) -> Interval:
    value, high, low = (1 / number if number else np.inf for number in ratio)
    return Interval(value, low, high) if ratio.known else ratio._replace(value=value)


def _whole(costs: Costs, name: str) -> Doubles:
    """The cost of the step, the picture or both, in each block."""
    return np.sum([cost.ms for part, cost in costs.items() if name in (FRAME, DRAW if part == DRAW else STEP)], axis=0)


def _whole_ms(block: BlockTimes) -> float:
    return float(sum(times.sum() for times in block.frame.times_ms.values()))
