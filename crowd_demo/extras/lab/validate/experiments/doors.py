"""People leave a room: through a bottleneck, through a door, and until the room is empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.extras.lab.validate.validation_experiment import (
    HELD_OUT,
    OWN,
    Measures,
    Reading,
    ValidationExperiment,
    WalkedScene,
    WalkedScenes,
    WalkGroup,
    WalkScene,
    gate,
    right_of,
)
from crowd_demo.extras.trajectories import Rectangle, flow, longest_gap, middle, nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST, MAX = 1.2, 2.0  # flow through an opening, people/(m s)
WIDE, MAX_WIDE = 2.0, 2.8  # through one that is wider than so many metres: the Hermes experiments


def most(width: float) -> float:
    """Return the largest flow that is expected of an opening, people/(m s)."""
    return MAX_WIDE if width > WIDE else MAX


def times_through(run: WalkedScene, measures: Measures) -> Doubles:
    """Return when people pass the opening, which is the second part of the floor, s."""
    return measures.crossings(run.walked, gate(run.scene.floor[1]))[1]


def room_with_door(people: int, side: float, width: float, seconds: float) -> WalkScene:
    """A room with a door in the middle of its right side; behind it is room enough."""
    top = (side - width) / 2 // 0.5 * 0.5
    room, outside = Rectangle(0, 0, side, side), Rectangle(side + 0.5, 0, side + 4, side)
    door = Rectangle(side, top, side + 0.5, top + width)
    group = WalkGroup(people, Rectangle(0, 0, side - 2, side), 0)
    return WalkScene((room, door, outside), (right_of(outside),), (group,), seconds)


# --- RiMEA 12: the flow through a bottleneck grows in proportion to its width ----------------------------------------

ROOM, LENGTH = 10.0, 5.0  # sides of both rooms, and what lies between them


def bottleneck(width: float, short: bool) -> WalkScene:
    """A room, a corridor of that width in the middle of its right side, and a room to leave by."""
    top = (ROOM - width) / 2 // 0.5 * 0.5
    first, second = Rectangle(0, 0, ROOM, ROOM), Rectangle(ROOM + LENGTH, 0, 2 * ROOM + LENGTH, ROOM)
    between = Rectangle(ROOM, top, ROOM + LENGTH, top + width)
    group = WalkGroup(50 if short else 150, Rectangle(0, 0, ROOM - 1, ROOM), 0)
    return WalkScene((first, between, second), (right_of(second),), (group,), 240)


def flow_through(run: WalkedScene, measures: Measures) -> float:
    """Return the flow through the middle of the bottleneck, people/s."""
    return flow(middle(times_through(run, measures)))


def read_bottleneck(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    found = {width: flow_through(run, measures) / width for width, run in runs.items()}
    for width, value in found.items():
        yield Reading(f"flow per metre, {width:g} m wide", value, LEAST, most(width), "people/(m s)", True)
    narrow, wide = min(found), max(found)
    if wide > narrow:
        yield Reading(f"flow, {wide:g} m over {narrow:g} m", found[wide] * wide / (found[narrow] * narrow),
                      0.8 * wide / narrow, 1.2 * wide / narrow, "times", measured=True)


def plot_expected_flow(axes: Axes, widths: Sequence[float]) -> None:
    """The expected people/s by width, m."""
    highest = [most(width) * width for width in widths]
    axes.fill_between(widths, [LEAST * width for width in widths], highest, color="0.9", label="expected")


def plot_bottleneck(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    widths = sorted(next(iter(walkers.values())))
    plot_expected_flow(axes, widths)
    axes.plot(widths, [1.9 * width for width in widths], color="0.4", label="Seyfried 2009")


FLOW_AXES = {"xlabel": "width, m", "ylabel": "flow, people/s", "ylim": (0, None)}
BOTTLENECK = ValidationExperiment(
    name="rimea-12",
    title="Flow through a bottleneck",
    about="150 people walk from a room of 10 m x 10 m through a corridor 5 m long. The flow is that of the"
          " middle 60%, in the middle of the corridor.",
    source="RiMEA, test 12. People per metre and second: 1.22 (Weidmann 1993), 1.3 (SFPE handbook), 1.6 to 1.8"
           " (Kretz 2006a), 1.9 and linear in the width (Seyfried 2009), up to 2.8 above 2 m (Liao 2014)",
    numbers=(1.0, 1.5, 2.0, 2.5, 3.0), short_numbers=(1.0, 2.0), scene=bottleneck, read=read_bottleneck,
    axes=FLOW_AXES, plot=plot_bottleneck, measure=flow_through)


# --- how long a room takes to empty, against the width of its door ---------------------------------------------------

FIRST_S, LAST_S = 1.0, 6.0  # until the first is at the door, and what the farthest may take longer


def evacuation(width: float, short: bool) -> WalkScene:
    return room_with_door(40 if short else 100, 8.0, width, 240)


def seconds_to_empty(run: WalkedScene, measures: Measures) -> float:
    """Return when the last is through the door, inf when somebody never is."""
    through = times_through(run, measures)
    return float(through[-1]) if len(through) == run.scene.people else np.inf


def expected_seconds(width: float, people: int) -> tuple[float, float]:
    return FIRST_S + people / (most(width) * width), LAST_S + people / (LEAST * width)


def read_evacuation(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    for width, run in runs.items():
        yield Reading(f"time until the room is empty, door {width:g} m", seconds_to_empty(run, measures),
                      *expected_seconds(width, run.scene.people), "s", True)


def plot_evacuation(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    runs = next(iter(walkers.values()))
    bounds = np.array([expected_seconds(width, run.scene.people) for width, run in runs.items()]).T
    axes.fill_between(list(runs), *bounds, color="0.9", label="expected")


EVACUATION = ValidationExperiment(
    name="evacuation",
    title="A room that empties",
    about="100 people leave a room of 8 m x 8 m through a door 1 m to 3 m wide.",
    source="the flow of a bottleneck, with 1 s to begin or 6 s for the longest way; proportional to the width"
           " (Seyfried 2009)",
    numbers=(1.0, 1.5, 2.0, 3.0), short_numbers=(1.0, 2.0), scene=evacuation, read=read_evacuation,
    axes={"xlabel": "width of the door, m", "ylabel": "time until the room is empty, s", "ylim": (0, None)},
    plot=plot_evacuation, measure=seconds_to_empty)


# --- two hundred people leave through one door: no arch of people lasts before it ------------------------------------

WIDTH = 1.0
DEPTH = 0.3  # metres from breast to back, about: nobody can be nearer to somebody else
LASTING = 5.0  # seconds without anybody through the door


def door(width: float, short: bool) -> WalkScene:
    return room_with_door(60 if short else 200, 12.0, width, 300)


def read_door(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    run = runs[WIDTH]
    through = times_through(run, measures)
    yield Reading("people left behind", float(run.scene.people - len(through)), 0, 0, "", measured=True)
    yield Reading("flow per metre of the door", flow(middle(through)) / WIDTH, LEAST, MAX, "people/(m s)", measured=True)
    yield Reading(f"nearer to another person than {DEPTH:g} m", float(np.mean(nearest(run.walked) < DEPTH) * 100), 0, 1, "%")
    waited = np.inf if len(through) < run.scene.people else longest_gap(through)
    yield Reading("longest time without a person", waited, 0, LASTING, "s", measured=True)


def plot_door(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    for name, runs in walkers.items():
        through = times_through(runs[WIDTH], OWN)
        axes.plot(through, np.arange(1, len(through) + 1), label=name)
    people = runs[WIDTH].scene.people
    seconds = np.linspace(0, people / LEAST)
    axes.fill_between(seconds, seconds * LEAST, np.minimum(seconds * MAX, people), color="0.9", label="expected")
    axes.set_ylim(0, people)


DOOR = ValidationExperiment(
    name="door",
    title="Two hundred through one door",
    about="200 people leave a room of 12 m x 12 m through a door 1 m wide. An arch lasts when no person gets"
          " through for 5 s.",
    source="flow as for the bottleneck. Arches form and break (Helbing 2000, Garcimartín 2016)",
    numbers=(WIDTH,), short_numbers=(WIDTH,), scene=door, read=read_door,
    axes={"xlabel": "time, s", "ylabel": "people through the door"}, plot=plot_door)


# --- bottlenecks wider than two metres, as in the Hermes experiments: a large crowd gets through a short one ---------

FLOWS = {2.4: 6.1, 3.0: 7.2, 3.6: 9.0, 4.4: 10.9, 5.0: 13.8}  # people/s by width in metres, in the experiment
TILES = {2.4: 0.6, 3.0: 0.5, 3.6: 0.6, 4.4: 0.55, 5.0: 0.5}  # of which the widths are multiples, metres
SIDE, PASSAGE, BEHIND = 12.0, 1.0, 4.0  # metres, about: in whole tiles


def wide_bottleneck(width: float, short: bool) -> WalkScene:
    """A room full of people, an opening in the middle of its right side, and behind it room enough."""
    tile = TILES[width]
    side, passage, behind = (round(length / tile) * tile for length in (SIDE, PASSAGE, BEHIND))
    top = (side - width) / 2 // tile * tile
    room, opening = Rectangle(0, 0, side, side), Rectangle(side, top, side + passage, top + width)
    outside = Rectangle(side + passage, 0, side + passage + behind, side)
    group = WalkGroup(120 if short else 350, Rectangle(0, 0, side - 1, side), 0)
    return WalkScene((room, opening, outside), (right_of(outside),), (group,), 300, tile=tile)


def plot_wide(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    plot_expected_flow(axes, list(FLOWS))
    axes.plot(list(FLOWS), list(FLOWS.values()), "s", color="0.4", label="Hermes 2009")


WIDE_BOTTLENECK = ValidationExperiment(
    name="hermes",
    title="Flow through a wide bottleneck",
    about="350 people leave a room of 12 m x 12 m through an opening 1 m long. The flow is that of the middle"
          " 60%.",
    source="2.4 to 2.8 in the Hermes experiments (Liao 2014), here at least 1.2, as for narrow ones;"
           " proportional to the width, within 20%",
    numbers=tuple(FLOWS), short_numbers=(2.4,), scene=wide_bottleneck, read=read_bottleneck, axes=FLOW_AXES,
    plot=plot_wide, measure=flow_through, role=HELD_OUT)
