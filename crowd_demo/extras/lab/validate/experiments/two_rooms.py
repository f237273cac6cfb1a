"""Two rooms and a corridor between them: a crowd against another one in it; or two corridors, one of them a detour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.extras.lab.validate.experiments.streams import to_the_right
from crowd_demo.extras.lab.validate.validation_experiment import (
    HELD_OUT,
    NEW,
    OWN,
    Exit,
    Measures,
    Reading,
    ValidationExperiment,
    WalkedScene,
    WalkedScenes,
    WalkGroup,
    WalkScene,
    gate,
    left_of,
    right_of,
)
from crowd_demo.extras.trajectories import Rectangle
from crowd_demo.sim.fundamental_diagram import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REACH = 0.1  # of a line into the walls, metres


# --- IMO 8: people who come against a crowd make it slower -----------------------------------------------------------

PEOPLE = 100  # who go to the right
FIRST, BETWEEN, SECOND = Rectangle(0, 0, 10, 10), Rectangle(10, 4, 20, 6), Rectangle(20, 0, 30, 10)


def against(others: float, short: bool) -> WalkScene:
    """100 people (short: 40) go to the right, so many of the other room (short: no more than 40) to the left."""
    most = 40 if short else PEOPLE
    starts = Rectangle(1, 0, 6, 10), Rectangle(24, 0, 29, 10)  # away from the exits behind them
    groups = [WalkGroup(min(people, most), start, way) for way, (people, start) in enumerate(
        zip((PEOPLE, int(others)), starts, strict=True)) if people]
    return WalkScene((FIRST, BETWEEN, SECOND), (right_of(SECOND), left_of(FIRST)), tuple(groups), 300)


def times_out(run: WalkedScene, measures: Measures) -> tuple[Doubles, Doubles]:
    """Return when people come out of the corridor, s: those who go to the right, and those who go to the left."""
    right, left = (measures.crossings(run.walked, Line(x, BETWEEN.top - REACH, x, BETWEEN.bottom + REACH))
                   for x in (BETWEEN.right, BETWEEN.left))
    return right[1][to_the_right(run, right[0])], left[1][~to_the_right(run, left[0])]


def seconds_for_all(run: WalkedScene, measures: Measures) -> float:
    """Return when the last of those who go to the right is in the other room, inf when somebody never is."""
    right, _ = times_out(run, measures)
    return float(right[-1]) if len(right) == run.scene.groups[0].people else np.inf


def read_against(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    seconds = {others: seconds_for_all(run, measures) for others, run in runs.items()}
    for others, run in runs.items():
        through = sum(map(len, times_out(run, measures)))
        yield Reading(f"{others:g} against them: people who get through", through, run.scene.people, run.scene.people,
                      measured=True)
    for fewer, more in pairwise(seconds):
        slower = seconds[more] / seconds[fewer] if np.isfinite(seconds[more]) else np.nan  # stuck is not slower
        yield Reading(f"time until all are through, {more:g} against them over {fewer:g}", slower, 1, np.inf, "times",
                      measured=True)


AGAINST = ValidationExperiment(
    name="imo-8",
    title="A crowd against another in a corridor",
    about="100 people walk from a room of 10 m x 10 m through a corridor 10 m long and 2 m wide into another room,"
           " while 0, 10, 50 or 100 come from there. They have five minutes.",
    source="IMO MSC.1/Circ.1533, test 8, also in ISO 20414: the time grows with the number of people. Also: no"
           " one gets stuck",
    numbers=(0, 10, 50, 100), short_numbers=(0, 40), scene=against, read=read_against, measure=seconds_for_all,
    axes={"xlabel": "people against them", "ylabel": "time until 100 are in the other room, s", "ylim": (0, None)})


# --- two queues that stand before a corridor, one at each end ---------------------------------------------------------

QUEUED = 160  # people in both queues
ONE_WAY, SPLITS = 100, (50, 70, 90)  # % who go to the right
SETTLED_S, STANDING = 5.0, 0.8  # seconds after the first one; part of a queue: as long as each still stands
QUEUE_S = 180.0


def queues(number: float, short: bool) -> WalkScene:
    """The number is the width in metres times 1000, and the percentage of people who go to the right."""
    width, right = divmod(int(number), 1000)
    middle = Rectangle(FIRST.right, 5 - width / 2, SECOND.left, 5 + width / 2)
    counts = QUEUED * right // 100, QUEUED * (ONE_WAY - right) // 100
    starts = Rectangle(3, 1, 10, 9), Rectangle(20, 1, 27, 9)
    groups = [WalkGroup(people, start, way) for way, (people, start) in enumerate(zip(counts, starts, strict=True)) if people]
    return WalkScene((FIRST, middle, SECOND), (right_of(SECOND), left_of(FIRST)), tuple(groups), QUEUE_S)


def flow_between(run: WalkedScene, measures: Measures) -> float:
    """Return the people per metre and second in the middle of the corridor, both ways together, while both queues stand."""
    middle = run.scene.floor[1]
    ids, seconds = measures.crossings(run.walked, gate(middle))
    right, first, ends = to_the_right(run, ids), float(seconds.min(initial=QUEUE_S)) + SETTLED_S, [QUEUE_S]
    for group, mine in zip(run.scene.groups, (right, ~right), strict=False):
        ends += seconds[mine][int(STANDING * group.people) - 1:][:1].tolist()
    last = max(min(ends), first + SETTLED_S)
    return float(np.sum((seconds > first) & (seconds <= last))) / ((last - first) * middle.height)


def read_queues(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    for number, run in runs.items():
        width, right = divmod(int(number), 1000)
        if right != ONE_WAY:
            one_way = flow_between(runs[width * 1000 + ONE_WAY], measures)
            yield Reading(f"{width} m, {right}:{ONE_WAY - right}: flow both ways over one way",
                          flow_between(run, measures) / one_way, 0.75, 1.5, "", measured=True)


def plot_queues(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    for name, runs in walkers.items():
        for width in sorted({int(number) // 1000 for number in runs}):
            flows = {number % 1000: flow_between(run, OWN) for number, run in sorted(runs.items()) if number // 1000 == width}
            axes.plot(list(flows), list(flows.values()), marker="o", label=f"{name}, {width} m")


QUEUES = ValidationExperiment(
    name="two-queues",
    title="Two queues at a corridor",
    about="160 people wait at the ends of a corridor 10 m long, split 50:50, 70:30, 90:10, or all at one end."
          " The flow is that of both ways in the middle, from 5 s after the first person until 80% of one queue"
          " have passed.",
    source="at most 1.5 people per metre and second both ways, 2.0 one way (Zhang 2012); both ways together more"
           " than one (Kretz 2006b). The splits are those of Feliciani (PLOS ONE e0208496)",
    numbers=tuple(width * 1000 + right for width in (2, 3, 4) for right in (ONE_WAY, *SPLITS)),
    short_numbers=(2000 + ONE_WAY, 2050), scene=queues, read=read_queues, plot=plot_queues,
    axes={"xlabel": "people who go to the right, %", "ylabel": "people per metre and second", "ylim": (0, None)}, role=NEW)


# --- RiMEA 14: people choose the shorter way, and a longer one when that is crowded ----------------------------------

FEW, MANY = 10, 100
SHORTER, LONGER = Rectangle(12, 1, 20, 2), Rectangle(12, 8, 20, 10)


def choice(people: float, short: bool) -> WalkScene:
    """From the upper half of a room to the upper corner of another, where the lower corridor is a detour."""
    room, other = Rectangle(0, 0, 12, 10), Rectangle(20, 0, 24, 10)
    exit_ = Exit(Rectangle(24, 0, 30, 3), (1, 0))
    group = WalkGroup(int(people), Rectangle(0, 0, 8, 5), 0)
    return WalkScene((room, SHORTER, LONGER, other), (exit_,), (group,), 180)


def share_by_longer(run: WalkedScene, measures: Measures) -> float:
    """Return the share of those who get through that takes the longer way."""
    shorter, longer = (len(measures.crossings(run.walked, gate(way))[0]) for way in (SHORTER, LONGER))
    return longer / (shorter + longer) if shorter + longer else float("nan")


def read_choice(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    few, many = (share_by_longer(runs[people], measures) for people in (FEW, MANY))
    yield Reading(f"share by the longer way, {FEW} people", few, 0, 0.1, "", measured=True)
    yield Reading(f"share by the longer way, {MANY} people", many, 0.1, 0.9, "", measured=True)


CHOICE = ValidationExperiment(
    name="rimea-14",
    title="A shorter and a longer way",
    about="People walk from a room to the far corner of another one, by a corridor 1 m wide, or by a detour of"
          " about 10 m through one 2 m wide.",
    source="RiMEA, test 14, without a number. Read as: with few people all take the shorter way. With 100 the"
           " last would wait for nearly a minute, so at least a tenth takes each way",
    numbers=(FEW, 30, MANY), short_numbers=(FEW, MANY), scene=choice, read=read_choice, measure=share_by_longer,
    axes={"xlabel": "people", "ylabel": "share by the longer way", "ylim": (0, 1)}, role=HELD_OUT)
