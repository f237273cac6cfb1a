"""A sketch: what overlays draw with. It collects areas and lines in world units, clipped to the screen, and words.

An overlay calls `areas`, `lines` and their like with whole arrays and says in the legend, by `tell`, what they mean. Once
all overlays have drawn, one kernel blends everything over the picture (marks.py), and texts are written at the end. So an
overlay is plain NumPy, and has no kernels to compile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pygame
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Bools, Doubles, Ints, Words
from crowd_demo.compute.jit import Call
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import SMALL, TEXT, scale_for
from crowd_demo.render.overlays.marks import Areas, Strokes, marks_call
from crowd_demo.render.pixels import Frame
from crowd_demo.render.told import RGB, Key, OverlayLegend

EDGE_PX = 4.0  # lines are clipped so far outside of the screen
FEWEST, MOST = 4, 12  # corners of a circle: between them no side is more than half a pixel inside of it
ARROW_HEAD = 0.3  # of an arrow's length

Moved = Callable[[pygame.Rect], pygame.Rect]  # where in the window a rectangle is to be instead


class Label(NamedTuple):
    """A text on a plate, in the middle of a point in pixels."""

    text: str
    x: float
    y: float
    colour: RGB | str


class Sketch:
    """Collects the marks of all overlays of a frame."""

    def __init__(self, camera: Camera) -> None:
        self._left, self._top, self._right, self._bottom = camera.view_rect()
        self._zoom, self._size = camera.zoom, camera.size
        self._areas: list[Areas] = []
        self._strokes: list[Strokes] = []
        self._labels: list[Label] = []
        self.told: list[OverlayLegend] = []
        self.name = ""  # of the overlay that is drawing

    @property
    def rect(self) -> Rect:
        """The part of the world that is on the screen."""
        return Rect(self._left, self._top, self._right, self._bottom)

    @property
    def zoom(self) -> float:
        """Pixels a unit."""
        return self._zoom

    # --- marks; arrays of one shape, or numbers, in world units ------------------------------------------------------

    def areas(self, left: ArrayLike, top: ArrayLike, right: ArrayLike, bottom: ArrayLike, inks: ArrayLike) -> None:
        """Fill rectangles with an ink, or one for each."""
        edges = self._pixels(left, top, right, bottom)
        width, height = self._size
        shown = (edges[:, 0] < width) & (edges[:, 2] >= 0) & (edges[:, 1] < height) & (edges[:, 3] >= 0)
        box = np.floor(edges[shown]).clip(0, (width, height, width, height)).astype(np.int32)
        self._areas.append(Areas(box, _each(inks, edges.shape[0])[shown]))

    def lines(self, x0: ArrayLike, y0: ArrayLike, x1: ArrayLike, y1: ArrayLike, inks: ArrayLike, width: int = 1,
              dash: int = 0, shadow: int = 0) -> None:
        """Draw lines of so many pixels; `dash` is a length in pixels, `shadow` the ink of wider lines under them."""
        ends, shown = _clipped(self._pixels(x0, y0, x1, y1), self._size)
        count = len(ends)
        pixels = np.floor(ends[shown]).astype(np.int32)
        if shadow:
            self._stroke(pixels, np.full(len(pixels), shadow, np.uint32), width + 2, 0)
        self._stroke(pixels, _each(inks, count)[shown], width, dash)

    def boxes(self, left: ArrayLike, top: ArrayLike, right: ArrayLike, bottom: ArrayLike, inks: ArrayLike, width: int = 1,
              dash: int = 0, shadow: int = 0) -> None:
        """Draw the outlines of rectangles."""
        left, top, right, bottom = (np.ravel(edge) for edge in np.broadcast_arrays(left, top, right, bottom))
        four = np.tile(_each(inks, len(left)), 4)
        self.lines(np.concatenate((left, right, right, left)), np.concatenate((top, top, bottom, bottom)),
                   np.concatenate((right, right, left, left)), np.concatenate((top, bottom, bottom, top)),
                   four, width, dash, shadow)

    def circles(self, x: ArrayLike, y: ArrayLike, radius: ArrayLike, inks: ArrayLike, width: int = 1, dash: int = 0,
                shadow: int = 0) -> None:
        """Draw circles, as polygons of as many corners as the largest one needs."""
        x, y, radius = (np.ravel(number).astype(np.float64) for number in np.broadcast_arrays(x, y, radius))
        corners = _corners(float(radius.max(initial=0)) * self._zoom)
        turn = np.linspace(0, 2 * np.pi, corners + 1)[:, None]
        around_x, around_y = x + radius * np.cos(turn), y + radius * np.sin(turn)
        each = np.tile(_each(inks, len(x)), corners)
        self.lines(around_x[:-1], around_y[:-1], around_x[1:], around_y[1:], each, width, dash, shadow)

    def arrows(self, x0: ArrayLike, y0: ArrayLike, x1: ArrayLike, y1: ArrayLike, inks: ArrayLike, width: int = 1,
               shadow: int = 0) -> None:
        """Draw lines with a head at their end."""
        x0, y0, x1, y1 = (np.ravel(number).astype(np.float64) for number in np.broadcast_arrays(x0, y0, x1, y1))
        back_x, back_y = (x0 - x1) * ARROW_HEAD, (y0 - y1) * ARROW_HEAD
        from_x = np.concatenate((x0, x1 + back_x - back_y, x1 + back_x + back_y))
        from_y = np.concatenate((y0, y1 + back_y + back_x, y1 + back_y - back_x))
        self.lines(from_x, from_y, np.tile(x1, 3), np.tile(y1, 3), np.tile(_each(inks, len(x0)), 3), width, shadow=shadow)

    # --- words -------------------------------------------------------------------------------------------------------

    def tell(self, text: str, *keys: Key) -> None:
        """Say in the legend what the present overlay shows, and what its colours mean."""
        self.told.append(OverlayLegend(self.name, text, keys))

    def label(self, text: str, x: float, y: float, colour: RGB | str = TEXT) -> None:
        """Write a text on a plate at a point of the world; one that lies outside stays at the edge of the screen."""
        self._labels.append(Label(text, (x - self._left) * self._zoom, (y - self._top) * self._zoom, colour))

    # --- once all overlays have drawn --------------------------------------------------------------------------------

    def call(self, workers: int, frame: Frame) -> Call:
        """The kernel that draws all marks on the picture."""
        areas = Areas(_joined([each.box for each in self._areas], (0, 4), np.int32),
                      _joined([each.ink for each in self._areas], (0,), np.uint32))
        strokes = Strokes(*(_joined([each[k] for each in self._strokes], (0, 4) if k == 0 else (0,),
                                    np.uint32 if k == 1 else np.int32) for k in range(4)))
        return marks_call(workers, areas, strokes, frame)

    def write(self, on: pygame.Surface, pen: Pen, scale: float = 1.0, moved: Moved = lambda rect: rect) -> None:
        """Write the labels, `scale` times as large as is usual in such a window, and moved away from what will cover them."""
        for label in self._labels:
            sheet = plate(label.text, pen, scale_for(on.get_size(), scale), label.colour)
            rect = sheet.get_rect(center=(round(label.x), round(label.y)))
            on.blit(sheet, moved(rect.clamp(on.get_rect().inflate(-16, -16))))

    def _pixels(self, *world: ArrayLike) -> Doubles:
        """float64[n, 4]: x, y, x, y on the screen."""
        x0, y0, x1, y1 = (np.ravel(number).astype(np.float64) for number in np.broadcast_arrays(*world))
        return np.stack(((x0 - self._left) * self._zoom, (y0 - self._top) * self._zoom,
                         (x1 - self._left) * self._zoom, (y1 - self._top) * self._zoom), axis=1)

    def _stroke(self, ends: Ints, inks: Words, width: int, dash: int) -> None:
        self._strokes.append(Strokes(ends, inks, np.full(len(ends), width, np.int32), np.full(len(ends), dash, np.int32)))


def plate(text: str, pen: Pen, scale: float, colour: RGB | str) -> pygame.Surface:
    """A small panel around a line of text."""
    canvas = Canvas((Canvas((1, 1), pen, scale, None).width(text, SMALL) + 10, 17), pen, scale)
    canvas.left(text, 5, 8.5, SMALL, colour)
    return canvas.surface


def _corners(radius_px: float) -> int:
    """A side of n corners is `radius * (1 - cos(pi / n))` inside of its circle, nearly `radius * (pi / n)**2 / 2`."""
    return min(max(math.ceil(math.pi * math.sqrt(radius_px)), FEWEST), MOST)


def _each(inks: ArrayLike, count: int) -> Words:
    """One ink for each mark."""
    return np.broadcast_to(np.ravel(np.asarray(inks, np.uint32)), (count,))


def _joined(parts: Sequence[Any], shape: tuple[int, ...], dtype: type) -> Any:
    return np.ascontiguousarray(np.concatenate(parts), dtype) if parts else np.zeros(shape, dtype)


def _clipped(ends: Doubles, size: tuple[int, int]) -> tuple[Doubles, Bools]:
    """Clip lines to the screen and a margin around it; also which of them meet it at all.

    Source: Liang and Barsky, "A new concept and method for line clipping" (1984).
    """
    least, most = -EDGE_PX, np.array((*size, *size)) + EDGE_PX
    x0, y0, x1, y1 = ((ends >= least) & (ends <= most)).T  # np.all of rows of four takes twice as long
    shown: Bools = x0 & y0 & x1 & y1
    crossing = np.flatnonzero(~shown)
    if len(crossing):
        begin, end, meets = _cut(ends[crossing], least, most[:2])
        ends[crossing], shown[crossing] = np.concatenate((begin, end), axis=1), meets
    return ends, shown


def _cut(ends: Doubles, least: float, most: Doubles) -> tuple[Doubles, Doubles, Bools]:
    """Both ends of what lies between, and whether there is anything."""
    begin, way = ends[:, :2], ends[:, 2:] - ends[:, :2]
    low, high = least - begin, most - begin
    still = way == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        enter, leave = np.minimum(low / way, high / way), np.maximum(low / way, high / way)
    inside = (low <= 0) & (high >= 0)
    enter = np.where(still, np.where(inside, 0.0, np.inf), enter).max(axis=1).clip(0)
    leave = np.where(still, np.where(inside, 1.0, -np.inf), leave).min(axis=1).clip(max=1)
    shown = enter <= leave
    enter, leave = np.where(shown, enter, 0)[:, None], np.where(shown, leave, 0)[:, None]
    return begin + way * enter, begin + way * leave, shown
