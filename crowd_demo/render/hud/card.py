"""What is to be read from the back of a room: the card of the last switch, and a scenario's caption and answer.

The card shows what the switch gave, and whether the crowd is the same: the factor of the step is the largest, or of the
frame where drawing was switched; the proof comes next. The caption is a scenario's name, what one sees, and a key to
press, over the lower part of the picture. The answer to its question stands beside that of the previous run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    HUGE,
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
    Target,
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
WIDE, INSET, COLUMN = 390.0, 21.0, 181.0  # units: the answer, its edges, from one run to the other
DOOR, NAMES, BAR = 21.0, 52.0, 84.0  # of a door: the height, the names' width, the longest bar
CURVE, KEY_ROW = 63.0, 24.0  # heights
CAPTION, LEFT, LINE = 327.0, 42.0, 22.0  # units: the gradient, the text's left edge, a line of the sentence
NAME, SENTENCE, HINT = 148.0, 118.0, 66.0  # units above the lower edge
ON_CARD = Target("card")
DARKEST = 225  # alpha at the lower edge
WHITE, PALE = (255, 255, 255), (222, 228, 234)  # on what is dark in both themes


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
    on = Canvas((wide, height + ROW * len(card.counts)), pen, scale, SHEET, ON_CARD)
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
        is_wide = max(map(ruler.width, values)) > room * (WHY_ENDS[1] - WHY_ENDS[0]) - 16
        rows.append([line for value in dict.fromkeys(values) for line in ruler.wrapped(value, room - WHY_NAME)] * is_wide)
    heights = [ROW * max(len(lines), 1) for lines in rows]
    on = Canvas((wide, HEAD + ROW + sum(heights) + FOOT), ruler.pen, ruler.scale, SHEET, ON_CARD)
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
        start = on.right(interval_text(span), wide - PAD, top + 47, NORMAL, DIM)
        on.left(times, PAD, top + 47, _size(on, times, start - PAD - 8, LARGE, NORMAL, SMALL))


def _draw_row(on: Canvas, top: float, name: str, before: str, after: str, ends: tuple[float, float], colour: Colour,
              large: float = LARGE) -> None:
    middle, (first, second) = top + ROW / 2, (PAD + (on.size[0] - 2 * PAD) * end for end in ends)
    large = _size(on, f"-> {after}", second - first - 8, large, NORMAL, SMALL)
    start = on.right(before, first, middle, large, colour)
    end = on.right(after, second, middle, large, colour)
    on.left("->", min(first + 8, max(end - 26, first + 3)), middle, large, FAINT)
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
        on.left(caption.hint, on.key(caption.key, LEFT, low - HINT, 18) + 10, low - HINT, NORMAL, PALE)
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


def draw_answer(answer: AnswerView, pen: Pen, scale: float) -> Canvas:
    runs: list[tuple[PastRun, float, Colour]] = [(answer.run, INSET, ACCENT)]
    difference = ""
    if answer.before:
        runs.append((answer.before, INSET + COLUMN, FAINT))
        saved = answer.before.answer_s - answer.run.answer_s
        than = f"{abs(saved):.1f} s {'sooner' if saved > 0 else 'later'} than" if abs(saved) >= 0.05 else "as long as"
        difference = f"{than} the run before"
    curves = [(run.inside, colour) for run, _, colour in reversed(runs) if run.inside]
    doors = list(answer.run.doors)
    high = 131 + DOOR * len(doors) + (CURVE + 34) * bool(curves) + KEY_ROW * math.ceil(len(answer.keys) / 2) + 24
    on = Canvas((WIDE, high), pen, scale, SHEET, Target("answer"))
    right = WIDE - INSET
    left = on.right(f"{answer.agents:,} people", right, 26, SMALL, DIM)
    on.left(on.fitted(f"{answer.said[:1].upper()}{answer.said[1:]}", left - INSET - 8, LARGE), INSET, 26, LARGE, bold=True)
    for run, at, _ in runs:
        about = run.about if run is answer.run else f"before: {run.about}"
        on.left(on.fitted(about, COLUMN - 12, SMALL), at, 54, SMALL, DIM)
        on.left(f"{run.answer_s:.1f} s", at, 82, HUGE, TEXT if run is answer.run else FAINT, bold=True)
    if answer.run.slowest_tenth_s is not None:
        on.right(f"slowest tenth: {answer.run.slowest_tenth_s:.1f} s", right, 113, SMALL, DIM)
    on.left(difference, INSET, 113, SMALL, bold=True)
    top = 131.0
    most = max((count for run, _, _ in runs for count in run.doors.values()), default=0) or 1
    for name in doors:
        middle = top + DOOR / 2
        on.left(on.fitted(name, NAMES - 4, SMALL), INSET, middle, SMALL, DIM)
        for number, (run, at, colour) in enumerate(runs):
            count = run.doors.get(name, 0)
            start, wide = at + NAMES * (number == 0), BAR - 20 * (number == 0)
            if count:
                on.rect(colour, (start, middle - 3.5, max(wide * count / most, 2), 7), radius=3)
            on.right(f"{count:,}", at + COLUMN - 34, middle, SMALL, TEXT if number == 0 else DIM, bold=number == 0)
        top += DOOR
    if curves:  # how many were still inside, from the first second to the last of the longest run
        top, longest, wide = top + 6, max(points[-1][0] for points, _ in curves) or 1, WIDE - 2 * INSET
        on.rect(GROUND, (INSET, top, wide, CURVE), radius=5)
        on.right("still inside", right - 8, top + 13, SMALL, DIM)
        for points, colour in curves:
            line = [(INSET + wide * time_s / longest, top + 5 + (CURVE - 10) * (1 - share)) for time_s, share in points]
            on.line(colour, *line, width=2)
            on.circle(colour, line[-1], 3)
        on.left("0 s", INSET, top + CURVE + 11, SMALL, DIM)
        on.right(f"{longest:.0f} s", right, top + CURVE + 11, SMALL, DIM)
        top += CURVE + 28
    top += 6
    on.line(EDGE, (INSET, top), (WIDE - INSET, top))
    for number, (action, key, what) in enumerate(answer.keys):
        left, middle = INSET + COLUMN * (number % 2), top + 6 + KEY_ROW * (number // 2 + 0.5)
        on.left(on.fitted(what, COLUMN - 14 - on.key_width(key), SMALL), on.key(key, left, middle) + 6, middle, SMALL, DIM)
        on.target((left - 4, middle - KEY_ROW / 2, COLUMN - 8, KEY_ROW), "action", action)
    return on
