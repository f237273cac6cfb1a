"""RiMEA 6: people go round a corner and do not walk into its walls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.lab.validate.experiment import Experiment, Measures, Reading, Run, Runs
from crowd_demo.lab.validate.scene import Group, Scene, above
from crowd_demo.measure.trajectories import Line, Rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PEOPLE, WIDTH, LEG = 20, 2.0, 12.0
SECONDS = 60.0


def scenes(short: bool) -> Mapping[float, Scene]:
    """A corridor to the right, and from its end one upwards."""
    first = Rectangle(0, LEG - WIDTH, LEG, LEG)
    second = Rectangle(LEG - WIDTH, 0, LEG, LEG - WIDTH)
    group = Group(PEOPLE, Rectangle(0, LEG - WIDTH, 6, LEG), 0)
    return {PEOPLE: Scene((first, second), (above(second),), (group,), SECONDS)}


def read(runs: Runs, measures: Measures) -> Iterator[Reading]:
    run = runs[PEOPLE]
    _, end = run.scene.floor
    people, times = measures.crossings(run.walked, Line(end.left, end.top + 0.5, end.right, end.top + 0.5))
    yield Reading("people who get round the corner", float(len(people)), PEOPLE, PEOPLE, "", measured=True)
    yield Reading("places in a wall", in_walls(run), 0, 0)
    # The farthest walks 6 m more than the first, and 17 m along the middle of the corridor; at 1.34 m/s, and with a queue.
    yield Reading("until the last is round", times[-1] if len(times) else np.inf, 10, 40, "s", measured=True)


def in_walls(run: Run) -> float:
    """Return how many recorded places lie outside the floor and the exit."""
    areas = *run.scene.floor, *(each.area for each in run.scene.exits)
    margin = 1e-3  # metres: a border belongs to both of its sides
    inside = np.zeros(len(run.walked.x), bool)
    for area in areas:
        grown = Rectangle(area.left - margin, area.top - margin, area.right + margin, area.bottom + margin)
        inside |= grown.holds(run.walked.x, run.walked.y)
    return float(np.sum(~inside))


def plot(axes: Axes, walkers: Mapping[str, Runs]) -> None:
    for number, (name, runs) in enumerate(walkers.items()):
        rows = runs[PEOPLE].walked.by_person()
        for person in np.unique(rows.id):
            way = rows.id == person
            axes.plot(rows.x[way] + number * (LEG + 3), rows.y[way], color=f"C{number}", linewidth=0.6,
                      label=name if person == rows.id[0] else None)
        for part in runs[PEOPLE].scene.floor:
            left = part.left + number * (LEG + 3)
            axes.fill_between((left, left + part.width), part.top, part.bottom, color="0.93", zorder=0)
    axes.set(xlabel="m", ylabel="m", aspect="equal")
    axes.invert_yaxis()


CORNER = Experiment(
    name="rimea-6",
    title="Around a corner",
    about="20 people in a corridor 2 m wide walk around a corner to the left.",
    source="RiMEA, test 6: all get round the corner without walking through a wall. The time is that of the farthest, who"
           " has 17 m to go, with a queue at most as long again",
    scenes=scenes, read=read, plot=plot)
