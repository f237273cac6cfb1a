"""How near people come to each other."""

from __future__ import annotations

import numpy as np

from crowd_demo.measure.trajectories.table import Trajectories


def nearest_pass(of: Trajectories) -> float:
    """Return the least distance between any two people in any frame, in metres; inf where nobody meets."""
    least = np.inf
    for _, rows in of.frames():
        apart = np.hypot(rows.x[:, None] - rows.x, rows.y[:, None] - rows.y)
        np.fill_diagonal(apart, np.inf)
        least = min(least, float(apart.min(initial=np.inf)))
    return least
