"""The ground: the tiles of the map, drawn anew each frame so that culling them can be seen to pay.

`off` draws every tile of the map and lets the screen's edge clip it, `agents` tests each one, `grid` visits only the
range that is in view. Column c covers the pixels from floor((c * tile - left) * zoom) to that of c + 1, so there are
no gaps and every way draws the same pixels: compiled kernels copy runs of a tile's picture, pygame blits it whole and
lets the next tile cover what is too much. Tile rows are shared among the workers; no two of them touch a pixel row in
common.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pygame
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Call, call, device, kernel, prange
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.pixels import Frame
from crowd_demo.render.tiles import TileSet, tile_numbers

OUTSIDE = 18, 20, 26
EDGE_PX = 0.01  # the view grows by this much: rounding must not lose the last column


class Paving(NamedTuple):
    """What a kernel needs to pave: the picture of each tile, the pictures, and where columns and rows begin."""

    number: NDArray[np.uint8]  # [H, W]
    pictures: NDArray[np.uint32]  # [numbers, side, side]
    xs: Ints  # [W + 1] pixels
    ys: Ints  # [H + 1] pixels


class Range(NamedTuple):
    """Tiles [row0, row1) x [column0, column1)."""

    row0: int
    row1: int
    column0: int
    column1: int

    @property
    def tiles(self) -> int:
        return (self.row1 - self.row0) * (self.column1 - self.column0)


class Wanted(NamedTuple):
    """Whether a tile has to meet a rectangle to be drawn; float64 world units."""

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
def _copy_tile(target: Any, width: int, height: int, source: Any, start: int, side: int, x: int, x_end: int, y: int,
               y_end: int) -> None:
    """A tile's picture to [x, x_end) x [y, y_end), as far as that is on the screen."""
    first, last = max(x, 0), min(x_end, width)
    for row in range(max(y, 0), min(y_end, height)):
        at, there = np.uintp(row * width), np.uintp(start + (row - y) * side)
        for column in range(first, last):
            target[at + np.uintp(column)] = source[there + np.uintp(column - x)]


@device
def _pave(worker: int, workers: int, frame: Any, paving: Any, tiles: Any, wanted: Any) -> None:
    target, source, side = frame.reshape(-1), paving.pictures.reshape(-1), paving.pictures.shape[1]
    height, width = frame.shape
    for row in range(tiles.row0 + worker, tiles.row1, workers):
        for column in range(tiles.column0, tiles.column1):
            if not wanted.tests or (_meets(wanted.left, wanted.right, column, wanted.tile)
                                   and _meets(wanted.top, wanted.bottom, row, wanted.tile)):
                _copy_tile(target, width, height, source, np.int64(paving.number[row, column]) * side * side, side,
                           paving.xs[column], paving.xs[column + 1], paving.ys[row], paving.ys[row + 1])


@kernel
def pave(workers: int, frame: Any, paving: Any, tiles: Any, wanted: Any) -> None:
    for worker in prange(workers):
        _pave(worker, workers, frame, paving, tiles, wanted)


