"""Trajectories (who was where when) and what is measured of them, in metres and seconds, with NumPy alone.

Rows are sorted by frame and then by id. A person is in every frame from its first to its last. Where PedPy has the same
measure, it gives the same numbers (tests/extras/test_trajectories_by_pedpy.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Bools, Doubles, Longs
from crowd_demo.sim.fundamental_diagram import Line, steps_across


class Rectangle(NamedTuple):
    """An area, in metres; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def size(self) -> float:
        """Square metres."""
        return self.width * self.height

    def holds(self, x: Doubles, y: Doubles) -> Bools:
        """Say which points lie in it; its border does not."""
        return (self.left < x) & (x < self.right) & (self.top < y) & (y < self.bottom)


class Trajectories(NamedTuple):
    """A row for each person in each frame; `fps` frames a second."""

    frame: Longs
    id: Longs
    x: Doubles  # metres
    y: Doubles
    fps: float

    def chosen(self, rows: Bools | Longs | slice) -> Trajectories:
        """Return some of the rows, in this order."""
        return Trajectories(self.frame[rows], self.id[rows], self.x[rows], self.y[rows], self.fps)

    def between(self, begin_s: float, end_s: float) -> Trajectories:
        return self.chosen((self.frame >= begin_s * self.fps) & (self.frame <= end_s * self.fps))

    @property
    def end_s(self) -> float:
        return float(self.frame[-1] / self.fps) if len(self.frame) else 0.0

    def frames(self) -> Iterator[tuple[int, Trajectories]]:
        begins = np.flatnonzero(np.diff(self.frame, prepend=self.frame[:1] - 1))
        yield from ((int(self.frame[begin]), self.chosen(slice(begin, end)))
                    for begin, end in zip(begins, [*begins[1:], len(self.frame)], strict=True))

    def by_person(self) -> Trajectories:
        return self.chosen(np.lexsort((self.frame, self.id)))


class TrajectoryRecorder:
    def __init__(self, fps: float) -> None:
        self.fps = fps
        self._frames: list[tuple[Longs, Longs, Doubles, Doubles]] = []

    @property
    def frames(self) -> int:
        return len(self._frames)

    def add(self, ids: ArrayLike, x: ArrayLike, y: ArrayLike) -> None:
        """Add the next frame: who is where, in metres, in any order."""
        identity = np.asarray(ids, np.int64)
        order = np.argsort(identity, kind="stable")
        frame = np.full(len(order), len(self._frames), np.int64)
        self._frames.append((frame, identity[order], np.asarray(x, float)[order], np.asarray(y, float)[order]))

    def trajectories(self) -> Trajectories:
        none = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
        frame, identity, x, y = (np.concatenate(parts) for parts in zip(none, *self._frames, strict=True))
        return Trajectories(frame, identity, x, y, self.fps)


# --- speed and density -----------------------------------------------------------------------------------------------

def speeds(of: Trajectories, step: int = 5, axis: tuple[float, float] | None = None) -> tuple[Longs, Longs, Doubles]:
    """Return (id, frame, speed in m/s), sorted by id and frame; along an axis if one is given, a vector of length 1.

    Speeds are |p(k + step) - p(k - step)| / (2 step / fps). The first and the last `step` frames of a person have none.
    """
    rows, apart = of.by_person(), 2 * step
    here = rows.id[apart:] == rows.id[:-apart] if len(rows.id) > apart else np.zeros(0, bool)  # the same person
    dx, dy = rows.x[apart:][here] - rows.x[:-apart][here], rows.y[apart:][here] - rows.y[:-apart][here]
    way = np.hypot(dx, dy) if axis is None else dx * axis[0] + dy * axis[1]
    middle = slice(step, len(rows.id) - step)
    return rows.id[middle][here], rows.frame[middle][here], way * of.fps / apart


def density(of: Trajectories, area: Rectangle) -> Doubles:
    """Return people per square metre in each frame from the first to the last, float64[frames]."""
    if not len(of.frame):
        return np.zeros(0)
    first = int(of.frame[0])
    inside = of.frame[area.holds(of.x, of.y)] - first
    return np.bincount(inside, minlength=int(of.frame[-1]) - first + 1) / area.size


# --- distances and lanes ---------------------------------------------------------------------------------------------

def nearest(of: Trajectories) -> Doubles:
    """Return for each row the distance to the nearest other in that frame, in metres; inf for who is alone.

    O(people^2) a frame.
    """
    found = [np.zeros(0)]
    for _, rows in of.frames():
        apart = np.hypot(rows.x[:, None] - rows.x, rows.y[:, None] - rows.y)
        np.fill_diagonal(apart, np.inf)
        found.append(apart.min(axis=1))
    return np.concatenate(found)


def lane_order(across: Doubles, forwards: Bools, half_width: float) -> float:
    """Return how far people who walk against each other have formed lanes at one moment: 1 for lanes, near 0 for a
    mixture of many (a small crowd begins above that), nan without people.

    `across` is everybody's position across the ways, in metres. For each person, n is the number of those in the same
    lane (at most `half_width` aside) who go the same way, itself among them, and m of those who go the other way: phi =
    ((n - m) / (n + m))^2. The order is the mean of phi.

    Source: Rex and Löwen, "Lane formation in oppositely charged colloids driven by an electric field", Physical Review
    E 75 (2007); for pedestrians Nowak and Schadschneider, Physical Review E 85 (2012).
    """
    if not len(across):
        return float("nan")
    near = np.abs(across[:, None] - across) <= half_width
    same = np.sum(near & (forwards[:, None] == forwards), axis=1)
    all_of_them = np.sum(near, axis=1)
    return float(np.mean(((2 * same - all_of_them) / all_of_them) ** 2))


# --- flow: who passes a line when ------------------------------------------------------------------------------------

def crossings(of: Trajectories, line: Line) -> tuple[Longs, Doubles]:
    """Return (id, time in s) of everybody's first step across the line, the earliest first.

    The time is that of the frame after the step. A step that ends on the line has not crossed it, one that begins there
    has.
    """
    rows = of.by_person()
    if len(rows.id) < 2:
        return np.zeros(0, np.int64), np.zeros(0)
    crosses = steps_across(rows.x[:-1], rows.y[:-1], rows.x[1:], rows.y[1:], line) & (rows.id[1:] == rows.id[:-1])
    people, first = np.unique(rows.id[:-1][crosses], return_index=True)
    frames = rows.frame[1:][crosses][first]
    order = np.argsort(frames, kind="stable")
    return people[order], frames[order] / of.fps


def flow(times: Doubles) -> float:
    """Return people a second between the first and the last of these times, nan for less than two."""
    return float((len(times) - 1) / (times[-1] - times[0])) if len(times) > 1 and times[-1] > times[0] else float("nan")


def middle(times: Doubles) -> Doubles:
    """Return the middle 60 % of the sorted times: a queue has formed by then, and has not ended yet."""
    cut = int(len(times) * (1 - 0.6) / 2)
    return times[cut:len(times) - cut]
