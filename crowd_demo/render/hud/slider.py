"""Sliders: where a number stands on one, and which number a place on it means.

Where a range spans decades, a slider is logarithmic. One that begins at 0 keeps a little room for the 0 at its left end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from crowd_demo.render.hud.canvas import ACCENT, EDGE, FAINT, INACTIVE, TEXT, Box, Canvas

WIDE = 20.0  # a range whose ends, or whose end and usual value, are so far apart has a logarithmic slider
LEAST = 1e-4  # of the range: where one begins whose usual value is 0
BELOW = 2  # decades below the usual value at which one that begins at 0 begins
ZERO = 0.05  # of its length, for the 0
NEAR = 0.02  # of its length: so near to the usual value it is that value
DIGITS = 3  # of a value that is chosen by hand


class SliderScale(NamedTuple):
    """`floor` is the least number above 0 on a logarithmic slider, and 0 on a linear one."""

    low: float
    high: float
    usual: float
    is_whole: bool
    floor: float

    @classmethod
    def of(cls, low: float, high: float, usual: float, is_whole: bool) -> SliderScale:
        floor = 0.0
        if low > 0 and high / low >= WIDE:
            floor = low
        elif low == 0 and high >= WIDE * usual:
            floor = 10.0 ** (math.floor(math.log10(usual)) - BELOW) if usual > 0 else high * LEAST
            floor = max(floor, 1.0) if is_whole else floor
        return cls(low, high, usual, is_whole, floor if floor < high else 0.0)

    def position(self, value: float) -> float:
        """Return where a value stands: 0 at the left end, 1 at the right."""
        value = min(max(value, self.low), self.high)
        if not self.floor:
            return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        if value < self.floor:
            return 0.0
        return self._zero + (1 - self._zero) * math.log(value / self.floor) / math.log(self.high / self.floor)

    def value_at(self, position: float) -> float:
        """Return the value that a place means: of three digits, or whole, or the usual one if it is near."""
        if abs(position - self.position(self.usual)) < NEAR:
            return self.usual
        if not 0 < position < 1:
            return self.low if position <= 0 else self.high
        if not self.floor:
            value = self.low + (self.high - self.low) * position
        elif position < self._zero:
            value = self.low
        else:
            value = self.floor * (self.high / self.floor) ** ((position - self._zero) / (1 - self._zero))
        value = round(value) if self.is_whole else float(f"{value:.{DIGITS}g}")
        return min(max(value, self.low), self.high)

    @property
    def _zero(self) -> float:
        return ZERO if self.low < self.floor else 0.0


def draw_slider(on: Canvas, box: Box, scale: SliderScale, value: float) -> None:
    """Draw the groove, a mark at the usual value, and the handle."""
    left, top, width, height = box
    middle = top + height / 2
    at, usual = (left + width * scale.position(number) for number in (value, scale.usual))
    on.line(EDGE, (left, middle), (left + width, middle), width=2)
    on.line(ACCENT, (left, middle), (at, middle), width=2)
    on.line(FAINT, (usual, middle - 5), (usual, middle + 5))
    on.circle(ACCENT if value != scale.usual else TEXT, (at, middle), 3.5)


def draw_still(on: Canvas, box: Box) -> None:
    """Draw the groove of a number that cannot be changed."""
    left, top, width, height = box
    on.line(INACTIVE, (left, top + height / 2), (left + width, top + height / 2))
