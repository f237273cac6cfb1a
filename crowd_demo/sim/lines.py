"""Who steps across a straight line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles


class Line(NamedTuple):
    """A straight line from (x, y) to (to_x, to_y), in the unit of the points."""

    x: float
    y: float
    to_x: float
    to_y: float


def steps_across(x: Doubles, y: Doubles, to_x: Doubles, to_y: Doubles, line: Line) -> Bools:
    """Say which steps meet the line and do not end on it."""
    along_x, along_y = line.to_x - line.x, line.to_y - line.y
    before = along_x * (y - line.y) - along_y * (x - line.x)  # on which side of the line: > 0, < 0, 0 on it
    after = along_x * (to_y - line.y) - along_y * (to_x - line.x)
    changes = (after != 0) & (before * after <= 0)
    part = np.where(changes, before / np.where(changes, before - after, 1), 0)  # of the step, where it meets the line
    meets_x, meets_y = x + (to_x - x) * part, y + (to_y - y) * part
    along = ((meets_x - line.x) * along_x + (meets_y - line.y) * along_y) / (along_x**2 + along_y**2)
    return changes & (along >= 0) & (along <= 1)
