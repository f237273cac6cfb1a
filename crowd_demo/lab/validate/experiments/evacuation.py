"""How long a room takes to empty, against the width of its door."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.lab.validate.experiment import OWN, Experiment, Measures, Reading, Run, Runs
from crowd_demo.lab.validate.experiments import door
from crowd_demo.lab.validate.experiments.bottleneck import LEAST, MOST
from crowd_demo.lab.validate.scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS, SHORT_WIDTHS = (1.0, 1.5, 2.0, 3.0), (1.0, 2.0)
PEOPLE, SHORT_PEOPLE, ROOM = 100, 40, 8.0
SECONDS = 240.0
FIRST_S, LAST_S = 1.0, 6.0  # until the first is at the door, and what the farthest may take longer


def scenes(short: bool) -> Mapping[float, Scene]:
    return {width: door.scene(SHORT_PEOPLE if short else PEOPLE, ROOM, width, SECONDS)
            for width in (SHORT_WIDTHS if short else WIDTHS)}


def seconds(run: Run, measures: Measures) -> float:
    """Return when the last is through the door, inf when somebody never is."""
    through = door.times(run, measures)
    return float(through[-1]) if len(through) == run.scene.people else np.inf


def expected(width: float, people: int) -> tuple[float, float]:
    return FIRST_S + people / (MOST * width), LAST_S + people / (LEAST * width)


def read(runs: Runs, measures: Measures) -> Iterator[Reading]:
    for width, run in runs.items():
        yield Reading(f"time until the room is empty, door {width:g} m", seconds(run, measures),
                      *expected(width, run.scene.people), "s", measured=True)


def plot(axes: Axes, walkers: Mapping[str, Runs]) -> None:
    runs = next(iter(walkers.values()))
    widths = sorted(runs)
    bounds = np.array([expected(width, runs[width].scene.people) for width in widths]).T
    axes.fill_between(widths, *bounds, color="0.9", label="expected")
    for name, found in walkers.items():
        axes.plot(widths, [seconds(found[width], OWN) for width in widths], marker="o", label=name)
    axes.set(xlabel="width of the door, m", ylabel="time until the room is empty, s", ylim=(0, None))


EVACUATION = Experiment(
    name="evacuation",
    title="A room that empties",
    about="100 people leave a room of 8 m x 8 m through a door 1 m to 3 m wide.",
    source="The people divided by the flow that is expected of a bottleneck (1.2 to 2 per metre and second), and a second to"
           " begin with or six for those who have the longest way; in proportion to the width, as in the evacuation"
           " experiments compared by Seyfried and others, 2009",
    scenes=scenes, read=read, plot=plot)
