"""Medians, their intervals, and what may be concluded from them. Pure functions of arrays: one number a block of a
variant.

Blocks are what is drawn again in the bootstrap, not steps: steps that follow each other share whatever the machine was
doing, and so are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Floats, Longs
from crowd_demo.registry.texts import decimals, digits_text

CONFIDENCE = 0.95
RESAMPLES = 2000  # the ends of an interval then move by about a hundredth of its width from one seed to the next
LEAST_BLOCKS = 6  # the median lies between the least and the largest of n with probability 1 - 2**(1 - n): 0.97 for 6

STUDENT_T = {3: 4.303, 4: 3.182, 5: 2.776}  # by the number of values: 95 % of means lie within so many standard errors

Times = Mapping[str, Floats]  # by stage: milliseconds in each of the same steps, or frames; 0 where it did not run

Verdict = Literal["faster", "slower", "no difference", "unknown"]
OPPOSITE: Mapping[Verdict, Verdict] = {"faster": "slower", "slower": "faster"}
NARROW = 0.9, 1.1  # a factor between these is next to 1
UNCLEAR = "too noisy to tell"


class Interval(NamedTuple):
    """A median, and where it lies with a confidence of 95 %; from -inf to inf where there are too few blocks to tell."""

    value: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def inverse(self) -> Interval:
        """Of the base to what it was the base of."""
        value, high, low = (1 / number if number else math.inf for number in self)
        return Interval(value, low, high) if self.known else self._replace(value=value)


UNKNOWN = Interval(math.nan, -math.inf, math.inf)


class Cost(NamedTuple):
    """What a stage costs a step in each block: milliseconds, float64[blocks]; and in which blocks it ran, bool[blocks]."""

    ms: Doubles
    ran: Bools


def cost_of(blocks: Sequence[Floats]) -> Cost:
    """From its times in each block, in which 0 is a step in which it did not run.

    The median of the steps of the block in which it ran, times the share of all steps in which it ran: a sort every 60
    steps counts with a 60th of its time, in every block. A block without a sort gets the median of all blocks.
    """
    table = np.zeros((len(blocks), max(map(len, blocks), default=0)))
    for row, times in zip(table, blocks, strict=True):
        row[:len(times)] = times
    ordered, counts = np.sort(np.where(table > 0, table, math.inf), axis=1), (table > 0).sum(axis=1)
    ran, total = counts > 0, counts.sum(keepdims=True)
    usual = _middle(np.sort(ordered.reshape(1, -1)), total)
    return Cost(np.where(ran, _middle(ordered, counts), usual) * (total / max(sum(map(len, blocks)), 1)), ran)


def _middle(ordered: Doubles, counts: Longs) -> Doubles:
    """The medians of the first `counts` numbers of each row; 0 of none."""
    if not ordered.shape[-1]:
        return np.zeros(counts.shape)
    low, high = np.maximum(counts - 1, 0) // 2, np.where(counts > 0, counts // 2, 0)
    two = np.take_along_axis(ordered, np.stack((low, high), axis=-1), axis=-1)
    return np.where(counts[..., None] > 0, two, 0).mean(axis=-1)


def median_interval(values: Doubles, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """The median of float64[blocks], with a percentile bootstrap; of [stages, blocks] the sum of the stages' medians."""
    rows = np.atleast_2d(values)
    count = rows.shape[1]
    value = sum(np.median(rows, axis=1).tolist())
    if count < LEAST_BLOCKS:
        return Interval(value, -math.inf, math.inf)
    drawn = np.random.default_rng(seed).integers(count, size=(resamples, count))
    medians = np.sum([np.median(row[drawn], axis=1) for row in rows], axis=0)
    low, high = np.quantile(medians, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return Interval(value, float(low), float(high))


def ratio_interval(values: Doubles, base: Doubles, resamples: int = RESAMPLES) -> Interval:
    """The median of the ratios of a variant to the base, block by block: a slow minute that both had divides out.

    float64[blocks] each. `UNKNOWN` where the base takes no time, or there are no blocks.
    """
    return median_interval(values / base, resamples=resamples) if len(base) and (base > 0).all() else UNKNOWN


def independent_ratio(values: Doubles, base: Doubles, seed: int = 0) -> Interval:
    """The ratio of two medians whose blocks were not interleaved: float64[blocks] each, which may differ in number."""
    ratio = float(np.median(values) / np.median(base))
    if min(len(values), len(base)) < LEAST_BLOCKS:
        return Interval(ratio, -math.inf, math.inf)
    rng = np.random.default_rng(seed)
    above, below = (np.median(each[rng.integers(len(each), size=(RESAMPLES, len(each)))], axis=1) for each in (values, base))
    low, high = np.quantile(above / below, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return Interval(ratio, float(low), float(high))


def widened(ratio: Interval, noise: Interval) -> Interval:
    """The interval of a ratio, made wider by that of the base to a second copy of itself: their squares add up."""
    if not min(ratio.low, noise.low) > 0:
        return ratio._replace(low=-math.inf, high=math.inf)
    value, reach = ratio.value, max(math.log(noise.high), -math.log(noise.low))
    low = value * math.exp(-math.hypot(math.log(value / ratio.low), reach))
    high = value * math.exp(math.hypot(math.log(ratio.high / value), reach))
    return Interval(value, low, high)


def verdict(ratio: Interval) -> Verdict:
    """Return whether a variant is faster or slower than the base: it is, if the interval of the ratio excludes 1."""
    if not ratio.known:
        return "unknown"
    if ratio.high < 1:
        return "faster"
    return "slower" if ratio.low > 1 else "no difference"


# --- texts and records -----------------------------------------------------------------------------------------------

def milliseconds(interval: Interval) -> str:
    """The median with three digits or so: 0.52, 3.14, 31.4, 31,400."""
    return digits_text(interval.value, 10, ",")


def factor(number: float) -> str:
    """How many times: 0.52x, 1.04x, 3.1x, 31x, 1,200x."""
    return f"{digits_text(number, 2, ',')}x"


def factors(interval: Interval) -> str:
    """Where a factor lies, with the digits that the larger end has."""
    if not interval.known:
        return "too few"
    return f"{interval.low:,.{decimals(interval.high, 2)}f}-{digits_text(interval.high, 2, ',')}"


def interval_json(interval: Interval) -> dict[str, float | None]:
    """`low` and `high` are null where there are too few blocks to tell, `value` where the base takes no time."""
    return {name: finite(number) for name, number in interval._asdict().items()}


def finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
