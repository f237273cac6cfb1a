"""Streams of two and of four directions: how fast they are, against Weidmann's curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.extras.lab.validate.experiments.streams import (
    COUNTERFLOW_SCATTER,
    LEG,
    SAME_WAY,
    WIDTH,
    pace,
    pace_reading,
    plot_crossing,
    plot_weidmann,
    read_crossing,
)
from crowd_demo.extras.lab.validate.validation_experiment import (
    OWN,
    Measures,
    Reading,
    ValidationExperiment,
    WalkedScenes,
    WalkGroup,
    WalkScene,
    above,
    below,
    left_of,
    plot_by_walker,
    right_of,
    ring,
)
from crowd_demo.measure.trajectories import Rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# --- two directions --------------------------------------------------------------------------------------------------

def both_ways(density: float, short: bool) -> WalkScene:
    groups = tuple(WalkGroup(round(density * SAME_WAY.size / 2), SAME_WAY, way) for way in (0, 1))
    return ring(SAME_WAY, groups, 30 if short else 60)


def read_both_ways(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    for density, run in runs.items():
        yield pace_reading(density, run, measures)


def plot_both_ways(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    plot_weidmann(axes, np.linspace(0.2, 4), COUNTERFLOW_SCATTER)
    plot_by_walker(axes, walkers, lambda density, run: pace(run, OWN))
    axes.set(xlabel="people per m²", ylabel="mean speed, m/s", ylim=(0, None))


BOTH_WAYS = ValidationExperiment(
    name="both-ways",
    title="Speed against density, both ways",
    about="As many people walk to the left as to the right along the corridor of the first diagram, 4 m wide and"
           " closed to a ring of 18 m. Speeds are everybody's along their own way in the last twenty seconds of a"
           " minute.",
    source="Zhang and Seyfried, Empirical characteristics of different types of pedestrian streams, 2013: up to 3"
           " people per m² streams of both ways are about as fast as those of one; here Weidmann's curve, give or"
           " take 0.3 m/s",
    numbers=(0.5, 1.0, 2.0, 3.0), short_numbers=(0.5, 2.0), scene=both_ways, read=read_both_ways, plot=plot_both_ways)


# --- four directions -------------------------------------------------------------------------------------------------

FROM_EXITS = 1.0  # metres that people begin before an exit that is not theirs


def four_ways(density: float, short: bool) -> WalkScene:
    """Two corridors that cross, each walked in both ways; the density is that of each stream."""
    across, upwards = Rectangle(-LEG, 0, LEG + WIDTH, WIDTH), Rectangle(0, -LEG, WIDTH, LEG + WIDTH)
    near, far = 1.0, LEG - FROM_EXITS
    starts = (Rectangle(-far, 0, -near, WIDTH), Rectangle(WIDTH + near, 0, WIDTH + far, WIDTH),
              Rectangle(0, WIDTH + near, WIDTH, WIDTH + far), Rectangle(0, -far, WIDTH, -near))
    groups = tuple(WalkGroup(round(start.size * density), start, number) for number, start in enumerate(starts))
    exits = right_of(across), left_of(across), above(upwards), below(upwards)
    return WalkScene((across, upwards), exits, groups, 90)


FOUR_WAYS = ValidationExperiment(
    name="four-ways",
    title="Four streams that cross",
    about="Corridors 4 m wide cross at right angles, and a stream comes from each of the four sides. Speed and"
           " density are those in the square of the crossing while it is busy.",
    source="Zhang and Seyfried, Comparison of intersecting pedestrian flows based on experiments, 2014, and Cao and"
           " others, Fundamental diagrams for multidirectional pedestrian flows, 2017; here Weidmann's curve, give"
           " or take 30 %. Nobody gets stuck",
    numbers=(0.25, 0.5, 0.75), short_numbers=(0.25,), scene=four_ways, read=read_crossing, plot=plot_crossing)
