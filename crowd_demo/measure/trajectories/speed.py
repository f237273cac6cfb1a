"""Speeds of people, from where they are `step` frames before and after: |p(k + step) - p(k - step)| / (2 step / fps)."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Longs
from crowd_demo.measure.trajectories.table import Trajectories


def speeds(of: Trajectories, step: int = 5, axis: tuple[float, float] | None = None) -> tuple[Longs, Longs, Doubles]:
    """Return (id, frame, speed in m/s), sorted by id and frame; along an axis if one is given, a vector of length 1.

    The first and the last `step` frames of a person have no speed.
    """
    rows = of.by_person()
    here = _same_person(rows, 2 * step)
    dx, dy = rows.x[2 * step:][here] - rows.x[:-2 * step][here], rows.y[2 * step:][here] - rows.y[:-2 * step][here]
    way = np.hypot(dx, dy) if axis is None else dx * axis[0] + dy * axis[1]
    middle = slice(step, len(rows.id) - step)
    return rows.id[middle][here], rows.frame[middle][here], way * of.fps / (2 * step)


def _same_person(rows: Trajectories, apart: int) -> Bools:
    """Say for each row but the last ones whether the row so many further on is of the same person."""
    return rows.id[apart:] == rows.id[:-apart] if len(rows.id) > apart else np.zeros(0, bool)
