"""Slices of the screen: bands of pixel rows that workers share.

A worker draws what touches its slices in the order of the list, so the picture does not depend on the number of workers.
"""

from __future__ import annotations

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import device

SLICES_PER_WORKER = 4  # so that the workers also share a crowd that stands in one part of the screen


@device
def first_at(tops: Ints, value: int) -> int:
    """The first k with tops[k] >= value, in ascending tops."""
    low, high = 0, tops.shape[0]
    while low < high:
        middle = (low + high) // 2
        if tops[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
