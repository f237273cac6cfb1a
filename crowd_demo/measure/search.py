"""The largest number that fits: bracket it by doubling or halving, then bisect. Whoever asks says what fits."""

from __future__ import annotations

import math
from collections.abc import Generator

PRECISION = 0.02  # of the number: less than the noise of a measurement
Search = Generator[int, bool, int]


def largest(start: int, most: int, precision: float = PRECISION) -> Search:
    """Yield numbers from 1 to `most`, be sent whether each fits, and return the largest that does; 0 if none does.

    If a number fits, so do all below it. The least that does not fit is at most `precision` above the answer, or 1. It is
    asked a second time, and if it fits then the search goes on above: other load on a machine makes things slower only.
    """
    low, number = 0, min(max(start, 1), most)
    while True:
        low, high = yield from _bracket(low, number, most)
        low, high = yield from _bisect(low, high, precision)
        if high > most or not (yield high):
            return low
        low, number = high, min(2 * high, most)


def _bracket(low: int, number: int, most: int) -> Generator[int, bool, tuple[int, int]]:
    """A number that fits, and a larger one that does not; 0 always fits, and what is above `most` does not."""
    high = most + 1
    while low < number < high:
        if (yield number):
            low, number = number, min(2 * number, most)
        else:
            high, number = number, number if low else number // 2
    return low, high


def _bisect(low: int, high: int, precision: float) -> Generator[int, bool, tuple[int, int]]:
    while high - low > max(precision * low, 1):
        middle = _between(low, high)
        if (yield middle):
            low = middle
        else:
            high = middle
    return low, high


def _between(low: int, high: int) -> int:
    """A number near the geometric mean, of three digits if there is such a one."""
    middle = math.isqrt(low * high)
    rounded = int(float(f"{middle:.2e}"))
    return rounded if low < rounded < high else min(max(middle, low + 1), high - 1)
