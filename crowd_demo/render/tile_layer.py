"""The ground: the tiles of the map, drawn anew each frame so that the effect of culling them can be measured.

`off` draws every tile of the map and lets the screen's edge clip it, `agents` tests each one, `grid` visits only the
range that is in view. Column c covers the pixels from xs[c] = floor((c * tile - left) * zoom) to xs[c + 1], so there
are no gaps and every way draws the same pixels: the kernel copies rows of a tile's picture, a whole register at a
time, pygame blits all of it, and the next tile covers the surplus. Workers share the rows of tiles, so no two of them
write the same line of pixels. Around the map its border tiles go on, darker with the distance: `surround` copies their
pixels. While view and map stay the same these are kept: no technique is about them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes, Doubles, Int, Ints, Marks, Mask, Words
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import LANES
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.cull import CellRange
from crowd_demo.render.tile_pictures import TileSet
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sprites.pixels import HALF_ROW, Frame, copy_half_row, copy_row

LARGE_PX = 32  # side of a tile: while one zooms, the pictures of each size are made anew, and large ones take long
EDGE_PX = 0.01  # the view grows by this much: rounding must not lose the last column
OUTSIDE = 0x10131A  # what the surroundings darken to
ODD, EVEN = 0xFF00FF, 0x00FF00  # channels
NEAREST, REACH = 244, 0.27  # light of 256 at the edge of the map, and how far it reaches as a part of the window's height


class Paving(NamedTuple):
    """What the kernel draws: tiles' pictures, the pixels where columns and rows begin, and which tiles are wanted."""

    number: Marks  # [H, W]
    pictures: Words  # [numbers, side, side]
    xs: Ints  # [W + 1] pixels
    ys: Ints  # [H + 1] pixels
    tests: bool  # is each tile tested, whether it meets the rectangle?
    rect: Rect
    tile: float  # side of a tile, world units


def _meet(low: float, high: float, number: Int, tile: float) -> Mask:
    return ((number + 1) * tile > low) & (number * tile < high)


_meets = device(_meet)


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
            copy_row(target, np.uintp(at + column), source, np.uintp(there + column))
        for column in range(whole, last):
            target[np.uintp(at + column)] = source[np.uintp(there + column)]


@device
def _copy_small(target: Words, width: int, height: int, source: Words, paving: Paving, row: int, first: int,
                last: int) -> None:
    """Copy the pictures of tiles [first, last) of a row, none of which is wider than a register.

    Eight or sixteen pixels at a time: the next tile covers the surplus, and after the last one there must be room.
    """
    side, y = paving.pictures.shape[1], paving.ys[row]
    top, lines = max(y, 0), max(0, min(paving.ys[row + 1], height) - max(y, 0))
    narrow = side <= HALF_ROW
    for column in range(np.uintp(first), np.uintp(last)):
        at = np.uintp(top * width + paving.xs[column])
        start = np.uintp((np.int64(paving.number[np.uintp(row), column]) * side + top - y) * side)
        for _ in range(lines):
            if narrow:
                copy_half_row(target, at, source, start)
            else:
                copy_row(target, at, source, start)
            at += np.uintp(width)
            start += np.uintp(side)


@device
def _copy_tiles(target: Words, width: int, height: int, source: Words, paving: Paving, row: int, first: int,
                last: int, end: int) -> None:
    """Copy the pictures of those of tiles [first, last) of a row that are wanted."""
    side = paving.pictures.shape[1]
    for column in range(first, last):
        if not paving.tests or (_meets(paving.rect.left, paving.rect.right, column, paving.tile)
                                and _meets(paving.rect.top, paving.rect.bottom, row, paving.tile)):
            _copy_tile(target, width, height, source, np.int64(paving.number[row, column]) * side * side, side,
                       paving.xs[column], paving.xs[column + 1], paving.ys[row], paving.ys[row + 1], end)


@kernel
def pave(worker: int, workers: int, frame: Frame, paving: Paving, tiles: CellRange, area: CellRange) -> None:
    """Draw the tiles that are wanted from left to right, for a tile may write too much; `area` is the pixels they cover."""
    target, source = frame.reshape(-1), paving.pictures.reshape(-1)
    height, width = frame.shape
    end = area.column1
    first = last = tiles.column0
    if paving.pictures.shape[1] <= LANES and not paving.tests:  # sixteen pixels of which may be copied without reaching `end`
        last = tiles.column1
        while first < last and paving.xs[first] < 0:
            first += 1
        while last > first and paving.xs[last - 1] + LANES > end:
            last -= 1
    for row in range(tiles.row0 + worker, tiles.row1, workers):
        _copy_tiles(target, width, height, source, paving, row, tiles.column0, first, end)
        _copy_small(target, width, height, source, paving, row, first, last)
        _copy_tiles(target, width, height, source, paving, row, last, tiles.column1, end)


