"""Lines: the links of a crowd, thin and half transparent, on the ground and under whom they tie.

`place_ends` finds the pixels of both ends of each link, where their agents are drawn; `draw_lines` walks from one to the
other, a pixel at a time. The screen is cut into slices and a worker draws what lies in its own, all links in the order of the
list, so the picture does not depend on the number of workers. A link that does not meet the screen costs a comparison a
slice. O(links * slices + pixels).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Call, call, device, kernel, prange
from crowd_demo.render.camera import View
from crowd_demo.render.pixels import Frame
from crowd_demo.render.projection import Moving, pixel

COLOUR = (255, 255, 255)
LONGEST_PX = 8192  # a longer line is a mistake of somebody's, and would be slow
HALVES = 0xFEFEFE  # each channel without its lowest bit
INK = np.uint32((COLOUR[0] << 16 | COLOUR[1] << 8 | COLOUR[2]) >> 1 & HALVES >> 1)
FAR = np.float32(1 << 20)  # pixels: keeps what lies far outside within an int32


@device
def _end(slot: Any, agents: Any, ahead: Any, view: Any) -> Any:
    x = pixel(agents.x[slot], agents.vx[slot], ahead, view.left, view.zoom)
    y = pixel(agents.y[slot], agents.vy[slot], ahead, view.top, view.zoom)
    return int(min(max(x, -FAR), FAR)), int(min(max(y, -FAR), FAR))


@device
def _place_ends(worker: int, workers: int, a: Any, b: Any, agents: Any, ahead: Any, view: Any, ends: Any) -> None:
    links = a.shape[0]
    for k in range(links * worker // workers, links * (worker + 1) // workers):
        ends[0, k], ends[1, k] = _end(np.uintp(a[k]), agents, ahead, view)
        ends[2, k], ends[3, k] = _end(np.uintp(b[k]), agents, ahead, view)


@kernel
def place_ends(workers: int, a: Any, b: Any, agents: Any, ahead: Any, view: Any, ends: Any) -> None:
    for worker in prange(workers):
        _place_ends(worker, workers, a, b, agents, ahead, view, ends)


@device
def _draw_line(frame: Any, top: int, bottom: int, x0: int, y0: int, x1: int, y1: int) -> None:
    """From end to end, those pixels that lie in the slice; places count 1/65536 of a pixel."""
    length = max(abs(x1 - x0), abs(y1 - y0))
    if length > LONGEST_PX:
        return
    step_x, step_y = ((x1 - x0) << 16) // max(length, 1), ((y1 - y0) << 16) // max(length, 1)
    place_x, place_y = (x0 << 16) + (1 << 15), (y0 << 16) + (1 << 15)
    for _ in range(length + 1):
        x, y = place_x >> 16, place_y >> 16
        if 0 <= x < frame.shape[1] and top <= y < bottom:
            under = frame[np.uintp(y), np.uintp(x)]
            frame[np.uintp(y), np.uintp(x)] = ((under >> np.uint32(1)) & np.uint32(HALVES >> 1)) + INK
        place_x += step_x
        place_y += step_y


@device
def _draw_lines(worker: int, workers: int, ends: Any, links: int, frame: Any) -> None:
    top, bottom = frame.shape[0] * worker // workers, frame.shape[0] * (worker + 1) // workers
    for k in range(links):
        x0, y0, x1, y1 = np.int64(ends[0, k]), np.int64(ends[1, k]), np.int64(ends[2, k]), np.int64(ends[3, k])
        if min(y0, y1) < bottom and max(y0, y1) >= top and min(x0, x1) < frame.shape[1] and max(x0, x1) >= 0:
            _draw_line(frame, top, bottom, x0, y0, x1, y1)


@kernel
def draw_lines(workers: int, ends: Any, links: int, frame: Any) -> None:
    for worker in prange(workers):
        _draw_lines(worker, workers, ends, links, frame)


class Lines:
    """Owner of the ends' memory, which grows by half, so seldom."""

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
