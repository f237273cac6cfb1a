"""Medians, their intervals, and what may be concluded from them. Pure functions of arrays: one number a block of a
variant.

Blocks are what is drawn again in the bootstrap, not steps: steps that follow each other share whatever the machine was
doing, and so are not independent.

The times before a switch of a running crowd and those after it cannot take turns (comparison.py), so their ratio also
contains any change of the machine or the crowd meanwhile. There the noise floor compares the second half of the time
before with its first half: it shows how much times change without a switch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Floats, Longs

CONFIDENCE = 0.95
RESAMPLES = 2000  # the ends of an interval then move by about a hundredth of its width from one seed to the next
LEAST_BLOCKS = 6  # the median lies between the least and the largest of n with probability 1 - 2**(1 - n): 0.97 for 6

Times = Mapping[str, Floats]  # by stage: milliseconds in each of the same steps, or frames; 0 where it did not run
LENGTH = 10  # of a block of a running crowd, at least, where there are enough steps
MOST_BLOCKS = 32  # so that intervals are found within a millisecond
FEW_RESAMPLES = 300  # for the same reason
OBVIOUS = 2  # a difference of at least this factor, and beyond the noise, needs no interval
VAST = 10  # the same where the noise is not known either: no machine is so much slower from one moment to the next

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
    """What a stage costs a step in each block: milliseconds, float64[blocks]; and in which blocks it ran, bool[blocks]."""

    ms: Doubles
    ran: Bools


def cost_of(blocks: Sequence[Floats]) -> Cost:
    """From its times in each block, in which 0 is a step in which it did not run.

    The median of the steps of the block in which it ran, times the share of all steps in which it ran: a sort every 60 steps
    counts with a 60th of its time, in every block. A block without a sort gets the median of all blocks.
    """
    table = np.zeros((len(blocks), max(map(len, blocks), default=0)))
    for row, times in zip(table, blocks, strict=True):
        row[:len(times)] = times
    return costs_in(table, sum(map(len, blocks)))


def costs_in(table: Doubles, steps: int) -> Cost:
    """The same for float64[..., blocks, steps of a block], filled up with zeros; there are `steps` in all blocks."""
    ordered = np.sort(np.where(table > 0, table, math.inf), axis=-1)
    counts = (table > 0).sum(axis=-1)
    total = counts.sum(axis=-1, keepdims=True)
    usual = _middle(np.sort(ordered.reshape(*table.shape[:-2], -1), axis=-1), total[..., 0])[..., None]
    ran = counts > 0
    return Cost(np.where(ran, _middle(ordered, counts), usual) * (total / max(steps, 1)), ran)


def _middle(ordered: Doubles, counts: Longs) -> Doubles:
    """The medians of the first `counts` numbers of each row; 0 of none."""
    if not ordered.shape[-1]:
        return np.zeros(counts.shape)
    low, high = np.maximum(counts - 1, 0) // 2, np.where(counts > 0, counts // 2, 0)
    two = np.take_along_axis(ordered, np.stack((low, high), axis=-1), axis=-1)
    return np.where(counts[..., None] > 0, two, 0).mean(axis=-1)


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


def ratio_interval(values: Doubles, base: Doubles) -> Interval:
    """The median of the ratios of a variant to the base, block by block: a slow minute that both had divides out.

    float64[blocks] each. `UNKNOWN` where the base takes no time, or there are no blocks.
    """
    return median_interval(values / base) if len(base) and (base > 0).all() else UNKNOWN


def verdict(ratio: Interval, noise: Interval) -> Verdict:
    """Whether a variant differs from the base, given the ratio of the base to a second copy of itself.

    It differs if its interval lies outside both that of the noise and 1.
    """
    if not (ratio.known and noise.known):
        return "unknown"
    if ratio.high < min(noise.low, 1):
        return "faster"
    return "slower" if ratio.low > max(noise.high, 1) else "no difference"


# --- before a switch and after it ------------------------------------------------------------------------------------

class Effect(NamedTuple):
    """Median times, nan where there were none, and what follows. `ratio` and `noise` are ratios of times, later to earlier."""

    before_ms: float
    after_ms: float
    ratio: Interval
    noise: Interval
    verdict: Verdict

    @property
    def factor(self) -> Interval:
        """How many times as fast it is now; below 1 it is slower."""
        return _inverse(self.ratio)


class Baseline:
    """The time before, float64[blocks] as `costs` gives it, with which times after are compared again and again."""

    def __init__(self, before: Doubles) -> None:
        half = len(before) // 2
        first, second = (Series.of(part, seed) for seed, part in enumerate((before[:half], before[half:])))
        drift = unpaired_ratio(second, first)
        back = _inverse(drift)
        self.before, self._blocks = Series.of(before, 2), before
        self.noise = Interval(drift.value, min(drift.low, back.low), max(drift.high, back.high))  # it may go back as far

    def effect(self, after: Doubles) -> Effect:
        """Compare the time after, float64[blocks]."""
        series = Series.of(after, 3)
        ratio = unpaired_ratio(series, self.before) if series.median else UNKNOWN  # it runs no longer
        few = not (ratio.known or math.isnan(ratio.value))
        found = verdict_of_few(after, self._blocks, self.noise) if few else verdict(ratio, self.noise)
        return Effect(self.before.median, series.median, ratio, self.noise, found)


def costs(times: Times, stage: str = "") -> Doubles:
    """What a stage costs in each block of consecutive steps or frames, or all of them together: float64[blocks].

    Blocks are of one length, and enough for each half to have an interval if there are so many steps. The oldest may be left
    out.
    """
    chosen = [times[name] for name in ([stage] if stage else times) if name in times]
    count = len(chosen[0]) if chosen else 0
    if not count:
        return np.zeros(0)
    blocks = min(count // max(min(count // (2 * LEAST_BLOCKS), LENGTH), 1), MOST_BLOCKS)
    length = count // blocks
    table = np.array(chosen, np.float64)[:, count - blocks * length:].reshape(len(chosen), blocks, length)
    return costs_in(table, blocks * length).ms.sum(axis=0)


def _inverse(ratio: Interval) -> Interval:
    value, high, low = (1 / number if number else math.inf for number in ratio)
    return Interval(value, low, high) if ratio.known else ratio._replace(value=value)


# --- blocks that took no turns ---------------------------------------------------------------------------------------

class Series(NamedTuple):
    """Blocks to be compared with others with which they took no turns: each series is drawn again by itself."""

    median: float  # nan of no blocks
    drawn: Doubles  # medians of the blocks drawn again; none where there are too few blocks to tell

    @classmethod
    def of(cls, values: Doubles, seed: int = 0) -> Series:
        """From float64[blocks]."""
        median, count = float(np.median(values)) if len(values) else math.nan, len(values)
        if count < LEAST_BLOCKS:
            return cls(median, np.zeros(0))
        indices = np.random.default_rng(seed).integers(count, size=(FEW_RESAMPLES, count))
        return cls(median, np.median(values[indices], axis=1))


def unpaired_ratio(values: Series, base: Series) -> Interval:
    """The ratio of the medians; `UNKNOWN` where the base takes no time, or there are no blocks."""
    if not base.median > 0 or math.isnan(values.median):
        return UNKNOWN
    ratio = values.median / base.median
    if not (len(values.drawn) and (base.drawn > 0).any()):
        return Interval(ratio, -math.inf, math.inf)
    low, high = np.quantile(values.drawn / base.drawn, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return Interval(ratio, float(low), float(high))


def verdict_of_few(values: Doubles, base: Doubles, noise: Interval) -> Verdict:
    """Verdict from too few blocks for an interval, float64[blocks]: only an obvious difference counts.

    It differs if every block takes twice as long as any of the base, or half as long, and more than the noise explains; where
    the base has too few to know the noise, ten times as long or a tenth. And there must be enough for a rank test: chance puts
    n of n + m blocks all on one side once in (n + m over n) times.
    """
    enough = math.comb(len(values) + len(base), len(values)) >= 2 / (1 - CONFIDENCE)
    if not (enough and len(values) and len(base)):
        return "unknown"
    low, high = (min(noise.low, 1 / OBVIOUS), max(noise.high, OBVIOUS)) if noise.known else (1 / VAST, VAST)
    if values.min() > base.max() * high:
        return "slower"
    return "faster" if values.max() < base.min() * low else "unknown"
