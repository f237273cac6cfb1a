"""A panel around a text, such as a notice."""

from __future__ import annotations

from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import PAD

LINE = 16  # units


def text_panel(text: str, room: float, pen: Pen, scale: float) -> Canvas:
    """A panel around a text, in as many lines as it takes for it to be no wider than the room."""
    ruler = Canvas((1, 1), pen, scale, None)
    lines = ruler.wrapped(text, room - 2 * PAD)
    canvas = Canvas((max(map(ruler.width, lines), default=0) + 2 * PAD, 10 + LINE * len(lines)), pen, scale)
    for number, line in enumerate(lines):
        canvas.left(line, PAD, 13 + LINE * number)
    return canvas
