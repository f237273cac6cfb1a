"""The legend of a colour mode: a title, and each colour with what it means, or all of them between two texts."""

from __future__ import annotations

from crowd_demo.render.colours.base import RGB, Legend
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.parts import Part, draw_line, in_lines, width_of
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import DIM, FAINT, PAD, SMALL

LINE, EDGES, SWATCH, GAP = 16.0, 10.0, 10.0, 12.0
RAMP = 150.0  # width of all colours of a ramp


def draw_colour_legend(legend: Legend, room: float, pen: Pen, scale: float) -> Canvas:
    """A panel of at most `room` units width, of as many lines as it takes."""
    ruler = Canvas((1, 1), pen, scale, None)
    lines = in_lines(_parts(legend, room - 2 * PAD, ruler), room - 2 * PAD, GAP)
    wide = max(width_of(line, GAP) for line in lines)
    canvas = Canvas((2 * PAD + wide, EDGES + LINE * len(lines)), pen, scale)
    for number, line in enumerate(lines):
        draw_line(canvas, line, PAD, EDGES / 2 + LINE * (number + 0.5), GAP)
    canvas.target((0, 0, *canvas.size), "action", "colours")
    return canvas


def _parts(legend: Legend, room: float, ruler: Canvas) -> list[Part]:
    title = ruler.fitted(legend.title, room)
    parts = [Part(ruler.width(title), lambda on, x, middle: on.left(title, x, middle))]
    if legend.is_ramp:
        return [*parts, _ramp(legend, room, ruler)]
    return parts + [_swatch(colour, ruler.fitted(text, room - SWATCH - 4, SMALL), ruler)
                    for colour, text in zip(legend.colours, legend.texts, strict=True)]


def _ramp(legend: Legend, room: float, ruler: Canvas) -> Part:
    each = (room - RAMP - GAP) / 2
    first, last = (ruler.fitted(text, each, SMALL) for text in (legend.texts[0], legend.texts[-1]))
    before = ruler.width(first, SMALL) + GAP / 2
    step = RAMP / len(legend.colours)

    def draw(on: Canvas, x: float, middle: float) -> None:
        on.left(first, x, middle, SMALL, DIM)
        for number, colour in enumerate(legend.colours):
            on.rect(colour, (x + before + number * step, middle - SWATCH / 2, step, SWATCH))
        on.rect(FAINT, (x + before - 1, middle - SWATCH / 2 - 1, RAMP + 2, SWATCH + 2), width=1)
        on.left(last, x + before + RAMP + GAP / 2, middle, SMALL, DIM)

    return Part(before + RAMP + GAP / 2 + ruler.width(last, SMALL), draw)


def _swatch(colour: RGB, text: str, ruler: Canvas) -> Part:
    def draw(on: Canvas, x: float, middle: float) -> None:
        on.rect(FAINT, (x - 1, middle - SWATCH / 2 - 1, SWATCH + 2, SWATCH + 2), radius=2)
        on.rect(colour, (x, middle - SWATCH / 2, SWATCH, SWATCH), radius=2)
        on.left(text, x + SWATCH + 4, middle, SMALL, DIM)

    return Part(SWATCH + 4 + ruler.width(text, SMALL), draw)
