"""RiMEA 12: the flow through a bottleneck grows in proportion to its width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from crowd_demo.lab.validate.experiment import OWN, Experiment, Measures, Reading, Run, Runs
from crowd_demo.lab.validate.scene import Group, Scene, gate, right_of
from crowd_demo.measure.trajectories import Rectangle, flow, middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS, SHORT_WIDTHS = (1.0, 1.5, 2.0, 2.5, 3.0), (1.0, 2.0)
PEOPLE, SHORT_PEOPLE = 150, 50
ROOM, LENGTH = 10.0, 5.0  # sides of both rooms, and what lies between them
LEAST, MOST = 1.2, 2.0  # people/(m s)


def scenes(short: bool) -> Mapping[float, Scene]:
    return {width: scene(width, SHORT_PEOPLE if short else PEOPLE) for width in (SHORT_WIDTHS if short else WIDTHS)}


def scene(width: float, people: int) -> Scene:
    """A room, a corridor of that width in the middle of its right side, and a room to leave by."""
    top = (ROOM - width) / 2 // 0.5 * 0.5
    first, second = Rectangle(0, 0, ROOM, ROOM), Rectangle(ROOM + LENGTH, 0, 2 * ROOM + LENGTH, ROOM)
    between = Rectangle(ROOM, top, ROOM + LENGTH, top + width)
    return Scene((first, between, second), (right_of(second),), (Group(people, Rectangle(0, 0, ROOM - 1, ROOM), 0),), 240)


def specific_flow(width: float, run: Run, measures: Measures) -> float:
    """Return the flow through the middle of the bottleneck per metre of its width, people/(m s)."""
    _, times = measures.crossings(run.walked, gate(run.scene.floor[1]))
    return flow(middle(times)) / width


def read(runs: Runs, measures: Measures) -> Iterator[Reading]:
    found = {width: specific_flow(width, run, measures) for width, run in runs.items()}
    for width, value in found.items():
        yield Reading(f"flow per metre, {width:g} m wide", value, LEAST, MOST, "people/(m s)", measured=True)
    narrow, wide = min(found), max(found)
    yield Reading(f"flow, {wide:g} m over {narrow:g} m", found[wide] * wide / (found[narrow] * narrow),
                  0.8 * wide / narrow, 1.2 * wide / narrow, "times", measured=True)


def plot(axes: Axes, walkers: Mapping[str, Runs]) -> None:
    widths = sorted(next(iter(walkers.values())))
    axes.fill_between(widths, [LEAST * width for width in widths], [MOST * width for width in widths], color="0.9",
                      label="expected")
    axes.plot(widths, [1.9 * width for width in widths], color="0.4", label="Seyfried 2009")
    for name, runs in walkers.items():
        axes.plot(list(runs), [specific_flow(width, run, OWN) * width for width, run in runs.items()], marker="o", label=name)
    axes.set(xlabel="width, m", ylabel="flow, people/s", ylim=(0, None))


BOTTLENECK = Experiment(
    name="rimea-12",
    title="Flow through a bottleneck",
    about="150 people walk from a room of 10 m x 10 m through a corridor 5 m long into another room. The flow is that of the"
          " middle 60 % of them, in the middle of the corridor.",
    source="RiMEA, test 12. People per metre and second: 1.22 by Weidmann 1993, 1.3 by the SFPE handbook, 1.6 to 1.8 by"
           " Kretz, Grünebohm and Schreckenberg (Experimental study of pedestrian flow through a bottleneck, 2006), 1.9 by"
           " Seyfried and others (New insights into pedestrian flow through bottlenecks, 2009), whose flow grows linearly"
           " with the width",
    scenes=scenes, read=read, plot=plot)
