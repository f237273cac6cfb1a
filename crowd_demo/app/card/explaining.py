"""The counters that explain what a switch did: those that are unlike before and after, with the labels of the HUD.

Only such counters as the switch can have changed: the order in memory, for one, differs from one second to the next by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

import numpy as np

from crowd_demo.app.card.effect import Stretch, count
from crowd_demo.app.card.proving import is_drawn
from crowd_demo.measure.comparison import counters_of
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.render.hud.card import Count
from crowd_demo.sim.metrics.readings import MEMORY_ORDER, Readings

About = Literal["step", "motion", "memory", "picture"]
UNLIKE = 1.15  # times as large
MOST = 4
LONG = 150  # steps: without a sort in so many, there is none


class Known(NamedTuple):
    """A counter's label, and how its value is written."""

    label: str
    text: str = ""  # a format; none for a plain number
    about: About = "step"


KNOWN = {  # the most telling first
    "candidates_per_agent": Known("candidates"),
    "near reads": Known("near reads", "{:.0%}", "memory"),
    "L1 misses": Known("L1 misses", "{:.1%}", "memory"),
    "due": Known("agents updated a step"),
    "registers": Known("registers of 16 agents"),
    "sorts": Known("sorts in 1,000 steps", about="memory"),
    "contiguous_copies": Known("contiguous copies", "{:.0%}", "memory"),
    "tested": Known("agents tested by culling", about="picture"),
    "cells_visited": Known("cells visited by culling", about="picture"),
    "drawn": Known("agents drawn", about="picture"),
    "tiles_visited": Known("tiles visited", about="picture"),
    "stagger error": Known("stagger error", "{:.1%}"),
    "cap error": Known("cap error", "{:.1%}"),
    "field error": Known("field error", "{:.1%}"),
    "neighbours_per_agent": Known("neighbours", about="motion"),
    "imbalance": Known("top worker", "{:.2f}x mean"),
}


def explaining(before: Mapping[str, float], after: Mapping[str, float], paths: Iterable[str],
               exact: bool) -> tuple[Count, ...]:
    """The most telling of the counters that differ notably, and that these techniques can have changed."""
    topics = {about for path in paths for about in topics_of(path)} | ({"motion"} if not exact else set())
    found = (Count(known.label, text(name, before[name]), text(name, after[name])) for name, known in KNOWN.items()
             if known.about in topics and name in before and name in after and unlike(before[name], after[name]))
    return tuple(found)[:MOST]


def topics_of(path: str) -> Iterator[About]:
    """What a technique can have changed."""
    yield "picture" if is_drawn(BY_PATH[path]) else "step"
    if path in MEMORY_ORDER:
        yield "memory"


def unlike(before: float, after: float) -> bool:
    """Do two values differ notably?"""
    low, high = sorted((abs(before), abs(after)))
    return high > UNLIKE * low


def text(name: str, value: float) -> str:
    form = KNOWN[name].text
    return form.format(value) if form else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def counted(times: Stretch, readings: Readings) -> dict[str, float]:
    """All counters of a time, as means over its steps, and what the meters read last."""
    counters = {name: value for name, value in counters_of(times.counters).items() if name != "sorts"}  # those so far
    return {**counters, **dict(_readings(readings)), **dict(_sorts(times))}


def _sorts(times: Stretch) -> Iterator[tuple[str, float]]:
    """From one sort to the last; a time with fewer than two may be too short to have any."""
    steps = times.steps.get("reorder", np.zeros(count(times.steps)))
    sorted_in = np.flatnonzero(steps)
    if len(sorted_in) > 1:
        yield "sorts", 1000 * (len(sorted_in) - 1) / float(sorted_in[-1] - sorted_in[0])
    elif len(sorted_in) == 0 and len(steps) >= LONG:
        yield "sorts", 0.0


def _readings(readings: Readings) -> Iterator[tuple[str, float]]:
    if readings.locality:
        yield "near reads", readings.locality.same_or_next_line
        yield "L1 misses", readings.locality.miss_rate
    for name, error in (("stagger error", readings.stagger), ("cap error", readings.cap), ("field error", readings.field)):
        if error:
            yield name, error.mean
