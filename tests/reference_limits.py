"""Slow, obvious versions of the limits: whom an agent keeps, and what those ask of it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import reference
import reference_flock


def perceived(columns: Any, i: int, j: int, radius: Any, gap: Any) -> Any:
    """How far away j is for i, if that is near enough; points by the square of their distance, squares by their edges."""
    dx, dy = columns.x[j] - columns.x[i], columns.y[j] - columns.y[i]
    if hasattr(columns, "half"):
        apart = max(abs(dx), abs(dy)) - (columns.half[i] + (columns.half[j] + gap))
        return apart if apart < 0 else None
    distance_sq = dx * dx + dy * dy
    return distance_sq if distance_sq < radius * radius else None


def first_kept(columns: Any, grid: Any, i: int, scanned: int, neighbours: int, radius: Any, gap: Any) -> list[int]:
    """Ids (= indices) in the order of scanning: rows of cells, cells of a row, ids."""
    cell = [(int(y * grid.floor.inv_cell), int(x * grid.floor.inv_cell)) for x, y in zip(columns.x, columns.y, strict=True)]
    near = [j for j in range(len(cell)) if max(abs(cell[j][0] - cell[i][0]), abs(cell[j][1] - cell[i][1])) <= grid.reach]
    kept: list[int] = []
    for j in [j for j in sorted(near, key=lambda j: (cell[j], j)) if j != i][:scanned]:
        if len(kept) < neighbours and perceived(columns, i, j, radius, gap) is not None:
            kept.append(j)
    return kept


def nearest_kept(columns: Any, i: int, neighbours: int, radius: Any, gap: Any) -> list[int]:
    near = [(perceived(columns, i, j, radius, gap), j) for j in range(len(columns.x)) if j != i]
    return [j for distance, j in sorted(other for other in near if other[0] is not None)][:neighbours]


def push_of(columns: Any, i: int, kept: list[int], rules: Any, behaviour: str) -> tuple[Any, Any]:
    """What a crowd of nobody but the agent and those it keeps would ask of it."""
    some = [i, *kept]
    if behaviour == "crowd":
        seen = ("x", "y", "vx", "vy", "heading_x", "heading_y", "state", "speed")
        x, y, _ = reference.people_push(SimpleNamespace(**{name: getattr(columns, name)[some] for name in seen}), rules)
        return x[0], y[0]
    names = {"flock": ("x", "y", "vx", "vy"), "crates": ("x", "y", "half")}[behaviour]
    push: Any = {"flock": reference_flock.flock_push, "crates": reference.crate_push}[behaviour]
    x, y, _ = push(*(getattr(columns, name)[some] for name in names), rules)
    return x[0], y[0]


def mean_direction(columns: Any, i: int, others: list[int]) -> Any:
    """Mean of the unit vectors towards others; those on the same spot count as no direction."""
    total = np.zeros(2)
    for j in others:
        away = np.array([float(columns.x[j] - columns.x[i]), float(columns.y[j] - columns.y[i])])
        total += away / (np.hypot(*away) or 1)
    return total / max(len(others), 1)
