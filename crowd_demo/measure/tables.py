"""What experiments found, as tables and lines of plain text, for the terminal and for the window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from crowd_demo.measure.ablation import INACTIVE, OFF_ALREADY, Ablation, Row
from crowd_demo.measure.largest import FPS, LIMIT_MS, Answer, Largest
from crowd_demo.measure.measurement import Measurement
from crowd_demo.measure.statistics import Interval
from crowd_demo.measure.text import aligned, factor, factors, milliseconds, shown
from crowd_demo.measure.three_crowds import Pair, Versus
from crowd_demo.registry.entries import Value


class Table(NamedTuple):
    """Column heads, and rows of as many cells."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def __str__(self) -> str:
        return aligned([self.columns, *self.rows])


# --- one technique ---------------------------------------------------------------------------------------------------

CROWDS = {"same": "same crowd", "approximate": "another crowd (approximate)", "DIFFERS": "THE CROWD DIFFERS"}
NO_DIFFERENCE = "nothing"  # is what it buys


def verdict_of(pair: Pair) -> str:
    """`3.1x faster (95 %: 2.9-3.3)`, `1.2x slower (...)`, or what there is instead of such a number."""
    times = pair.factor
    if not times.known:
        return f"{factor(times.value)} (too few steps to be sure)"
    match pair.other.verdict:
        case "no difference":
            return f"no difference here (95 %: {factors(times)})"
        case "faster":  # are the others
            slower = Interval(1 / times.value, 1 / times.high, 1 / times.low)
            return f"{factor(slower.value)} slower (95 %: {factors(slower)})"
    return f"{factor(times.value)} faster (95 %: {factors(times)})"


def line_of(value: Value, other: Value, found: Versus) -> str:
    """What a technique's value gives against another one, in one line."""
    step, frame = verdict_of(found.step), verdict_of(found.frame)
    both = step if step == frame else f"step {step}, frame {frame}"
    return f"{shown(value)} against {shown(other)}: {both}, {CROWDS[found.crowd]}"


def measurement_table(measurement: Measurement) -> Table:
    """Step and frame; empty until it is over."""
    columns = ("ms", shown(measurement.value), shown(measurement.other), "buys", "95 %")
    found = measurement.found
    pairs = {"step": found.step, "frame": found.frame} if found else {}
    return Table(columns, [(name, _ms(pair.present), _ms(pair.other.ms), _buys(pair), _between(pair))
                           for name, pair in pairs.items()])


# --- ablation --------------------------------------------------------------------------------------------------------

ABLATION = ("technique", "off", "step ms", "off", "buys", "frame ms", "off", "buys", "95 %", "crowd")
ABLATION_NOTE = ("buys: how many times as long it takes with the technique off; below 1 it costs. A frame is a step and its"
                 " picture; 95 % is of the frame.")


def ablation_table(ablation: Ablation) -> Table:
    """Those that buy most of a frame first."""
    return Table(ABLATION, [_ablation_row(row) for row in ablation.rows])


def noise(ablation: Ablation) -> str:
    """By how much frames of the crowd as it is differ from those of its second copy, in a usual comparison."""
    known = [row.found.frame.other.noise for row in ablation.rows if row.found.frame.other.noise.known]
    if not known:
        return "too few frames for an interval"
    low, high = (median(getattr(interval, end) for interval in known) for end in ("low", "high"))
    return f"noise: a second copy of the crowd as it is took {low:.2f}-{high:.2f} times as long"


def left_out(ablation: Ablation) -> Iterator[str]:
    """A line for each reason for which techniques were not switched off."""
    together: dict[str, list[str]] = {}
    for path, why in ablation.left_out.items():
        together.setdefault(why, []).append(path)
    for why in sorted(together, key=lambda why: (why == INACTIVE, why == OFF_ALREADY)):
        yield f"{why}: {', '.join(together[why])}"


def _ablation_row(row: Row) -> tuple[str, ...]:
    step, frame = row.found.step, row.found.frame
    return (f"{row.technique.path} {shown(row.value)}", shown(row.off), _ms(step.present), _ms(step.other.ms), _buys(step),
            _ms(frame.present), _ms(frame.other.ms), _buys(frame), _between(frame), row.found.crowd)


def _ms(interval: Interval) -> str:
    return milliseconds(interval.value)


def _buys(pair: Pair) -> str:
    return NO_DIFFERENCE if pair.other.verdict == "no difference" else factor(pair.factor.value)


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
