"""What experiments found, as tables and lines of plain text, for the terminal and for the window."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from crowd_demo.measure.ablation import INACTIVE, OFF_ALREADY, Ablation, Row
from crowd_demo.measure.largest import FPS, LIMIT_MS, Answer, Largest
from crowd_demo.measure.measurement import Measurement
from crowd_demo.measure.statistics import Interval
from crowd_demo.measure.text import aligned, factor, factors, milliseconds
from crowd_demo.measure.three_crowds import Pair, Versus
from crowd_demo.registry.entries import Value
from crowd_demo.registry.kinds import MARKED
from crowd_demo.registry.techniques import BY_PATH, hud_word


class Table(NamedTuple):
    """Column heads, and rows of as many cells."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def __str__(self) -> str:
        return aligned([self.columns, *self.rows])


# --- one technique ---------------------------------------------------------------------------------------------------

CROWDS = {"same": "same crowd", "DIFFERS": "THE CROWD DIFFERS",
          **{kind.name: f"not the same ({kind.name})" for kind in MARKED}}
NARROW = 0.9, 1.1  # a factor between these is next to 1
NOTHING, UNCLEAR = "nothing", "unclear"
MEMORY_NOTE = "off for memory techniques: agents as if they had never been sorted"


def verdict_of(pair: Pair) -> str:
    """`3.1x faster (95 %: 2.9-3.3)`, `1.2x slower (...)`, or what there is instead of such a number."""
    times = pair.factor
    match pair.verdict:
        case "unknown":
            return f"{factor(times.value)} (too few steps to be sure)"
        case "no difference":
            return f"{'no difference here' if is_narrow(times) else UNCLEAR} (95 %: {factors(times)})"
        case "faster":
            return f"{factor(times.value)} faster (95 %: {factors(times)})"
        case "slower":
            slower = Interval(1 / times.value, 1 / times.high, 1 / times.low)
            return f"{factor(slower.value)} slower (95 %: {factors(slower)})"


def is_narrow(factor_of: Interval) -> bool:
    """Does the interval exclude all but small differences?"""
    least, most = NARROW
    return least <= factor_of.low and factor_of.high <= most


def line_of(value: Value, other: Value, found: Versus) -> str:
    """What a technique's value gives against another one, in one line."""
    step, frame = verdict_of(found.step), verdict_of(found.frame)
    both = step if step == frame else f"step {step}, frame {frame}"
    return f"{hud_word(value)} against {hud_word(other)}: {both}, {CROWDS[found.crowd]}"


def measured_pairs(measurement: Measurement) -> dict[str, Pair]:
    """The technique's stage, if it ran in all crowds, the step and the frame; empty until the measurement is over."""
    found = measurement.found
    if not found:
        return {}
    stage = {BY_PATH[measurement.path].stage: found.stage} if found.stage else {}
    return {**stage, "step": found.step, "frame": found.frame}


def measurement_table(measurement: Measurement) -> Table:
    """A row for each of the pairs."""
    columns = ("ms", hud_word(measurement.value), hud_word(measurement.other), "buys", "95 %")
    return Table(columns, [(name, _ms(pair.present), _ms(pair.other.ms), _buys(pair), _between(pair))
                           for name, pair in measured_pairs(measurement).items()])


def measurement_notes(measurement: Measurement) -> Sequence[str]:
    """Lines under the table."""
    if not measurement.found:
        return ["stopped before the end"]
    return [CROWDS[measurement.found.crowd], *_memory_note(measurement.path, measurement.value, measurement.other)]


def _memory_note(path: str, *values: Value) -> Sequence[str]:
    """Without reordering a crowd keeps the order in which all three begin."""
    return [MEMORY_NOTE] * (path == "reorder.when" and "off" in values)


# --- ablation --------------------------------------------------------------------------------------------------------

