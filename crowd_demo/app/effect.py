"""The times and counters before a switch and those after it, as the profile keeps them.

Where two copies of the crowd can take turns, the card shows their times (measure/comparison.py); those here are shown
where a step is too long for that. Whatever else the machine did is in them, so only a factor that other load seldom
explains is told.

Frames with a note (a switch, compiling, a proof) are left out with their steps: only frames of
ordinary work are compared. Steps are those since the crowd was last changed from outside, frames those since the view
was. A stage that runs rarely, such as a sort, counts with its share of the steps (`measure.statistics.cost_of`).

Only counters that the switch can have changed explain it: the order in memory, for one, differs from one second to the
next by itself.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bools
from crowd_demo.measure.comparison import DRAW, FRAME, STEP, counters_of
from crowd_demo.measure.statistics import Times
from crowd_demo.profile import HISTORY, OTHER, Profile
from crowd_demo.registry.stages import stages_of
from crowd_demo.registry.techniques import BY_PATH, is_drawn
from crowd_demo.render.hud.card import CardRow, Span
from crowd_demo.sim.metrics.readings import MEMORY_ORDER, Readings

PROOF = "proof"  # the stage that proving is, and the note of its frames
EXCLUDED = {PROOF, "hud", "meters"}  # stages of a frame that are not compared: a card is shown only after the switch
COUNTED = 16  # frames of a timing window whose counters are kept
NO_TIMES: Times = {}
Counted = Mapping[str, tuple[float, float]]  # counters and readings before and after, by name
About = Literal["step", "motion", "memory", "picture"]
UNLIKE = 1.15  # times as large
MAX = 4
FEW = 2  # steps or frames on either side that a factor needs
MAX_READ = 20  # readings of a meter
LONG = 150  # steps: without a sort in so many, there is none


class TimingWindow(NamedTuple):
    """Times by stage of some frames and of the steps in them, and the counters of a few of these frames."""

    frames: Times = NO_TIMES
    steps: Times = NO_TIMES
    counters: Sequence[Mapping[str, float]] = ()


class SwitchTimes:
    """The times around a switch that took effect in the present frame."""

    def __init__(self, profile: Profile, before: TimingWindow, drawn: bool) -> None:
        """`drawn`: a technique of drawing was switched."""
        self.before, self.after = before, TimingWindow()
        self._drawn, self._since = drawn, profile.frames + 1
        self._same_view: TimingWindow | None = None  # the times up to a change of the view

    def collect(self, profile: Profile) -> None:
        """Take the frames that are over, as far as they are kept."""
        self.after = latest(profile, profile.frames - self._since)
        if self._same_view:
            counters = (self._same_view if self._drawn else self.after).counters
            self.after = self.after._replace(frames=self._same_view.frames, counters=counters)

    def view_changed(self, profile: Profile) -> None:
        """Take frames up to the present one, and steps alone from then on."""
        if not self._same_view:
            self.collect(profile)
            self._same_view = self.after

    @property
    def extents(self) -> tuple[int, int]:
        """The number of steps, or of frames if drawing was switched, before and after."""
        return extent(self.before)[self._drawn], extent(self.after)[self._drawn]

    @property
    def text(self) -> str:
        before, after = self.extents
        return f"{before:,} {'frames' if self._drawn else 'steps'} before, " * (before > 0) + f"{after:,} after"

    def span(self, name: str, before_ms: float, after_ms: float) -> Span:
        """Return a row of the card, with a factor only if enough was measured."""
        return Span.about(name, before_ms, after_ms, min(self.extents) >= FEW)

    def spans(self) -> Iterator[Span]:
        """The step, the stage that changed most, and the frame; or of drawing the frame, all of it, and its stage."""
        steps, drawings = (self.before.steps, self.after.steps), (drawing(self.before.frames), drawing(self.after.frames))
        step, picture = (tuple(sum(typical(times, name) for name in times) if times else math.nan for times in part)
                         for part in (steps, drawings))
        frame = self.span(FRAME, step[0] + picture[0], step[1] + picture[1])
        yield from (frame, self.span(DRAW, *picture)) if self._drawn else (self.span(STEP, *step),)
        before, after = drawings if self._drawn else steps
        if before and after:
            stages = {name: (typical(before, name), typical(after, name)) for name in (*before, *after)}
            stage = max(stages, key=lambda name: abs(stages[name][1] - stages[name][0]))
            yield self.span(stage, *stages[stage])
        if not self._drawn:
            yield frame


def before_now(profile: Profile, crowd_since: int, view_since: int) -> TimingWindow:
    """The times up to the present frame, which is left out: steps and frames since these frames."""
    now = profile.frames
    steps = latest(profile, now - crowd_since)
    return steps._replace(frames=latest(profile, now - max(crowd_since, view_since)).frames)


def latest(profile: Profile, frames: int) -> TimingWindow:
    """The last so many frames that are over, as far as they are kept, without those in which something was noted."""
    records = profile.records(frames) if frames > 0 else []
    ordinary = np.array([not record.notes for record in records], np.bool_)
    proved = np.array([PROOF in record.notes for record in records], np.bool_)
    ordinary[1:] &= ~proved[:-1]  # a proof leaves its own data in the caches
    if not ordinary.any():
        return TimingWindow()
    times = {name: profile.stage_ms(name, len(records))[ordinary] for name in profile.stages if name not in EXCLUDED}
    times[OTHER] = profile.other_ms(len(records))[ordinary]
    counted = [record.counters for record, counts in zip(records, ordinary, strict=True) if counts]
    return TimingWindow(times, _steps(profile, np.repeat(ordinary, [record.steps for record in records])),
                   counted[::max(len(counted) // COUNTED, 1)])


def _steps(profile: Profile, ordinary: Bools) -> Times:
    """Times of the last steps before the present frame: of those that are `ordinary`, and kept."""
    present = profile.steps_in_frame
    kept = min(len(ordinary), profile.steps - present, HISTORY - present)
    if kept <= 0 or not ordinary[-kept:].any():
        return {}
    ordinary = ordinary[-kept:]
    return {name: times[:kept][ordinary] for name, times in profile.steps_ms(kept + present).items()}


def typical(times: Times, stage: str) -> float:
    """What a stage costs, milliseconds: its median where it ran, times the share of steps or frames in which it did."""
    ran = times[stage][times[stage] > 0] if stage in times else np.zeros(0)
    return float(np.median(ran)) * len(ran) / len(times[stage]) if len(ran) else 0.0


def drawing(times: Times) -> Times:
    return {name: times[name] for name in stages_of(DRAW, times)}


def extent(times: TimingWindow) -> tuple[int, int]:
    """Number of steps and of frames."""
    return count(times.steps), count(times.frames)


def count(times: Times) -> int:
    return len(next(iter(times.values()), ()))


# --- the counters that explain it -------------------------------------------------------------------------------------

class Known(NamedTuple):
    """A counter's label, and how its value is written."""

    label: str
    text: str = ""  # a format; none for a plain number
    about: About = "step"


