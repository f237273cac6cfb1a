"""Trajectories: who was where when; the table that all measures read, and that PedPy reads too.

Rows are sorted by frame and then by id. A person is in every frame from its first to its last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Bools, Doubles, Longs


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


class Line(NamedTuple):
    """A straight line from (x, y) to (to_x, to_y), in metres."""

    x: float
    y: float
    to_x: float
    to_y: float


class Trajectories(NamedTuple):
    """A row for each person in each frame; `fps` frames a second."""

    frame: Longs
    id: Longs
    x: Doubles  # metres
    y: Doubles
    fps: float

    def chosen(self, rows: Bools) -> Trajectories:
        """Return some of the rows."""
        return Trajectories(self.frame[rows], self.id[rows], self.x[rows], self.y[rows], self.fps)

    def between(self, begin_s: float, end_s: float) -> Trajectories:
        """Return what happens from `begin_s` to `end_s`."""
        return self.chosen((self.frame >= begin_s * self.fps) & (self.frame <= end_s * self.fps))

    @property
    def end_s(self) -> float:
        """When the last frame is."""
        return float(self.frame[-1] / self.fps) if len(self.frame) else 0.0

    def frames(self) -> Iterator[tuple[int, Trajectories]]:
        """Yield each frame that has people, with its rows."""
        begins = np.flatnonzero(np.diff(self.frame, prepend=self.frame[:1] - 1))
        for begin, end in zip(begins, [*begins[1:], len(self.frame)], strict=True):
            rows = slice(begin, end)
            yield int(self.frame[begin]), Trajectories(self.frame[rows], self.id[rows], self.x[rows], self.y[rows], self.fps)

    def by_person(self) -> Trajectories:
        """Return the rows sorted by id and then by frame."""
        order = np.lexsort((self.frame, self.id))
        return Trajectories(self.frame[order], self.id[order], self.x[order], self.y[order], self.fps)


class Recorder:
    """Collects positions frame by frame."""

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
