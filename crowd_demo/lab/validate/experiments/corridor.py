"""RiMEA 1: somebody alone in a corridor keeps the desired speed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from crowd_demo.lab.validate.experiment import Experiment, Measures, Reading, Runs
from crowd_demo.lab.validate.scene import Group, Scene, right_of
from crowd_demo.measure.trajectories import Line, Rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPEED, LENGTH, WIDTH = 1.33, 40.0, 2.0


def scenes(short: bool) -> Mapping[float, Scene]:
    floor = Rectangle(-2, 0, LENGTH + 2, WIDTH)
    walker = Group(1, floor, 0, SPEED, ((-1.0, WIDTH / 2),))
    return {SPEED: Scene((floor,), (right_of(floor),), (walker,), 60)}


def read(runs: Runs, measures: Measures) -> Iterator[Reading]:
    walked = runs[SPEED].walked
    (_, begin), (_, end) = (measures.crossings(walked, Line(x, 0, x, WIDTH)) for x in (0, LENGTH))
    seconds = float(end[0] - begin[0]) if len(begin) and len(end) else float("nan")
    yield Reading("time for 40 m at 1.33 m/s", seconds, 26, 34, "s", measured=True)


def plot(axes: Axes, walkers: Mapping[str, Runs]) -> None:
    for name, runs in walkers.items():
        walked = runs[SPEED].walked
        axes.plot(walked.frame / walked.fps, walked.x, label=name)
    begin = 1 / SPEED
    axes.fill_betweenx((0, LENGTH), (begin, begin + 26), (begin, begin + 34), color="0.9", label="expected")
    axes.set(xlabel="time, s", ylabel="way, m")


CORRIDOR = Experiment(
    name="rimea-1",
    title="Speed in a corridor",
    about="One person with a desired speed of 1.33 m/s walks 40 m along a corridor 2 m wide.",
    source="RiMEA, Guideline for Microscopic Evacuation Analysis, test 1",
    scenes=scenes, read=read, plot=plot)
