"""Two streams that cross at right angles go through each other without a jam."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.lab.validate.experiment import OWN, SPEED_STEP, Experiment, Measures, Reading, Run, Runs
from crowd_demo.lab.validate.scene import Group, Scene, above, right_of
from crowd_demo.lab.validate.weidmann import weidmann
from crowd_demo.measure.trajectories import Line, Rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, LEG = 4.0, 16.0  # of the corridors, before and behind the crossing
DENSITIES, SHORT_DENSITIES = (0.5, 1.0, 1.5), (1.0,)  # of each stream where it begins
SECONDS = 90.0
SCATTER = 0.3  # of the expected speed


def scenes(short: bool) -> Mapping[float, Scene]:
    return {density: scene(density) for density in (SHORT_DENSITIES if short else DENSITIES)}


def scene(density: float) -> Scene:
    """A corridor from left to right and one from below upwards; the crossing is a square with its corner at (0, 0)."""
    across, upwards = Rectangle(-LEG, 0, LEG, WIDTH), Rectangle(0, -LEG, WIDTH, LEG)
    left, below = Rectangle(-LEG, 0, -1, WIDTH), Rectangle(0, WIDTH + 1, WIDTH, LEG)
    groups = (Group(round(left.size * density), left, 0), Group(round(below.size * density), below, 1))
    return Scene((across, upwards), (right_of(across), above(upwards)), groups, SECONDS)


def busy(run: Run, measures: Measures) -> tuple[float, float]:
    """Return (people/m², m/s) in the crossing, while at least half as many are there as in its fullest second."""
    area = Rectangle(0, 0, WIDTH, WIDTH)
    found = measures.density(run.walked, area)
    smooth = np.convolve(found, np.ones(10) / 10, "same")
    frames = np.flatnonzero(smooth >= smooth.max() / 2) + run.walked.frame[0]
    ids, at, speeds = measures.speeds(run.walked, SPEED_STEP, None)
    inside = run.walked.chosen(area.holds(run.walked.x, run.walked.y))
    wanted = np.isin(_keys(ids, at), _keys(inside.id, inside.frame)) & np.isin(at, frames)
    return float(found[frames - run.walked.frame[0]].mean()), float(speeds[wanted].mean())


def _keys(ids: np.ndarray, frames: np.ndarray) -> np.ndarray:
    return ids * 1_000_000 + frames


def read(runs: Runs, measures: Measures) -> Iterator[Reading]:
    for start, run in runs.items():
        density, speed = busy(run, measures)
        expected = weidmann(density)
        yield Reading(f"streams of {start:g}/m²: speed over Weidmann's", speed / expected,
                      1 - SCATTER, 1 + SCATTER, "", measured=True)
        yield Reading(f"streams of {start:g}/m²: people who get across", across(run, measures), run.scene.people,
                      run.scene.people, "", measured=True)


def across(run: Run, measures: Measures) -> float:
    """Return how many have passed the crossing and go on as they want."""
    first = run.scene.groups[0].people
    to_right, _ = measures.crossings(run.walked, Line(WIDTH + 1, 0, WIDTH + 1, WIDTH))
    upwards, _ = measures.crossings(run.walked, Line(0, -1, WIDTH, -1))
    return float(np.sum(to_right < first) + np.sum(upwards >= first))


def plot(axes: Axes, walkers: Mapping[str, Runs]) -> None:
    x = np.linspace(0.1, 4)
    curve = np.array([weidmann(density) for density in x])
    axes.fill_between(x, curve * (1 - SCATTER), curve * (1 + SCATTER), color="0.9", label="expected")
    axes.plot(x, curve, color="0.4", label="Weidmann 1993")
    for name, runs in walkers.items():
        axes.plot(*np.array([busy(run, OWN) for run in runs.values()]).T, marker="o", label=name)
    axes.set(xlabel="people per m² in the crossing", ylabel="mean speed there, m/s", ylim=(0, None))


CROSSING = Experiment(
    name="crossing",
    title="Two streams that cross",
    about="Two streams in corridors 4 m wide cross at right angles. Speed and density are those in the square of the"
          " crossing while it is busy.",
    source="Streams that cross are about as fast as one stream of that density: Zhang and Seyfried, Comparison of"
           " intersecting pedestrian flows based on experiments, 2014; here Weidmann's curve, give or take 30 %. Nobody gets"
           " stuck",
    scenes=scenes, read=read, plot=plot)
