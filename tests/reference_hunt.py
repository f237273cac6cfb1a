"""Slow, obvious versions of what predators and prey do, from docs/model_birds_crates.md."""

import math
from typing import Any

import numpy as np
from reference import F, inv_root
from reference_flock import flock_push, fly, nearest_push, urge


def hunt_push(columns: Any, rules: Any, most: int) -> tuple[Any, Any, Any]:
    """(x, y, neighbours) that *interaction* gives: each kind flocks by itself; `most` nearest, or 0 for all in view."""
    avoidance_x, avoidance_y, met = np.zeros(len(columns.x), F), np.zeros(len(columns.x), F), np.zeros(len(columns.x), int)
    for kind in (0, 1):
        of = columns.kind == kind
        x, y, vx, vy = (column[of] for column in (columns.x, columns.y, columns.vx, columns.vy))
        push = nearest_push(x, y, vx, vy, rules.flock, most) if most else flock_push(x, y, vx, vy, rules.flock)
        avoidance_x[of], avoidance_y[of], met[of] = push
    return avoidance_x, avoidance_y, met


def prey_by_square(columns: Any, settings: Any, width: float, height: float) -> tuple[Any, Any]:
    """(side, int[rows, columns]): how much prey is in each square."""
    side = F(max(settings.square, max(width, height) / 256))
    count = np.zeros((math.ceil(height / float(side)), math.ceil(width / float(side))), int)
    inverse = F(1 / float(side))
    for x, y, kind in zip(columns.x, columns.y, columns.kind, strict=True):
        if kind == 0:
            count[min(int(y * inverse), count.shape[0] - 1), min(int(x * inverse), count.shape[1] - 1)] += 1
    return side, count


def chase(columns: Any, i: int, settings: Any, width: float, height: float) -> tuple[Any, Any]:
    """The push of predator i."""
    side, prey = prey_by_square(columns, settings, width, height)
    x, y, sight = columns.x[i], columns.y[i], F(settings.predator_sight)
    best, chosen = 0, (F(0), F(0), F(0))
    for row in range(prey.shape[0]):
        for column in range(prey.shape[1]):
            dx, dy = (F(column) + F(0.5)) * side - x, (F(row) + F(0.5)) * side - y
            far_sq = dx * dx + dy * dy
            if far_sq < sight * sight and prey[row, column] > best:
                best, chosen = prey[row, column], (dx, dy, far_sq)
    if best == 0 or chosen[2] == 0:
        return F(0), F(0)
    speed = F(settings.predator_speed_max) / np.sqrt(chosen[2])
    response = F(settings.predator_response)
    return response * (chosen[0] * speed - columns.vx[i]), response * (chosen[1] * speed - columns.vy[i])


def hunt_move(columns: dict[str, Any], rules: Any, ground: Any, forces: Any = ()) -> None:
    """One step of everybody, in place; an index is an id."""
    c, predators = columns, np.flatnonzero(columns["kind"] == 1)
    places = [(c["x"][j], c["y"][j]) for j in predators]
    for i in range(len(c["id"])):
        ax, ay = urge(c, i, rules.flock, ground, forces)
        away_x, away_y = F(0), F(0)
        for x, y in places:
            dx, dy = c["x"][i] - x, c["y"][i] - y
            d_sq = dx * dx + dy * dy
            if d_sq < rules.fear * rules.fear:
                weight = rules.fear * inv_root(d_sq) - F(1)
                away_x, away_y = away_x + weight * dx, away_y + weight * dy
        vx = c["vx"][i] + rules.dt * (ax + rules.flee * away_x)
        vy = c["vy"][i] + rules.dt * (ay + rules.flee * away_y)
        low, high = ((rules.predator_speed_min, rules.predator_speed_max) if c["kind"][i] else
                     (rules.flock.speed_min, rules.flock.speed_max))
        fly(c, i, vx, vy, low, high, rules, ground)
