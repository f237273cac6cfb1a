"""The walkable area as polygons: the outlines of its tiles, in Well-Known Text (OGC 06-103r4).

A polygon is an area of free tiles that touch by their sides, with a hole for each part of it that is blocked. Its rings
are simple, also where tiles touch by their corners: there two holes, or a hole and the outer ring, share a point.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Ints, Longs
from crowd_demo.config.maps import Origin
from crowd_demo.extras.export.sources import AT_ZERO, Frame, measured_ways, origin_of
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.tiles import Walls

DIGITS = 9  # of corners of tiles: metres and world units have no more that mean anything
Corner = tuple[int, int]  # column and row of a corner of tiles
SIDES = (  # of a tile: to its neighbour (rows, columns), and the ends of the side (columns, rows), the tile on the left
    ((-1, 0), (0, 0), (1, 0)), ((0, 1), (1, 0), (1, 1)), ((1, 0), (1, 1), (0, 1)), ((0, -1), (0, 1), (0, 0)))


def outlines(tiles: Bools) -> list[Longs]:
    """Return the rings of one area of tiles, bool[H, W]: corners int64[k, 2] as (column, row), the last one not repeated.

    The first ring is the outer one; the others are holes, and run the other way round. O(sides).
    """
    ends = defaultdict[Corner, list[Corner]](list)
    for begin, end in _sides(tiles):
        ends[begin].append(end)
    rings = []
    while ends:
        ring = [next(iter(ends))]
        while len(ring) == 1 or ring[-1] != ring[0]:
            ring.append(_onward(ends, ring))
        corners = np.array(ring[:-1], np.int64)
        onward = np.roll(corners, -1, axis=0) - corners
        rings.append(corners[(onward != np.roll(onward, 1, axis=0)).any(axis=1)])  # without those where it goes straight on
    return sorted(rings, key=lambda ring: -doubled_area(ring))


def doubled_area(ring: Longs) -> int:
    """Twice the area in a ring, below 0 for a hole."""
    (x, y), (to_x, to_y) = ring.T, np.roll(ring, -1, axis=0).T
    return int((x * to_y - to_x * y).sum())


def _sides(tiles: Bools) -> Iterator[tuple[Corner, Corner]]:
    """Yield the sides of tiles behind which there is none."""
    padded, (rows, columns) = np.pad(tiles, 1), tiles.shape
    for (down, right), begin, end in SIDES:
        neighbour = padded[1 + down:1 + down + rows, 1 + right:1 + right + columns]
        for row, column in np.argwhere(tiles & ~neighbour).tolist():
            yield (column + begin[0], row + begin[1]), (column + end[0], row + end[1])


def _onward(ends: dict[Corner, list[Corner]], ring: list[Corner]) -> Corner:
    """Take the next side of a ring. Where tiles touch by a corner it turns to the right, across the corner, so that no ring
    meets itself: two tiles of one area are also joined elsewhere."""
    here = ring[-1]
    choices = ends[here]
    if len(choices) > 1 and len(ring) > 1:
        along = here[0] - ring[-2][0], here[1] - ring[-2][1]
        choices.sort(key=lambda there: along[0] * (there[1] - here[1]) - along[1] * (there[0] - here[0]), reverse=True)
    there = choices.pop()
    if not choices:
        del ends[here]
    return there


# --- as text -----------------------------------------------------------------------------------------------------------

def well_known_text(areas: Sequence[Sequence[Doubles]]) -> str:
    """Return POLYGON or MULTIPOLYGON of areas with their rings, float64[n, 2], whose first point is repeated at the end."""
    closed = ((ring.tolist() + ring[:1].tolist() * bool((ring[0] != ring[-1]).any()) for ring in rings) for rings in areas)
    polygons = [", ".join(f"({', '.join(f'{x!r} {y!r}' for x, y in ring)})" for ring in rings) for rings in closed]
    if len(polygons) == 1:
        return f"POLYGON ({polygons[0]})"
    return f"MULTIPOLYGON ({', '.join(f'({each})' for each in polygons)})" if polygons else "MULTIPOLYGON EMPTY"


class WalkableArea:
    """The walkable area of one frame after another: the largest area of free tiles, and others in which there was somebody.

    Areas without people, such as flower beds between walls, are left out: readers of trajectories want one polygon.
    Measured people have the polygons of their file or map, as long as nobody builds.
    """

    def __init__(self, metres: bool) -> None:
        """The text counts in metres as the map does, or in world units."""
        self._metres = metres
        self._version, self._inhabited, self._text = -1, np.zeros(0, bool), ""

    def of(self, frame: Frame) -> str:
        """Return it as Well-Known Text, the same object while it does not change."""
        terrain = frame.sim.terrain
        is_same, walls = terrain.version == self._version, terrain.walls
        rows, columns = ((each * walls.inv_tile).astype(np.int64) for each in (frame.columns.y, frame.columns.x))
        inhabited = np.zeros(int(terrain.labels.max()) + 2, bool)  # the last one are blocked tiles, -1
        inhabited[0] = inhabited[terrain.labels[rows, columns]] = True
        inhabited[-1] = False
        if is_same:
            inhabited |= self._inhabited
        if not is_same or inhabited.sum() > self._inhabited.sum():
            self._version, self._inhabited = terrain.version, inhabited
            self._text = self._drawn(frame.sim)
        return self._text

    def _drawn(self, sim: Simulation) -> str:
        terrain = sim.terrain
        is_as_read = self._metres and measured_ways(sim) and np.array_equal(terrain.kinds, terrain.first_kinds)
        if is_as_read and terrain.walkable:
            return well_known_text(terrain.walkable)
        origin, metre = (origin_of(sim), sim.config.measure.metre) if self._metres else (AT_ZERO, 1.0)
        return area_text(terrain.labels, np.flatnonzero(self._inhabited), terrain.walls, metre, origin)


def area_text(labels: Ints, chosen: Longs, walls: Walls, metre: float, origin: Origin = AT_ZERO) -> str:
    """Return some of the areas, int32[H, W] of their numbers, as text; cut at the edge of the world."""
    ends = float(walls.width), float(walls.height)

    def placed(ring: Longs) -> Doubles:
        x, y = (np.minimum(axis * float(walls.tile), end) / metre for axis, end in zip(ring.T, ends, strict=True))
        turned = slice(None, None, -1 if origin.up else 1)  # outlines are counterclockwise, whichever way y grows
        return np.stack(origin.metres(x, y), axis=1)[turned].round(DIGITS) + 0.0

    return well_known_text([[placed(ring) for ring in outlines(labels == number)] for number in chosen])
