"""Lines: the links between agents, thin and half transparent, above the ground and below the agents.

`place_ends` finds the pixels of both ends of each link, where their agents are drawn; `draw_lines` goes from one to the
other, a pixel at a time. The screen is cut into slices; a worker draws the part of every link that lies in its slice, in
the order of the list, so the picture does not depend on the number of workers. A link outside the slice costs one
comparison. O(links * slices + pixels).
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Int, Ints
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.render.camera import View
from crowd_demo.render.pixels import Frame
from crowd_demo.render.projection import Moving, pixel

COLOUR = (255, 255, 255)
LONGEST_PX = 8192  # a longer line is left out: it would be slow, and its agents are surely not tied on purpose
HALVES = 0xFEFEFE  # each channel without its lowest bit
INK = np.uint32((COLOUR[0] << 16 | COLOUR[1] << 8 | COLOUR[2]) >> 1 & (HALVES >> 1))
FAR = np.float32(1 << 20)  # pixels; coordinates are clamped to this, so that they fit an int32


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


@device
def _draw_line(frame: Frame, top: int, bottom: int, x0: Int, y0: Int, x1: Int, y1: Int) -> None:
    """Draw those pixels from end to end that lie in the slice, in fixed point of 1/65536 pixel."""
    length = max(abs(x1 - x0), abs(y1 - y0))
    if length > LONGEST_PX:
        return
    step_x, step_y = ((x1 - x0) << 16) // max(length, 1), ((y1 - y0) << 16) // max(length, 1)
    at_x, at_y = (x0 << 16) + (1 << 15), (y0 << 16) + (1 << 15)
    for _ in range(length + 1):
        x, y = at_x >> 16, at_y >> 16
        if 0 <= x < frame.shape[1] and top <= y < bottom:
            under = frame[np.uintp(y), np.uintp(x)]
            frame[np.uintp(y), np.uintp(x)] = ((under >> np.uint32(1)) & np.uint32(HALVES >> 1)) + INK
        at_x += step_x
        at_y += step_y


@kernel
def draw_lines(worker: int, workers: int, ends: Ints, links: int, frame: Frame) -> None:
    """Draw the part of every link that lies in this worker's slice of the screen."""
    top, bottom = frame.shape[0] * worker // workers, frame.shape[0] * (worker + 1) // workers
    for k in range(links):
        x0, y0, x1, y1 = np.int64(ends[0, k]), np.int64(ends[1, k]), np.int64(ends[2, k]), np.int64(ends[3, k])
        if min(y0, y1) < bottom and max(y0, y1) >= top and min(x0, x1) < frame.shape[1] and max(x0, x1) >= 0:
            _draw_line(frame, top, bottom, x0, y0, x1, y1)


class Lines:
    """Owns the memory of the ends, which grows by half when there are more links than before."""

    def __init__(self) -> None:
        self._ends: Ints = np.zeros((4, 0), np.int32)

    def calls(self, workers: int, pairs: tuple[Ints, Ints], agents: Moving, ahead: np.float32, view: View,
              frame: Frame) -> tuple[Call, ...]:
        """Kernels that draw a line between the slots of each pair, int32[m] each."""
        a, b = (np.ascontiguousarray(slots, np.int32) for slots in pairs)
        if len(a) > self._ends.shape[1]:
            self._ends = np.zeros((4, len(a) + len(a) // 2), np.int32)
        return (call(place_ends, workers, a, b, agents, ahead, view, self._ends),
                call(draw_lines, workers, self._ends, len(a), frame))
