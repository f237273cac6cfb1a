"""Two hundred people leave through one door: no arch of people lasts before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.lab.validate.experiment import OWN, Experiment, Measures, Reading, Run, Runs
from crowd_demo.lab.validate.experiments.bottleneck import LEAST, MOST
from crowd_demo.lab.validate.scene import Group, Scene, gate, right_of
from crowd_demo.measure.trajectories import Rectangle, flow, longest_gap, middle, nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from crowd_demo.compute.arrays import Doubles

WIDTH, ROOM = 1.0, 12.0
PEOPLE, SHORT_PEOPLE = 200, 60
DEPTH = 0.3  # metres from breast to back, about: nobody can be nearer to somebody else
LASTING = 5.0  # seconds without anybody through the door
SECONDS = 300.0


def scenes(short: bool) -> Mapping[float, Scene]:
    return {WIDTH: scene(SHORT_PEOPLE if short else PEOPLE, ROOM, WIDTH, SECONDS)}


def scene(people: int, side: float, width: float, seconds: float) -> Scene:
    """A room with a door in the middle of its right side; behind it is room enough."""
    top = (side - width) / 2 // 0.5 * 0.5
    room, outside = Rectangle(0, 0, side, side), Rectangle(side + 0.5, 0, side + 4, side)
    door = Rectangle(side, top, side + 0.5, top + width)
    return Scene((room, door, outside), (right_of(outside),), (Group(people, Rectangle(0, 0, side - 2, side), 0),), seconds)


def times(run: Run, measures: Measures) -> Doubles:
    """Return when people pass the door, s."""
    return measures.crossings(run.walked, gate(run.scene.floor[1]))[1]


def read(runs: Runs, measures: Measures) -> Iterator[Reading]:
    run = runs[WIDTH]
    through = times(run, measures)
    yield Reading("people left behind", float(run.scene.people - len(through)), 0, 0, "", measured=True)
    yield Reading("flow per metre of the door", flow(middle(through)) / WIDTH, LEAST, MOST, "people/(m s)", measured=True)
    yield Reading(f"nearer to somebody than {DEPTH:g} m", float(np.mean(nearest(run.walked) < DEPTH) * 100), 0, 1, "%")
    waited = np.inf if len(through) < run.scene.people else longest_gap(through)
    yield Reading("longest time without anybody", waited, 0, LASTING, "s", measured=True)


def plot(axes: Axes, walkers: Mapping[str, Runs]) -> None:
    for name, runs in walkers.items():
        through = times(runs[WIDTH], OWN)
        axes.plot(through, np.arange(1, len(through) + 1), label=name)
    people = runs[WIDTH].scene.people
    seconds = np.linspace(0, people / LEAST)
    axes.fill_between(seconds, seconds * LEAST, np.minimum(seconds * MOST, people), color="0.9", label="expected")
    axes.set(xlabel="time, s", ylabel="people through the door", ylim=(0, people))


DOOR = Experiment(
    name="door",
    title="Two hundred through one door",
    about="200 people leave a room of 12 m x 12 m through a door 1 m wide. An arch of people before it lasts when nobody"
          " gets through for five seconds.",
    source="Flow as for the bottleneck. Arches form and break where people push: Helbing, Farkas and Vicsek, Simulating"
           " dynamical features of escape panic, 2000; Garcimartín and others, Flow of pedestrians through narrow doors with"
           " different competitiveness, 2016",
    scenes=scenes, read=read, plot=plot)
