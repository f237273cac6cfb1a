"""The section of numbers: a row for each of the behaviour and of links, with a slider. Folded until somebody opens it.

Many rows scroll. A row's slider and its value are targets of their own.
"""

from __future__ import annotations

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
from crowd_demo.render.hud.panel_layout import EDGES, FOLDED, LEFT_WIDTH, PanelSection
from crowd_demo.render.hud.slider import SliderScale, draw_slider, draw_still
from crowd_demo.render.hud.status import NumberRow

NUMBERS = "numbers"  # the name of the section, and the target of its ground
SLIDER, SETTING = "slider", "setting"  # targets: the slider of a number, and its value
ROW, HEAD = 16.0, 16.0
NAME_WIDTH, SLIDER_LEFT, SLIDER_WIDTH = 100.0, PAD + 106.0, 70.0
LEAST_ROWS, MAX_ROWS = 3, 16
KEPT = 1  # the rank up to which other sections stay unfolded beside this one
UNITS = {"world units": "u", "world units a second": "u/s", "world units / s^2": "u/s²", "square units": "u²",
         "seconds": "s", "degrees": "°", "1/s^2": "1/s²"}
LONGEST_UNIT = 5  # characters: a longer one stands in the tooltip alone


def label_of(row: NumberRow) -> str:
    return row.number.path if row.number.path.startswith("links.") else row.number.key


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
        used = EDGES + HEAD + sum(each.height if each.rank <= KEPT else FOLDED for each in others)
        shown = min(count, MAX_ROWS, max(int((room - used) / ROW), LEAST_ROWS))
        return cls(shown, min(max(first, 0), count - shown), count)


def number_section(rows: Sequence[NumberRow], view: RowsInView) -> PanelSection:
    """The section; without rows it is folded."""
    draw = partial(draw_numbers, rows=rows[view.first:view.first + view.shown], view=view)
    return PanelSection(NUMBERS, HEAD + ROW * view.shown, 2, draw, closed=True)


def draw_numbers(on: Canvas, top: float, rows: Sequence[NumberRow], view: RowsInView) -> None:
    on.target((0, top + HEAD, LEFT_WIDTH, ROW * view.shown), NUMBERS)
    end = on.left(NUMBERS, PAD, top + HEAD / 2, SMALL, FAINT)
    if view.shown < view.total:
        on.left(f"{view.first + 1}-{view.first + view.shown} of {view.total}", end + 8, top + HEAD / 2, SMALL, FAINT)
        _draw_scroll_bar(on, top + HEAD, view)
    start = on.right("reset all", LEFT_WIDTH - PAD, top + HEAD / 2, SMALL, DIM)
    on.target((start, top, LEFT_WIDTH - PAD - start, HEAD), "action", "reset_numbers")
    for number, row in enumerate(rows):
        _draw_row(on, top + HEAD + ROW * number, row)


def _draw_scroll_bar(on: Canvas, top: float, view: RowsInView) -> None:
    tall = ROW * view.shown
    on.rect(EDGE, (LEFT_WIDTH - 6, top + tall * view.first / view.total, 2, tall * view.shown / view.total))


def _draw_row(on: Canvas, top: float, row: NumberRow) -> None:
    number, middle = row.number, top + ROW / 2
    fixed, changed = number.live == "no", row.value != row.shipped
    colour: Colour = INACTIVE if fixed else ACCENT if changed else TEXT
    on.left(on.fitted(label_of(row), NAME_WIDTH, SMALL), PAD, middle, SMALL, INACTIVE if fixed else DIM)
    slider: Box = (SLIDER_LEFT, top, SLIDER_WIDTH, ROW)
    if fixed:
        draw_still(on, slider)
    else:
        draw_slider(on, slider, scale_of(row), row.value)
        on.target(slider, SLIDER, number.path)
    on.right(value_text(row), LEFT_WIDTH - PAD, middle, SMALL, colour)
    left = SLIDER_LEFT + SLIDER_WIDTH + 2
    on.target((left, top, LEFT_WIDTH - PAD - left, ROW), SETTING, number.path)
    on.target((0, top, SLIDER_LEFT - 4, ROW), SETTING, number.path)


def value_text(row: NumberRow) -> str:
    """The value with its unit, if that is short."""
    unit = UNITS.get(row.number.unit, row.number.unit)
    text = f"{row.value:,.0f}" if abs(row.value) >= 10_000 else f"{row.value:.4g}"
    return f"{text} {unit}" if unit and len(unit) <= LONGEST_UNIT else text
