"""The marks of overlays: translucent areas and lines, blended over the finished picture by one kernel.

The screen is cut into slices; a worker draws what lies in its slices, in the order of the lists, so the picture does not
depend on the number of workers. A mark outside of a slice costs one comparison. O(marks * slices + pixels).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Int, Ints, Words
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.render.pixels import Frame, over_pixel
from crowd_demo.render.slices import SLICES_PER_WORKER


class Areas(NamedTuple):
    """Filled rectangles of pixels, right and bottom outside of them."""

    box: Ints  # [n, 4]: left, top, right, bottom
    ink: Words  # [n]: premultiplied 0xAARRGGBB


class Strokes(NamedTuple):
    """Lines from pixel to pixel, all of them on the screen or near its edge."""

    ends: Ints  # [n, 4]: x, y of both ends
    ink: Words  # [n]: premultiplied 0xAARRGGBB
    width: Ints  # [n]: pixels
    dash: Ints  # [n]: length of dashes and gaps in pixels; 0 for a full line


@device
def _fill(frame: Frame, top: int, bottom: int, areas: Areas) -> None:
    for k in range(areas.ink.shape[0]):
        left, right = max(areas.box[k, 0], 0), min(areas.box[k, 2], frame.shape[1])
        ink = areas.ink[k]
        for y in range(max(areas.box[k, 1], top), min(areas.box[k, 3], bottom)):
            for x in range(left, right):
                frame[np.uintp(y), np.uintp(x)] = over_pixel(frame[np.uintp(y), np.uintp(x)], ink)


@device
def _draw(frame: Frame, top: int, bottom: int, x0: Int, y0: Int, x1: Int, y1: Int, ink: Int, width: Int, dash: Int) -> None:
    """Draw those pixels of a line that lie in the slice, in fixed point of 1/65536 pixel; it grows across its direction."""
    length = max(abs(x1 - x0), abs(y1 - y0))
    flat = abs(x1 - x0) >= abs(y1 - y0)
    step_x, step_y = ((x1 - x0) << 16) // max(length, 1), ((y1 - y0) << 16) // max(length, 1)
    for step in range(length + 1):
        if dash > 0 and step // dash & 1:
            continue
        at_x, at_y = x0 + ((step * step_x + (1 << 15)) >> 16), y0 + ((step * step_y + (1 << 15)) >> 16)
        for across in range(-(width // 2), width - width // 2):
            x, y = (at_x, at_y + across) if flat else (at_x + across, at_y)
            if 0 <= x < frame.shape[1] and top <= y < bottom:
                frame[np.uintp(y), np.uintp(x)] = over_pixel(frame[np.uintp(y), np.uintp(x)], ink)


@kernel
def draw_marks(worker: int, workers: int, areas: Areas, strokes: Strokes, frame: Frame) -> None:
    """Every `workers`-th slice."""
    height, slices = frame.shape[0], SLICES_PER_WORKER * workers
    for part in range(worker, slices, workers):
        top, bottom = height * part // slices, height * (part + 1) // slices
        _fill(frame, top, bottom, areas)
        for k in range(strokes.ink.shape[0]):
            x0, y0 = np.int64(strokes.ends[k, 0]), np.int64(strokes.ends[k, 1])
            x1, y1 = np.int64(strokes.ends[k, 2]), np.int64(strokes.ends[k, 3])
            width = np.int64(strokes.width[k])
            if min(y0, y1) - width < bottom and max(y0, y1) + width >= top:
                _draw(frame, top, bottom, x0, y0, x1, y1, strokes.ink[k], width, np.int64(strokes.dash[k]))


def marks_call(workers: int, areas: Areas, strokes: Strokes, frame: Frame) -> Call:
    """The kernel that draws the areas and, over them, the lines."""
    return call(draw_marks, workers, areas, strokes, frame)


def call_ahead(workers: int) -> Call:
    """The same for nothing, to compile it ahead."""
    boxes, inks, none = np.zeros((0, 4), np.int32), np.zeros(0, np.uint32), np.zeros(0, np.int32)
    return marks_call(workers, Areas(boxes, inks), Strokes(boxes, inks, none, none), np.zeros((1, 1), np.uint32))
