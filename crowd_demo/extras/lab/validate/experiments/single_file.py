"""People who walk one behind the other and cannot overtake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.extras.lab.validate.experiments.streams import mean_speed
from crowd_demo.extras.lab.validate.validation_experiment import (
    OWN,
    Measures,
    Reading,
    ValidationExperiment,
    WalkedScene,
    WalkedScenes,
    WalkGroup,
    WalkScene,
    plot_by_walker,
    ring,
)
from crowd_demo.measure.trajectories import Rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LANE = Rectangle(0, 0, 24, 0.8)  # one tile wide: too narrow for two bodies of 0.46 m beside each other
FREE_SPEED, STANDING, TIME_GAP = 1.24, 0.36, 1.06  # m/s; metres; s
SCATTER = 0.25  # m/s


def single_file(density: float, short: bool) -> WalkScene:
    group = WalkGroup(round(density * LANE.width), LANE, 0, FREE_SPEED)
    return ring(LANE, (group,), 20 if short else 40)._replace(tile=LANE.height)


def expected_speed(density: float) -> float:
    """Return the speed of people in single file, m/s, from people/m: each needs 0.36 m, and 1.06 s of the way ahead."""
    return min(max((1 / density - STANDING) / TIME_GAP, 0.0), FREE_SPEED)


def overtaken(run: WalkedScene) -> float:
    """Return how many have gone past whoever was in front of them at the start, once around the ring included."""
    first, last = (run.walked.chosen(run.walked.frame == frame) for frame in (0, run.walked.frame[-1]))
    order = np.argsort(first.x)
    ahead = np.diff(last.x[order], append=last.x[order[0]] + run.scene.floor[0].width)
    return float(np.sum(ahead < 0))


def read_single_file(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    for density, run in runs.items():
        expected = expected_speed(density)
        yield Reading(f"speed at {density:g} people/m", mean_speed(run, measures), max(expected - SCATTER, 0),
                      expected + SCATTER, "m/s", measured=True)
    yield Reading("people who overtake somebody", sum(map(overtaken, runs.values())), 0, 0)


def plot_single_file(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    densities = np.linspace(0.3, 2.4)
    expected = np.array([expected_speed(density) for density in densities])
    axes.fill_between(densities, np.maximum(expected - SCATTER, 0), expected + SCATTER, color="0.9", label="expected")
    axes.plot(densities, expected, color="0.4", label="Seyfried 2005")
    plot_by_walker(axes, walkers, lambda density, run: mean_speed(run, OWN))
    axes.set(xlabel="people per m", ylabel="mean speed, m/s", ylim=(0, None))


SINGLE_FILE = ValidationExperiment(
    name="rimea-16",
    title="Speed in single file",
    about="People who want to walk at 1.24 m/s walk one behind the other along a corridor 0.8 m wide, closed to a"
           " ring of 24 m. Speeds are those of the last ten of forty seconds.",
    source="RiMEA, test 16; Seyfried, Steffen, Klingsch and Boltes, The fundamental diagram of pedestrian movement"
           " revisited, 2005: somebody who walks at v needs 0.36 m + 1.06 s v, up to the free speed of 1.24 m/s;"
           " give or take 0.25 m/s. Nobody can overtake",
    numbers=(0.5, 1.0, 1.5, 2.0), short_numbers=(0.5, 1.5), scene=single_file, read=read_single_file,
    plot=plot_single_file)
