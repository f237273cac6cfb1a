"""The section of numbers: a row for each of the behaviour and of links, with a slider. Folded at first.

Many rows scroll. A row's slider and its value are targets of their own. Where a range spans decades, its slider is
logarithmic; one that begins at 0 keeps a little room for the 0 at its left end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    FAINT,
    INACTIVE,
    PAD,
    SMALL,
    TEXT,
    Box,
    Canvas,
    Colour,
)
from crowd_demo.render.hud.panel_layout import EDGES, LEFT_WIDTH, PanelSection
from crowd_demo.render.hud.panel_layout import ROW as TITLE
from crowd_demo.render.hud.status import NumberRow

NUMBERS = "parameters"  # the name of the section, and the target of its ground
SLIDER, SETTING = "slider", "setting"  # targets: the slider of a number, and its value
ROW, HEAD = 16.0, 16.0
NAME_WIDTH, SLIDER_LEFT, SLIDER_WIDTH = 88.0, PAD + 93.0, 70.0
LEAST_ROWS, MAX_ROWS = 3, 16
UNITS = {"world units": "u", "world units per second": "u/s", "world units / s^2": "u/s²", "square units": "u²",
         "seconds": "s", "degrees": "°", "1/s^2": "1/s²"}
LONGEST_UNIT = 5  # characters: a longer one stands in the tooltip alone
WIDE = 20.0  # a range whose ends, or whose end and usual value, are so far apart has a logarithmic slider
LEAST = 1e-4  # of the range: where one begins whose usual value is 0
BELOW = 2  # decades below the usual value at which one that begins at 0 begins
ZERO = 0.05  # of its length, for the 0
NEAR = 0.02  # of its length: so near to the usual value it is that value
DIGITS = 3  # of a value that is chosen by hand


# --- sliders ---------------------------------------------------------------------------------------------------------

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
    left, top, width, height = box
    middle = top + height / 2
    at, usual = (left + width * scale.position(number) for number in (value, scale.usual))
    on.line(EDGE, (left, middle), (left + width, middle), width=2)
    on.line(ACCENT, (left, middle), (at, middle), width=2)
    on.line(FAINT, (usual, middle - 5), (usual, middle + 5))
    on.circle(ACCENT if value != scale.usual else TEXT, (at, middle), 3.5)


# --- the section -----------------------------------------------------------------------------------------------------

def scale_of(row: NumberRow) -> SliderScale:
    number = row.number
    return SliderScale.of(number.low, number.high, row.shipped, number.is_whole)


class RowsInView(NamedTuple):
    """How many rows there is room for, and the first that is shown."""

    shown: int
    first: int
    total: int

    @classmethod
    def of(cls, count: int, first: int, room: float, others: Sequence[PanelSection]) -> RowsInView:
        """Return what is shown in a panel with `room`, beside the lines of the other sections."""
        used = EDGES + TITLE + HEAD + sum(each.taken(False) for each in others)
        shown = min(count, MAX_ROWS, max(int((room - used) / ROW), LEAST_ROWS))
        return cls(shown, min(max(first, 0), count - shown), count)


def number_section(rows: Sequence[NumberRow], view: RowsInView) -> PanelSection:
    draw = partial(draw_numbers, rows=rows[view.first:view.first + view.shown], view=view)
    return PanelSection(NUMBERS, HEAD + ROW * view.shown, draw)


def draw_numbers(on: Canvas, top: float, rows: Sequence[NumberRow], view: RowsInView) -> None:
    on.target((0, top + HEAD, LEFT_WIDTH, ROW * view.shown), NUMBERS)
    if view.shown < view.total:
        on.left(f"{view.first + 1}-{view.first + view.shown} of {view.total}", PAD, top + HEAD / 2, SMALL, FAINT)
        tall = ROW * view.shown
        on.rect(EDGE, (LEFT_WIDTH - 6, top + HEAD + tall * view.first / view.total, 2, tall * view.shown / view.total))
    start = on.right("reset all", LEFT_WIDTH - PAD, top + HEAD / 2, SMALL, DIM)
    on.target((start, top, LEFT_WIDTH - PAD - start, HEAD), "action", "reset_numbers")
    for number, row in enumerate(rows):
        _draw_row(on, top + HEAD + ROW * number, row)


def _draw_row(on: Canvas, top: float, row: NumberRow) -> None:
    number, middle = row.number, top + ROW / 2
    fixed, changed = number.live == "no", row.value != row.shipped
    colour: Colour = INACTIVE if fixed else ACCENT if changed else TEXT
    label = number.path if number.path.startswith("links.") else number.key
    on.left(on.fitted(label, NAME_WIDTH, SMALL), PAD, middle, SMALL, INACTIVE if fixed else DIM)
    slider: Box = (SLIDER_LEFT, top, SLIDER_WIDTH, ROW)
    if fixed:
        on.line(INACTIVE, (SLIDER_LEFT, middle), (SLIDER_LEFT + SLIDER_WIDTH, middle))  # the groove alone
    else:
        draw_slider(on, slider, scale_of(row), row.value)
        on.target(slider, SLIDER, number.path)
    on.right(value_text(row), LEFT_WIDTH - PAD, middle, SMALL, colour)
    left = SLIDER_LEFT + SLIDER_WIDTH + 2
    on.target((left, top, LEFT_WIDTH - PAD - left, ROW), SETTING, number.path)
    on.target((0, top, SLIDER_LEFT - 4, ROW), SETTING, number.path)


def value_text(row: NumberRow) -> str:
    unit, value = UNITS.get(row.number.unit, row.number.unit), row.value / row.number.scale
    text = f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{text} {unit}" if unit and len(unit) <= LONGEST_UNIT else text