class Beyond(NamedTuple):
    """For each column or row of pixels: the one on the map that is repeated there, and how much light reaches it, of 256."""

    source: Ints
    light: Ints


@device
def _go_on(frame: Frame, y: int, first: int, last: int, across: Beyond, down: Beyond) -> None:
    """Repeat the border of the map in the pixels [first, last) of a row."""
    there = np.uintp(down.source[y])
    for x in range(np.uintp(first), np.uintp(last)):
        colour = frame[there, np.uintp(across.source[x])]
        light = np.uint32(across.light[x] * down.light[y] * NEAREST >> 16)
        dark = np.uint32(256) - light
        odd = (colour & np.uint32(ODD)) * light + np.uint32(OUTSIDE & ODD) * dark
        even = (colour & np.uint32(EVEN)) * light + np.uint32(OUTSIDE & EVEN) * dark
        frame[y, x] = (odd >> np.uint32(8) & np.uint32(ODD)) | (even >> np.uint32(8) & np.uint32(EVEN))


@kernel
def surround(worker: int, workers: int, frame: Frame, area: CellRange, across: Beyond, down: Beyond) -> None:
    """Fill the picture around the pixels `area` of the map."""
    height, width = frame.shape
    for y in range(worker, height, workers):
        if area.row0 <= y < area.row1:
            _go_on(frame, y, 0, area.column0, across, down)
            _go_on(frame, y, area.column1, width, across, down)
        else:
            _go_on(frame, y, 0, width, across, down)


