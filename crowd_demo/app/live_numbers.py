"""The numbers of a tour: what the window measures over its last frames, texts with these numbers, and guesses at them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

from crowd_demo.app.effect import Counted
from crowd_demo.compute.arrays import Doubles, Floats
from crowd_demo.config.tour import BEFORE, NUMBERS, PLACEHOLDER, Bet
from crowd_demo.measure.comparison import counters_of
from crowd_demo.measure.statistics import LEAST_BLOCKS, Interval, median_interval
from crowd_demo.profile import Profile
from crowd_demo.registry.stages import stages_of
from crowd_demo.registry.texts import digits_text
from crowd_demo.render.hud.card import NARROW, Span
from crowd_demo.render.hud.status import BetOutcome, BetView
from crowd_demo.sim.metrics.readings import Readings

Numbers = Mapping[str, float]
"""By name (config/tour.py); not a number where it is not known. `step_ms.low` and `step_ms.high` are the ends of an interval
around a time, as shares of it."""
LOW, HIGH = ".low", ".high"
BLOCKS, RESAMPLES = 12, 500  # of what was measured, for its interval
SHORTEST_MS, LEAST_SHARE = 1e-3, 1e-3
TO_COME = "…"
SENTENCE_END = re.compile(r"(?<=[.!?]) ")
NOT_TOLD = "neither clearly faster nor slower"  # of a factor whose interval says both faster and slower, by much
ALIKE = 0.05  # times that differ by less than this part are called alike
ON_CARD = {"candidates_per_agent": ("candidates", 1), "neighbours_per_agent": ("neighbours", 1), "drawn": ("drawn", 1),
           "near reads": ("near_reads", 100)}  # names and units of what a card tells, in tours
OF_VIEW = {"draw_ms", "frame_ms", "fps", "drawn"}  # numbers that another view changes
COMPARED = {"factor": "step_ms", "faster": "step_ms", "draw_factor": "draw_ms", "draw_faster": "draw_ms"}
DIGITS = frozenset("0123456789.")
MAX_DIGITS = 7
UNITS = {"fps": "frames per second", "near_reads": "%"}


class Since(NamedTuple):
    """A moment of a run, by what its profile had counted."""

    frames: int
    steps: int


def measured(profile: Profile, readings: Readings, since: Since, most: int) -> Numbers:
    """Return medians and intervals of times over at most the last `most` frames since a moment, at least one frame.

    What agents meet is the mean over all who have updated around: in a single step that may be nobody.
    """
    frames = min(profile.frames - since.frames, most)
    steps = min(profile.steps - since.steps, most)
    stages, times = (profile.step_ms(steps), profile.steps_ms(steps)) if steps else ({}, {})
    drawing = [profile.stage_ms(stage, frames) for stage in stages_of("draw", profile.stages)]
    step_ms = sum(stages.values()) if steps else math.nan
    draw_ms = float(np.median(sum(drawing))) if drawing else math.nan
    displayed_ms = float(np.median(profile.frame_ms(frames)))
    counters, locality = profile.counters, readings.locality
    updated = counters_of([record.counters for record in profile.records(frames) if record.counters.get("due")])
    return {
        "step_ms": step_ms,
        "interaction_ms": stages.get("interaction", math.nan),
        "draw_ms": draw_ms,
        "frame_ms": step_ms + draw_ms,
        "fps": 1e3 / displayed_ms if displayed_ms else math.nan,
        "agents": counters.get("total", math.nan),
        "candidates": updated.get("candidates_per_agent", math.nan),
        "neighbours": updated.get("neighbours_per_agent", math.nan),
        "drawn": counters.get("drawn", math.nan),
        "near_reads": 100 * locality.same_or_next_line if locality else math.nan,
        **_ends("step_ms", list(times.values())),
        **_ends("interaction_ms", [times["interaction"]] if "interaction" in times else []),
        **_ends("draw_ms", drawing),
        **_ends("fps", [1e3 / np.maximum(profile.frame_ms(frames), SHORTEST_MS)]),
    }


def _ends(name: str, parts: Sequence[Floats | Doubles]) -> Numbers:
    """Where the median of the parts' sum lies with a confidence of 95 %; of a few sums, the least and the largest."""
    values: Doubles = np.asarray(np.sum(parts, axis=0) if parts else [], np.float64)
    middle = float(np.median(values)) if values.size else 0.0
    if not middle > 0:
        return {}
    interval = Interval(middle, float(values.min()), float(values.max()))
    if len(values) >= LEAST_BLOCKS:
        blocks = np.array([np.median(block) for block in np.array_split(values, min(len(values), BLOCKS))])
        interval = median_interval(blocks, resamples=RESAMPLES)
    low, high = max(interval.low, LEAST_SHARE * middle), interval.high
    return {name + LOW: min(low / middle, 1.0), name + HIGH: max(high / middle, 1.0)}


