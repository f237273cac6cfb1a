"""An experiment: scenes, what is read from how people walked them, what the literature expects, and a picture.

A scene is a floor, people with their starts and exits, and for how long; all in metres and seconds. Where its people
begin is the same in every program that walks it; for this program it becomes a map of tiles. Whoever is on an exit is
taken out. Goals lie at its far end, and nobody gets there: at a goal people would stand and wait.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Doubles, Floats, Longs
from crowd_demo.config.maps import MARKS
from crowd_demo.config.section import UNITS_A_METRE
from crowd_demo.extras.trajectories import Rectangle, Trajectories, crossings, density, speeds
from crowd_demo.sim.fundamental_diagram import Line

Axes = Any  # of matplotlib, which is optional
FITTED, HELD_OUT, NEW = "fitted", "held out", "new, held out"  # roles: whether numbers of slow_down were fitted to it
SPEED_STEP = 5  # frames: speeds are those of a second


class Measures(NamedTuple):
    """The measures that PedPy has, too."""

    crossings: Callable[[Trajectories, Line], tuple[Longs, Doubles]]
    speeds: Callable[[Trajectories, int, tuple[float, float] | None], tuple[Longs, Longs, Doubles]]
    density: Callable[[Trajectories, Rectangle], Doubles]


OWN = Measures(crossings, speeds, density)


class WalkedScene(NamedTuple):
    scene: WalkScene
    walked: Trajectories


WalkedScenes = Mapping[float, WalkedScene]  # by what the scenes of an experiment differ in: a width, a density
Plot = Callable[[Axes, Mapping[str, WalkedScenes]], None]  # of what was walked, by the walkers' names


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


class SeededReading(NamedTuple):
    """The same number by seed: it passes only if that of every seed does."""

    readings: tuple[Reading, ...]

    @property
    def what(self) -> str:
        return self.readings[0].what

    @property
    def values(self) -> list[float]:
        return [float(reading.value) for reading in self.readings]

    @property
    def ordered(self) -> list[float]:
        return sorted(self.values, key=lambda value: (math.isnan(value), value))

    @property
    def median(self) -> float:
        """The lower one of two."""
        return self.ordered[(len(self.readings) - 1) // 2]

    @property
    def passes(self) -> bool:
        return all(reading.passes for reading in self.readings)

    @property
    def verdict(self) -> str:
        return "passed" if self.passes else "failed"

    def __str__(self) -> str:
        """The median, and the least and the most where they differ: `1.12 (1.08 to 1.15)`."""
        least, most = number(self.ordered[0]), number(self.ordered[-1])
        return number(self.median) + (f" ({least} to {most})" if least != most else "")


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
    axes: Mapping[str, object]  # of the picture: their labels and limits
    plot: Plot = lambda axes, walkers: None  # what is expected, and more
    measure: Callable[[WalkedScene, Measures], float] | None = None  # of each scene: a line for each walker
    role: str = FITTED

    def scenes(self, short: bool) -> dict[float, WalkScene]:
        return {number: self.scene(number, short) for number in (self.short_numbers if short else self.numbers)}

    def draw(self, axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
        """Draw the results of all walkers, over the parameter of the scenes or over time."""
        self.plot(axes, walkers)
        if self.measure:
            for name, runs in walkers.items():
                axes.plot(list(runs), [self.measure(run, OWN) for run in runs.values()], marker="o", label=name)
        axes.set(**self.axes)


def number(value: float) -> str:
    """With three digits; a time that nobody has seen the end of is never."""
    return "none" if math.isnan(value) else "never" if value == math.inf else f"{value:.3g}"


# --- scenes ----------------------------------------------------------------------------------------------------------

TILE = 0.5  # metres: doors and corridors are multiples of a tile; a narrower one would let bodies come nearer to walls
FROM_WALLS = 0.25  # metres
JITTER = 0.075  # of the distance between neighbours, each way
MEAN_SPEED, SPEED_SPREAD = 1.34, 0.26  # Weidmann 1993, m/s
EXIT_DEPTH = 6.0  # more than the distance at which people who are stuck count as arrived
RING_MARGIN = 3.0  # beyond the ends of a ring: farther than anybody looks
RING_RUN = 25.0  # from there to the goals: farther than anybody walks before they are brought back

Point = tuple[float, float]


class Exit(NamedTuple):
    """People who want to leave walk `towards` this area, a unit vector along an axis."""

    area: Rectangle
    towards: Point

    def goal(self, x: float, y: float) -> Point:
        """Return the goal of somebody who begins at (x, y): straight on, as far as the area allows, at its far end."""
        area, edge = self.area, 0.5
        far_x = {1: area.right - edge, -1: area.left + edge}.get(round(self.towards[0]), x)
        far_y = {1: area.bottom - edge, -1: area.top + edge}.get(round(self.towards[1]), y)
        return (min(max(far_x, area.left + edge), area.right - edge), min(max(far_y, area.top + edge), area.bottom - edge))


class WalkGroup(NamedTuple):
    """People who begin in the same area, or at given places, and leave by the same exit."""

    people: int
    start: Rectangle
    exit: int
    speed: float | None = None  # desired, m/s; None: as the model draws them
    places: tuple[Point, ...] | None = None


class WalkScene(NamedTuple):
    """What walks where. `ring`: the left end of the (only) floor is its right end, so nobody ever leaves.

    All borders are multiples of `tile`, metres.
    """

    floor: tuple[Rectangle, ...]
    exits: tuple[Exit, ...]
    groups: tuple[WalkGroup, ...]
    seconds: float
    ring: bool = False
    tile: float = TILE

    @property
    def people(self) -> int:
        return sum(group.people for group in self.groups)

    @property
    def bounds(self) -> Rectangle:
        every = *self.floor, *(each.area for each in self.exits)
        return Rectangle(min(part.left for part in every), min(part.top for part in every),
                         max(part.right for part in every), max(part.bottom for part in every))


def gate(passage: Rectangle) -> Line:
    """Return a line from wall to wall in the middle of a passage that leads to the right.

    It reaches into the walls, for who slides along one may be on its very border.
    """
    middle, into = (passage.left + passage.right) / 2, 0.1
    return Line(middle, passage.top - into, middle, passage.bottom + into)


def right_of(floor: Rectangle, gap: float = 0.0) -> Exit:
    """Return an exit along the whole right side of a floor, or so far beyond it."""
    return Exit(Rectangle(floor.right + gap, floor.top, floor.right + gap + EXIT_DEPTH, floor.bottom), (1, 0))


def left_of(floor: Rectangle, gap: float = 0.0) -> Exit:
    return Exit(Rectangle(floor.left - gap - EXIT_DEPTH, floor.top, floor.left - gap, floor.bottom), (-1, 0))


def above(floor: Rectangle) -> Exit:
    return Exit(Rectangle(floor.left, floor.top - EXIT_DEPTH, floor.right, floor.top), (0, -1))


def below(floor: Rectangle) -> Exit:
    return Exit(Rectangle(floor.left, floor.bottom, floor.right, floor.bottom + EXIT_DEPTH), (0, 1))


def ring(floor: Rectangle, groups: tuple[WalkGroup, ...], seconds: float) -> WalkScene:
    """Return a corridor closed to a ring; exit 0 is to the right, exit 1 to the left."""
    gap = RING_MARGIN + RING_RUN
    return WalkScene((floor,), (right_of(floor, gap), left_of(floor, gap)), groups, seconds, ring=True)


# --- where people begin ------------------------------------------------------------------------------------------------

class PlacedPeople(NamedTuple):
    """People by id, 0, 1, 2, ...: those of the first group first. Metres, m/s."""

    x: Doubles
    y: Doubles
    speed: Doubles
    group: Longs
    goal_x: Doubles
    goal_y: Doubles


def placed(scene: WalkScene, seed: int = 1) -> PlacedPeople:
    rng, starts = np.random.default_rng(seed), list[Point]()
    for group in scene.groups:
        starts += group.places or _starts(group, rng)
    number = np.repeat(np.arange(len(scene.groups)), [group.people for group in scene.groups])
    drawn = np.clip(rng.normal(MEAN_SPEED, SPEED_SPREAD, len(starts)), MEAN_SPEED / 3, MEAN_SPEED * 5 / 3)
    given = np.array([np.nan if group.speed is None else group.speed for group in scene.groups])[number]
    goals = [scene.exits[scene.groups[group].exit].goal(x, y) for group, (x, y) in zip(number, starts, strict=True)]
    (x, y), (goal_x, goal_y) = np.array(starts, float).T, np.array(goals, float).T
    return PlacedPeople(x, y, np.where(np.isnan(given), drawn, given), number, goal_x, goal_y)


def _starts(group: WalkGroup, rng: np.random.Generator) -> list[Point]:
    """Return positions near those of rows and columns that are as far apart as the area allows."""
    area, people = group.start, group.people
    width, height = max(area.width - 2 * FROM_WALLS, 0.0), max(area.height - 2 * FROM_WALLS, 0.0)
    shape = min(((columns, -(-people // columns)) for columns in range(1, people + 1)),
                key=lambda shape: abs(width / max(shape[0] - 1, 0.5) - height / max(shape[1] - 1, 0.5)))
    x, y = (low + FROM_WALLS + (np.arange(count) + 0.5) * side / count
            for low, side, count in ((area.left, width, shape[0]), (area.top, height, shape[1])))
    spots, most = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), JITTER * math.sqrt(area.size / people)
    chosen = spots[rng.permutation(len(spots))[:people]] + rng.uniform(-most, most, (people, 2))
    return [(float(x), float(y)) for x, y in chosen]


# --- as a map of tiles -----------------------------------------------------------------------------------------------

class SceneMap:
    """The part of the plane that the map of a scene covers, `area`: everything in it, and a tile of wall around that."""

    def __init__(self, scene: WalkScene) -> None:
        left, top, right, bottom = scene.bounds
        self.scene, tile = scene, scene.tile
        self.area = Rectangle(*(math.floor(low / tile) * tile - tile for low in (left, top)),
                              *(math.ceil(high / tile) * tile + tile for high in (right, bottom)))

    def text(self) -> str:
        """Return the text of a .map file: tiles with their middle on the floor are free, exits are destinations."""
        area, scene, tile = self.area, self.scene, self.scene.tile
        columns, rows = round(area.width / tile), round(area.height / tile)
        x, y = np.meshgrid(area.left + (np.arange(columns) + 0.5) * tile, area.top + (np.arange(rows) + 0.5) * tile)
        tiles = np.full((rows, columns), "@")
        for part in [scene.bounds] if scene.ring else scene.floor:
            tiles[part.holds(x, y)] = "."
        for mark, each in zip(MARKS, scene.exits, strict=False):
            tiles[each.area.holds(x, y)] = mark
        return "\n".join([f"type octile\nheight {rows}\nwidth {columns}\nmap", *map("".join, tiles.tolist()), ""])

    def metres(self, x: Floats, y: Floats) -> tuple[Doubles, Doubles]:
        return x.astype(float) / UNITS_A_METRE + self.area.left, y.astype(float) / UNITS_A_METRE + self.area.top

    def units(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        across, down = np.asarray(x, float) - self.area.left, np.asarray(y, float) - self.area.top
        return (across * UNITS_A_METRE).astype(np.float32), (down * UNITS_A_METRE).astype(np.float32)
