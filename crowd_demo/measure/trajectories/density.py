"""Density: people in an area, divided by its size."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Doubles
from crowd_demo.measure.trajectories.table import Rectangle, Trajectories


def density(of: Trajectories, area: Rectangle) -> Doubles:
    """Return people per square metre in each frame from the first to the last, float64[frames]."""
    if not len(of.frame):
        return np.zeros(0)
    first = int(of.frame[0])
    inside = of.frame[area.holds(of.x, of.y)] - first
    return np.bincount(inside, minlength=int(of.frame[-1]) - first + 1) / area.size
