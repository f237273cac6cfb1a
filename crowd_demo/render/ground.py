"""The ground: the tiles of the map, drawn anew each frame so that the effect of culling them can be measured.

`off` draws every tile of the map and lets the screen's edge clip it, `agents` tests each one, `grid` visits only the
range that is in view. Column c covers the pixels from floor((c * tile - left) * zoom) to that of c + 1, so there are
no gaps and every way draws the same pixels: the kernel (paving.py) copies rows of a tile's picture, pygame blits all of it,
and the next tile covers the surplus.
"""

from __future__ import annotations

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bools, Bytes, Ints, Longs
from crowd_demo.compute.jit import Call, call
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.cull import CellRange
from crowd_demo.render.paving import OUTSIDE, Area, Paving, Wanted, pave
from crowd_demo.render.pixels import Frame
from crowd_demo.render.tiles import TileSet
from crowd_demo.sim.terrain.tiles import Terrain

RIM, FACE, FOOT = (92, 98, 114), (58, 62, 76), (26, 28, 36)  # of the world: a slab, whose south face is in view
SLAB = 12.0  # height of its south face, world units
LARGE_PX = 32  # side of a tile: while one zooms, the pictures of each size are made anew, and large ones take long
EDGE_PX = 0.01  # the view grows by this much: rounding must not lose the last column


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
    """Draws the terrain's tiles, and its destinations if `marks`.

    Call `prepare` first, then run `call` or `draw_fblits`, which draw on all of the screen, then `draw_edge`.
    """

    def __init__(self, tile_set: TileSet, marks: bool) -> None:
        self._set = tile_set
        self._marks = marks
        self._seen: tuple[Terrain | None, int] = None, -1  # the terrain that was read, and its version then
        self._prepared: tuple[object, ...] = ()  # for what
        self._small: Bytes | None = None
        self._across = self._down = Borders(0, 0.0)
        self.counters: dict[str, int] = {}

    def prepare(self, how: str, terrain: Terrain, camera: Camera, rect: Rect) -> None:
        """Choose the tiles for culling `how` by the world rectangle `rect`, and make the pictures that they need."""
        wanted = how, camera.zoom, camera.view_rect(), rect
        self._read(terrain)
        if wanted != self._prepared:
            self._choose(how, terrain, camera, rect)
            self._prepared = wanted

    def small(self, terrain: Terrain) -> Bytes:
        """The ground with a pixel for each tile: uint8[rows, columns, 3]; the same array until the terrain changes."""
        self._read(terrain)
        if self._small is None:
            self._small = self._set.mean_colours(self._numbers)
        return self._small

    def _choose(self, how: str, terrain: Terrain, camera: Camera, rect: Rect) -> None:
        rows, columns = terrain.kinds.shape
        tile = float(terrain.walls.tile)
        slack = EDGE_PX / camera.zoom
        rect = Rect(rect.left - slack, rect.top - slack, rect.right + slack, rect.bottom + slack)
        left, top, _, _ = camera.view_rect()
        if (len(self._across), len(self._down), self._across.tile) != (columns, rows, tile):
            self._across, self._down = Borders(columns, tile), Borders(rows, tile)
        xs, ys = self._across.pixels(left, camera.zoom), self._down.pixels(top, camera.zoom)
        side = max(self._across.widest(), self._down.widest(), 1)
        everywhere = CellRange(0, rows, 0, columns)
        self._drawn = everywhere if how == "off" else CellRange(*self._down.meeting(rect.top, rect.bottom),
                                                                *self._across.meeting(rect.left, rect.right))
        self._pictures = self._set.at(side)
        self._pictures.ensure(self._needed(side))
        self._paving = Paving(self._numbers, self._pictures.pixels, xs, ys)
        self._slab_px = max(1, round(SLAB * camera.zoom))
        self._visited = self._drawn if how == "grid" else everywhere
        self._wanted = Wanted(how == "agents", rect, tile)
        self.counters = {"tiles_visited": self._visited.cells, "tiles_drawn": self._drawn.cells}

    def _needed(self, side: int) -> list[int]:
        """The numbers of the pictures to make: all that the map uses, or of large ones those of the tiles that are drawn."""
        if side <= LARGE_PX:
            return self._used
        drawn = self._drawn
        return np.unique(self._numbers[drawn.row0:drawn.row1, drawn.column0:drawn.column1]).tolist()

    def call(self, workers: int, frame: Frame) -> Call:
        height, width = frame.shape
        return call(pave, workers, frame, self._paving, self._visited, self._wanted, self._area(width, height))

    def draw_fblits(self, surface: pygame.Surface) -> None:
        """Draw by pygame. A picture may be a pixel larger than its tile; the next tile or the clip hides that."""
        surface.fill(OUTSIDE)
        rows, columns = np.mgrid[self._visited.row0:self._visited.row1, self._visited.column0:self._visited.column1]
        if self._wanted.tests:
            rect, tile = self._wanted.rect, self._wanted.tile
            meets = _meets_all(rect.left, rect.right, columns, tile) & _meets_all(rect.top, rect.bottom, rows, tile)
            rows, columns = rows[meets], columns[meets]
        rows, columns = rows.ravel(), columns.ravel()
        pictures = self._pictures.surfaces(self._numbers[rows, columns].tolist())
        corners = zip(self._paving.xs[columns].tolist(), self._paving.ys[rows].tolist(), strict=True)
        left, top, right, bottom = self._area(*surface.get_size())
        surface.set_clip((left, top, right - left, bottom - top))
        surface.fblits(list(zip(pictures, corners, strict=True)))
        surface.set_clip(None)

    def draw_edge(self, surface: pygame.Surface) -> None:
        """Draw the edge of the world around it: a rim of a pixel, and its south face, which grows darker downwards."""
        world, height = pygame.Rect(*edge_of(self._paving)), self._slab_px
        if world.contains(surface.get_rect()):
            return
        shown = self._area(*surface.get_size())  # of the world: a frozen view has no edge beyond what it shows
        surface.set_clip((shown.left - 1, shown.top - 1, shown.right - shown.left + 2, shown.bottom - shown.top + 1 + height))
        for line in ((world.left - 1, world.top - 1, world.width + 2, 1), (world.left - 1, world.top, 1, world.height),
                     (world.right, world.top, 1, world.height)):
            surface.fill(RIM, line)
        for row in range(height):
            part = (row + 0.5) / height
            colour = tuple(round(high + (low - high) * part) for high, low in zip(FACE, FOOT, strict=True))
            surface.fill(RIM if row == 0 else colour, (world.left - 1, world.bottom + row, world.width + 2, 1))
        surface.set_clip(None)

    def _area(self, width: int, height: int) -> Area:
        """The pixels of the tiles that are drawn, as far as they are on the screen."""
        xs, ys, tiles = self._paving.xs, self._paving.ys, self._drawn
        left, right = max(int(xs[tiles.column0]), 0), min(int(xs[tiles.column1]), width)
        top, bottom = max(int(ys[tiles.row0]), 0), min(int(ys[tiles.row1]), height)
        return Area(left, top, right, bottom) if left < right and top < bottom else Area(0, 0, 0, 0)

    def _read(self, terrain: Terrain) -> None:
        """Number the tiles if they have changed; then nothing is prepared any more."""
        if terrain is self._seen[0] and terrain.version == self._seen[1]:
            return
        self._seen, self._prepared, self._small = (terrain, terrain.version), (), None
        marks = terrain.marks if self._marks else np.full_like(terrain.marks, -1)
        self._numbers = self._set.numbers(terrain.kinds, marks)
        self._used = np.unique(self._numbers).tolist()


def edge_of(paving: Paving) -> tuple[int, int, int, int]:
    """Left, top, width and height of the world, in pixels."""
    left, top = int(paving.xs[0]), int(paving.ys[0])
    return left, top, int(paving.xs[-1]) - left, int(paving.ys[-1]) - top


def _meets_all(low: float, high: float, number: Longs, tile: float) -> Bools:
    return ((number + 1) * tile > low) & (number * tile < high)
