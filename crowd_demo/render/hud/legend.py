"""The legend of the overlays that are shown: what each shows, what its colours mean, or why it shows nothing."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.parts import Part, draw_line, in_lines
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import ACCENT, DIM, EDGE, NORMAL, PAD, SMALL
from crowd_demo.render.told import Key, OverlayLegend

LINE, EDGES, SWATCH, GAP = 16.0, 12.0, 18.0, 16.0
WIDEST = 620.0
TEXT_LINES = 2  # at most


def draw_legend(told: Sequence[OverlayLegend], room: float, pen: Pen, scale: float) -> Canvas:
    """A panel of at most `room` units width. Of each overlay the text has a line or two, the colours as many as they take."""
    ruler, wide = Canvas((1, 1), pen, scale, None), min(room, WIDEST)
    left = PAD + max(ruler.width(each.name) for each in told) + 12
    lines = [_lines(each, wide - PAD - left, ruler) for each in told]
    on = Canvas((wide, EDGES + LINE * sum(map(len, lines))), pen, scale)
    middle = (EDGES + LINE) / 2
    for each, its_lines in zip(told, lines, strict=True):
        on.left(each.name, PAD, middle, NORMAL, ACCENT)
        for line in its_lines:
            draw_line(on, line, left, middle, GAP)
            middle += LINE
    return on


def _lines(told: OverlayLegend, room: float, ruler: Canvas) -> list[list[Part]]:
    text = [[_words(line, ruler)] for line in ruler.wrapped(told.text, room, SMALL, TEXT_LINES)]
    keys = in_lines([_key(key, ruler) for key in told.keys], room, GAP) if told.keys else []
    return text + keys or [[]]


def _words(text: str, ruler: Canvas) -> Part:
    return Part(ruler.width(text, SMALL), lambda on, x, middle: on.left(text, x, middle, SMALL, DIM))


def _key(key: Key, ruler: Canvas) -> Part:
    """A swatch, whole or dashed, and its meaning."""
    dashes, width, height = ((0.0, 7.0, 14.0), 4.0, 3.0) if key.dashed else ((0.0,), SWATCH, 8.0)

    def draw(on: Canvas, x: float, middle: float) -> None:
        on.rect(EDGE, (x - 1, middle - 5, SWATCH + 2, 10), radius=2)
        for dash in dashes:
            on.rect(key.colour, (x + dash, middle - height / 2, width, height))
        on.left(key.what, x + SWATCH + 6, middle, SMALL, DIM)

    return Part(SWATCH + 6 + ruler.width(key.what, SMALL), draw)