class PageNumbers(NamedTuple):
    """The numbers of a page: just before its step did what it does, and afterwards, if they have been measured.

    `told` are the names of those before that texts have told, and that hold still.
    """

    before: Numbers
    now: Numbers | None = None
    told: frozenset[str] = frozenset()


def measured_for(placeholders: Iterable[str]) -> frozenset[str]:
    """The names of the numbers that a page needs for these placeholders: `step_ms` for `{faster}` or `{brute.faster}`."""
    parts = [placeholder.rpartition(".") for placeholder in placeholders]
    return frozenset(COMPARED.get(name, name) for mark, _, name in parts if name in COMPARED or not mark)


def named(names: Set[str], numbers: Numbers) -> Numbers:
    """Choose the numbers that have one of these names, and the ends of their intervals."""
    return {key: value for key, value in numbers.items() if key.removesuffix(LOW).removesuffix(HIGH) in names}


def of_card(spans: Iterable[Span], told: Counted) -> tuple[Numbers, Numbers]:
    """The numbers before a switch and after it, as its card has them.

    They are those of the step, the picture and the frame, and what was counted and read.
    """
    known = [(f"{span.name}_ms", span) for span in spans
             if span.name in ("step", "draw", "frame") and not math.isnan(span.before_ms + span.after_ms)]
    before, now = ({name: span.before_ms for name, span in known}, {name: span.after_ms for name, span in known})
    for name, span in known:
        if span.known:
            before |= {name + LOW: 1.0, name + HIGH: 1.0}  # all of the factor's interval is that of the later time
            now |= {name + LOW: span.factor / span.high, name + HIGH: span.factor / span.low}
    for name, (number, unit) in ON_CARD.items():
        if name in told:
            before[number], now[number] = (unit * value for value in told[name])
    return before, now


# --- texts -----------------------------------------------------------------------------------------------------------

def filled(text: str, now: Numbers | None, marks: Mapping[str, Numbers]) -> str:
    """The text with the present numbers and those of earlier steps; what is still being measured is `TO_COME`.

    A sentence with a number that is not known is left out, and the numbers that are missing are named.
    """
    missing: dict[str, None] = {}

    def number(placeholder: str) -> str:
        mark, _, name = placeholder.rpartition(".")
        known = marks.get(mark, {}) if mark else now
        if name in COMPARED:
            found = compared(name, marks.get(mark or BEFORE, {}), now)
        else:
            found = TO_COME if known is None else number_text(name, known.get(name, math.nan))
        if not found:
            missing[NUMBERS[name]] = None
        return found

    sentences = []
    for sentence in SENTENCE_END.split(text):
        numbers = {placeholder: number(placeholder) for placeholder in PLACEHOLDER.findall(sentence)}
        if all(numbers.values()):
            sentences.append(PLACEHOLDER.sub(lambda found, numbers=numbers: numbers[found[1]], sentence))
    if missing:
        sentences.append(f"Not measured: {', '.join(missing)}.")
    return " ".join(sentences).replace(f"{TO_COME}.", TO_COME)


def compared(name: str, before: Numbers, now: Numbers | None) -> str:
    """How the present time compares with an earlier one, as a factor or in words."""
    if now is None:
        return TO_COME
    ratio = interval_of(name, before, now)
    if not name.endswith("faster"):
        return shown_factor(ratio.value)
    if ratio.low < 1 < ratio.high:  # where the card says "no difference", or "too noisy to tell"
        return "about as fast" if ratio.low > 1 / NARROW and ratio.high < NARROW else NOT_TOLD
    if math.isnan(ratio.value):
        return ""
    if abs(ratio.value - 1) < ALIKE:
        return "about as fast"
    return f"{shown_factor(max(ratio.value, 1 / ratio.value))} times {'as fast' if ratio.value > 1 else 'slower'}"


