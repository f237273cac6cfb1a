"""Springs one link at a time, as docs/model_birds_crates.md rounds them; positions and velocities by id."""

from typing import Any

import numpy as np

F = np.float32


def pulls(x: Any, y: Any, vx: Any, vy: Any, pairs: Any, rules: Any, both: bool) -> tuple[Any, Any]:
    """float32[n] each: what the links (id, id) ask of every agent; only of the second where not `both`."""
    sums = np.zeros((len(x), 2), np.int64)
    for lower, upper in pairs:
        for me, other in ((upper, lower), (lower, upper)) if both else ((upper, lower),):
            dx, dy = x[other] - x[me], y[other] - y[me]
            length = np.sqrt(dx * dx + dy * dy)
            if length > 0:
                apart = (vx[other] - vx[me]) * dx + (vy[other] - vy[me]) * dy
                force = rules.stiffness * (length - rules.rest) + rules.damping * (apart / length)
                scale = min(max(force, F(-32768)), F(32768)) / length * F(256)
                sums[me] += int(scale * dx), int(scale * dy)
    return sums[:, 0].astype(F) * F(1 / 256), sums[:, 1].astype(F) * F(1 / 256)


def gust(rules: Any, x: Any, y: Any) -> Any:
    turns = (x + y * F(0.5)) * rules.inv_gust + rules.phase
    ramp = np.abs((turns - np.trunc(turns)) * F(2) - F(1))
    return ramp * ramp * (F(3) - ramp * F(2)) * F(2) - F(1)


def velocities(columns: Any, pull_x: Any, pull_y: Any, rules: Any) -> tuple[Any, Any]:
    """The next velocity of agents on whom a link pulls, and who are not pinned."""
    ax = pull_x + rules.wind * gust(rules, columns.x, columns.y) - rules.drag * columns.vx
    ay = pull_y + rules.gravity - rules.drag * columns.vy
    return columns.vx + rules.dt * ax, columns.vy + rules.dt * ay


def step(a: Any, pairs: Any, pins: Any, rules: Any, move: Any, both: bool) -> None:
    """Links, *move* and pins for the agents of record `a`, whose columns are changed; `move` is the behaviour's."""
    ends = pairs if both else pairs[:, 1:]
    acted = np.setdiff1d(ends, pins)
    new = velocities(a, *pulls(a.x, a.y, a.vx, a.vy, pairs, rules, both), rules)
    for column, values in zip((a.vx, a.vy), new, strict=True):
        column[acted] = values[acted]
    stood = a.x[pins], a.y[pins]
    move(a._asdict())
    a.x[pins], a.y[pins] = stood
    a.vx[pins] = a.vy[pins] = 0
