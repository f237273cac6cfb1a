"""A sketch: what overlays draw with. It collects areas and lines in world units, and words.

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

from crowd_demo.compute.jit import Call
from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.canvas import Canvas, Pen
from crowd_demo.render.hud.status import Key, LegendItem
from crowd_demo.render.hud.theme import SMALL, TEXT, scale_for
from crowd_demo.render.inks import RGB
from crowd_demo.render.overlays.marks import Areas, Strokes, Window, marks_call
from crowd_demo.render.pixels import Frame

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
        self._areas: list[tuple[ArrayLike, ...]] = []  # four edges, inks
        self._strokes: list[tuple[ArrayLike, ...]] = []  # x and y of both ends, inks, widths, dashes
        self._labels: list[Label] = []
        self.legend_items: list[LegendItem] = []
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
        self._areas.append((left, top, right, bottom, inks))

    def lines(self, x0: ArrayLike, y0: ArrayLike, x1: ArrayLike, y1: ArrayLike, inks: ArrayLike, width: int = 1,
              dash: int = 0, shadow: int = 0) -> None:
        """Draw lines of so many pixels; `dash` is a length in pixels, `shadow` the ink of wider lines under them."""
        if shadow:
            self._strokes.append((x0, y0, x1, y1, shadow, width + 2, 0))
        self._strokes.append((x0, y0, x1, y1, inks, width, dash))

    def boxes(self, left: ArrayLike, top: ArrayLike, right: ArrayLike, bottom: ArrayLike, inks: ArrayLike, width: int = 1,
              dash: int = 0, shadow: int = 0) -> None:
        """Draw the outlines of rectangles."""
        left, top, right, bottom = np.broadcast_arrays(left, top, right, bottom)
        self.lines(np.stack((left, right, right, left)), np.stack((top, top, bottom, bottom)),
                   np.stack((right, right, left, left)), np.stack((top, bottom, bottom, top)), inks, width, dash, shadow)

    def circles(self, x: ArrayLike, y: ArrayLike, radius: ArrayLike, inks: ArrayLike, width: int = 1, dash: int = 0,
                shadow: int = 0) -> None:
        """Draw circles, as polygons of as many corners as the largest one needs."""
        x, y, radius = (np.asarray(number, np.float64) for number in (x, y, radius))
        turn = np.linspace(0, 2 * np.pi, _corners(float(radius.max(initial=0)) * self._zoom) + 1)[:, None]
        around_x, around_y = x + radius * np.cos(turn), y + radius * np.sin(turn)
        self.lines(around_x[:-1], around_y[:-1], around_x[1:], around_y[1:], inks, width, dash, shadow)

    def arrows(self, x0: ArrayLike, y0: ArrayLike, x1: ArrayLike, y1: ArrayLike, inks: ArrayLike, width: int = 1,
               shadow: int = 0) -> None:
        """Draw lines with a head at their end."""
        x0, y0, x1, y1 = (number.astype(np.float64) for number in np.broadcast_arrays(x0, y0, x1, y1))
        back_x, back_y = (x0 - x1) * ARROW_HEAD, (y0 - y1) * ARROW_HEAD
        self.lines(np.stack((x0, x1 + back_x - back_y, x1 + back_x + back_y)),
                   np.stack((y0, y1 + back_y + back_x, y1 + back_y - back_x)), x1, y1, inks, width, shadow=shadow)

    # --- words -------------------------------------------------------------------------------------------------------

    def explain(self, text: str, *keys: Key) -> None:
        """Say in the legend what the present overlay shows, and what its colours mean."""
        self.legend_items.append(LegendItem(self.name, text, keys))

    def label(self, text: str, x: float, y: float, colour: RGB | str = TEXT) -> None:
        """Write a text on a plate at a point of the world; one that lies outside stays at the edge of the screen."""
        self._labels.append(Label(text, (x - self._left) * self._zoom, (y - self._top) * self._zoom, colour))

    # --- once all overlays have drawn --------------------------------------------------------------------------------

    def call(self, workers: int, frame: Frame) -> Call:
        """The kernel that draws all marks on the picture."""
        areas, strokes = _joined(self._areas, np.uint32), _joined(self._strokes, np.uint32, np.int32, np.int32)
        return marks_call(workers, Areas(*areas), Strokes(*strokes), Window(self._left, self._top, self._zoom), frame)

    def write(self, on: pygame.Surface, pen: Pen, scale: float = 1.0, moved: Moved = lambda rect: rect) -> None:
        """Write the labels, `scale` times as large as is usual in such a window, and moved away from what will cover them."""
        for label in self._labels:
            sheet = plate(label.text, pen, scale_for(on.get_size(), scale), label.colour)
            rect = sheet.get_rect(center=(round(label.x), round(label.y)))
            on.blit(sheet, moved(rect.clamp(on.get_rect().inflate(-16, -16))))


def plate(text: str, pen: Pen, scale: float, colour: RGB | str) -> pygame.Surface:
    """A small panel around a line of text."""
    canvas = Canvas((Canvas((1, 1), pen, scale, None).width(text, SMALL) + 10, 17), pen, scale)
    canvas.left(text, 5, 8.5, SMALL, colour)
    return canvas.surface


def _corners(radius_px: float) -> int:
    """A side of n corners is `radius * (1 - cos(pi / n))` inside of its circle, nearly `radius * (pi / n)**2 / 2`."""
    return min(max(math.ceil(math.pi * math.sqrt(radius_px)), FEWEST), MOST)


def _joined(parts: Sequence[tuple[ArrayLike, ...]], *kinds: type) -> list[Any]:
    """Four coordinates of each mark, float64[4, n], and columns of other kinds; a number counts for all marks of its part."""
    shapes = [np.broadcast(*part).shape for part in parts]
    ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
    places = np.empty((4, ends[-1]))
    columns: list[Any] = [np.empty(ends[-1], kind) for kind in kinds]
    for part, shape, first, last in zip(parts, shapes, ends[:-1], ends[1:], strict=True):
        for column, values in zip((*places, *columns), part, strict=True):
            column[first:last].reshape(shape)[...] = values
    return [places, *columns]