def interval_of(name: str, before: Numbers, now: Numbers) -> Interval:
    """A number, and between what it lies; of a factor, both times count."""
    if name not in COMPARED:
        value = now.get(name, math.nan)
        return Interval(value, value * now.get(name + LOW, 1.0), value * now.get(name + HIGH, 1.0))
    what = COMPARED[name]
    early, late = before.get(what, math.nan), now.get(what, math.nan)
    ratio = early / late if late > 0 else math.nan

    def together(earlier: str, later: str) -> float:
        return math.exp(math.hypot(math.log(before.get(what + earlier, 1.0)), math.log(now.get(what + later, 1.0))))

    return Interval(ratio, ratio / together(LOW, HIGH), ratio * together(HIGH, LOW))


def shown_factor(ratio: float) -> str:
    if math.isnan(ratio):
        return ""
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1.1 else f"{ratio:.2f}"


def number_text(name: str, value: float) -> str:
    """Times with two or three digits, counts of ten and more as whole numbers; nothing for what is not known."""
    if math.isnan(value):
        return ""
    whole = 100 if name.endswith("_ms") else 10
    if value >= whole or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


# --- bets ------------------------------------------------------------------------------------------------------------

class Guess:
    """A guess under way, as it is typed; a place on the scale of the bet is written as its value."""

    def __init__(self, bet: Bet) -> None:
        self.bet, self.typed = bet, ""

    @property
    def value(self) -> float | None:
        return float(self.typed) if self.typed.strip(".") else None

    def type(self, key: str) -> bool:
        """Take a digit, a point or backspace; return whether it was taken."""
        if key == "backspace":
            was, self.typed = self.typed, self.typed[:-1]
            return was != ""
        if key not in DIGITS:
            return False
        if len(self.typed) < MAX_DIGITS and not (key == "." and "." in self.typed):
            self.typed += key
        return True

    def place(self, share: float) -> None:
        self.typed = f"{self.bet.value_at(share):.10g}"

    def view(self, is_open: bool, outcome: BetOutcome | None = None) -> BetView:
        bet = self.bet
        share = None if self.value is None else bet.share_of(self.value)
        ends = f"{bet.low:,.10g}", f"{bet.high:,.10g}"
        return BetView(ends, self.typed, unit_of(bet.name), share, outcome, is_open)

    def outcome(self, guess: float, before: Numbers, now: Numbers) -> BetOutcome:
        """How a guess compares with the measured interval. What is shown is what is compared, with as many digits."""
        value, low, high = interval_of(self.bet.name, before, now)
        if math.isnan(value):
            return BetOutcome("not known here", None, "This number could not be measured here.", is_right=False)
        shown, least, most = (  # factors as the card has them, other numbers as the texts of tours do
            digits_text(number, 2, ",") if self.bet.name in COMPARED else number_text(self.bet.name, number)
            for number in (value, low, high))
        measured = f"{shown} {unit_of(self.bet.name)}".rstrip() + f" ({least} to {most})" * (least != most)
        shares = self.bet.share_of(low), self.bet.share_of(high)
        if min(number_of(least), low) <= guess <= max(number_of(most), high) or guess == number_of(shown):
            return BetOutcome(measured, shares, f"Your guess of {guess:,.10g} lies within what was measured.", is_right=True)
        decimals = max(len(f"{guess:.10g}".partition(".")[2]), len(shown.partition(".")[2]))
        distance = f"{abs(guess - number_of(shown)):,.{decimals}f}"
        return BetOutcome(measured, shares, f"Your guess of {guess:,.10g} is too {'high' if guess > value else 'low'}"
                                            f" by {distance}.", is_right=False)


def unit_of(name: str) -> str:
    if name in COMPARED:
        return "times as fast"
    return "ms" if name.endswith("_ms") else UNITS.get(name, name)


def number_of(shown: str) -> float:
    return float(shown.replace(",", ""))
