"""The caption of a scenario: its name, what one sees, and a key to press, over the lower part of the picture."""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.render.hud.canvas import HUGE, LARGE, NORMAL, Canvas, Pen

HIGH, LEFT, LINE = 327.0, 42.0, 22.0  # units: the gradient, the text's left edge, a line of the sentence
NAME, SENTENCE, HINT = 148.0, 118.0, 66.0  # units above the lower edge
DARKEST = 225  # alpha at the lower edge
WHITE, PALE = (255, 255, 255), (222, 228, 234)  # on what is dark in both themes


class Caption(NamedTuple):
    name: str
    sentence: str
    key: str = ""  # without one there is no hint
    hint: str = ""
    alpha: float = 1.0  # less while it fades


def draw_caption(caption: Caption, size: tuple[int, int], pen: Pen, scale: float) -> Canvas:
    """The text over a dark gradient, as wide as a window of that size."""
    on = Canvas((size[0] / scale, min(HIGH, size[1] / scale)), pen, scale, None)
    wide, high = on.surface.get_size()
    for row in range(high):
        on.surface.fill((0, 0, 0, round(DARKEST * (row / high) ** 1.5)), (0, row, wide, 1))
    low = on.size[1]
    on.left(on.fitted(caption.name, on.size[0] - 2 * LEFT, HUGE), LEFT, low - NAME, HUGE, WHITE, bold=True)
    on.paragraph(on.wrapped(caption.sentence, on.size[0] - 2 * LEFT, LARGE, 2), LEFT, low - SENTENCE, LINE, LARGE, PALE)
    if caption.key:
        end = on.key(caption.key, LEFT, low - HINT, 18)
        on.left(caption.hint, end + 10, low - HINT, NORMAL, PALE)
    return on
