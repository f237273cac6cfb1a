"""The terrain: square tiles, which of them are blocked, and the destinations.

A tile's side is a multiple of 1/256 unit and the world at most 65536 units, so every border of a tile is exact in
float32 and line of sight can use integers. Walls can be set while the program runs: `version` then grows, `blocked` is
changed in place (kernels keep their view), and what derives from it is made again on demand, in O(tiles).

A point (x, y) is on tile (int(x * inv_tile), int(y * inv_tile)), in float32; for 0 <= x < width this lies in the map.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crowd_demo.compute import hashing
from crowd_demo.compute.arrays import Bools, Bytes, Float, Floats, Int, Ints, Longs, Marks
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import to_int
from crowd_demo.config.maps import FLOOR, WALL, WATER, MapData, label_areas, open_shape, open_tile

TILE_STEPS = 256  # a tile's side is a whole number of 1/256 unit
MAX_DRAWS = 3 * 1000  # three numbers for each point of an agent
NEAR_TILES = 16  # so far people step out of a new wall; farther from any free tile they are removed
TESTED = 1 << 16  # tiles at a time
NO_TILE = np.iinfo(np.int64).max
FAR = 1 << 20  # tiles: farther than any map is wide
SPOTS = 1024  # possible coordinates of random positions in a tile along each axis, none on a border

Edges = tuple[float, float, float, float]  # left, top, right, bottom, world units
Rectangle = tuple[int, int, int, int]  # left, top, right, bottom in tiles; right and bottom are outside
Goals = Mapping[int, int]  # destinations that are not as at first, by number: the tile of each, or GONE
GONE, AT_FIRST = -1, -2  # instead of a tile
Run = tuple[int, int, int]  # of tiles: row, first column, end, which is outside


class Walls(NamedTuple):
    blocked: Bytes  # [H, W]: 1 where agents cannot be
    tile: np.float32  # side of a tile, units
    inv_tile: np.float32
    width: np.float32  # of the world, units
    height: np.float32


class Destination(NamedTuple):
    """A destination: a point on one of its tiles, and half the side of a square of the area of all its tiles."""

    x: float
    y: float
    spread: float


class Terrain:
    """The tiles of a world of about `width` x `height` units; with a map, the largest world of its shape that fits.

    `kinds` uint8[H, W] and `blocked` uint8[H, W] are the tiles; `marks` int16[H, W] says which destination a tile is
    part of (-1: none), and `destinations` where they are: the map's own, numbered from 0 without gaps, or else `count`
    tiles drawn by `seed` from the largest area. Where all tiles are blocked there are none.
    """

    def __init__(self, data: MapData | None, width: float, height: float, count: int = 8, seed: int = 1) -> None:
        self.is_open = data is None or data.is_open
        self.kinds = np.full(open_shape(width, height), FLOOR, np.uint8) if data is None else data.kinds.copy()
        tile = open_tile(width, height)
        if not self.is_open:
            rows, columns = self.kinds.shape
            tile = max(math.floor(min(width / columns, height / rows) * TILE_STEPS), 1) / TILE_STEPS
            width, height = columns * tile, rows * tile
        self.blocked = np.isin(self.kinds, (WALL, WATER)).astype(np.uint8)
        self.walls = _walls(self.blocked, tile, width, height)
        self.version = 0
        self.first_kinds = self.kinds.copy()  # before walls were built and torn down
        self._under = self.kinds.copy() if data is None else data.ground.copy()  # what is left when a wall is removed
        self._labels, self._labels_version = np.empty(self.kinds.shape, np.int32), -1
        self._ground = np.empty(0, np.int64)  # tiles of the largest area
        self.marks = np.full(self.kinds.shape, -1, np.int16) if data is None else _without_gaps(data.marks)
        is_marked = bool(self.marks.max() >= 0)
        self.drawn = not is_marked or (data is not None and data.drawn)  # destinations drawn at random, not from a map
        if not is_marked:  # up to `count` tiles of the largest area: those with the smallest hashes
            self._refresh()
            key = hashing.key(seed, 0, hashing.DESTINATIONS).view(np.uint32)
            chosen = self._ground[np.argsort(hashing.scramble(self._ground.astype(np.uint32) ^ key))[:count]]
            self.marks.reshape(-1)[chosen] = np.arange(chosen.size)
        self.destinations = tuple(self._find_destinations())
        self._first_marks, self.first_destinations = self.marks, self.destinations
        self.goals: Goals = {}
        self.origin = data.origin if data else None
        self.walkable = data.walkable if data else ()
        self.starts = data.starts if data else None

    @property
    def rows(self) -> int:
        return int(self.blocked.shape[0])

    @property
    def columns(self) -> int:
        return int(self.blocked.shape[1])

    def set_walls(self, rectangle: Rectangle, wall: bool) -> None:
        """Build or remove walls; tiles outside the map are ignored. Water stays water."""
        (left, top, right, bottom), mask = rectangle, np.zeros(self.kinds.shape, np.bool_)
        mask[max(top, 0):max(bottom, 0), max(left, 0):max(right, 0)] = True
        self.paint(mask, wall)

    def set_goals(self, goals: Goals) -> None:
        """Have destinations elsewhere than at first, or more; numbers have no gaps, those that are GONE keep a point."""
        if self.goals != goals:
            self.goals = dict(goals)
            self.marks, self.destinations = self.with_goals(goals)
            self.version += 1

    def with_goals(self, goals: Goals) -> tuple[Marks, tuple[Destination, ...]]:
        if not goals:
            return self._first_marks, self.first_destinations
        marks, listed = self._first_marks.copy(), list(self.first_destinations)
        marks[np.isin(marks, list(goals))] = GONE
        for number, tile in sorted(goals.items()):
            row, column = np.divmod(np.array([max(tile, 0)]), self.columns)
            if number >= len(listed) or tile != GONE:
                listed[number:number + 1] = [self._destination(row, column)]
            if tile != GONE:
                marks[row, column] = number
        return marks, tuple(listed)

    # --- single tiles -------------------------------------------------------------------------------------------------

    def mask_of(self, runs: Iterable[Run]) -> Bools:
        """Return bool[H, W]: the tiles of runs; those outside the map are ignored."""
        mask = np.zeros(self.kinds.shape, np.bool_)
        for row, first, end in runs:
            if 0 <= row < self.rows:
                mask[row, max(first, 0):max(end, 0)] = True
        return mask

    def runs_of(self, mask: Bools) -> tuple[Run, ...]:
        """Return the stretches of tiles of a mask, bool[H, W], in reading order."""
        ends = np.diff(mask.view(np.int8), axis=1, prepend=np.int8(0), append=np.int8(0))
        (rows, first), (_, end) = np.nonzero(ends == 1), np.nonzero(ends == -1)
        return tuple(zip(rows.tolist(), first.tolist(), end.tolist(), strict=True))

    def changed_by(self, mask: Bools, wall: bool) -> Bools:
        """Return bool[H, W]: which tiles building walls on a mask, or tearing them down, would make others."""
        return mask & (self.kinds != (np.uint8(WALL) if wall else self._under))

    def paint(self, mask: Bools, wall: bool) -> None:
        """Build walls on the tiles of a mask, bool[H, W], or tear them down. Water stays water."""
        changed = self.changed_by(mask, wall)
        if changed.any():
            self.kinds[changed] = WALL if wall else self._under[changed]
            self.blocked[changed] = np.isin(self.kinds[changed], (WALL, WATER))
            self.version += 1

    def brush(self, x: float, y: float, radius: float) -> Bools:
        """Return bool[H, W]: the tiles under a round brush: whose middle is no farther from a point, and the one under it."""
        tile = float(self.walls.tile)
        row, column = np.ogrid[:self.rows, :self.columns]
        mask: Bools = ((column + 0.5) * tile - x) ** 2 + ((row + 0.5) * tile - y) ** 2 <= radius * radius
        own_row, own_column = math.floor(y / tile), math.floor(x / tile)
        if 0 <= own_row < self.rows and 0 <= own_column < self.columns:
            mask[own_row, own_column] = True
        return mask

    def tile_number(self, x: float, y: float) -> int | None:
        """Return the number of the tile under a point, None outside of the map."""
        row, column = (math.floor(along / float(self.walls.tile)) for along in (y, x))
        return row * self.columns + column if 0 <= row < self.rows and 0 <= column < self.columns else None

    def net_paints(self, kinds: Bytes,
                   paints: Iterable[tuple[Iterable[Run], bool]]) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
        """Paint on former tiles of this terrain, uint8[H, W]; return which became walls, and which no longer are."""
        before = kinds.copy()
        for runs, wall in paints:
            for row, first, end in runs:
                if 0 <= row < self.rows:
                    part = np.s_[row, max(first, 0):max(end, 0)]
                    kinds[part] = WALL if wall else self._under[part]
        changed = kinds != before
        return self.runs_of(changed & (kinds == WALL)), self.runs_of(changed & (kinds != WALL))

    def as_map(self, name: str) -> MapData:
        """Return the map that gives these tiles and destinations again, in a world of the same size."""
        return MapData(self.kinds.copy(), self.marks.copy(), name, self._under.copy(), self.drawn, self.is_open, self.starts)

    def set_kinds(self, kinds: Bytes) -> None:
        """Restore the tiles of a snapshot, uint8[H, W]."""
        if not np.array_equal(self.kinds, kinds):
            self.kinds[:] = kinds
            self.blocked[:] = np.isin(kinds, (WALL, WATER))
            self.version += 1

    def allows(self, kinds: Bytes) -> bool:
        """Return whether building and tearing down walls can give these tiles, uint8[H, W]."""
        return kinds.shape == self.kinds.shape and bool(((kinds == WALL) | (kinds == self._under)).all())

    @cached_property
    def map_digest(self) -> str:
        """Hash of what walls cannot change, the ground and the destinations: 16 hex digits."""
        digest = hashlib.blake2b(np.float32(self.walls.tile).tobytes(), digest_size=8)
        digest.update(self._under.tobytes())
        digest.update(self._first_marks.tobytes())
        if self.starts is not None:
            digest.update(self.starts.tobytes())
        return digest.hexdigest()

    @property
    def labels(self) -> Ints:
        """int32[H, W]: number of the area of tiles that can reach each other, 0 for the largest, -1 where blocked.

        Diagonal steps do not cut corners, so straight ones join the same tiles. The other areas are in row-major order.
        """
        self._refresh()
        return self._labels

    def random_walkable(self, ids: Longs, seed: int, within: Edges | None = None) -> tuple[Floats, Floats]:
        """Return (x, y) float32[n] inside the world, uniform over the largest area, each a function of (seed, id) alone.

        Where the map has starts, over those that are free instead. With `within` only over those of these tiles whose middles
        lie there, if there are any. When all tiles are blocked, uniform over the whole map.
        """
        self._refresh()
        tiles = self._ground if self._ground.size else np.arange(self.blocked.size)
        if self.starts is not None and (free := np.flatnonzero(self.starts & (self.blocked == 0))).size:
            tiles = free
        if within is not None:
            left, top, right, bottom = within
            y, x = ((along + 0.5) * float(self.walls.tile) for along in np.divmod(tiles, self.columns))
            inside = tiles[(left <= x) & (x <= right) & (top <= y) & (y <= bottom)]
            tiles = inside if inside.size else tiles
        return self.random_points(tiles, ids, seed)

    def random_points(self, tiles: Longs, ids: Longs, seed: int) -> tuple[Floats, Floats]:
        """Return (x, y) float32[n] inside the world, uniform over these tiles, each a function of (seed, id) alone."""
        x, y = np.empty(len(ids), np.float32), np.empty(len(ids), np.float32)
        todo, draw = np.arange(len(ids)), 0
        side = float(self.walls.tile) / SPOTS
        while todo.size and draw < MAX_DRAWS:  # again where the last tiles of an open world extend over its edge
            tile, across, down = (_below(size, ids[todo], hashing.key(seed, draw + number, hashing.PLACES))
                                  for number, size in enumerate((tiles.size, SPOTS, SPOTS)))
            row, column = np.divmod(tiles[tile], self.columns)
            x[todo], y[todo] = (column * SPOTS + across + 0.5) * side, (row * SPOTS + down + 0.5) * side
            todo = todo[(x[todo] >= self.walls.width) | (y[todo] >= self.walls.height)]
            draw += 3
        last_x, last_y = (np.nextafter(side, np.float32(0)) for side in (self.walls.width, self.walls.height))
        return np.minimum(x, last_x), np.minimum(y, last_y)

    def step_out(self, x: Floats, y: Floats, near: int | None = None) -> Longs:
        """Move everybody who stands in a wall to the centre of the nearest free tile; x and y are changed in place.

        Return who still stands in one, because no tile is free, or none at most `near` tiles away: int64[k], below n.
        """
        caught, way = self._ways_out(x, y, self.blocked, near)
        out, to = caught[way >= 0], way[way >= 0]
        y[out], x[out] = ((along + 0.5) * float(self.walls.tile) for along in np.divmod(to, self.columns))
        return caught[way < 0]

    def walled_in(self, x: Floats, y: Floats, mask: Bools, near: int) -> Longs:
        """Return who would still stand in a wall, if walls were built on a mask, bool[H, W]."""
        caught, way = self._ways_out(x, y, self.blocked | mask, near)
        return caught[way < 0]

    def _ways_out(self, x: Floats, y: Floats, blocked: Bytes, near: int | None) -> tuple[Longs, Longs]:
        """Return who stands on blocked tiles, and for each the nearest free tile at most `near` tiles away, or -1.

        In each column near a tile only the next free one above and below can be it.
        """
        tile = (y * self.walls.inv_tile).astype(np.int64) * self.columns + (x * self.walls.inv_tile).astype(np.int64)
        caught = np.flatnonzero(blocked.reshape(-1)[tile])
        if not len(caught):
            return caught, caught
        tiles, which = np.unique(tile[caught], return_inverse=True)
        near, (row, column) = sum(blocked.shape) if near is None else near, np.divmod(tiles, self.columns)
        top, left = max(row.min() - near, 0), max(column.min() - near, 0)
        free, side = blocked[top:row.max() + near + 1, left:column.max() + near + 1] == 0, float(self.walls.tile)
        rows, columns = top + np.arange(free.shape[0])[:, None], left + np.arange(free.shape[1])
        free &= ((rows + 0.5) * side < float(self.walls.height)) & ((columns + 0.5) * side < float(self.walls.width))
        above = np.maximum.accumulate(np.where(free, rows, -FAR), axis=0)
        below = np.minimum.accumulate(np.where(free, rows, FAR)[::-1], axis=0)[::-1]
        next_free = np.pad(np.stack((above, below)), ((0, 0), (0, 0), (near, near)), constant_values=FAR)
        across, found = np.arange(-near, near + 1), np.empty(len(tiles), np.int64)
        for part in np.array_split(np.arange(len(tiles)), math.ceil(len(tiles) * len(across) / TESTED)):
            own_row, to_column = row[part, None], column[part, None] + across
            to_row = next_free[:, own_row - top, to_column - left + near]
            far_sq = (to_row - own_row) ** 2 + across * across
            key = far_sq * blocked.size + to_row * self.columns + to_column
            first = np.where(far_sq <= near * near, key, NO_TILE).min((0, 2))
            found[part] = np.where(first < NO_TILE, first % blocked.size, -1)
        return caught, found[which]

    def _refresh(self) -> None:
        if self._labels_version == self.version:
            return
        labels = label_areas(self.blocked == 0, corners=False)
        sizes = np.bincount(labels[labels >= 0], minlength=1)
        largest = int(sizes.argmax())
        rank = np.array([*range(1, largest + 1), 0, *range(largest + 1, len(sizes)), -1], np.int32)
        self._labels = rank[labels]  # -1, a blocked tile, reads the last one
        self._ground = np.flatnonzero(self._labels == 0)
        self._labels_version = self.version

    def _find_destinations(self) -> Iterator[Destination]:
        rows, columns = np.nonzero(self.marks >= 0)
        numbers = self.marks[rows, columns]
        by_number = np.argsort(numbers, kind="stable")
        end = 0
        for count in np.bincount(numbers).tolist():
            tiles, end = by_number[end:end + count], end + count
            yield self._destination(rows[tiles], columns[tiles])

    def _destination(self, rows: Longs, columns: Longs) -> Destination:
        """Return the centre of the tile nearest to the mean of these; tiles over the edge of the world are cut."""
        # The squared distance to the mean, times their count, less what is the same for all; so int64 is wide enough.
        count = rows.size
        nearest = (count * (rows**2 + columns**2) - 2 * (rows * rows.sum() + columns * columns.sum())).argmin()
        tile, width, height = float(self.walls.tile), float(self.walls.width), float(self.walls.height)
        x, y = float(columns[nearest]) * tile, float(rows[nearest]) * tile
        return Destination((x + min(x + tile, width)) / 2, (y + min(y + tile, height)) / 2, math.sqrt(count) * tile / 2)


@device
def tile_at(walls: Walls, x: Float, y: Float) -> tuple[Int, Int]:
    """Return (column, row) of the tile under a point, or of each of sixteen; the nearest one for points outside the world."""
    rows, columns = walls.blocked.shape
    return (max(min(to_int(x * walls.inv_tile), columns - 1), 0),
            max(min(to_int(y * walls.inv_tile), rows - 1), 0))


def _below(size: int, ids: Longs, key: np.int32) -> Longs:
    """int64[n] in [0, size), uniform, one an id."""
    bits = hashing.scramble(ids.astype(np.uint32) ^ key.view(np.uint32))
    return ((bits.astype(np.uint64) * np.uint64(size)) >> np.uint64(32)).astype(np.int64)


def _walls(blocked: Bytes, tile: float, width: float, height: float) -> Walls:
    """The inverse is rounded so that no point below the world's edge falls on a tile beyond the map."""
    rows, columns = blocked.shape
    walls = Walls(blocked, np.float32(tile), np.float32(1 / tile), np.float32(width), np.float32(height))
    last_x, last_y = np.nextafter(walls.width, np.float32(0)), np.nextafter(walls.height, np.float32(0))
    inverse = walls.inv_tile
    while last_x * inverse >= columns or last_y * inverse >= rows:
        inverse = np.nextafter(inverse, np.float32(0))
    return walls._replace(inv_tile=inverse)


def _without_gaps(marks: Marks) -> Marks:
    """The same areas numbered 0, 1, 2, ... in their former order."""
    numbers = np.unique(marks[marks >= 0])
    return np.where(marks >= 0, np.searchsorted(numbers, marks), -1).astype(np.int16)
