"""The card of the last switch: what it gave, and whether the crowd is the same. Its records, and how it is drawn.

To be read from the back of a room: the factor of the step is the largest, or of the frame where drawing
was switched; the proof comes next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, Self

from crowd_demo.registry.entries import Kind
from crowd_demo.registry.texts import digits_text
from crowd_demo.render.hud.canvas import (
    ACCENT,
    BAD,
    DIM,
    EDGE,
    FAINT,
    GOOD,
    GROUND,
    LARGE,
    NORMAL,
    PAD,
    SHEET,
    SMALL,
    TEXT,
    TOUCHED,
    WARM,
    Canvas,
    Colour,
    Pen,
)

Outcome = Literal["faster", "slower", "no difference", "unknown", "no factor"]  # unknown as long as too few were timed
ProofKind = Literal["running", "same", "differs", "apart", "sample"]

WIDTH = 430.0
NARROW = 1.15  # factor: a smaller difference is none worth telling
PLAIN = 3.0  # times that took no turns differ by other load, too, but seldom by such a factor
LEAST_MS = 0.005  # a shorter time reads 0.00, and nothing is told as a multiple of it
TITLE, FACTOR, WORDS, PROVED = 17, 46, 20, 19  # sizes of text
HEAD, CHANGE_LINE, BIG, PROOF_LINE, ROW, NOTE_LINE, FOOT = 40.0, 16.0, 64.0, 25.0, 20.0, 16.0, 30.0  # heights
FACTORS = (FACTOR, 38, 30)  # sizes of the factor, of which the first counts that leaves room for the times beside it
TIMES, COUNTS = (0.385, 0.615), (0.68, 1.0)  # where the two numbers of a row end, of the width
WHY_NAME, WHY_ENDS = 104.0, (0.6, 1.0)  # width of a name in Why; where the two values end, of the width
OUTCOME_COLOURS: dict[Outcome, Colour] = {"faster": GOOD, "slower": WARM, "no difference": TEXT}  # where there is an interval
PROOF_COLOURS: dict[ProofKind, Colour] = {"running": DIM, "same": GOOD, "differs": BAD, "apart": WARM, "sample": ACCENT}


class Span(NamedTuple):
    """Times of one thing before and after, milliseconds; nan where nothing was measured."""

    name: str
    before_ms: float
    after_ms: float
    factor: float  # how many times as fast it is now; nan where that is not known
    low: float  # 95% confidence interval of the factor; -inf and inf where there were too few turns
    high: float
    outcome: Outcome

    @classmethod
    def about(cls, name: str, before_ms: float, after_ms: float, enough: bool) -> Self:
        """Of times that took no turns: a factor only where there are enough of them and other load seldom explains it."""
        factor = before_ms / after_ms if before_ms > 0 and after_ms > 0 else math.nan
        plain = enough and min(before_ms, after_ms) >= LEAST_MS and max(factor, 1 / factor) > PLAIN
        outcome: Outcome = "no factor" if not plain else "faster" if factor > 1 else "slower"
        return cls(name, before_ms, after_ms, factor, -math.inf, math.inf, outcome)

    def scaled(self, by: float) -> Self:
        """The same factor, of times that are so many times as long."""
        return self._replace(before_ms=by * self.before_ms, after_ms=by * self.after_ms)

    @property
    def known(self) -> bool:
        return 0 < self.low <= self.high < math.inf

    @property
    def colour(self) -> Colour:
        return OUTCOME_COLOURS.get(self.outcome, DIM) if self.known else DIM


class CardRow(NamedTuple):
    """A counter, or a figure of Why, before and after."""

    name: str
    before: str
    after: str
    source: str = ""  # how it was obtained
    lines: tuple[str, ...] = ()  # of assembly


class ProofLine(NamedTuple):
    """Whether it is the same crowd; the kinds are those of `measure.proof.Finding`."""

    kind: ProofKind
    text: str


class Card(NamedTuple):
    """Of `spans` the first is the large one: the step, or the frame where drawing was switched."""

    title: str  # SIMD lanes, or 2 techniques
    change: str  # off -> on, or: SIMD lanes off -> on, reorder every -> off
    kind: Kind
    spans: tuple[Span, ...]
    counts: tuple[CardRow, ...]
    proof: ProofLine
    state: str  # how much was measured, and why no more
    left: float  # share of its time
    frame: int  # number of the frame in which it took effect
    note: str = ""  # what one has to know to read it
    why: tuple[CardRow, ...] = ()
    stage: str = ""  # that Why explains
    row: str | None = None  # of Why that is pointed out, or none (""); None: times instead of Why


# --- the texts -------------------------------------------------------------------------------------------------------

def factor_text(span: Span) -> str:
    """The factor as a text, at least 1: 3.1x; about 240x where it has no interval."""
    return "about " * (not span.known) + f"{digits_text(max(span.factor, 1 / span.factor), 2)}x"


def interval_text(span: Span) -> str:
    """The interval of the factor, of what it is faster or slower by."""
    if not span.known:
        return ""
    ends = (1 / span.high, 1 / span.low) if span.factor < 1 and span.outcome != "no difference" else (span.low, span.high)
    return f"95%: {digits_text(ends[0], 2)} - {digits_text(ends[1], 2)}"


def outcome_text(span: Span) -> str:
    """The outcome in words, with the factor where it is faster or slower."""
    if span.outcome in ("faster", "slower"):
        return f"{factor_text(span)} {span.outcome}"
    if span.outcome == "no difference":
        return span.outcome if span.low > 1 / NARROW and span.high < NARROW else "too noisy to tell"
    return "being timed" if span.outcome == "unknown" else span.outcome


def ms_text(ms: float) -> str:
    return "-" if math.isnan(ms) else f"{digits_text(ms, 10)} ms"


# --- the drawing -----------------------------------------------------------------------------------------------------

def draw_card(card: Card, room: float, pen: Pen, scale: float, hint: str = "", tall: float = math.inf) -> Canvas:
    """Render the card, no wider than the room, without the last counters where it would be too tall; `hint` tells keys."""
    wide = min(WIDTH, room)
    ruler = Canvas((1, 1), pen, scale, None)
    if card.row is not None:
        return _draw_why(card, wide, ruler, hint)
    proof = ruler.wrapped(card.proof.text, wide - 2 * PAD, PROVED, 3)
    note = ruler.wrapped(card.note, wide - 2 * PAD, NORMAL, 2)
    taken = ruler.width(card.title, TITLE) + 10 + ruler.width(card.change, TITLE) + ruler.width(_mark(card)) + 10
    changes = [] if taken <= wide - 2 * PAD else ruler.wrapped(card.change, wide - 2 * PAD)  # below the title, then
    head = HEAD + CHANGE_LINE * len(changes)
    rows = ROW * len(card.spans[1:]) + NOTE_LINE * len(note)
    height = head + BIG * bool(card.spans) + PROOF_LINE * len(proof) + 10 + rows + FOOT
    card = card._replace(counts=card.counts[:int(max(min(tall - height, ROW * len(card.counts)), 0) / ROW)])
    on = Canvas((wide, height + ROW * len(card.counts)), pen, scale, SHEET)
    on.target((0, 0, *on.size), "card")
    _draw_head(on, card, changes)
    top = head
    if card.spans:
        _draw_factor(on, card.spans[0], top)
        top += BIG
    top = on.paragraph(proof, PAD, top, PROOF_LINE, PROVED, PROOF_COLOURS[card.proof.kind]) + 10
    for span in card.spans[1:]:
        _draw_row(on, top, span.name, ms_text(span.before_ms), ms_text(span.after_ms), TIMES, TEXT)
        outcome = outcome_text(span)
        size = _size(on, outcome, (wide - 2 * PAD) * (1 - TIMES[1]) - 6, LARGE, NORMAL, SMALL)
        on.right(outcome, wide - PAD, top + ROW / 2, size, span.colour)
        top += ROW
    for count in card.counts:
        _draw_row(on, top, count.name, count.before, count.after, COUNTS, DIM)
        top += ROW
    on.paragraph(note, PAD, top, NOTE_LINE, NORMAL, WARM)
    _draw_foot(on, card, hint)
    return on


def _draw_why(card: Card, wide: float, ruler: Canvas, hint: str) -> Canvas:
    """Render the table of Why. Values that are too wide for a column are lines over the whole width."""
    room, rows = wide - 2 * PAD, list[list[str]]()
    for _, *values, _, _ in card.why:
        is_wide = max(map(ruler.width, values)) > room * (WHY_ENDS[1] - WHY_ENDS[0]) - 6
        rows.append([line for value in dict.fromkeys(values) for line in ruler.wrapped(value, room - WHY_NAME)] * is_wide)
    heights = [ROW * max(len(lines), 1) for lines in rows]
    on = Canvas((wide, HEAD + ROW + sum(heights) + FOOT), ruler.pen, ruler.scale, SHEET)
    on.target((0, 0, *on.size), "card")
    _draw_head(on, card, [])
    _draw_row(on, HEAD, card.stage, "before", "after", WHY_ENDS, FAINT, NORMAL)
    top = HEAD + ROW
    for reason, lines, height in zip(card.why, rows, heights, strict=True):
        if reason.name == card.row:
            on.rect(TOUCHED, (PAD / 2, top, wide - PAD, height), 4)
        on.target((0, top, wide, height), "why", reason.name)
        if lines:
            on.left(reason.name, PAD, top + ROW / 2, NORMAL)
            on.paragraph(lines, PAD + WHY_NAME, top, ROW)
        else:
            _draw_row(on, top, *reason[:3], WHY_ENDS, TEXT, NORMAL)
        top += height
    _draw_foot(on, card, hint)
    return on


def _mark(card: Card) -> str:
    return f"{card.kind.mark} {card.kind.name}" if card.kind.mark else ""


def _draw_head(on: Canvas, card: Card, changes: Sequence[str]) -> None:
    wide, line = on.size[0], HEAD + CHANGE_LINE * len(changes) - 2
    start = on.right(_mark(card), wide - PAD, HEAD / 2, NORMAL, WARM)
    end = on.left(on.fitted(card.title, start - 10 - PAD, TITLE), PAD, HEAD / 2, TITLE)
    if not changes:
        on.left(card.change, end + 10, HEAD / 2, TITLE, ACCENT)
    on.paragraph(changes, PAD, HEAD - 6, CHANGE_LINE, NORMAL, ACCENT)
    on.line(EDGE, (PAD, line), (wide - PAD, line))


def _draw_factor(on: Canvas, span: Span, top: float) -> None:
    """Draw the factor of the step or frame, large, or why there is none."""
    wide, colour = on.size[0], span.colour
    times = f"{span.name}: {ms_text(span.before_ms)} -> {ms_text(span.after_ms)}"
    if span.outcome in ("faster", "slower"):
        size = _size(on, factor_text(span), wide - 2 * PAD - 10 - on.width(times, SMALL), *FACTORS)
        end = on.left(factor_text(span), PAD, top + BIG / 2, size, colour)
        on.left(span.outcome, end + 10, top + 21, WORDS, colour)
        on.left(times, end + 10, top + 43, _size(on, times, wide - PAD - end - 10, LARGE, NORMAL, SMALL))
        on.right(interval_text(span), wide - PAD, top + 21, NORMAL, DIM)
    else:
        on.left(outcome_text(span), PAD, top + 21, WORDS + 8, colour)
        on.left(times, PAD, top + 47, LARGE)
        on.right(interval_text(span), wide - PAD, top + 47, NORMAL, DIM)


def _draw_row(on: Canvas, top: float, name: str, before: str, after: str, ends: tuple[float, float], colour: Colour,
              large: float = LARGE) -> None:
    middle, (first, second) = top + ROW / 2, (PAD + (on.size[0] - 2 * PAD) * end for end in ends)
    start = on.right(before, first, middle, large, colour)
    end = on.right(after, second, middle, large, colour)
    on.left("->", min(first + 8, end - 26), middle, large, FAINT)
    size = _size(on, name, start - PAD - 8, large, NORMAL, SMALL)
    on.left(on.fitted(name, start - PAD - 8, size), PAD, middle, size, colour)


def _size(on: Canvas, text: str, room: float, *sizes: float) -> float:
    """The first size in which the text fits, or the last one."""
    return next((size for size in sizes if on.width(text, size) <= room), sizes[-1])


def _draw_foot(on: Canvas, card: Card, hint: str) -> None:
    wide, tall = on.size
    start = on.right(hint, wide - PAD, tall - 18, SMALL, DIM)
    on.left(on.fitted(card.state, start - PAD - 10, SMALL), PAD, tall - 18, SMALL, FAINT)
    on.rect(GROUND, (PAD, tall - 7, wide - 2 * PAD, 3))
    if card.left > 0:
        on.rect(ACCENT, (PAD, tall - 7, (wide - 2 * PAD) * card.left, 3))
