"""Facing: which of eight directions a person is drawn in.

People who walk look where they go; those who hardly move look where they want to go. A figure turns there smoothly, like the
mean of the last 0.2 s of the crowd's time, and keeps its direction until it looks `BEYOND` past the border to the next one,
so nobody twitches. For that the renderer remembers how everybody looked in the last picture, by id; the simulation does not
know of it. Who was in no picture for `LATE_S` is drawn as it looks now. Time may stand still, go back or jump.
"""

from __future__ import annotations

import math
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from crowd_demo.compute.arrays import Bytes, Doubles, Float, Floats, Int, Ints
from crowd_demo.compute.jit import device, kernel
from crowd_demo.render.figures.pose import sector, slopes
from crowd_demo.sim.store.handles import Handles

DIRECTIONS = 8
DIRECTION_SLOPES = slopes(DIRECTIONS)
TOWARDS = np.stack([trig(np.arange(DIRECTIONS) * math.tau / DIRECTIONS) for trig in (np.cos, np.sin)]).astype(np.float32)
LEAST_SPEED = 8.0  # units/s; slower people look where they want to go
LATE_S = 0.1  # how much later a figure turns, on the mean: half of what the mean is taken over
BEYOND = 10.0  # degrees
KEPT = np.float32(math.cos(math.radians(180 / DIRECTIONS + BEYOND)))  # least cosine of the angle to the drawn direction


class Facings(NamedTuple):
    """How people were drawn last, by id."""

    x: Floats  # where they looked
    y: Floats
    time_s: Doubles  # when
    direction: Bytes  # counted clockwise from east


def facings(ids: int) -> Facings:
    """Memory for so many ids, none of which was drawn yet."""
    return Facings(np.zeros(ids, np.float32), np.zeros(ids, np.float32), np.full(ids, -np.inf), np.zeros(ids, np.uint8))


@device
def walks(vx: Float, vy: Float) -> bool:
    return vx * vx + vy * vy > np.float32(LEAST_SPEED * LEAST_SPEED)


@device
def _look(vx: Float, vy: Float, heading_x: Float, heading_y: Float) -> tuple[Float, Float]:
    """Where somebody looks who need not turn: a unit vector."""
    if not walks(vx, vy):
        return heading_x, heading_y
    speed = np.sqrt(vx * vx + vy * vy)
    return vx / speed, vy / speed


@device
def face_now(vx: Float, vy: Float, heading_x: Float, heading_y: Float) -> int:
    """The direction of somebody of whom nothing is remembered."""
    x, y = _look(vx, vy, heading_x, heading_y)
    return sector(x, y, DIRECTION_SLOPES)


@device
def face(facings: Facings, identity: Int, vx: Float, vy: Float, heading_x: Float, heading_y: Float, time_s: np.float64) -> int:
    """The direction of somebody at that time, which is remembered."""
    look_x, look_y = _look(vx, vy, heading_x, heading_y)
    passed_s = abs(time_s - facings.time_s[identity])
    part = np.float32(passed_s / LATE_S) if passed_s < LATE_S else np.float32(1)
    x = facings.x[identity] + (look_x - facings.x[identity]) * part
    y = facings.y[identity] + (look_y - facings.y[identity]) * part
    direction = int(facings.direction[identity])
    along = x * TOWARDS[0, direction] + y * TOWARDS[1, direction]
    if part == np.float32(1) or along < KEPT * np.sqrt(x * x + y * y):
        direction = sector(x, y, DIRECTION_SLOPES)
    facings.x[identity], facings.y[identity] = x, y
    facings.time_s[identity], facings.direction[identity] = time_s, direction
    return direction


@kernel
def face_all(worker: int, workers: int, ids: Ints, vx: Floats, vy: Floats, heading_x: Floats, heading_y: Floats,
             count: int, time_s: np.float64, facings: Facings) -> None:
    """Turn everybody; columns by slot."""
    for slot in range(count * worker // workers, count * (worker + 1) // workers):
        face(facings, np.uintp(ids[slot]), vx[slot], vy[slot], heading_x[slot], heading_y[slot], time_s)


class Faces:
    """Owns the memory of each crowd that is drawn (side by side there are two)."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Handles, Facings] = WeakKeyDictionary()

    def of(self, handles: Handles) -> Facings:
        """The memory of the crowd with those handles, for all of its ids."""
        known = self._of.get(handles)
        if known is None or len(known.x) < handles.limit:
            grown = facings(handles.limit)
            for name, old in known._asdict().items() if known else ():
                getattr(grown, name)[:len(old)] = old
            self._of[handles] = known = grown
        return known