class Ground:
    """Draws the terrain's tiles, its destinations if `marks`. `prepare` says what this frame needs, then one of the two
    ways draws it."""

    def __init__(self, tile_set: TileSet, marks: bool) -> None:
        self._set = tile_set
        self._marks = marks
        self._version = -1
        self.counters: dict[str, int] = {}

    def prepare(self, how: str, terrain: Any, camera: Camera, rect: Rect) -> None:
        """Choose the tiles for culling `how` by the world rectangle `rect`, and make the pictures they need."""
        self._read(terrain)
        rows, columns = terrain.kinds.shape
        tile = float(terrain.walls.tile)
        slack = EDGE_PX / camera.zoom
        rect = Rect(rect.left - slack, rect.top - slack, rect.right + slack, rect.bottom + slack)
        left, top, _, _ = camera.view_rect()
        xs = _begin(columns, tile, left, camera.zoom)
        ys = _begin(rows, tile, top, camera.zoom)
        side = int(max(np.diff(xs).max(), np.diff(ys).max(), 1))
        self._pictures = self._set.at(side)
        self._pictures.ensure(self._used)
        self._paving = Paving(self._numbers, self._pictures.pixels, xs, ys)
        self._drawn = _in_view(tile, rows, columns, rect) if how != "off" else Range(0, rows, 0, columns)
        self._visited = self._drawn if how == "grid" else Range(0, rows, 0, columns)
        self._wanted = Wanted(how == "agents", *rect, tile)
        self.counters = {"tiles_visited": self._visited.tiles, "tiles_drawn": self._drawn.tiles}

    def fill_outside(self, surface: pygame.Surface) -> None:
        """A plain colour around the tiles that will be drawn, and only there: a whole screen takes 0.3 ms."""
        width, height = surface.get_size()
        area = self._area().clip(surface.get_rect())
        if not area:
            surface.fill(OUTSIDE)
            return
        for beside in ((0, 0, width, area.top), (0, area.bottom, width, height - area.bottom),
                       (0, area.top, area.left, area.height), (area.right, area.top, width - area.right, area.height)):
            surface.fill(OUTSIDE, beside)

    def calls(self, workers: int, frame: Frame) -> tuple[Call, ...]:
        return (call(pave, workers, frame, self._paving, self._visited, self._wanted),)

    def draw_fblits(self, surface: pygame.Surface) -> None:
        """The plain way. A picture may be a pixel larger than its tile; the next tile covers that, or the clip."""
        rows, columns = np.mgrid[self._visited.row0:self._visited.row1, self._visited.column0:self._visited.column1]
        if self._wanted.tests:
            meets = (_meets_all(self._wanted.left, self._wanted.right, columns, self._wanted.tile)
                     & _meets_all(self._wanted.top, self._wanted.bottom, rows, self._wanted.tile))
            rows, columns = rows[meets], columns[meets]
        rows, columns = rows.ravel(), columns.ravel()
        pictures = self._pictures.surfaces(self._numbers[rows, columns].tolist())
        places = zip(self._paving.xs[columns].tolist(), self._paving.ys[rows].tolist(), strict=True)
        surface.set_clip(self._area())
        surface.fblits(list(zip(pictures, places, strict=True)))
        surface.set_clip(None)

    def _area(self) -> pygame.Rect:
        """The pixels of the tiles that are drawn."""
        xs, ys, tiles = self._paving.xs, self._paving.ys, self._drawn
        left, top = int(xs[tiles.column0]), int(ys[tiles.row0])
        return pygame.Rect(left, top, int(xs[tiles.column1]) - left, int(ys[tiles.row1]) - top)

    def _read(self, terrain: Any) -> None:
        if terrain.version != self._version:
            self._version = terrain.version
            marks = terrain.marks if self._marks else np.full_like(terrain.marks, -1)
            self._numbers = tile_numbers(terrain.kinds, marks)
            self._used = np.unique(self._numbers).tolist()


def _begin(count: int, tile: float, corner: float, zoom: float) -> Ints:
    """First pixel of each column (or row), and the end of the last one: int32[count + 1]."""
    pixels: Ints = np.floor((np.arange(count + 1) * float(tile) - corner) * zoom).astype(np.int32)
    return pixels


def _meets_all(low: float, high: float, number: NDArray[np.int64], tile: float) -> NDArray[np.bool_]:
    meets: NDArray[np.bool_] = ((number + 1) * tile > low) & (number * tile < high)
    return meets


def _in_view(tile: float, rows: int, columns: int, rect: Rect) -> Range:
    """The tiles that meet `rect`: the same comparisons as `_meets`, by bisection."""
    def along(count: int, low: float, high: float) -> tuple[int, int]:
        borders = np.arange(count + 1) * float(tile)
        first = int(np.searchsorted(borders[1:], low, "right"))
        return first, max(first, int(np.searchsorted(borders[:-1], high, "left")))
    return Range(*along(rows, rect.top, rect.bottom), *along(columns, rect.left, rect.right))
