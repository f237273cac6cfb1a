"""Rooms and corridors: people leave a room by a door or a bottleneck, or walk from one to another against a crowd or
by a detour; and a few people in a corridor: one person alone, around a corner, and two who walk towards each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.extras.lab.validate.scenes import (
    OWN,
    TILE,
    Exit,
    Measures,
    WalkGroup,
    WalkScene,
    above,
    gate,
    left_of,
    right_of,
)
from crowd_demo.extras.lab.validate.streams import to_the_right
from crowd_demo.extras.lab.validate.validation import (
    HELD_OUT,
    NEW,
    Axes,
    Plot,
    Reading,
    ValidationExperiment,
    WalkedScene,
    WalkedScenes,
)
from crowd_demo.extras.trajectories import Rectangle, flow, middle, nearest
from crowd_demo.sim.fundamental_diagram import Line

LEAST, MAX = 1.2, 2.0  # flow through an opening, people/(m s)
WIDE, MAX_WIDE = 2.0, 2.8  # through one that is wider than so many metres: the Hermes experiments


def most(width: float) -> float:
    """Return the largest flow that is expected of an opening, people/(m s)."""
    return MAX_WIDE if width > WIDE else MAX


def times_through(run: WalkedScene, measures: Measures) -> Doubles:
    """Return when people pass the opening, which is the second part of the floor, s."""
    return measures.crossings(run.walked, gate(run.scene.floor[1]))[1]


def room_with_opening(people: int, side: float, width: float, seconds: float, *, length: float = 0.5,
                      behind: float = 3.5, free: float = 2.0, tile: float = TILE) -> WalkScene:
    """Return a room with an opening of that width in the middle of its right side, and `behind` it another room.

    The opening is `length` metres long. People begin at least `free` metres before it.
    """
    top = (side - width) / 2 // tile * tile
    room, opening = Rectangle(0, 0, side, side), Rectangle(side, top, side + length, top + width)
    outside = Rectangle(side + length, 0, side + length + behind, side)
    group = WalkGroup(people, Rectangle(0, 0, side - free, side), 0)
    return WalkScene((room, opening, outside), (right_of(outside),), (group,), seconds, tile=tile)


# --- RiMEA 12: the flow through a bottleneck grows in proportion to its width ----------------------------------------

ROOM, LENGTH = 10.0, 5.0  # sides of both rooms, and what lies between them


def flow_through(run: WalkedScene, measures: Measures) -> float:
    return flow(middle(times_through(run, measures)))


def read_bottleneck(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    found = {width: flow_through(run, measures) / width for width, run in runs.items()}
    yield from (Reading(f"flow per metre, {width:g} m wide", value, LEAST, most(width), "people/(m s)", True)
                for width, value in found.items())
    narrow, wide = min(found), max(found)
    if wide > narrow:
        yield Reading(f"flow, {wide:g} m over {narrow:g} m", found[wide] * wide / (found[narrow] * narrow),
                      0.8 * wide / narrow, 1.2 * wide / narrow, "times", measured=True)


def plot_of_flow(flow: Callable[[float], float], style: str, label: str) -> Plot:
    """Return what plots people/s by width, m: those expected, and those of a publication."""
    def plot(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
        widths = np.array(sorted(next(iter(walkers.values()))))
        axes.fill_between(widths, LEAST * widths, widths * list(map(most, widths)), color="0.9", label="expected")
        axes.plot(widths, list(map(flow, widths)), style, color="0.4", label=label)

    return plot


FLOW_AXES = {"xlabel": "width, m", "ylabel": "flow, people/s", "ylim": (0, None)}
BOTTLENECK = ValidationExperiment(
    name="rimea-12",
    title="Flow through a bottleneck",
    about="150 people walk from a room of 10 m x 10 m through a corridor 5 m long. The flow is that of the"
          " middle 60%, in the middle of the corridor.",
    source="RiMEA, test 12. People per metre and second: 1.22 (Weidmann 1993), 1.3 (SFPE handbook), 1.6 to 1.8"
           " (Kretz 2006a), 1.9 and linear in the width (Seyfried 2009), up to 2.8 above 2 m (Liao 2014)",
    numbers=(1.0, 1.5, 2.0, 2.5, 3.0), short_numbers=(1.0, 2.0), read=read_bottleneck,
    scene=lambda width, short: room_with_opening(50 if short else 150, ROOM, width, 240, length=LENGTH, behind=ROOM, free=1),
    axes=FLOW_AXES, plot=plot_of_flow(lambda width: 1.9 * width, "-", "Seyfried 2009"), measure=flow_through)


# --- how long a room takes to empty, against the width of its door ---------------------------------------------------

FIRST_S, LAST_S = 1.0, 6.0  # until the first is at the door, and what the farthest may take longer


def seconds_to_empty(run: WalkedScene, measures: Measures) -> float:
    """Return when the last is through the door, inf when somebody never is."""
    through = times_through(run, measures)
    return float(through[-1]) if len(through) == run.scene.people else np.inf


def expected_seconds(width: float, people: int) -> tuple[float, float]:
    return FIRST_S + people / (most(width) * width), LAST_S + people / (LEAST * width)


def plot_evacuation(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    runs = next(iter(walkers.values()))
    bounds = np.array([expected_seconds(width, run.scene.people) for width, run in runs.items()]).T
    axes.fill_between(list(runs), *bounds, color="0.9", label="expected")


EVACUATION = ValidationExperiment(
    name="evacuation",
    title="A room that empties",
    about="100 people leave a room of 8 m x 8 m through a door 1 m to 3 m wide.",
    source="the flow of a bottleneck, after 1 s to start or 6 s for the longest way. It is proportional to the"
           " width (Seyfried 2009)",
    numbers=(1.0, 1.5, 2.0, 3.0), short_numbers=(1.0, 2.0),
    scene=lambda width, short: room_with_opening(40 if short else 100, 8.0, width, 240),
    read=lambda runs, measures: (
        Reading(f"time until the room is empty, door {width:g} m", seconds_to_empty(run, measures),
                *expected_seconds(width, run.scene.people), "s", True) for width, run in runs.items()),
    axes={"xlabel": "width of the door, m", "ylabel": "time until the room is empty, s", "ylim": (0, None)},
    plot=plot_evacuation, measure=seconds_to_empty)


# --- two hundred people leave through one door: no arch of people lasts before it ------------------------------------

WIDTH = 1.0
DEPTH = 0.3  # metres from breast to back, about: nobody can be nearer to somebody else
LASTING = 5.0  # seconds without anybody through the door


def read_door(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    run = runs[WIDTH]
    through = times_through(run, measures)
    yield Reading("people left behind", float(run.scene.people - len(through)), 0, 0, "", measured=True)
    yield Reading("flow per metre of the door", flow(middle(through)) / WIDTH, LEAST, MAX, "people/(m s)", measured=True)
    yield Reading(f"nearer to another person than {DEPTH:g} m", float(np.mean(nearest(run.walked) < DEPTH) * 100), 0, 1, "%")
    waited = np.inf if len(through) < run.scene.people else float(np.diff(through).max(initial=0.0))
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
    numbers=(WIDTH,), short_numbers=(WIDTH,), read=read_door,
    scene=lambda width, short: room_with_opening(60 if short else 200, 12.0, width, 300),
    axes={"xlabel": "time, s", "ylabel": "people through the door"}, plot=plot_door)


# --- bottlenecks wider than two metres, as in the Hermes experiments: a large crowd gets through a short one ---------

FLOWS = {2.4: 6.1, 3.0: 7.2, 3.6: 9.0, 4.4: 10.9, 5.0: 13.8}  # people/s by width in metres, in the experiment
TILES = {2.4: 0.6, 3.0: 0.5, 3.6: 0.6, 4.4: 0.55, 5.0: 0.5}  # of which the widths are multiples, metres
SIDE, PASSAGE, BEHIND = 12.0, 1.0, 4.0  # metres, about: in whole tiles


def wide_bottleneck(width: float, short: bool) -> WalkScene:
    """A room full of people, an opening in the middle of its right side, and behind it room enough."""
    tile = TILES[width]
    side, passage, behind = (round(length / tile) * tile for length in (SIDE, PASSAGE, BEHIND))
    return room_with_opening(120 if short else 350, side, width, 300, length=passage, behind=behind, free=1, tile=tile)


WIDE_BOTTLENECK = ValidationExperiment(
    name="hermes",
    title="Flow through a wide bottleneck",
    about="350 people leave a room of 12 m x 12 m through an opening 1 m long. The flow is that of the middle"
          " 60%.",
    source="2.4 to 2.8 in the Hermes experiments (Liao 2014). Here at least 1.2, as for narrow bottlenecks, and"
           " proportional to the width within 20%",
    numbers=tuple(FLOWS), short_numbers=(2.4,), scene=wide_bottleneck, read=read_bottleneck, axes=FLOW_AXES,
    plot=plot_of_flow(FLOWS.__getitem__, "s", "Hermes 2009"), measure=flow_through, role=HELD_OUT)


# --- two rooms and a corridor between them, or two corridors ----------------------------------------------------------

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
    source="IMO MSC.1/Circ.1533, test 8, also in ISO 20414: the time grows with the number of people, and no"
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
    source="at most 1.5 people per metre and second both ways, 2.0 one way (Zhang 2012). Both ways together"
           " pass more than one (Kretz 2006b). The splits are those of Feliciani (PLOS ONE e0208496)",
    numbers=tuple(width * 1000 + right for width in (2, 3, 4) for right in (ONE_WAY, *SPLITS)),
    short_numbers=(2000 + ONE_WAY, 2050), scene=queues, read=read_queues, plot=plot_queues,
    axes={"xlabel": "people who go to the right, %", "ylabel": "people per metre and second", "ylim": (0, None)}, role=NEW)


# --- RiMEA 14: people choose the shorter way, and a longer one when that is crowded ----------------------------------

FEW, MANY = 10, 100
SHORTER, LONGER = Rectangle(12, 1, 20, 2), Rectangle(12, 8, 20, 10)


def choice(people: float, short: bool) -> WalkScene:
    """From the upper half of a room to the upper corner of another, where the lower corridor is a detour."""
    room, other = Rectangle(0, 0, 12, 10), Rectangle(20, 0, 24, 10)
    return WalkScene((room, SHORTER, LONGER, other), (Exit(Rectangle(24, 0, 30, 3), (1, 0)),),
                     (WalkGroup(int(people), Rectangle(0, 0, 8, 5), 0),), 180)


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
    about="People walk from a room to the far corner of another one. The shorter way is a corridor 1 m wide; the"
          " detour, about 10 m longer, is a corridor 2 m wide.",
    source="RiMEA, test 14, without a number. Read as: with few people all take the shorter way. With 100 the"
           " last would wait for nearly a minute, so at least a tenth takes each way",
    numbers=(FEW, 30, MANY), short_numbers=(FEW, MANY), scene=choice, read=read_choice, measure=share_by_longer,
    axes={"xlabel": "people", "ylabel": "share by the longer way", "ylim": (0, 1)}, role=HELD_OUT)


# --- RiMEA 1: a person alone keeps the desired speed -----------------------------------------------------------------

SPEED, WAY, ACROSS = 1.33, 40.0, 2.0


def corridor(speed: float, short: bool) -> WalkScene:
    floor = Rectangle(-2, 0, WAY + 2, ACROSS)
    return WalkScene((floor,), (right_of(floor),), (WalkGroup(1, floor, 0, speed, ((-1.0, ACROSS / 2),)),), 60)


def read_corridor(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    walked = runs[SPEED].walked
    (_, begin), (_, end) = (measures.crossings(walked, Line(x, 0, x, ACROSS)) for x in (0, WAY))
    seconds = float(end[0] - begin[0]) if len(begin) and len(end) else float("nan")
    yield Reading("time for 40 m at 1.33 m/s", seconds, 26, 34, "s", measured=True)


def plot_corridor(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    for name, runs in walkers.items():
        walked = runs[SPEED].walked
        axes.plot(walked.frame / walked.fps, walked.x, label=name)
    begin = 1 / SPEED
    axes.fill_betweenx((0, WAY), (begin, begin + 26), (begin, begin + 34), color="0.9", label="expected")


CORRIDOR = ValidationExperiment(
    name="rimea-1",
    title="Speed in a corridor",
    about="One person with a desired speed of 1.33 m/s walks 40 m along a corridor 2 m wide.",
    source="RiMEA, test 1",
    numbers=(SPEED,), short_numbers=(SPEED,), scene=corridor, read=read_corridor,
    axes={"xlabel": "time, s", "ylabel": "way, m"}, plot=plot_corridor, role=HELD_OUT)


# --- RiMEA 6: people go round a corner and do not walk into its walls ------------------------------------------------

CORNER_PEOPLE, CORNER_WIDTH, LEG = 20, 2.0, 12.0


def corner(people: float, short: bool) -> WalkScene:
    """A corridor to the right, and from its end one upwards."""
    first = Rectangle(0, LEG - CORNER_WIDTH, LEG, LEG)
    second = Rectangle(LEG - CORNER_WIDTH, 0, LEG, LEG - CORNER_WIDTH)
    start = Rectangle(0, LEG - CORNER_WIDTH, 6, LEG)
    return WalkScene((first, second), (above(second),), (WalkGroup(int(people), start, 0),), 60)


def read_corner(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    run = runs[CORNER_PEOPLE]
    _, end = run.scene.floor
    people, times = measures.crossings(run.walked, Line(end.left, end.top + 0.5, end.right, end.top + 0.5))
    yield Reading("people who get round the corner", float(len(people)), CORNER_PEOPLE, CORNER_PEOPLE, "", measured=True)
    areas, margin = (*run.scene.floor, *(each.area for each in run.scene.exits)), 1e-3  # a border belongs to both sides
    inside = [Rectangle(left - margin, top - margin, right + margin, bottom + margin).holds(run.walked.x, run.walked.y)
              for left, top, right, bottom in areas]
    yield Reading("places in a wall", float(np.sum(~np.any(inside, axis=0))), 0, 0)
    # The farthest walks 6 m more than the first, and 17 m along the middle of the corridor; at 1.34 m/s, and with a queue.
    yield Reading("until the last is round", times[-1] if len(times) else np.inf, 10, 40, "s", measured=True)


def plot_corner(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    for number, (name, runs) in enumerate(walkers.items()):
        rows = runs[CORNER_PEOPLE].walked.by_person()
        for person in np.unique(rows.id):
            way = rows.id == person
            axes.plot(rows.x[way] + number * (LEG + 3), rows.y[way], color=f"C{number}", linewidth=0.6,
                      label=name if person == rows.id[0] else None)
        for part in runs[CORNER_PEOPLE].scene.floor:
            left = part.left + number * (LEG + 3)
            axes.fill_between((left, left + part.width), part.top, part.bottom, color="0.93", zorder=0)
    axes.invert_yaxis()


CORNER = ValidationExperiment(
    name="rimea-6",
    title="Around a corner",
    about="20 people in a corridor 2 m wide walk around a corner to the left.",
    source="RiMEA, test 6: no person walks through a wall. The farthest person walks 17 m, and queues"
           " for at most as long",
    numbers=(CORNER_PEOPLE,), short_numbers=(CORNER_PEOPLE,), scene=corner, read=read_corner,
    axes={"xlabel": "m", "ylabel": "m", "aspect": "equal"}, plot=plot_corner, role=HELD_OUT)


# --- two people who walk exactly against each other pass without touching, and lose hardly any time ------------------

MEETING_SPEED, MEETING_LENGTH, MEETING_WIDTH = 1.34, 12.0, 3.0
BODY = 0.46


def head_on(speed: float, short: bool) -> WalkScene:
    floor = Rectangle(-1, 0, MEETING_LENGTH + 1, MEETING_WIDTH)
    groups = tuple(WalkGroup(1, floor, exit_number, speed, ((x, MEETING_WIDTH / 2),))
                   for exit_number, x in enumerate((-0.5, MEETING_LENGTH + 0.5)))
    return WalkScene((floor,), (right_of(floor), left_of(floor)), groups, 30)


def read_head_on(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    walked = runs[MEETING_SPEED].walked
    yield Reading("nearest that they come", float(nearest(walked).min()), BODY, np.inf, "m")
    begins, ends = (dict(zip(*measures.crossings(walked, Line(x, 0, x, MEETING_WIDTH)), strict=True))
                    for x in (0, MEETING_LENGTH))
    times = [abs(ends[person] - begins[person]) for person in begins.keys() & ends.keys()]
    pace = MEETING_LENGTH / np.mean(times) / MEETING_SPEED if len(times) == 2 else 0.0
    yield Reading("speed over desired", float(pace), 0.9, np.inf, "", measured=True)


def plot_head_on(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    for number, (name, runs) in enumerate(walkers.items()):
        walked = runs[MEETING_SPEED].walked
        for person in (0, 1):
            rows = walked.id == np.unique(walked.id)[person]
            axes.plot(walked.x[rows], walked.y[rows], color=f"C{number}", label=name if person == 0 else None)


HEAD_ON = ValidationExperiment(
    name="head-on",
    title="Two people, straight against each other",
    about="Two people who want to walk at 1.34 m/s meet in the middle of a corridor 3 m wide.",
    source="bodies of 0.46 m do not touch; people evade early and hardly slow down (Moussaïd 2009)",
    numbers=(MEETING_SPEED,), short_numbers=(MEETING_SPEED,), scene=head_on, read=read_head_on,
    axes={"xlabel": "m", "ylabel": "m", "ylim": (0, MEETING_WIDTH)}, plot=plot_head_on)
