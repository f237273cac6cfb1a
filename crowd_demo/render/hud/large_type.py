"""Large type about a scenario: its caption when it opens, and the answer to its question when it ends.

The caption is its name, what one sees, and a key to press, over the lower part of the picture. The answer stands beside
that of the run before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    FAINT,
    GROUND,
    HUGE,
    LARGE,
    NORMAL,
    SHEET,
    SMALL,
    TEXT,
    Canvas,
    Colour,
    Pen,
)

WIDE, PAD, COLUMN = 390.0, 21.0, 181.0  # units: the card, its edges, from one run to the other
ROW, NAMES, BAR = 21.0, 52.0, 84.0  # of a door: the height, the names' width, the longest bar
CURVE = 63.0
KEY_ROW = 24.0
CAPTION, LEFT, LINE = 327.0, 42.0, 22.0  # units: the gradient, the text's left edge, a line of the sentence
NAME, SENTENCE, HINT = 148.0, 118.0, 66.0  # units above the lower edge
DARKEST = 225  # alpha at the lower edge
WHITE, PALE = (255, 255, 255), (222, 228, 234)  # on what is dark in both themes


# --- the caption -----------------------------------------------------------------------------------------------------

class Caption(NamedTuple):
    name: str
    sentence: str
    key: str = ""  # without one there is no hint
    hint: str = ""
    alpha: float = 1.0  # less while it fades


def draw_caption(caption: Caption, size: tuple[int, int], pen: Pen, scale: float) -> Canvas:
    """The text over a dark gradient, as wide as a window of that size."""
    on = Canvas((size[0] / scale, min(CAPTION, size[1] / scale)), pen, scale, None)
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


# --- the answer ------------------------------------------------------------------------------------------------------

class PastRun(NamedTuple):
    """A run that has ended; `tenths_s` are the times at which a tenth, ..., nine tenths had left, where that is known."""

    about: str
    answer_s: float
    doors: Mapping[str, int]
    tenths_s: tuple[float | None, ...]

    @property
    def slowest_tenth_s(self) -> float | None:
        return None if self.tenths_s[-1] is None else self.answer_s - self.tenths_s[-1]

    @property
    def inside(self) -> list[tuple[float, float]]:
        """Return (time, share of the people still inside) along the run."""
        known = [(time_s, 0.9 - number / 10) for number, time_s in enumerate(self.tenths_s) if time_s is not None]
        return [(0.0, 1.0), *known, (self.answer_s, 0.0)] if known else []


class AnswerView(NamedTuple):
    said: str
    agents: int
    run: PastRun
    before: PastRun | None
    keys: Sequence[tuple[str, str, str]]  # action, key, what it does

    @property
    def difference(self) -> str:
        if not self.before:
            return ""
        saved = self.before.answer_s - self.run.answer_s
        return f"{abs(saved):.1f} s {'sooner' if saved > 0 else 'later'} than the run before" if abs(saved) >= 0.05 else (
            "as long as the run before")


def draw_answer(answer: AnswerView, pen: Pen, scale: float) -> Canvas:
    runs: list[tuple[PastRun, float, Colour]] = [(answer.run, PAD, ACCENT)]
    if answer.before:
        runs.append((answer.before, PAD + COLUMN, FAINT))
    curves = [(run.inside, colour) for run, _, colour in reversed(runs) if run.inside]
    doors = list(answer.run.doors)
    high = 131 + ROW * len(doors) + (CURVE + 34) * bool(curves) + KEY_ROW * math.ceil(len(answer.keys) / 2) + 24
    on = Canvas((WIDE, high), pen, scale, SHEET)
    on.target((0, 0, *on.size), "answer")
    right = WIDE - PAD
    left = on.right(f"{answer.agents:,} people", right, 26, SMALL, DIM)
    on.left(on.fitted(f"{answer.said[:1].upper()}{answer.said[1:]}", left - PAD - 8, LARGE), PAD, 26, LARGE, bold=True)
    for run, at, _ in runs:
        about = run.about if run is answer.run else f"before: {run.about}"
        on.left(on.fitted(about, COLUMN - 12, SMALL), at, 54, SMALL, DIM)
        on.left(f"{run.answer_s:.1f} s", at, 82, HUGE, TEXT if run is answer.run else FAINT, bold=True)
    if answer.run.slowest_tenth_s is not None:
        on.right(f"slowest tenth: {answer.run.slowest_tenth_s:.1f} s", right, 113, SMALL, DIM)
    on.left(answer.difference, PAD, 113, SMALL, bold=True)
    top = 131.0
    most = max((count for run, _, _ in runs for count in run.doors.values()), default=0) or 1
    for name in doors:
        middle = top + ROW / 2
        on.left(on.fitted(name, NAMES - 4, SMALL), PAD, middle, SMALL, DIM)
        for number, (run, at, colour) in enumerate(runs):
            count = run.doors.get(name, 0)
            start, wide = at + NAMES * (number == 0), BAR - 20 * (number == 0)
            if count:
                on.rect(colour, (start, middle - 3.5, max(wide * count / most, 2), 7), radius=3)
            on.right(f"{count:,}", at + COLUMN - 34, middle, SMALL, TEXT if number == 0 else DIM, bold=number == 0)
        top += ROW
    if curves:  # how many were still inside, from the first second to the last of the longest run
        top, longest, wide = top + 6, max(points[-1][0] for points, _ in curves) or 1, WIDE - 2 * PAD
        on.rect(GROUND, (PAD, top, wide, CURVE), radius=5)
        on.right("still inside", right - 8, top + 13, SMALL, DIM)
        for points, colour in curves:
            line = [(PAD + wide * time_s / longest, top + 5 + (CURVE - 10) * (1 - share)) for time_s, share in points]
            on.lines(colour, line, 2)
            on.circle(colour, line[-1], 3)
        on.left("0 s", PAD, top + CURVE + 11, SMALL, DIM)
        on.right(f"{longest:.0f} s", right, top + CURVE + 11, SMALL, DIM)
        top += CURVE + 28
    top += 6
    on.line(EDGE, (PAD, top), (WIDE - PAD, top))
    for number, (action, key, what) in enumerate(answer.keys):
        left, middle = PAD + COLUMN * (number % 2), top + 6 + KEY_ROW * (number // 2 + 0.5)
        on.left(on.fitted(what, COLUMN - 14 - on.key_width(key), SMALL), on.key(key, left, middle) + 6, middle, SMALL, DIM)
        on.target((left - 4, middle - KEY_ROW / 2, COLUMN - 8, KEY_ROW), "action", action)
    return on
