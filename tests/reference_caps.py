"""Slow, obvious versions of the caps: whom an agent keeps, and what those ask of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import reference


def first_kept(columns: Any, grid: Any, i: int, scanned: int, neighbours: int, radius_sq: Any) -> list[int]:
    """Ids (= indices) in the order of scanning: rows of cells, cells of a row, ids."""
    cell = [(int(y * grid.floor.inv_cell), int(x * grid.floor.inv_cell)) for x, y in zip(columns.x, columns.y, strict=True)]
    near = [j for j in range(len(cell)) if max(abs(cell[j][0] - cell[i][0]), abs(cell[j][1] - cell[i][1])) <= grid.reach]
    kept: list[int] = []
    for j in [j for j in sorted(near, key=lambda j: (cell[j], j)) if j != i][:scanned]:
        if len(kept) < neighbours and _distance_sq(columns, i, j) < radius_sq:
            kept.append(j)
    return kept


def nearest_kept(columns: Any, i: int, neighbours: int, radius_sq: Any) -> list[int]:
    near = [(_distance_sq(columns, i, j), j) for j in range(len(columns.x)) if j != i]
    return [j for distance_sq, j in sorted(near) if distance_sq < radius_sq][:neighbours]


def push_of(columns: Any, i: int, kept: list[int], rules: Any, flock: bool) -> tuple[Any, Any]:
    """What a crowd of nobody but the agent and those it keeps would ask of it."""
    some = [i, *kept]
    if flock:
        x, y, _ = reference.flock_push(columns.x[some], columns.y[some], columns.vx[some], columns.vy[some], rules)
    else:
        x, y, _ = reference.crowd_push(columns.x[some], columns.y[some], rules)
    return x[0], y[0]


def mean_direction(columns: Any, i: int, others: list[int]) -> Any:
    """Mean of the unit vectors towards others; those on the same spot count as no direction."""
    total = np.zeros(2)
    for j in others:
        away = np.array([float(columns.x[j] - columns.x[i]), float(columns.y[j] - columns.y[i])])
        total += away / (np.hypot(*away) or 1)
    return total / max(len(others), 1)


def _distance_sq(columns: Any, i: int, j: int) -> Any:
    dx, dy = columns.x[j] - columns.x[i], columns.y[j] - columns.y[i]
    return dx * dx + dy * dy
