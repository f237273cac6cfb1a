"""Who is who from one frame to the next: a number for each person, which nobody else ever gets.

The crowd's ids are used again, by newborns and by who comes in at an exit; with its generation an id is one person. In a crowd
without either, numbers are ids.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Longs
from crowd_demo.extras.export.sources import Frame

NOBODY = -1  # generation of an id that nobody had yet


class PersonNumbers:
    """Numbers people in the order in which they appear, those of one frame by id. Call `of` for one frame after another."""

    def __init__(self) -> None:
        self.count = 0  # people so far
        self._crowd = 0
        self._numbers, self._generations = np.zeros(0, np.int64), np.zeros(0, np.int32)  # by id

    def of(self, frame: Frame) -> Longs:
        """Return the number of each person of the frame, int64[n], in the order of ids."""
        ids = frame.columns.id
        if more := max(int(ids.max(initial=-1)) + 1 - len(self._numbers), 0):
            self._numbers = np.pad(self._numbers, (0, more))
            self._generations = np.pad(self._generations, (0, more), constant_values=NOBODY)
        if frame.crowd != self._crowd:
            self._crowd, self._generations[:] = frame.crowd, NOBODY
        new = ids[self._generations[ids] != frame.generations]
        self._numbers[new] = np.arange(self.count, self.count + len(new))
        self._generations[ids] = frame.generations
        self.count += len(new)
        return self._numbers[ids]
