"""Slices of the screen: workers share a picture by its rows, and each draws all that touches its own in the order of the
list; so the picture does not depend on their number."""

from __future__ import annotations

from typing import Any

from crowd_demo.compute.jit import device

SLICES_PER_WORKER = 4  # so that a crowd in one part of the screen is shared as well


@device
def first_at(tops: Any, value: int) -> int:
    """The first k with tops[k] >= value, in ascending tops."""
    low, high = 0, tops.shape[0]
    while low < high:
        middle = (low + high) // 2
        if tops[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
