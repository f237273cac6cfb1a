"""The panel of a tour, at the lower middle: the sentence, the question, how far the tour is, and its keys."""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import ACCENT, DIM, FAINT, GROUND, PAD, SHEET, SMALL, TEXT, WARM, Colour

WIDEST = 540.0  # fits between the panels at the usual size
SAID, LINE = 15.0, 20.0  # size of the sentence, height of its lines
FOOT = 26.0
KEYS = (("next", "Enter", "next"), ("back", "Left", "back"), ("leave", "Esc", "leave"))


class TourView(NamedTuple):
    """What is shown of a tour. `doing` says what is waited for."""

    title: str
    step: int  # counted from 1
    steps: int
    text: str
    question: str = ""
    is_answer: bool = False
    doing: str = ""


def draw_tour(view: TourView, width_px: int, pen: Pen, scale: float) -> Canvas:
    """Render the panel for a window so wide."""
    wide = min(WIDEST, width_px / scale - 2 * PAD)
    ruler = Canvas((1, 1), pen, scale, None)
    lines = [(line, colour) for text, colour in _texts(view) for line in ruler.wrapped(text, wide - 2 * PAD, SAID)]
    canvas = Canvas((wide, PAD + LINE * len(lines) + FOOT + 6), pen, scale, SHEET)
    for number, (line, colour) in enumerate(lines):
        canvas.left(line, PAD, PAD + LINE * (number + 0.5) - 1, SAID, colour)
    _draw_foot(canvas, view)
    return canvas


def _texts(view: TourView) -> list[tuple[str, Colour]]:
    """The sentence and then the question, or the question and then its answer."""
    if view.is_answer:
        return [(view.question, DIM), (view.text, TEXT)]
    return [(view.text, TEXT), *([(view.question, WARM)] if view.question else [])]


def _draw_foot(canvas: Canvas, view: TourView) -> None:
    wide, tall = canvas.size
    middle = tall - FOOT / 2
    canvas.rect(GROUND, (0, tall - 3, wide, 3))
    canvas.rect(ACCENT, (0, tall - 3, wide * view.step / view.steps, 3))
    end = canvas.left(f"{view.title}  {view.step} of {view.steps}", PAD, middle, SMALL, FAINT)
    if view.doing:
        canvas.left(view.doing, end + 14, middle, SMALL, WARM)
    x = wide - PAD
    for name, key, does in reversed(KEYS):
        left = x - canvas.width(does, SMALL) - 5 - canvas.key_width(key)
        end = canvas.key(key, left, middle)
        canvas.left(does, end + 5, middle, SMALL, DIM)
        canvas.target((left - 4, tall - FOOT, x - left + 8, FOOT), "tour", name)
        x = left - 14
