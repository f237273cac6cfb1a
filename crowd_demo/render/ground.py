"""The ground: the tiles of the map, drawn anew each frame so that the effect of culling them can be measured.

`off` draws every tile of the map and lets the screen's edge clip it, `agents` tests each one, `grid` visits only the
range that is in view. Column c covers the pixels from floor((c * tile - left) * zoom) to that of c + 1, so there are
no gaps and every way draws the same pixels: compiled kernels copy rows of a tile's picture, pygame blits all of it, and the
next tile covers what is too much. Workers share the rows of tiles, so no two of them write the same pixel row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bools, Ints, Longs, Marks, Words
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.compute.simd import LANES
from crowd_demo.compute.simd_memory import load, store
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.pixels import Frame, frame_of
from crowd_demo.render.tiles import TileSet
from crowd_demo.sim.terrain.tiles import Terrain

OUTSIDE = 18, 20, 26
OUTSIDE_PIXEL = OUTSIDE[0] << 16 | OUTSIDE[1] << 8 | OUTSIDE[2]
RIM, FACE, FOOT = (92, 98, 114), (58, 62, 76), (26, 28, 36)  # of the world: a slab, whose south face is in view
SLAB = 12.0  # world units that its south face is high
EDGE_PX = 0.01  # the view grows by this much: rounding must not lose the last column


class Paving(NamedTuple):
    """What the kernel draws: the picture number of each tile, the pictures, and where columns and rows begin."""

    number: Marks  # [H, W]
    pictures: Words  # [numbers, side, side]
    xs: Ints  # [W + 1] pixels
    ys: Ints  # [H + 1] pixels


class TileRange(NamedTuple):
    """Tiles [row0, row1) x [column0, column1)."""

    row0: int
    row1: int
    column0: int
    column1: int

    @property
    def tiles(self) -> int:
        return (self.row1 - self.row0) * (self.column1 - self.column0)


class Wanted(NamedTuple):
    """Whether each tile is tested, and the rectangle that it has to meet then; float64 world units."""

    tests: bool
    left: float
    top: float
    right: float
    bottom: float
    tile: float


@device
def _meets(low: float, high: float, number: int, tile: float) -> bool:
    return (number + 1) * tile > low and number * tile < high


@device
def _copy_tile(target: Words, width: int, height: int, source: Words, start: int, side: int, x: int, x_end: int, y: int,
               y_end: int, end: int) -> None:
    """Copy a tile's picture to [x, x_end) x [y, y_end), as far as that is on the screen.

    Sixteen pixels at a time: up to `end` it may write too much, for the next tiles come later.
    """
    first, last = max(x, 0), min(x_end, width)
    whole = first + max(min((last - first + LANES - 1) // LANES, (end - first) // LANES), 0) * LANES
    for row in range(max(y, 0), min(y_end, height)):
        at, there = row * width, start + (row - y) * side - x
        for column in range(first, whole, LANES):
            store(target, at + column, load(source, there + column))
        for column in range(whole, last):
            target[np.uintp(at + column)] = source[np.uintp(there + column)]


@device
def _copy_small(target: Words, width: int, height: int, source: Words, paving: Paving, row: int, first: int,
                last: int) -> None:
    """Copy the pictures of tiles [first, last) of a row, none of which is wider than a register, sixteen pixels each.

    What is too much the next tile covers, and behind the last one there must be room for it.
    """
    side, y = paving.pictures.shape[1], paving.ys[row]
    for line in range(max(y, 0), min(paving.ys[row + 1], height)):
        at, there = line * width, (line - y) * side
        for column in range(first, last):
            start = np.int64(paving.number[row, column]) * side * side + there
            store(target, at + paving.xs[column], load(source, start))


@device
def _small_tiles(paving: Paving, tiles: TileRange, end: int) -> tuple[int, int]:
    """The columns of tiles of which sixteen pixels may be copied: none of them at or beyond the column of pixels `end`."""
    first, last = tiles.column0, tiles.column1
    while first < last and paving.xs[first] < 0:
        first += 1
    while last > first and paving.xs[last - 1] + LANES > end:
        last -= 1
    return first, last


@device
def _copy_tiles(target: Words, width: int, height: int, source: Words, paving: Paving, wanted: Wanted, row: int, first: int,
                last: int, end: int) -> None:
    """Copy the pictures of those of tiles [first, last) of a row that are wanted."""
    side = paving.pictures.shape[1]
    for column in range(first, last):
        if not wanted.tests or (_meets(wanted.left, wanted.right, column, wanted.tile)
                                and _meets(wanted.top, wanted.bottom, row, wanted.tile)):
            _copy_tile(target, width, height, source, np.int64(paving.number[row, column]) * side * side, side,
                       paving.xs[column], paving.xs[column + 1], paving.ys[row], paving.ys[row + 1], end)


@kernel
def pave(worker: int, workers: int, frame: Frame, paving: Paving, tiles: TileRange, wanted: Wanted, end: int) -> None:
    """No tile is drawn at or beyond the column of pixels `end`. From left to right, for a tile may write too much."""
    target, source = frame.reshape(-1), paving.pictures.reshape(-1)
    height, width = frame.shape
    end = min(end, width)
    first = last = tiles.column0
    if paving.pictures.shape[1] <= LANES and not wanted.tests:
        first, last = _small_tiles(paving, tiles, end)
    for row in range(tiles.row0 + worker, tiles.row1, workers):
        _copy_tiles(target, width, height, source, paving, wanted, row, tiles.column0, first, end)
        _copy_small(target, width, height, source, paving, row, first, last)
        _copy_tiles(target, width, height, source, paving, wanted, row, last, tiles.column1, end)


class Borders:
    """Where the columns, or the rows, of a map begin and the last one ends, in the world and in pixels. Owns the memory."""

    def __init__(self, count: int, tile: float) -> None:
        self.tile = tile
        self._units = np.arange(count + 1) * tile
        self._scaled, self._pixels = np.empty(count + 1), np.empty(count + 1, np.int32)
        self._widths = np.empty(count, np.int32)

    def __len__(self) -> int:
        return len(self._widths)

    def pixels(self, corner: float, zoom: float) -> Ints:
        """int32[count + 1], overwritten by the next call."""
        np.subtract(self._units, corner, out=self._scaled)
        np.multiply(self._scaled, zoom, out=self._scaled)
        self._pixels[:] = np.floor(self._scaled, out=self._scaled)
        return self._pixels

    def widest(self) -> int:
        """Pixels of the widest column, as `pixels` has found them last."""
        return int(np.subtract(self._pixels[1:], self._pixels[:-1], out=self._widths).max())

    def meeting(self, low: float, high: float) -> tuple[int, int]:
        """The first column that meets [low, high], and the one after the last: as `_meets` compares, by bisection."""
        first = int(np.searchsorted(self._units[1:], low, "right"))
        return first, max(first, int(np.searchsorted(self._units[:-1], high, "left")))


class TileLayer:
    """Draws the terrain's tiles, and its destinations if `marks`. Call `prepare` first, then run `calls` or `draw_fblits`."""

    def __init__(self, tile_set: TileSet, marks: bool) -> None:
        self._set = tile_set
        self._marks = marks
        self._seen: tuple[Terrain | None, int] = None, -1  # the terrain that was read, and its version then
        self._across = self._down = Borders(0, 0.0)
        self.counters: dict[str, int] = {}

    def prepare(self, how: str, terrain: Terrain, camera: Camera, rect: Rect) -> None:
        """Choose the tiles for culling `how` by the world rectangle `rect`, and make the pictures that they need."""
        self._read(terrain)
        rows, columns = terrain.kinds.shape
        tile = float(terrain.walls.tile)
        slack = EDGE_PX / camera.zoom
        rect = Rect(rect.left - slack, rect.top - slack, rect.right + slack, rect.bottom + slack)
        left, top, _, _ = camera.view_rect()
        if (len(self._across), len(self._down), self._across.tile) != (columns, rows, tile):
            self._across, self._down = Borders(columns, tile), Borders(rows, tile)
        xs, ys = self._across.pixels(left, camera.zoom), self._down.pixels(top, camera.zoom)
        side = max(self._across.widest(), self._down.widest(), 1)
        self._pictures = self._set.at(side)
        self._pictures.ensure(self._used)
        self._paving = Paving(self._numbers, self._pictures.pixels, xs, ys)
        self._slab_px = max(1, round(SLAB * camera.zoom))
        everywhere = TileRange(0, rows, 0, columns)
        self._drawn = everywhere if how == "off" else TileRange(*self._down.meeting(rect.top, rect.bottom),
                                                                *self._across.meeting(rect.left, rect.right))
        self._visited = self._drawn if how == "grid" else everywhere
        self._wanted = Wanted(how == "agents", *rect, tile)
        self.counters = {"tiles_visited": self._visited.tiles, "tiles_drawn": self._drawn.tiles}

    def fill_outside(self, surface: pygame.Surface) -> None:
        """Fill what lies around the tiles that will be drawn, and draw the world's edge.

        By NumPy, for pygame's `fill` writes past the cache: 58 columns beside the world took it 0.2 ms.
        """
        area = self._area().clip(surface.get_rect())
        if area:
            frame = frame_of(surface)
            for beside in (frame[:area.top], frame[area.bottom:], frame[area.top:area.bottom, :area.left],
                           frame[area.top:area.bottom, area.right:]):
                beside[:] = OUTSIDE_PIXEL
            del frame, beside  # pygame cannot draw while they live
        else:
            surface.fill(OUTSIDE)
        self._draw_edge(surface)

    def _draw_edge(self, surface: pygame.Surface) -> None:
        """Draw the edge of the world around it: a rim of a pixel, and its south face, which grows darker downwards."""
        world = pygame.Rect(*edge_of(self._paving))
        if world.contains(surface.get_rect()):
            return
        for line in ((world.left - 1, world.top - 1, world.width + 2, 1), (world.left - 1, world.top, 1, world.height),
                     (world.right, world.top, 1, world.height)):
            surface.fill(RIM, line)
        height = self._slab_px
        for row in range(height):
            part = (row + 0.5) / height
            colour = tuple(round(high + (low - high) * part) for high, low in zip(FACE, FOOT, strict=True))
            surface.fill(RIM if row == 0 else colour, (world.left - 1, world.bottom + row, world.width + 2, 1))

    def calls(self, workers: int, frame: Frame) -> tuple[Call, ...]:
        return (call(pave, workers, frame, self._paving, self._visited, self._wanted, self._area().right),)

    def draw_fblits(self, surface: pygame.Surface) -> None:
        """Draw by pygame. A picture may be a pixel larger than its tile; the next tile or the clip hides that."""
        rows, columns = np.mgrid[self._visited.row0:self._visited.row1, self._visited.column0:self._visited.column1]
        if self._wanted.tests:
            meets = (_meets_all(self._wanted.left, self._wanted.right, columns, self._wanted.tile)
                     & _meets_all(self._wanted.top, self._wanted.bottom, rows, self._wanted.tile))
            rows, columns = rows[meets], columns[meets]
        rows, columns = rows.ravel(), columns.ravel()
        pictures = self._pictures.surfaces(self._numbers[rows, columns].tolist())
        corners = zip(self._paving.xs[columns].tolist(), self._paving.ys[rows].tolist(), strict=True)
        surface.set_clip(self._area())
        surface.fblits(list(zip(pictures, corners, strict=True)))
        surface.set_clip(None)

    def _area(self) -> pygame.Rect:
        """The pixels of the tiles that are drawn."""
        xs, ys, tiles = self._paving.xs, self._paving.ys, self._drawn
        left, top = int(xs[tiles.column0]), int(ys[tiles.row0])
        return pygame.Rect(left, top, int(xs[tiles.column1]) - left, int(ys[tiles.row1]) - top)

    def _read(self, terrain: Terrain) -> None:
        if terrain is not self._seen[0] or terrain.version != self._seen[1]:
            self._seen = terrain, terrain.version
            marks = terrain.marks if self._marks else np.full_like(terrain.marks, -1)
            self._numbers = self._set.numbers(terrain.kinds, marks)
            self._used = np.unique(self._numbers).tolist()


def edge_of(paving: Paving) -> tuple[int, int, int, int]:
    """Left, top, width and height of the world, in pixels."""
    left, top = int(paving.xs[0]), int(paving.ys[0])
    return left, top, int(paving.xs[-1]) - left, int(paving.ys[-1]) - top


def _meets_all(low: float, high: float, number: Longs, tile: float) -> Bools:
    return ((number + 1) * tile > low) & (number * tile < high)
