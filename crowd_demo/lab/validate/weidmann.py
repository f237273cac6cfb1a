"""The fundamental diagram of people who walk the same way.

Source: Weidmann, "Transporttechnik der Fussgänger", ETH Zürich, 2nd edition 1993.
"""

from __future__ import annotations

import math

FREE_SPEED, GAMMA, MOST_DENSE = 1.34, 1.913, 5.4  # m/s, 1/m^2, people/m^2


def weidmann(density: float) -> float:
    """Return the mean speed at a density, m/s."""
    if density <= 0:
        return FREE_SPEED
    return max(FREE_SPEED * (1 - math.exp(-GAMMA * (1 / density - 1 / MOST_DENSE))), 0.0)
