"""Slow, obvious versions of what birds do, from docs/model_birds_crates.md; `reference.py` has what all behaviours share."""

from typing import Any

import numpy as np
import reference
from reference import F, inv_root, offsets

# --- whom a bird follows, and how it keeps away ----------------------------------------------------------------------

def fixed(column: Any) -> Any:
    return (column * F(256)).astype(np.int32)


def followed(x: Any, y: Any, vx: Any, vy: Any, rules: Any) -> Any:
    """bool[i, j]: does i follow j? In sight, and not in the blind angle."""
    dx, dy, distance_sq = offsets(x, y)
    seen = (distance_sq < rules.sight_sq) & ~np.eye(len(x), dtype=bool)
    if type(rules.eyes).__name__ == "AllAround":
        return seen
    fx, fy = fixed(vx).astype(F)[:, None], fixed(vy).astype(F)[:, None]
    along = dx * fx + dy * fy
    return seen & ((along >= 0) | (along * along <= distance_sq * ((fx * fx + fy * fy) * rules.eyes.behind)))


def apart(x: Any, y: Any, rules: Any, met: Any = True) -> tuple[Any, Any]:
    """(apart_x, apart_y) of every bird, from those of `met` that are close."""
    dx, dy, distance_sq = offsets(x, y)
    near = (distance_sq < rules.separation_sq) & ~np.eye(len(x), dtype=bool) & met
    if type(rules.apart).__name__ == "ByContact":
        weight = rules.apart.reach * inv_root(distance_sq) - F(256)
        terms = [np.where(near, np.where(near, weight * d, F(0)).astype(np.int32), 0) for d in (dx, dy)]
    else:
        terms = [np.where(near, (p[None, :] - p[:, None]), 0) for p in (fixed(x), fixed(y))]
    away_x, away_y = (-(term.astype(np.int64).sum(axis=1)).astype(F) * F(1 / 256) for term in terms)
    return away_x, away_y


# --- pushes ----------------------------------------------------------------------------------------------------------

def flock_push(x: Any, y: Any, vx: Any, vy: Any, rules: Any) -> tuple[Any, Any, Any]:
    """(push_x, push_y, neighbours) of every bird, as the model rounds it."""
    seen = followed(x, y, vx, vy, rules)
    n = seen.sum(axis=1)
    inverse = F(1 / 256) / np.maximum(n, 1).astype(F)
    uncrowded = np.maximum(F(1) - n.astype(F) * rules.inv_crowding, F(-1))
    pushes = []
    for place, speed, away in zip((x, y), (vx, vy), apart(x, y, rules), strict=True):
        p, q = fixed(place).astype(np.int64), fixed(speed).astype(np.int64)
        mean = (seen @ p - n * p).astype(F) * inverse
        turn = (seen @ q).astype(F) * inverse - q.astype(F) * F(1 / 256)
        flock = rules.align * turn + rules.cohere * uncrowded * mean
        pushes.append(np.where(n > 0, flock, F(0)) + rules.separate * away)
    return pushes[0], pushes[1], n


def nearest_push(x: Any, y: Any, vx: Any, vy: Any, rules: Any, most: int) -> tuple[Any, Any, Any]:
    """The same of birds that follow their nearest; an index is an id."""
    dx, dy, distance_sq = offsets(x, y)
    seen, n = followed(x, y, vx, vy, rules), np.zeros(len(x), int)
    pushes, kept = np.zeros((2, len(x)), F), np.zeros((len(x), len(x)), bool)
    flocks = np.zeros((2, len(x)), F)
    for i in range(len(x)):
        near = sorted((distance_sq[i, j], j) for j in np.flatnonzero(seen[i]))[:most]
        sums, distances = np.zeros(4, F), F(0)
        for d_sq, j in near:
            sums = sums + np.array([dx[i, j], dy[i, j], vx[j], vy[j]], F)
            distances = distances + np.sqrt(d_sq)
            kept[i, j] = True
        n[i] = len(near)
        if near:
            part = F(1) / F(len(near))
            mean_x, mean_y, match_x, match_y = sums * part
            sided = np.sqrt(mean_x * mean_x + mean_y * mean_y) / (distances * part) if distances > 0 else F(0)
            pull = rules.cohere * sided
            flocks[:, i] = (rules.align * (match_x - vx[i]) + pull * mean_x, rules.align * (match_y - vy[i]) + pull * mean_y)
    for axis, away in enumerate(apart(x, y, rules, kept)):
        pushes[axis] = np.where(n > 0, flocks[axis] + rules.separate * away, F(0))
    return pushes[0], pushes[1], n


