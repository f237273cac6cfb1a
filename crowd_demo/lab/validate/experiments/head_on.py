"""Two people who walk exactly against each other pass without touching and lose hardly any time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.lab.validate.experiment import Experiment, Measures, Reading, Runs
from crowd_demo.lab.validate.scene import Group, Scene, left_of, right_of
from crowd_demo.measure.trajectories import Line, Rectangle, nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPEED, LENGTH, WIDTH = 1.34, 12.0, 3.0
BODY = 0.46


def scenes(short: bool) -> Mapping[float, Scene]:
    floor = Rectangle(-1, 0, LENGTH + 1, WIDTH)
    groups = (Group(1, floor, 0, SPEED, ((-0.5, WIDTH / 2),)), Group(1, floor, 1, SPEED, ((LENGTH + 0.5, WIDTH / 2),)))
    return {SPEED: Scene((floor,), (right_of(floor), left_of(floor)), groups, 30)}


def read(runs: Runs, measures: Measures) -> Iterator[Reading]:
    walked = runs[SPEED].walked
    yield Reading("nearest that they come", float(nearest(walked).min()), BODY, np.inf, "m")
    begins, ends = (dict(zip(*measures.crossings(walked, Line(x, 0, x, WIDTH)), strict=True)) for x in (0, LENGTH))
    times = [abs(ends[person] - begins[person]) for person in begins.keys() & ends.keys()]
    pace = LENGTH / np.mean(times) / SPEED if len(times) == 2 else 0.0
    yield Reading("speed over desired", float(pace), 0.9, np.inf, "", measured=True)


def plot(axes: Axes, walkers: Mapping[str, Runs]) -> None:
    for number, (name, runs) in enumerate(walkers.items()):
        walked = runs[SPEED].walked
        for person in (0, 1):
            rows = walked.id == np.unique(walked.id)[person]
            axes.plot(walked.x[rows], walked.y[rows], color=f"C{number}", label=name if person == 0 else None)
    axes.set(xlabel="m", ylabel="m", ylim=(0, WIDTH))


HEAD_ON = Experiment(
    name="head-on",
    title="Two people, straight against each other",
    about="Two people who want to walk at 1.34 m/s walk against each other on the very middle of a corridor 3 m wide.",
    source="Bodies of 0.46 m do not touch. People evade early and hardly slow down: Moussaïd and others, Experimental study"
           " of the behavioural mechanisms underlying self-organization in human crowds, 2009",
    scenes=scenes, read=read, plot=plot)
