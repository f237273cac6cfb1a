"""What a change gave in a running crowd: its times before against its times after.

The two cannot take turns, as arms do (comparison.py), so the ratio also contains any change of the machine or the crowd
meanwhile. The noise floor compares the second half of the time before with its first half: it shows how much times change
without a switch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Floats
from crowd_demo.measure.statistics import CONFIDENCE, LEAST_BLOCKS, UNKNOWN, Interval, Verdict, costs_in, verdict

Times = Mapping[str, Floats]  # by stage: milliseconds in each of the same steps, or frames; 0 where it did not run
LENGTH = 10  # of a block, at least, where there are enough steps
MOST_BLOCKS = 32  # so that intervals are found within a millisecond
RESAMPLES = 300
OBVIOUS = 2  # a difference of at least this factor, and beyond the noise, needs no interval
VAST = 10  # the same where the noise is not known either: no machine is so much slower from one moment to the next


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


# --- blocks that took no turns -----------------------------------------------------------------------------------------

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
        indices = np.random.default_rng(seed).integers(count, size=(RESAMPLES, count))
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
