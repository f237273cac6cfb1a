"""The legend of a colour mode: a title, and each colour with what it means, or all of them between two texts."""

from __future__ import annotations

from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import DIM, FAINT, NORMAL, PAD, SMALL

HEIGHT, SWATCH, GAP = 26.0, 10.0, 12.0
RAMP = 150.0  # width of all colours of a ramp


def draw_colour_legend(legend: Legend, room: float, pen: Pen, scale: float) -> Canvas:
    """A panel of one line, at most `room` units wide: texts that do not fit are cut."""
    ruler = Canvas((1, 1), pen, scale, None)
    title = ruler.width(legend.title, NORMAL) + GAP
    texts = _fitted(legend, room - 2 * PAD - title, ruler)
    canvas = Canvas((2 * PAD + title + _width(legend, texts, ruler), HEIGHT), pen, scale)
    x, middle = canvas.left(legend.title, PAD, HEIGHT / 2, NORMAL) + GAP, HEIGHT / 2
    if legend.is_ramp:
        x = canvas.left(texts[0], x, middle, SMALL, DIM) + GAP / 2
        step = RAMP / len(legend.colours)
        for number, colour in enumerate(legend.colours):
            canvas.rect(colour, (x + number * step, middle - SWATCH / 2, step, SWATCH))
        canvas.rect(FAINT, (x - 1, middle - SWATCH / 2 - 1, RAMP + 2, SWATCH + 2), width=1)
        canvas.left(texts[-1], x + RAMP + GAP / 2, middle, SMALL, DIM)
    else:
        for colour, text in zip(legend.colours, texts, strict=True):
            canvas.rect(FAINT, (x - 1, middle - SWATCH / 2 - 1, SWATCH + 2, SWATCH + 2), radius=2)
            canvas.rect(colour, (x, middle - SWATCH / 2, SWATCH, SWATCH), radius=2)
            x = canvas.left(text, x + SWATCH + 4, middle, SMALL, DIM) + GAP
    canvas.target((0, 0, *canvas.size), "action", "colours")
    return canvas


def _width(legend: Legend, texts: tuple[str, ...], ruler: Canvas) -> float:
    written = sum(ruler.width(text, SMALL) for text in texts)
    if legend.is_ramp:
        return RAMP + GAP + written
    return written + (SWATCH + 4 + GAP) * len(texts) - GAP


def _fitted(legend: Legend, room: float, ruler: Canvas) -> tuple[str, ...]:
    spare = room - _width(legend, legend.texts, ruler)
    if spare >= 0:
        return legend.texts
    each = max(8.0, (room - _width(legend, ("",) * len(legend.texts), ruler)) / len(legend.texts))
    return tuple(ruler.fitted(text, each, SMALL) for text in legend.texts)
