"""RiMEA 4: how fast a crowd walks that is so dense (the fundamental diagram)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.lab.validate.experiment import SPEED_STEP, Experiment, Measures, Reading, Run, Runs
from crowd_demo.lab.validate.scene import Group, Scene, ring
from crowd_demo.lab.validate.weidmann import MOST_DENSE, weidmann
from crowd_demo.measure.trajectories import Rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DENSITIES, SHORT_DENSITIES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0), (0.5, 2.0, 4.0)
LENGTH, WIDTH = 18.0, 4.0
SECONDS, SHORT_SECONDS = 40.0, 20.0
MEASURED_S = 10.0  # at the end
SCATTER = 0.25  # m/s, about that of the field data compared by Seyfried and others


def scenes(short: bool) -> Mapping[float, Scene]:
    floor = Rectangle(0, 0, LENGTH, WIDTH)
    return {density: ring(floor, (Group(round(density * floor.size), floor, 0),), SHORT_SECONDS if short else SECONDS)
            for density in (SHORT_DENSITIES if short else DENSITIES)}


def read(runs: Runs, measures: Measures) -> Iterator[Reading]:
    for density, run in runs.items():
        expected = weidmann(density)
        yield Reading(f"speed at {density:g} people/m²", speed(run, measures), max(expected - SCATTER, 0),
                      expected + SCATTER, "m/s", measured=True)


def speed(run: Run, measures: Measures) -> float:
    """Return everybody's mean speed along the corridor at the end of the run."""
    end = run.walked.between(run.walked.end_s - MEASURED_S, run.walked.end_s)
    return float(np.mean(measures.speeds(end, SPEED_STEP, (1.0, 0.0))[2]))


def plot(axes: Axes, walkers: Mapping[str, Runs]) -> None:
    from crowd_demo.lab.validate.experiment import OWN

    x = np.linspace(0.2, MOST_DENSE, 60)
    curve = np.array([weidmann(density) for density in x])
    axes.fill_between(x, np.maximum(curve - SCATTER, 0), curve + SCATTER, color="0.9", label="expected")
    axes.plot(x, curve, color="0.4", label="Weidmann 1993")
    for name, runs in walkers.items():
        axes.plot(list(runs), [speed(run, OWN) for run in runs.values()], marker="o", label=name)
    axes.set(xlabel="people per m²", ylabel="mean speed, m/s", ylim=(0, None))


FUNDAMENTAL = Experiment(
    name="rimea-4",
    title="Speed against density",
    about="People all walk the same way along a corridor 4 m wide, closed to a ring of 18 m, so that the density stays what"
          " it is. Speeds are those along the corridor in the last ten of forty seconds.",
    source="RiMEA, test 4; the curve of Weidmann (Transporttechnik der Fussgänger, 1993), give or take 0.25 m/s, which is"
           " about the scatter of the field data compared by Seyfried and others (The fundamental diagram of pedestrian"
           " movement revisited, 2005)",
    scenes=scenes, read=read, plot=plot)