def _beyond(borders: Ints, first: int, last: int, size: int, reach: float) -> Beyond:
    """Repeat the first and half of the last tile along an axis; of the map the pixels [first, last) of `size` are drawn."""
    pixels, low, high = np.arange(size), int(borders[0]), int(borders[-1])
    before, after = max(int(borders[1]) - low, 1), max((high - int(borders[-2]) + 1) // 2, 1)  # without shadows of walls
    source = np.where(pixels < low, low + (pixels - low) % before, pixels)
    source = np.where(pixels >= high, high - after + (pixels - high) % after, source)
    distance = np.maximum(np.maximum(low - pixels, pixels - high + 1), 0)
    light = 256 * np.exp(-(distance / reach) ** 2)
    whole = (first, last) == (max(low, 0), min(high, size))  # a frozen view shows nothing beyond its rectangle
    return Beyond(source.clip(first, max(last - 1, 0)).astype(np.int32), (light * whole).astype(np.int32))

# --- the layer of tiles -------------------------------------------------------------------------------------------------

def _meeting(borders: Doubles, low: float, high: float) -> tuple[int, int]:
    """The first column that meets [low, high], and the one after the last: as `_meets` compares, by bisection."""
    first = int(np.searchsorted(borders[1:], low, "right"))
    return first, max(first, int(np.searchsorted(borders[:-1], high, "left")))


class TileLayer:
    """Draws the terrain's tiles, and its destinations if `marks`.

    Call `prepare` first, then run `launch` or `draw_fblits`, then `draw_surroundings`.
    """

    def __init__(self, tile_set: TileSet, marks: bool) -> None:
        self._set = tile_set
        self._marks = marks
        # the view in which the surroundings were drawn last, and their pixels once they were drawn twice in it
        self._around: tuple[object, list[tuple[Any, Frame]] | None] = None, None
        self._seen: tuple[Terrain | None, int] = None, -1  # the terrain that was read, and its version then
        self._prepared: tuple[object, ...] = ()  # for what
        self._small: Bytes | None = None
        self.counters: dict[str, int] = {}

    def prepare(self, how: str, terrain: Terrain, camera: Camera, rect: Rect) -> None:
        """Choose the tiles for culling `how` by the world rectangle `rect`, and make the pictures that they need."""
        self._read(terrain)
        wanted = how, camera.zoom, camera.view_rect(), rect, self._seen
        if wanted == self._prepared:
            return
        (rows, columns), tile, slack = terrain.kinds.shape, float(terrain.walls.tile), EDGE_PX / camera.zoom
        rect = Rect(rect.left - slack, rect.top - slack, rect.right + slack, rect.bottom + slack)
        left, top, _, _ = camera.view_rect()
        across, down = (np.arange(count + 1) * tile for count in (columns, rows))
        xs, ys = (np.floor((borders - corner) * camera.zoom).astype(np.int32)
                  for borders, corner in ((across, left), (down, top)))
        side = max(int(np.diff(xs).max()), int(np.diff(ys).max()), 1)
        everywhere = CellRange(0, rows, 0, columns)
        self._drawn = drawn = everywhere if how == "off" else CellRange(*_meeting(down, rect.top, rect.bottom),
                                                                        *_meeting(across, rect.left, rect.right))
        needed = self._used  # or of large ones those of the tiles that are drawn
        if side > LARGE_PX:
            needed = np.unique(self._numbers[drawn.row0:drawn.row1, drawn.column0:drawn.column1]).tolist()
        self._pictures = self._set.at(side)
        self._pictures.ensure(needed)
        self._paving = Paving(self._numbers, self._pictures.pixels, xs, ys, how == "agents", rect, tile)
        self._visited = drawn if how == "grid" else everywhere
        self.counters = {"tiles_visited": self._visited.cells, "tiles_drawn": drawn.cells}
        self._prepared = wanted

    def small(self, terrain: Terrain) -> Bytes:
        """The ground with a pixel for each tile, for a map: uint8[rows, columns, 3]; the same array until it changes."""
        self._read(terrain)
        if self._small is None:
            self._small = self._set.mean_colours(self._numbers)
        return self._small

    def launch(self, workers: int, frame: Frame) -> Launch:
        height, width = frame.shape
        return launch(pave, workers, frame, self._paving, self._visited, self._area(width, height))

    def draw_fblits(self, surface: pygame.Surface) -> None:
        """Draw by pygame. A picture may be a pixel larger than its tile; the next tile or the clip hides that."""
        rows, columns = np.mgrid[self._visited.row0:self._visited.row1, self._visited.column0:self._visited.column1]
        if self._paving.tests:
            rect, tile = self._paving.rect, self._paving.tile
            meets = _meet(rect.left, rect.right, columns, tile) & _meet(rect.top, rect.bottom, rows, tile)
            rows, columns = rows[meets], columns[meets]
        rows, columns = rows.ravel(), columns.ravel()
        pictures = self._pictures.surfaces(self._numbers[rows, columns].tolist())
        corners = zip(self._paving.xs[columns].tolist(), self._paving.ys[rows].tolist(), strict=True)
        top, bottom, left, right = self._area(*surface.get_size())
        surface.set_clip((left, top, right - left, bottom - top))
        surface.fblits(list(zip(pictures, corners, strict=True)))
        surface.set_clip(None)

    def draw_surroundings(self, workers: int, frame: Frame) -> None:
        """Draw what lies around the map, from the border that has been drawn."""
        view, (last_view, kept) = (self._prepared, frame.shape), self._around
        if view == last_view and kept is not None:
            for part, pixels in kept:
                frame[part] = pixels
            return
        top, bottom, left, right = self._area(*frame.shape[::-1])
        parts = [part for part in (np.s_[:top], np.s_[bottom:], np.s_[top:bottom, :left], np.s_[top:bottom, right:])
                 if frame[part].size]
        if parts:
            self.surrounding(workers, frame).run()
        self._around = view, [(part, frame[part].copy()) for part in parts] if view == last_view else None

    def surrounding(self, workers: int, frame: Frame) -> Launch:
        """The kernel that draws what lies around the map."""
        (height, width), (xs, ys) = frame.shape, (self._paving.xs, self._paving.ys)
        area, reach = self._area(width, height), REACH * height
        return launch(surround, workers, frame, area, _beyond(xs, area.column0, area.column1, width, reach),
                      _beyond(ys, area.row0, area.row1, height, reach))

    def _area(self, width: int, height: int) -> CellRange:
        xs, ys, tiles = self._paving.xs, self._paving.ys, self._drawn
        left, right = max(int(xs[tiles.column0]), 0), min(int(xs[tiles.column1]), width)
        top, bottom = max(int(ys[tiles.row0]), 0), min(int(ys[tiles.row1]), height)
        return CellRange(top, bottom, left, right) if left < right and top < bottom else CellRange(0, 0, 0, 0)

    def _read(self, terrain: Terrain) -> None:
        """Look up the picture of each tile again if tiles have changed."""
        if terrain is self._seen[0] and terrain.version == self._seen[1]:
            return
        self._seen, self._small = (terrain, terrain.version), None
        marks = terrain.marks if self._marks else np.full_like(terrain.marks, -1)
        self._numbers = self._set.numbers(terrain.kinds, marks)
        self._used = np.unique(self._numbers).tolist()
