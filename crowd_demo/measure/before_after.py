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
from crowd_demo.measure.statistics import (
    LEAST_BLOCKS,
    UNKNOWN,
    Interval,
    Series,
    Verdict,
    costs_in,
    unpaired_ratio,
    verdict,
    verdict_of_few,
)

Times = Mapping[str, Floats]  # by stage: milliseconds in each of the same steps, or frames; 0 where it did not run
LENGTH = 10  # of a block, at least, where there are enough steps
MOST_BLOCKS = 32  # so that intervals are found within a millisecond
RESAMPLES = 300


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
        first, second = (Series.of(part, seed, RESAMPLES) for seed, part in enumerate((before[:half], before[half:])))
        drift = unpaired_ratio(second, first)
        back = _inverse(drift)
        self.before, self._blocks = Series.of(before, 2, RESAMPLES), before
        self.noise = Interval(drift.value, min(drift.low, back.low), max(drift.high, back.high))  # it may go back as far

    def effect(self, after: Doubles) -> Effect:
        """Compare the time after, float64[blocks]."""
        series = Series.of(after, 3, RESAMPLES)
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
