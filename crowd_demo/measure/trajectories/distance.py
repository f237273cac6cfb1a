"""How near people come to each other."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.measure.trajectories.table import Trajectories


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