def flock_push_ideal(x: Any, y: Any, vx: Any, vy: Any, rules: Any) -> tuple[Any, Any]:
    """The rules of the flock in float64, one bird at a time; who is a neighbour is decided as the model says."""
    _, _, distance_sq = offsets(x, y)
    follows = followed(x, y, vx, vy, rules)
    position, velocity = np.stack((x, y), 1).astype(float), np.stack((vx, vy), 1).astype(float)
    push = np.zeros((len(x), 2))
    for i in range(len(x)):
        seen, near = follows[i], (distance_sq[i] < rules.separation_sq) & (np.arange(len(x)) != i)
        if seen.any():
            uncrowded = max(1 - seen.sum() * float(rules.inv_crowding), -1)
            push[i] = (float(rules.align) * (velocity[seen].mean(0) - velocity[i])
                       + float(rules.cohere) * uncrowded * (position[seen].mean(0) - position[i]))
        push[i] += float(rules.separate) * apart_ideal(position[i], position[near], rules)
    return push[:, 0], push[:, 1]


def apart_ideal(me: Any, near: Any, rules: Any) -> Any:
    """The way out in float64; on the very same spot there is none."""
    offsets = me - near
    if type(rules.apart).__name__ == "ByContact":
        distance = np.hypot(*offsets.T)[:, None]
        offsets = offsets * (float(rules.apart.reach) / 256 / np.where(distance > 0, distance, 1) - 1)
    return offsets.sum(0)


# --- moving ----------------------------------------------------------------------------------------------------------

def _edge(position: Any, length: Any, rules: Any) -> Any:
    low, high = F(1) - position * rules.inv_margin, F(1) - (length - position) * rules.inv_margin
    return max(low, F(0)) - max(high, F(0))


def _home(x: Any, y: Any, rules: Any) -> tuple[Any, Any]:
    if rules.roost == 0:
        return F(0), F(0)
    out_x, out_y = x - rules.width * F(0.5), y - rules.height * F(0.5)
    radius_sq = max(rules.roost_radius * rules.roost_radius, F(1e-12))
    outside = F(1) - rules.roost_radius / np.sqrt(max(out_x * out_x + out_y * out_y, radius_sq))
    return rules.roost * outside * out_x, rules.roost * outside * out_y


def urge(c: dict[str, Any], i: int, rules: Any, ground: Any, forces: Any = ()) -> tuple[Any, Any]:
    """The acceleration that bird i wants."""
    x, y = c["x"][i], c["y"][i]
    tile = reference.tile_under(ground, x, y)
    turn_x, turn_y = _edge(x, rules.width, rules), _edge(y, rules.height, rules)
    if ground.any_solid:
        turn_x, turn_y = turn_x + ground.away_x[tile], turn_y + ground.away_y[tile]
    home_x, home_y = _home(x, y, rules)
    ax = c["avoidance_x"][i] + rules.wander * reference.chance(c["id"][i], rules.wander_key_x) + rules.border * turn_x - home_x
    ay = c["avoidance_y"][i] + rules.wander * reference.chance(c["id"][i], rules.wander_key_y) + rules.border * turn_y - home_y
    if forces:
        pull_x, pull_y = reference.pull_at(x, y, forces)
        ax, ay = ax + F(2) * rules.speed_max * pull_x, ay + F(2) * rules.speed_max * pull_y
    return ax, ay


def fly(c: dict[str, Any], i: int, vx: Any, vy: Any, low: Any, high: Any, rules: Any, ground: Any) -> None:
    """Move bird i with that velocity, its length in [low, high]."""
    speed_sq = vx * vx + vy * vy
    speed = np.sqrt(speed_sq) if speed_sq > F(1e-12) else F(1)
    scale = min(max(speed, low), high) / speed
    vx, vy = vx * scale, vy * scale
    c["x"][i], c["y"][i] = reference.slide(ground, c["x"][i], c["y"][i], rules.dt * vx, rules.dt * vy)
    c["vx"][i], c["vy"][i] = vx, vy


def flock_move(columns: dict[str, Any], rules: Any, ground: Any, forces: Any = ()) -> None:
    """One step of every bird, in place."""
    for i in range(len(columns["id"])):
        ax, ay = urge(columns, i, rules, ground, forces)
        vx, vy = columns["vx"][i] + rules.dt * ax, columns["vy"][i] + rules.dt * ay
        fly(columns, i, vx, vy, rules.speed_min, rules.speed_max, rules, ground)
