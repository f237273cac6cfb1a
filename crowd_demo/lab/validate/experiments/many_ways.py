"""Streams of two and of four directions: how fast they are, against Weidmann's curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.lab.validate.experiments.streams import (
    COUNTERFLOW_SCATTER,
    LEG,
    SAME_WAY,
    SCATTER_SHARE,
    WIDTH,
    busy,
    pace,
    plot_weidmann,
)
from crowd_demo.lab.validate.validation_experiment import (
    OWN,
    Measures,
    Reading,
    ValidationExperiment,
    WalkedScene,
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
from crowd_demo.measure.trajectories import Line, Rectangle
from crowd_demo.sim.fundamental_diagram import weidmann

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# --- two directions --------------------------------------------------------------------------------------------------

def both_ways(density: float, short: bool) -> WalkScene:
    groups = tuple(WalkGroup(round(density * SAME_WAY.size / 2), SAME_WAY, way) for way in (0, 1))
    return ring(SAME_WAY, groups, 30 if short else 60)


def read_both_ways(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    for density, run in runs.items():
        expected = float(weidmann(density))
        yield Reading(f"speed at {density:g} people/m²", pace(run, measures), max(expected - COUNTERFLOW_SCATTER, 0),
                      expected + COUNTERFLOW_SCATTER, "m/s", measured=True)


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
    numbers=(0.5, 1.0, 2.0, 3.0), short_numbers=(0.5, 2.0), scene=both_ways, read=read_both_ways, plot=plot_both_ways,
    added=True)


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


def across(run: WalkedScene, measures: Measures) -> float:
    """Return how many have passed the crossing and go on as they want."""
    beyond = (Line(WIDTH + 1, 0, WIDTH + 1, WIDTH), Line(-1, 0, -1, WIDTH), Line(0, -1, WIDTH, -1),
              Line(0, WIDTH + 1, WIDTH, WIDTH + 1))
    first, found = 0, 0
    for group, line in zip(run.scene.groups, beyond, strict=True):
        people, _ = measures.crossings(run.walked, line)
        found += int(np.sum((people >= first) & (people < first + group.people)))
        first += group.people
    return float(found)


def read_four_ways(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    for start, run in runs.items():
        density, speed = busy(run, measures)
        yield Reading(f"streams of {start:g}/m²: speed over Weidmann's", speed / float(weidmann(density)),
                      1 - SCATTER_SHARE, 1 + SCATTER_SHARE, "", measured=True)
        yield Reading(f"streams of {start:g}/m²: people who get across", across(run, measures), run.scene.people,
                      run.scene.people, "", measured=True)


def plot_four_ways(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    plot_weidmann(axes, np.linspace(0.1, 4), scatter_share=SCATTER_SHARE)
    for name, runs in walkers.items():
        axes.plot(*np.array([busy(run, OWN) for run in runs.values()]).T, marker="o", label=name)
    axes.set(xlabel="people per m² in the crossing", ylabel="mean speed there, m/s", ylim=(0, None))


FOUR_WAYS = ValidationExperiment(
    name="four-ways",
    title="Four streams that cross",
    about="Corridors 4 m wide cross at right angles, and a stream comes from each of the four sides. Speed and"
           " density are those in the square of the crossing while it is busy.",
    source="Zhang and Seyfried, Comparison of intersecting pedestrian flows based on experiments, 2014, and Cao and"
           " others, Fundamental diagrams for multidirectional pedestrian flows, 2017; here Weidmann's curve, give"
           " or take 30 %. Nobody gets stuck",
    numbers=(0.25, 0.5, 0.75), short_numbers=(0.25,), scene=four_ways, read=read_four_ways, plot=plot_four_ways,
    added=True)
