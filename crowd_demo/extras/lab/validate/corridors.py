"""A few people in a corridor: somebody alone, around a corner, and two who walk against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from crowd_demo.extras.lab.validate.validation_experiment import (
    HELD_OUT,
    Axes,
    Measures,
    Reading,
    ValidationExperiment,
    WalkedScene,
    WalkedScenes,
    WalkGroup,
    WalkScene,
    above,
    left_of,
    right_of,
)
from crowd_demo.extras.trajectories import Rectangle, nearest
from crowd_demo.sim.fundamental_diagram import Line

# --- RiMEA 1: somebody alone keeps the desired speed -----------------------------------------------------------------

SPEED, LENGTH, WIDTH = 1.33, 40.0, 2.0


def corridor(speed: float, short: bool) -> WalkScene:
    floor = Rectangle(-2, 0, LENGTH + 2, WIDTH)
    return WalkScene((floor,), (right_of(floor),), (WalkGroup(1, floor, 0, speed, ((-1.0, WIDTH / 2),)),), 60)


def read_corridor(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    walked = runs[SPEED].walked
    (_, begin), (_, end) = (measures.crossings(walked, Line(x, 0, x, WIDTH)) for x in (0, LENGTH))
    seconds = float(end[0] - begin[0]) if len(begin) and len(end) else float("nan")
    yield Reading("time for 40 m at 1.33 m/s", seconds, 26, 34, "s", measured=True)


def plot_corridor(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    for name, runs in walkers.items():
        walked = runs[SPEED].walked
        axes.plot(walked.frame / walked.fps, walked.x, label=name)
    begin = 1 / SPEED
    axes.fill_betweenx((0, LENGTH), (begin, begin + 26), (begin, begin + 34), color="0.9", label="expected")


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
    group = WalkGroup(int(people), Rectangle(0, LEG - CORNER_WIDTH, 6, LEG), 0)
    return WalkScene((first, second), (above(second),), (group,), 60)


def read_corner(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    run = runs[CORNER_PEOPLE]
    _, end = run.scene.floor
    people, times = measures.crossings(run.walked, Line(end.left, end.top + 0.5, end.right, end.top + 0.5))
    yield Reading("people who get round the corner", float(len(people)), CORNER_PEOPLE, CORNER_PEOPLE, "", measured=True)
    yield Reading("places in a wall", in_walls(run), 0, 0)
    # The farthest walks 6 m more than the first, and 17 m along the middle of the corridor; at 1.34 m/s, and with a queue.
    yield Reading("until the last is round", times[-1] if len(times) else np.inf, 10, 40, "s", measured=True)


def in_walls(run: WalkedScene) -> float:
    """Return how many recorded positions lie outside the floor and the exit."""
    margin = 1e-3  # metres: a border belongs to both of its sides
    areas = (*run.scene.floor, *(each.area for each in run.scene.exits))
    inside = [Rectangle(left - margin, top - margin, right + margin, bottom + margin).holds(run.walked.x, run.walked.y)
              for left, top, right, bottom in areas]
    return float(np.sum(~np.any(inside, axis=0)))


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