ABLATION = ("technique", "off is", "step on", "step off", "step buys", "frame on", "frame off", "frame buys", "95 %", "crowd")
ABLATION_NOTE = ("On and off in ms; a frame is a step and its picture. buys: how many times as long it takes with the"
                 " technique off; below 1 it costs. 95 % is of the frame.")


def ablation_table(ablation: Ablation) -> Table:
    """Those that buy most of a frame first."""
    return Table(ABLATION, [_ablation_row(row) for row in ablation.rows])


def ablation_notes(ablation: Ablation) -> Sequence[str]:
    """Lines under the table: how to read it."""
    memory = [note for row in ablation.rows for note in _memory_note(row.technique.path, row.off)]
    return [ABLATION_NOTE, *memory, noise(ablation)]


def noise(ablation: Ablation) -> str:
    """How far frames of two copies with the present techniques differ, in a usual comparison."""
    known = [row.found.frame.other.noise for row in ablation.rows if row.found.frame.other.noise.known]
    if not known:
        return "too few frames for an interval"
    low, high = (median(getattr(interval, end) for interval in known) for end in ("low", "high"))
    return f"noise: a second copy of the present crowd took {low:.2f}-{high:.2f} times as long"


def left_out(ablation: Ablation) -> Iterator[str]:
    """A line for each reason for which techniques were not switched off."""
    together: dict[str, list[str]] = {}
    for path, why in ablation.left_out.items():
        together.setdefault(why, []).append(BY_PATH[path].label.strip())
    for why in sorted(together, key=lambda why: (why == INACTIVE, why == OFF_ALREADY)):
        yield f"{why}: {', '.join(together[why])}"


def _ablation_row(row: Row) -> tuple[str, ...]:
    step, frame = row.found.step, row.found.frame
    step_buys = f"{UNCLEAR} {_between(step)}" if _buys(step) == UNCLEAR else _buys(step)
    return (f"{row.technique.label.strip()}: {hud_word(row.value)}", hud_word(row.off),
            _ms(step.present), _ms(step.other.ms), step_buys,
            _ms(frame.present), _ms(frame.other.ms), _buys(frame), _between(frame), row.found.crowd)


def _ms(interval: Interval) -> str:
    return milliseconds(interval.value)


def _buys(pair: Pair) -> str:
    if pair.verdict == "no difference":
        return NOTHING if is_narrow(pair.factor) else UNCLEAR
    return "-" if math.isnan(pair.factor.value) else factor(pair.factor.value)


def _between(pair: Pair) -> str:
    return factors(pair.factor) if pair.factor.known else "too few"


# --- the largest crowd -----------------------------------------------------------------------------------------------

LARGEST = ("techniques", "agents", "step ms", "draw ms", "frame ms", "95 %", "times")
LARGEST_NOTE = (f"The largest crowd whose median frame takes at most {LIMIT_MS:.1f} ms ({FPS} a second), in a world that grows"
                " with it; times: against the line above.")


def largest_table(experiment: Largest) -> Table:
    """In the order of the search; each rung beside the one below it."""
    rows: list[tuple[str, ...]] = []
    before: Answer | None = None
    for answer in experiment.answers:
        rows.append(_largest_row(answer, before))
        before = answer
    return Table(LARGEST, rows)


def _largest_row(answer: Answer, before: Answer | None) -> tuple[str, ...]:
    found = answer.measured
    if found is None:
        return (answer.rung.name, "none", *("-" for _ in LARGEST[2:]))
    below = before.measured if before and answer.rung.adds else None
    between = f"{found.frame.low:.1f}-{found.frame.high:.1f}" if found.frame.known else "-"
    return (answer.rung.name, f"{found.agents:,}{'+' * bool(answer.bound)}", *map(_ms, (found.step, found.draw, found.frame)),
            between, factor(found.agents / below.agents) if below else "")


def bounds(experiment: Largest) -> Sequence[str]:
    """A line for each thing but time that ended a search."""
    return [f"+: not more, because of {bound}" for bound in dict.fromkeys(each.bound for each in experiment.answers) if bound]
