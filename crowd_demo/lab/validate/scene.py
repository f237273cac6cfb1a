"""A scene: a floor, people with their starts and exits, and for how long; all in metres and seconds.

Whoever is on an exit is taken out. Goals lie at its far end, and nobody gets there: at a goal people would stand and wait.
"""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.measure.trajectories import Line, Rectangle

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


class Group(NamedTuple):
    """People who begin in the same area, or at given places, and leave by the same exit."""

    people: int
    start: Rectangle
    exit: int
    speed: float | None = None  # desired, m/s; None: as the model draws them
    places: tuple[Point, ...] | None = None


class Scene(NamedTuple):
    """What walks where. `ring`: the left end of the (only) floor is its right end, so nobody ever leaves."""

    floor: tuple[Rectangle, ...]
    exits: tuple[Exit, ...]
    groups: tuple[Group, ...]
    seconds: float
    ring: bool = False

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


def ring(floor: Rectangle, groups: tuple[Group, ...], seconds: float) -> Scene:
    """Return a corridor closed to a ring; exit 0 is to the right, exit 1 to the left."""
    gap = RING_MARGIN + RING_RUN
    return Scene((floor,), (right_of(floor, gap), left_of(floor, gap)), groups, seconds, ring=True)
