"""How far people who walk against each other have formed lanes.

For each person, n is the number of those in the same lane (at most `half_width` aside) who go the same way, itself among them,
and m of those who go the other way: phi = ((n - m) / (n + m))^2. The order is the mean of phi: 1 for lanes, near 0 for a
mixture of many (a small crowd begins above that).

Source: Rex and Löwen, "Lane formation in oppositely charged colloids driven by an electric field", Physical Review E 75
(2007); for pedestrians Nowak and Schadschneider, Physical Review E 85 (2012).
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles


def lane_order(across: Doubles, forwards: Bools, half_width: float) -> float:
    """Return the order of one moment: `across` is everybody's place across the ways, in metres. nan without people."""
    if not len(across):
        return float("nan")
    near = np.abs(across[:, None] - across) <= half_width
    same = np.sum(near & (forwards[:, None] == forwards), axis=1)
    all_of_them = np.sum(near, axis=1)
    return float(np.mean(((2 * same - all_of_them) / all_of_them) ** 2))
