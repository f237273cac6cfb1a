"""Positions in few bytes: whole steps of a centimetre, and how these change from one frame to the next.

A lane is an id, a track is one person on it from a keyframe on. A birth, a death, another person under the same id,
or a change that one byte cannot hold begins a keyframe. Each axis of a track is written for itself, for n frames:

    x[0]          uint16, in steps from the left edge of the world
    change[k]     int8, k = 1 to n - 1
    x[k] = x[k - 1] + v[k] and v[k] = v[k - 1] + change[k], with v[0] = 0

So a change is held against what was written, gone on with at the same speed, and errors do not add up: what is
written lies within one step of the position, where the change is smallest. People who walk on have mostly the change 0:
compressed 2.2 bits an axis in `20k`, where the nearest step and plain differences take 3.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bytes, Doubles, Ints, Longs
from crowd_demo.compute.hashing import scramble

PARTS = 100  # of a metre: the step is a centimetre, or
LAST = 65_535  # a part of the world's longer side, if that is more
MAX_CHANGE = 127
ABSENT, GOES_ON, BEGINS = range(3)
Changes = NDArray[np.int8]


def step_length(metre: float, width: float, height: float) -> float:
    """The step of positions in world units: how exact they are."""
    return max(metre / PARTS, max(width, height) / LAST)


class Tracks:
    """Collects frames; needs four bytes for each frame of a lane. `share` of the ids get a lane, chosen by a hash."""

    def __init__(self, frames: int, step: float, share: float = 1.0) -> None:
        self.step, self.ids = step, np.zeros(0, np.int32)
        self._least = np.uint64(round(share * 2**32))
        self._lane_of = np.zeros(0, np.int64)  # by id; -1 for those without
        self._written, self._speed = np.zeros((2, 2, 0), np.int64)  # [x and y, lanes]: the last one, and its difference
        self._seen, self._person = np.zeros(0, np.int64), np.zeros(0, np.int64)  # by lane: last frame, and who that was
        self._kind: Bytes = np.zeros((0, frames), np.uint8)  # [lanes with room, frames]
        self._state: Bytes = np.zeros((0, frames), np.uint8)
        self._changes: Changes = np.zeros((2, 0, frames), np.int8)  # [x and y, lanes with room, frames]
        self._begun: list[Longs] = []  # [4, n]: lane, frame, x and y of keyframes

    def add(self, frame: int, ids: Ints, person: Longs, x: Doubles, y: Doubles, state: Bytes) -> None:
        """Add a frame, one after the other from 0; positions in world units, everybody with the number of a person."""
        lanes = self._lanes(ids)
        chosen = lanes >= 0
        lanes, person, state = lanes[chosen], person[chosen], state[chosen]
        exact = np.stack([x[chosen], y[chosen]]) / self.step
        guess = self._written[:, lanes] + self._speed[:, lanes]
        # the change nearest to 0 that leads to within a step of the exact positions
        least = np.clip(0, np.ceil(exact - 1 - guess), np.floor(exact + 1 - guess)).astype(np.int64)
        changes = np.clip(guess + least, 0, LAST) - guess
        goes_on = (self._seen[lanes] == frame - 1) & (self._person[lanes] == person)
        goes_on &= (np.abs(changes) <= MAX_CHANGE).all(axis=0)
        self._written[:, lanes] = np.where(goes_on, guess + changes, np.rint(exact).astype(np.int64))
        self._speed[:, lanes] = np.where(goes_on, self._speed[:, lanes] + changes, 0)
        self._changes[:, lanes, frame] = np.where(goes_on, changes, 0)
        self._kind[lanes, frame], self._state[lanes, frame] = np.where(goes_on, GOES_ON, BEGINS), state
        self._seen[lanes], self._person[lanes] = frame, person
        begun = lanes[~goes_on]
        self._begun.append(np.stack([begun, np.full_like(begun, frame), *self._written[:, begun]]))

    def blocks(self) -> dict[str, Bytes | Changes | Ints | Longs]:
        """Return what is written: tracks in the order of lanes and then of frames, rows in that of tracks.

        ids, [lanes]; lane, first (frame of the keyframe), length (frames), x and y (0 to LAST), [tracks]; changeX and
        changeY, [rows - tracks]; state, [rows].
        """
        begun = np.concatenate(self._begun, axis=1)
        lane, first, x, y = begun[:, np.lexsort(begun[1::-1])]
        kind, state = self._kind[:len(self.ids)], self._state[:len(self.ids)]
        present, goes_on = kind != ABSENT, kind == GOES_ON
        rank = np.cumsum(present.ravel()) - 1  # of a row among all
        length = np.diff(rank[np.flatnonzero(kind == BEGINS)], append=int(present.sum()))
        change_x, change_y = self._changes[:, :len(self.ids)][:, goes_on]
        return {"ids": self.ids, "lane": lane.astype(np.int32), "first": first.astype(np.int32),
                "length": length.astype(np.int32), "x": x.astype(np.uint16), "y": y.astype(np.uint16),
                "changeX": change_x, "changeY": change_y, "state": state[present]}

    def _lanes(self, ids: Ints) -> Longs:
        """The lane of each id, -1 for those that are not in the sample; new ones get lanes in the order of ids."""
        if more := max(int(ids.max(initial=-1)) + 1 - len(self._lane_of), 0):
            known = len(self._lane_of)
            new = np.arange(known, known + more, dtype=np.int32)
            taken = scramble(new.view(np.uint32)).astype(np.uint64) < self._least
            lanes = np.cumsum(taken) - 1 + len(self.ids)
            self._lane_of = np.concatenate([self._lane_of, np.where(taken, lanes, -1)])
            self.ids = np.concatenate([self.ids, new[taken]])
            self._grow(len(self.ids) - len(self._seen))
        return self._lane_of[ids]

    def _grow(self, more: int) -> None:
        self._written, self._speed = (np.pad(each, ((0, 0), (0, more))) for each in (self._written, self._speed))
        self._seen = np.pad(self._seen, (0, more), constant_values=-2)
        self._person = np.pad(self._person, (0, more))
        if (room := len(self.ids) - len(self._kind)) > 0:
            room = max(room, len(self._kind) // 2)
            more_rows = (0, room), (0, 0)
            self._kind, self._state = np.pad(self._kind, more_rows), np.pad(self._state, more_rows)
            self._changes = np.pad(self._changes, ((0, 0), *more_rows))
