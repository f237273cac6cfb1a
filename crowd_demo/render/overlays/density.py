"""A heat map of density: how many agents there are in each square of the ground."""

from __future__ import annotations

import numpy as np

from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.heat import draw_heat
from crowd_demo.render.overlays.sketch import Sketch

LEAST_PX = 14.0  # side of a square
SMALLEST = 16.0  # units


def draw_density(sketch: Sketch, looking: Looking) -> None:
    """Count the agents in squares of the world, which stay where they are when the camera moves."""
    side, view = SMALLEST, sketch.rect
    while side * sketch.zoom < LEAST_PX:
        side *= 2
    left, top = int(view.left // side), int(view.top // side)
    columns, rows = int(view.right // side) - left + 1, int(view.bottom // side) - top + 1
    x, y = looking.places(looking.in_view())
    cell = ((y // side).astype(np.int64) - top) * columns + (x // side).astype(np.int64) - left
    counts = np.bincount(cell, minlength=columns * rows)
    found = np.flatnonzero(counts)
    row, column = np.divmod(found, columns)
    draw_heat(sketch, (column + left) * side, (row + top) * side, side, counts[found], f"agents in {side:g} x {side:g} units")
