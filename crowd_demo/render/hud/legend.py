"""The legend of the overlays that are shown: what each shows, what its colours mean, or why it shows nothing."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import ACCENT, DIM, EDGE, NORMAL, PAD, SMALL
from crowd_demo.render.told import Key, OverlayLegend

LINE, SWATCH, GAP = 16.0, 18.0, 16.0
WIDEST = 620.0


def draw_legend(told: Sequence[OverlayLegend], room: float, pen: Pen, scale: float) -> Canvas:
    """A panel of at most `room` units width: two lines an overlay, or one if it has no colours."""
    wide = min(room, WIDEST)
    names = max(ruler_width(each.name, pen, scale) for each in told) + 12
    rows = [(each, _keys_in_lines(each.keys, wide - 2 * PAD - names, pen, scale)) for each in told]
    height = sum(LINE * ((1 if each.text else 0) + len(lines)) or LINE for each, lines in rows) + 12
    on = Canvas((wide, height), pen, scale)
    top = 6.0
    for each, lines in rows:
        on.left(each.name, PAD, top + LINE / 2, NORMAL, ACCENT)
        if each.text:
            on.left(on.fitted(each.text, wide - 2 * PAD - names, SMALL), PAD + names, top + LINE / 2, SMALL, DIM)
            top += LINE
        for keys in lines:
            x = PAD + names
            for key in keys:
                x = _draw_key(on, key, x, top + LINE / 2)
            top += LINE
        top += 0 if each.text or lines else LINE
    return on


def ruler_width(text: str, pen: Pen, scale: float, size: float = NORMAL) -> float:
    return Canvas((1, 1), pen, scale, None).width(text, size)


def _keys_in_lines(keys: Sequence[Key], room: float, pen: Pen, scale: float) -> list[list[Key]]:
    lines: list[list[Key]] = []
    left = 0.0
    for key in keys:
        width = SWATCH + 6 + ruler_width(key.what, pen, scale, SMALL) + GAP
        if not lines or width - GAP > left:
            lines.append([])
            left = room
        lines[-1].append(key)
        left -= width
    return lines


def _draw_key(on: Canvas, key: Key, x: float, middle: float) -> float:
    """Draw a swatch, whole or dashed, and its meaning; return where the next one may begin."""
    parts = (0.0, 7.0, 14.0) if key.dashed else (0.0,)
    width = 4.0 if key.dashed else SWATCH
    on.rect(EDGE, (x - 1, middle - 5, SWATCH + 2, 10), radius=2)
    for part in parts:
        on.rect(key.colour, (x + part, middle - (1.5 if key.dashed else 4), width, 3 if key.dashed else 8))
    return on.left(key.what, x + SWATCH + 6, middle, SMALL, DIM) + GAP
