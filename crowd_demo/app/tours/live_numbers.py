"""The numbers of a tour: what the window measures over its last frames, and texts with these numbers filled in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

from crowd_demo.app.card.effect import Counted
from crowd_demo.compute.arrays import Doubles, Floats
from crowd_demo.config.tour import BEFORE, NUMBERS, PLACEHOLDER
from crowd_demo.measure.comparison import counters_of
from crowd_demo.measure.statistics import LEAST_BLOCKS, Interval, median_interval
from crowd_demo.profile import Profile
from crowd_demo.registry.stages import stages_of
from crowd_demo.render.hud.card import NARROW, Span
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


class Since(NamedTuple):
    """A moment of a run, by what its profile had counted."""

    frames: int
    steps: int


def measured(profile: Profile, readings: Readings, since: Since, most: int) -> Numbers:
    """Medians over at most so many frames since a moment; there must be one.

    What agents meet is the mean over all who have updated around: in a single step that may be nobody.
    """
    frames = min(profile.frames - since.frames, most)
    steps = min(profile.steps - since.steps, most)
    stages = profile.step_ms(steps) if steps else {}
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
    }


def intervals(profile: Profile, since: Since, most: int) -> Numbers:
    """The ends of intervals around the times of the same frames."""
    frames, steps = min(profile.frames - since.frames, most), min(profile.steps - since.steps, most)
    stages = profile.steps_ms(steps) if steps else {}
    drawing = [profile.stage_ms(stage, frames) for stage in stages_of("draw", profile.stages)]
    return {
        **_ends("step_ms", list(stages.values())),
        **_ends("interaction_ms", [stages["interaction"]] if "interaction" in stages else []),
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
    return faster(ratio.value)


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


def faster(ratio: float) -> str:
    if math.isnan(ratio):
        return ""
    if abs(ratio - 1) < ALIKE:
        return "about as fast"
    return f"{shown_factor(ratio)} times as fast" if ratio > 1 else f"{shown_factor(1 / ratio)} times slower"


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
