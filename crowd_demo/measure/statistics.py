"""Medians, their intervals, and what may be concluded from them. Pure functions of arrays: one number a block of an arm.

Blocks are what is drawn again in the bootstrap, not steps: steps that follow each other share whatever the machine was doing,
and so are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Floats

CONFIDENCE = 0.95
RESAMPLES = 2000  # the ends of an interval then move by about a hundredth of its width from one seed to the next
LEAST_BLOCKS = 6  # the median lies between the least and the largest of n with probability 1 - 2**(1 - n): 0.97 for 6

Verdict = Literal["faster", "slower", "no difference", "unknown"]


class Interval(NamedTuple):
    """A median, and where it lies with a confidence of 95 %; from -inf to inf where there are too few blocks to tell."""

    value: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


UNKNOWN = Interval(math.nan, -math.inf, math.inf)


class Cost(NamedTuple):
    """What a stage costs a step: milliseconds, float64[blocks]; and in which blocks it ran, bool[blocks]."""

    ms: Doubles
    ran: Bools


def cost_of(blocks: Sequence[Floats]) -> Cost:
    """From its times in each block, in which 0 is a step in which it did not run.

    The median of the steps of the block in which it ran, times the share of all steps in which it ran: a sort every 60 steps
    counts with a 60th of its time, in every block. A block without a sort gets the median of all blocks.
    """
    everything, ran = np.concatenate(blocks), np.array([(times > 0).any() for times in blocks])
    if not ran.any():
        return Cost(np.zeros(len(blocks)), ran)
    usual, share = np.median(everything[everything > 0]), (everything > 0).mean()
    medians = [np.median(times[times > 0]) if in_it else usual for times, in_it in zip(blocks, ran, strict=True)]
    return Cost(np.array(medians, np.float64) * share, ran)


def median_interval(values: Doubles, seed: int = 0) -> Interval:
    """The median of float64[blocks], with a percentile bootstrap; of [stages, blocks] the sum of the stages' medians."""
    rows = np.atleast_2d(values)
    count = rows.shape[1]
    value = sum(np.median(rows, axis=1).tolist())
    if count < LEAST_BLOCKS:
        return Interval(value, -math.inf, math.inf)
    drawn = np.random.default_rng(seed).integers(count, size=(RESAMPLES, count))
    medians = np.sum([np.median(row[drawn], axis=1) for row in rows], axis=0)
    low, high = np.quantile(medians, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return Interval(value, float(low), float(high))


def ratio_interval(values: Doubles, base: Doubles, seed: int = 0) -> Interval:
    """The median of the ratios of an arm to the base, block by block: a slow minute in which both had a block divides out.

    float64[blocks] each. `UNKNOWN` where the base takes no time, or there are no blocks.
    """
    return median_interval(values / base, seed) if len(base) and (base > 0).all() else UNKNOWN


def verdict(ratio: Interval, noise: Interval) -> Verdict:
    """Whether an arm differs from the base, given the ratio of the base to a second copy of itself.

    It differs if its interval lies outside both that of the noise and 1.
    """
    if not (ratio.known and noise.known):
        return "unknown"
    if ratio.high < min(noise.low, 1):
        return "faster"
    return "slower" if ratio.low > max(noise.high, 1) else "no difference"