KNOWN = {  # the most telling first
    "candidates_per_agent": Known("candidates"),
    "near reads": Known("near reads", "{:.0%}", "memory"),
    "L1 misses": Known("L1 misses", "{:.1%}", "memory"),
    "due": Known("agents updated per step"),
    "registers": Known("registers of 16 agents"),
    "sorts": Known("sorts in 1,000 steps", about="memory"),
    "contiguous_copies": Known("contiguous copies", "{:.0%}", "memory"),
    "tested": Known("agents tested by culling", about="picture"),
    "cells_visited": Known("cells visited by culling", about="picture"),
    "drawn": Known("agents drawn", about="picture"),
    "tiles_visited": Known("tiles visited", about="picture"),
    "stagger error": Known("stagger error", "{:.1%}", "motion"),
    "limit error": Known("limit error", "{:.1%}", "motion"),
    "field error": Known("field error", "{:.1%}", "motion"),
    "neighbours_per_agent": Known("neighbours", about="motion"),
    "imbalance": Known("top worker", "{:.2f}x mean"),
}


def telling(before: Mapping[str, float], after: Mapping[str, float], paths: Iterable[str], exact: bool) -> Counted:
    """The most telling of the counters that differ notably, and that these techniques can have changed."""
    topics = {about for path in paths for about in (
        "picture" if is_drawn(BY_PATH[path]) else "step", *(["memory"] if path in MEMORY_ORDER else []))}
    topics |= set() if exact else {"motion"}
    found = [(name, (before[name], after[name])) for name, known in KNOWN.items()
             if known.about in topics and name in before and name in after]
    unlike = [(name, pair) for name, pair in found if max(map(abs, pair)) > UNLIKE * min(map(abs, pair))]
    return dict(unlike[:MAX])


def explaining(told: Counted) -> tuple[CardRow, ...]:
    return tuple(CardRow(KNOWN[name].label, text(name, before), text(name, after)) for name, (before, after) in told.items())


def text(name: str, value: float) -> str:
    form = KNOWN[name].text
    return form.format(value) if form else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


class ReadingsMean:
    """The mean of the last readings since something was changed: between two sorts agents drift apart, so one says little."""

    def __init__(self, known: Readings) -> None:
        """`known` are the readings at the time of the change: they do not count."""
        self._last, self._found = dict(_readings(known)), dict[str, deque[float]]()

    def add(self, readings: Readings) -> None:
        """Call in every frame; a reading counts once."""
        for name, value in _readings(readings):
            if value != self._last.get(name):
                self._last[name] = value
                self._found.setdefault(name, deque(maxlen=MAX_READ)).append(value)

    def means(self) -> dict[str, float]:
        return {name: fmean(values) for name, values in self._found.items()}


def counted(times: TimingWindow, readings: Mapping[str, float]) -> dict[str, float]:
    """The counters of a timing window, as means over its steps, together with the meters' readings."""
    counters = {name: value for name, value in counters_of(times.counters).items() if name != "sorts"}  # those so far
    ran = times.steps.get("reorder", np.zeros(count(times.steps)))
    sorted_in = np.flatnonzero(ran)
    if len(sorted_in) > 1:  # from one sort to the last; a time with fewer than two may be too short to have any
        counters["sorts"] = 1000 * (len(sorted_in) - 1) / float(sorted_in[-1] - sorted_in[0])
    elif len(sorted_in) == 0 and len(ran) >= LONG:
        counters["sorts"] = 0.0
    return {**counters, **readings}


def _readings(readings: Readings) -> Iterator[tuple[str, float]]:
    if readings.locality:
        yield "near reads", readings.locality.same_or_next_line
        yield "L1 misses", readings.locality.miss_rate
    for name, error in (("stagger error", readings.stagger), ("limit error", readings.neighbour_limit),
                        ("field error", readings.field)):
        if error:
            yield name, error.mean
