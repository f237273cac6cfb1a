"""What an experiment is: scenes, what is read from how people walked them, what the literature expects, and a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crowd_demo.compute.arrays import Doubles, Longs
from crowd_demo.lab.validate.walk_scene import WalkScene
from crowd_demo.measure.trajectories import Line, Rectangle, Trajectories, crossings, density, speeds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPEED_STEP = 5  # frames: speeds are those of a second


class Measures(NamedTuple):
    """The measures that PedPy has, too."""

    crossings: Callable[[Trajectories, Line], tuple[Longs, Doubles]]
    speeds: Callable[[Trajectories, int, tuple[float, float] | None], tuple[Longs, Longs, Doubles]]
    density: Callable[[Trajectories, Rectangle], Doubles]


OWN = Measures(crossings, speeds, density)


class WalkedScene(NamedTuple):
    """A scene, and how somebody walked it."""

    scene: WalkScene
    walked: Trajectories


WalkedScenes = Mapping[float, WalkedScene]  # by what the scenes of an experiment differ in: a width, a density


class Reading(NamedTuple):
    """A number, and between which two the literature expects it. `measured`: by a measure that PedPy has, too."""

    what: str
    value: float
    low: float
    high: float
    unit: str = ""
    measured: bool = False

    @property
    def passes(self) -> bool:
        return self.low <= self.value <= self.high

    @property
    def expected(self) -> str:
        if self.high == math.inf:
            return f"at least {number(self.low)}"
        if self.low in (0, -math.inf):
            return f"at most {number(self.high)}"
        return number(self.low) if self.low == self.high else f"{number(self.low)} to {number(self.high)}"


@dataclass(frozen=True)
class ValidationExperiment:
    """One entry of the registry. Its scenes differ in a number, such as a density or a width."""

    name: str
    title: str
    about: str
    source: str
    numbers: tuple[float, ...]
    short_numbers: tuple[float, ...]  # of the short form, whose scenes may be smaller, too
    scene: Callable[[float, bool], WalkScene]  # of a number; True for the short form
    read: Callable[[WalkedScenes, Measures], Iterable[Reading]]
    plot: Callable[[Axes, Mapping[str, WalkedScenes]], None]

    def scenes(self, short: bool) -> dict[float, WalkScene]:
        return {number: self.scene(number, short) for number in (self.short_numbers if short else self.numbers)}


def number(value: float) -> str:
    """With three digits; a time that nobody has seen the end of is never."""
    return "none" if math.isnan(value) else "never" if value == math.inf else f"{value:.3g}"


def plot_by_walker(axes: Axes, walkers: Mapping[str, WalkedScenes], measure: Callable[[float, WalkedScene], float]) -> None:
    """A line for each walker: what is measured in each scene, over what the scenes differ in."""
    for name, runs in walkers.items():
        axes.plot(list(runs), [measure(key, run) for key, run in runs.items()], marker="o", label=name)
