"""Lines and areas on a picture: the links between agents, and the marks of overlays.

Links are thin and half transparent, above the ground and below the agents: `place_ends` finds the pixels of both
ends, where their agents are drawn. Marks are in world units; their kernel finds their pixels and clips lines to the
screen, in float64. The screen is cut into slices; a worker draws what lies in its slices, in the order of the lists,
so the picture does not depend on the number of workers. What lies outside of a slice costs two comparisons. O(marks *
slices + pixels).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Int, Ints, Words
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.render.camera import Rect, View
from crowd_demo.render.drawing import Moving, pixel
from crowd_demo.sprites.blitter import SLICES_PER_WORKER
from crowd_demo.sprites.pixels import Frame, over_pixel

EDGE_PX = 4.0  # lines are clipped so far outside of the screen
FAR_PX = 1e6  # what is farther away, or nowhere, is not drawn
LINK = np.uint32(0x807F7F7F)  # half transparent white, premultiplied
LONGEST_PX = 8192  # a longer link is left out: it would be slow, and its agents are surely not tied on purpose
FAR = np.float32(1 << 20)  # pixels; coordinates of links are clamped to this, so that they fit an int32


class FilledAreas(NamedTuple):
    """Filled rectangles; the pixels at their right and lower edge are outside."""

    edges: Doubles  # [4, n]: left, top, right, bottom, world units
    ink: Words  # [n]: premultiplied 0xAARRGGBB


class Strokes(NamedTuple):
    ends: Doubles  # [4, n]: x, y of both ends, world units
    ink: Words  # [n]: premultiplied 0xAARRGGBB
    width: Ints  # [n]: pixels
    dash: Ints  # [n]: length of dashes and gaps in pixels; 0 for a full line


@device
def _blend(frame: Frame, left: int, top: int, right: int, bottom: int, ink: Int) -> None:
    """Draw an ink over the pixels of a rectangle, which lies on the screen."""
    for y in range(top, bottom):
        for x in range(left, right):
            frame[np.uintp(y), np.uintp(x)] = over_pixel(frame[np.uintp(y), np.uintp(x)], ink)


@device
def _inside(x0: float, y0: float, x1: float, y1: float, width: float, height: float, room: float) -> bool:
    """Return whether both ends are on the screen, or at most this many pixels outside."""
    return (min(x0, x1) >= -room and max(x0, x1) <= width + room and min(y0, y1) >= -room and max(y0, y1) <= height + room)


@device
def _within(begin: float, way: float, size: float) -> tuple[float, float]:
    """The part of a line, as shares of its length, that is near the screen along an axis; empty if the first is greater."""
    low, high = -EDGE_PX - begin, size + EDGE_PX - begin
    if way == 0.0:
        return (0.0, 1.0) if low <= 0.0 <= high else (1.0, 0.0)
    return min(low / way, high / way), max(low / way, high / way)


@device
def _clipped(x0: float, y0: float, x1: float, y1: float, width: float, height: float) -> tuple[float, float, float, float]:
    """Both ends of the part of a line that is on the screen or near its edge; infinite ends if there is none.

    Source: Liang and Barsky, "A new concept and method for line clipping" (1984).
    """
    across, down = x1 - x0, y1 - y0
    enter_x, leave_x = _within(x0, across, width)
    enter_y, leave_y = _within(y0, down, height)
    enter, leave = max(enter_x, enter_y, 0.0), min(leave_x, leave_y, 1.0)
    if not enter <= leave:
        return np.inf, np.inf, np.inf, np.inf
    return x0 + across * enter, y0 + down * enter, x0 + across * leave, y0 + down * leave


@device
def _draw(frame: Frame, top: int, bottom: int, x0: Int, y0: Int, x1: Int, y1: Int, ink: Int, width: Int, dash: Int) -> None:
    """Draw those pixels of a line that lie in the slice, in fixed point of 1/65536 pixel; it grows across its direction."""
    if dash == 0 and (x0 == x1 or y0 == y1):  # along a column or a row: a rectangle, sixteen pixels at a time
        before, after = width // 2, width - width // 2 - 1  # pixels on both sides
        left, right = min(x0, x1) - (0 if y0 == y1 else before), max(x0, x1) + (0 if y0 == y1 else after)
        upper, lower = min(y0, y1) - (before if y0 == y1 else 0), max(y0, y1) + (after if y0 == y1 else 0)
        _blend(frame, max(left, 0), max(upper, top), min(right + 1, frame.shape[1]), min(lower + 1, bottom), ink)
        return
    length = max(abs(x1 - x0), abs(y1 - y0))
    flat = abs(x1 - x0) >= abs(y1 - y0)
    step_x, step_y = ((x1 - x0) << 16) // max(length, 1), ((y1 - y0) << 16) // max(length, 1)
    first, last = 0, length + 1
    if step_y != 0 and (min(y0, y1) < top + width or max(y0, y1) >= bottom - width):  # only steps that may lie in the slice
        begin, end = ((top - width - 1 - y0) << 16) // step_y, ((bottom + width + 1 - y0) << 16) // step_y
        first, last = max(min(begin, end), 0), min(max(begin, end) + 2, length + 1)
    for step in range(first, last):
        if dash > 0 and step // dash & 1:
            continue
        at_x, at_y = x0 + ((step * step_x + (1 << 15)) >> 16), y0 + ((step * step_y + (1 << 15)) >> 16)
        for across in range(-(width // 2), width - width // 2):
            x, y = (at_x, at_y + across) if flat else (at_x + across, at_y)
            if 0 <= x < frame.shape[1] and top <= y < bottom:
                frame[np.uintp(y), np.uintp(x)] = over_pixel(frame[np.uintp(y), np.uintp(x)], ink)


@kernel
def draw_marks(worker: int, workers: int, areas: FilledAreas, strokes: Strokes, view: Rect, zoom: float, frame: Frame) -> None:
    """Draw the areas and, over them, the lines, on every `workers`-th slice; `view` is on the screen, `zoom` pixels a unit."""
    high, wide, slices = float(frame.shape[0]), float(frame.shape[1]), SLICES_PER_WORKER * workers
    for part in range(worker, slices, workers):
        first, last = frame.shape[0] * part // slices, frame.shape[0] * (part + 1) // slices
        for k in range(areas.ink.shape[0]):
            top, bottom = (areas.edges[1, k] - view.top) * zoom, (areas.edges[3, k] - view.top) * zoom
            if top < last and bottom >= first:
                left, right = (areas.edges[0, k] - view.left) * zoom, (areas.edges[2, k] - view.left) * zoom
                if left < wide and right >= 0.0:
                    _blend(frame, math.floor(max(left, 0.0)), math.floor(max(top, first)), math.floor(min(right, wide)),
                           math.floor(min(bottom, last)), areas.ink[k])
        for k in range(strokes.ink.shape[0]):
            y0, y1 = (strokes.ends[1, k] - view.top) * zoom, (strokes.ends[3, k] - view.top) * zoom
            width = np.int64(strokes.width[k])
            if min(y0, y1) - width < last and max(y0, y1) + width >= first:
                x0, x1 = (strokes.ends[0, k] - view.left) * zoom, (strokes.ends[2, k] - view.left) * zoom
                if not _inside(x0, y0, x1, y1, wide, high, EDGE_PX):
                    x0, y0, x1, y1 = _clipped(x0, y0, x1, y1, wide, high)
                if _inside(x0, y0, x1, y1, wide, high, FAR_PX):
                    _draw(frame, first, last, math.floor(x0), math.floor(y0), math.floor(x1), math.floor(y1),
                          strokes.ink[k], width, np.int64(strokes.dash[k]))


# --- links --------------------------------------------------------------------------------------------------------------

@device
def _end(slot: Int, agents: Moving, ahead: np.float32, view: View) -> tuple[int, int]:
    x = pixel(agents.x[slot], agents.vx[slot], ahead, view.left, view.zoom)
    y = pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom)
    return int(min(max(x, -FAR), FAR)), int(min(max(y, -FAR), FAR))


@kernel
def place_ends(worker: int, workers: int, a: Ints, b: Ints, agents: Moving, ahead: np.float32, view: View, ends: Ints) -> None:
    """Write the pixels of both ends of each link: ends int32[4, links], x and y of one end, then of the other."""
    links = a.shape[0]
    for k in range(links * worker // workers, links * (worker + 1) // workers):
        ends[0, k], ends[1, k] = _end(np.uintp(a[k]), agents, ahead, view)
        ends[2, k], ends[3, k] = _end(np.uintp(b[k]), agents, ahead, view)


@kernel
def draw_links(worker: int, workers: int, ends: Ints, links: int, frame: Frame) -> None:
    """Draw the part of every link that lies in this worker's slice of the screen."""
    top, bottom = frame.shape[0] * worker // workers, frame.shape[0] * (worker + 1) // workers
    for k in range(links):
        x0, y0, x1, y1 = np.int64(ends[0, k]), np.int64(ends[1, k]), np.int64(ends[2, k]), np.int64(ends[3, k])
        if (min(y0, y1) < bottom and max(y0, y1) >= top and min(x0, x1) < frame.shape[1] and max(x0, x1) >= 0
                and max(abs(x1 - x0), abs(y1 - y0)) <= LONGEST_PX):
            _draw(frame, top, bottom, x0, y0, x1, y1, LINK, 1, 0)


class LinkLines:
    """Owns the memory of the ends, which grows by half when there are more links than before."""

    def __init__(self) -> None:
        self._ends: Ints = np.zeros((4, 0), np.int32)

    def launches(self, workers: int, pairs: tuple[Ints, Ints], agents: Moving, ahead: np.float32, view: View,
                 frame: Frame) -> tuple[Launch, ...]:
        """Kernels that draw a line between the slots of each pair, int32[m] each."""
        a, b = (np.ascontiguousarray(slots, np.int32) for slots in pairs)
        if len(a) > self._ends.shape[1]:
            self._ends = np.zeros((4, len(a) + len(a) // 2), np.int32)
        return (launch(place_ends, workers, a, b, agents, ahead, view, self._ends),
                launch(draw_links, workers, self._ends, len(a), frame))
