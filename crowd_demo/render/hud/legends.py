"""Legends: of overlays, what each shows, or why it shows nothing; of a colour mode, what its colours mean.

A legend is laid out in parts, such as a colour with its text, in as many lines as they take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import ACCENT, DIM, EDGE, FAINT, NORMAL, PAD, SMALL, TEXT, Canvas, Colour, Pen
from crowd_demo.render.hud.status import Key, LegendItem
from crowd_demo.render.inks import RGB

LINE = 16.0
EDGES, KEY_WIDTH, KEY_GAP = 12.0, 18.0, 16.0  # of overlays
WIDEST = 620.0
TEXT_LINES = 2  # at most
COLOUR_EDGES, SWATCH, COLOUR_GAP = 10.0, 10.0, 12.0  # of a colour mode
RAMP = 150.0  # width of all colours of a ramp


class LegendPart(NamedTuple):
    """A part that is not broken into lines: its width, and a function that draws it from x on around the middle of a line."""

    wide: float
    draw: Callable[[Canvas, float, float], object]


def in_lines(parts: Sequence[LegendPart], room: float, gap: float) -> list[list[LegendPart]]:
    """As many parts in a line as fit there; one line if there are none."""
    lines: list[list[LegendPart]] = [[]]
    for part in parts:
        if lines[-1] and width_of(lines[-1], gap) + gap + part.wide > room:
            lines.append([])
        lines[-1].append(part)
    return lines


def width_of(line: Sequence[LegendPart], gap: float) -> float:
    return sum(part.wide + gap for part in line) - gap


def draw_line(on: Canvas, line: Sequence[LegendPart], x: float, middle: float, gap: float) -> None:
    for part in line:
        part.draw(on, x, middle)
        x += part.wide + gap


def _words(text: str, ruler: Canvas, size: float, colour: Colour) -> LegendPart:
    return LegendPart(ruler.width(text, size), lambda on, x, middle: on.left(text, x, middle, size, colour))


# --- overlays --------------------------------------------------------------------------------------------------------

def draw_legend(items: Sequence[LegendItem], room: float, pen: Pen, scale: float) -> Canvas:
    """A panel of at most `room` units width. Of each overlay the text has a line or two, the colours as many as they take."""
    ruler, wide = Canvas((1, 1), pen, scale, None), min(room, WIDEST)
    left = PAD + max(ruler.width(each.name) for each in items) + 12
    lines = [_lines(each, wide - PAD - left, ruler) for each in items]
    on = Canvas((wide, EDGES + LINE * sum(map(len, lines))), pen, scale)
    middle = (EDGES + LINE) / 2
    for each, its_lines in zip(items, lines, strict=True):
        on.left(each.name, PAD, middle, NORMAL, ACCENT)
        for line in its_lines:
            draw_line(on, line, left, middle, KEY_GAP)
            middle += LINE
    return on


def _lines(item: LegendItem, room: float, ruler: Canvas) -> list[list[LegendPart]]:
    text = [[_words(line, ruler, SMALL, DIM)] for line in ruler.wrapped(item.text, room, SMALL, TEXT_LINES)]
    keys = in_lines([_key(key, ruler) for key in item.keys], room, KEY_GAP) if item.keys else []
    return text + keys or [[]]


def _key(key: Key, ruler: Canvas) -> LegendPart:
    """A colour, whole or dashed, and its meaning."""
    dashes, width, height = ((0.0, 7.0, 14.0), 4.0, 3.0) if key.dashed else ((0.0,), KEY_WIDTH, 8.0)

    def draw(on: Canvas, x: float, middle: float) -> None:
        on.rect(EDGE, (x - 1, middle - 5, KEY_WIDTH + 2, 10), radius=2)
        for dash in dashes:
            on.rect(key.colour, (x + dash, middle - height / 2, width, height))
        on.left(key.what, x + KEY_WIDTH + 6, middle, SMALL, DIM)

    return LegendPart(KEY_WIDTH + 6 + ruler.width(key.what, SMALL), draw)


# --- a colour mode ---------------------------------------------------------------------------------------------------

def draw_colour_legend(legend: Legend, room: float, pen: Pen, scale: float) -> Canvas:
    """A panel of at most `room` units width: a title, and each colour with its text, or all of them between two texts."""
    ruler = Canvas((1, 1), pen, scale, None)
    lines = in_lines(_parts(legend, room - 2 * PAD, ruler), room - 2 * PAD, COLOUR_GAP)
    wide = max(width_of(line, COLOUR_GAP) for line in lines)
    canvas = Canvas((2 * PAD + wide, COLOUR_EDGES + LINE * len(lines)), pen, scale)
    for number, line in enumerate(lines):
        draw_line(canvas, line, PAD, COLOUR_EDGES / 2 + LINE * (number + 0.5), COLOUR_GAP)
    canvas.target((0, 0, *canvas.size), "action", "colours")
    return canvas


def _parts(legend: Legend, room: float, ruler: Canvas) -> list[LegendPart]:
    title = _words(ruler.fitted(legend.title, room), ruler, NORMAL, TEXT)
    if legend.is_ramp:
        return [title, _ramp(legend, room, ruler)]
    return [title, *(_swatch(colour, ruler.fitted(text, room - SWATCH - 4, SMALL), ruler)
                     for colour, text in zip(legend.colours, legend.texts, strict=True))]


def _ramp(legend: Legend, room: float, ruler: Canvas) -> LegendPart:
    each = (room - RAMP - COLOUR_GAP) / 2
    first, last = (ruler.fitted(text, each, SMALL) for text in (legend.texts[0], legend.texts[-1]))
    before = ruler.width(first, SMALL) + COLOUR_GAP / 2
    step = RAMP / len(legend.colours)

    def draw(on: Canvas, x: float, middle: float) -> None:
        on.left(first, x, middle, SMALL, DIM)
        for number, colour in enumerate(legend.colours):
            on.rect(colour, (x + before + number * step, middle - SWATCH / 2, step, SWATCH))
        on.rect(FAINT, (x + before - 1, middle - SWATCH / 2 - 1, RAMP + 2, SWATCH + 2), width=1)
        on.left(last, x + before + RAMP + COLOUR_GAP / 2, middle, SMALL, DIM)

    return LegendPart(before + RAMP + COLOUR_GAP / 2 + ruler.width(last, SMALL), draw)


def _swatch(colour: RGB, text: str, ruler: Canvas) -> LegendPart:
    def draw(on: Canvas, x: float, middle: float) -> None:
        on.rect(FAINT, (x - 1, middle - SWATCH / 2 - 1, SWATCH + 2, SWATCH + 2), radius=2)
        on.rect(colour, (x, middle - SWATCH / 2, SWATCH, SWATCH), radius=2)
        on.left(text, x + SWATCH + 4, middle, SMALL, DIM)

    return LegendPart(SWATCH + 4 + ruler.width(text, SMALL), draw)
