"""People who walk against each other form lanes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.lab.validate.experiment import SPEED_STEP, Experiment, Measures, Reading, Run, Runs
from crowd_demo.lab.validate.scene import Group, Scene, ring
from crowd_demo.lab.validate.weidmann import weidmann
from crowd_demo.measure.trajectories import Rectangle, lane_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from crowd_demo.compute.arrays import Doubles

DENSITIES, SHORT_DENSITIES = (1.0, 1.5, 2.0), (1.0,)
LENGTH, WIDTH = 24.0, 5.0
SECONDS, SHORT_SECONDS = 60.0, 20.0
MEASURED_S = 20.0  # at the end
ORDER = 0.8
SCATTER = 0.3  # m/s


def scenes(short: bool) -> Mapping[float, Scene]:
    floor = Rectangle(0, 0, LENGTH, WIDTH)
    return {density: ring(floor, tuple(Group(round(density * floor.size / 2), floor, way) for way in (0, 1)),
                          SHORT_SECONDS if short else SECONDS)
            for density in (SHORT_DENSITIES if short else DENSITIES)}


def order(run: Run) -> tuple[Doubles, Doubles]:
    """Return (time, order of the lanes); a lane is three quarters of the mean distance of people to each side."""
    half_width = 0.75 / np.sqrt(run.scene.people / run.scene.floor[0].size)
    found = [(frame / run.walked.fps, lane_order(rows.y, rows.id < run.scene.groups[0].people, half_width))
             for frame, rows in run.walked.frames()]
    seconds, orders = np.array(found).T
    return seconds, orders


def pace(run: Run, measures: Measures) -> float:
    """Return the mean speed of all, each along their own way, at the end of the run, m/s."""
    end = run.walked.between(run.walked.end_s - MEASURED_S, run.walked.end_s)
    ids, _, found = measures.speeds(end, SPEED_STEP, (1.0, 0.0))
    return float(np.mean(np.where(ids < run.scene.groups[0].people, found, -found)))


def read(runs: Runs, measures: Measures) -> Iterator[Reading]:
    for density, run in runs.items():
        seconds, orders = order(run)
        at_end = float(np.mean(orders[seconds > seconds[-1] - MEASURED_S]))
        yield Reading(f"order of the lanes at {density:g} people/m²", at_end, ORDER, 1)
        yield Reading(f"speed at {density:g} people/m²", pace(run, measures), max(weidmann(density) - SCATTER, 0),
                      weidmann(density) + SCATTER, "m/s", measured=True)


def plot(axes: Axes, walkers: Mapping[str, Runs]) -> None:
    for number, (name, runs) in enumerate(walkers.items()):
        for density, style in zip(runs, ("-", "--", ":"), strict=False):
            axes.plot(*order(runs[density]), style, color=f"C{number}", linewidth=1, label=f"{name}, {density:g} people/m²")
    axes.axhspan(ORDER, 1, color="0.9", label="expected")
    axes.set(xlabel="time, s", ylabel="order of the lanes", ylim=(0, 1.02))


COUNTERFLOW = Experiment(
    name="counterflow",
    title="Lanes in counterflow",
    about="As many people walk to the left as to the right along a corridor 5 m wide, closed to a ring of 24 m; they begin"
          " mixed. The order is 1 when whoever walks in somebody's lane goes the same way, and near 0 for a mixture. It is"
          " the mean of the last twenty seconds of a minute.",
    source="Order as defined by Rex and Löwen (Lane formation in oppositely charged colloids driven by an electric field,"
           " 2007) and used for people by Nowak and Schadschneider (Quantitative analysis of pedestrian counterflow in a"
           " cellular automaton model, 2012), who speak of lanes above 0.8. Streams of both ways are about as fast as one of"
           " that density: Zhang and Seyfried, Empirical characteristics of different types of pedestrian streams, 2013; here"
           " Weidmann's curve, give or take 0.3 m/s",
    scenes=scenes, read=read, plot=plot)
