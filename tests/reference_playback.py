"""Who is where at a tick of `playback`: docs/model_birds_crates.md, "Playback", one person after the other."""

import math
from bisect import bisect_right
from typing import NamedTuple

Row = tuple[int, int, float, float]  # id, frame, x and y in metres


class Seen(NamedTuple):
    """One person at a tick; lengths in world units."""

    x: float
    y: float
    vx: float
    vy: float
    heading: tuple[float, float]
    stands: bool


def people_at(rows: list[Row], tick: int, step_hz: float, fps: float, metre: float, left: float, top: float,
              standing: float) -> dict[int, Seen]:
    """Everybody who is there, by the file's id; (left, top) is the world's corner in metres, and y grows upwards."""
    first = min(frame for _, frame, _, _ in rows)
    last = max(frame for _, frame, _, _ in rows) - first
    frame = tick / step_hz * fps
    frame = min(round(frame) if abs(frame - round(frame)) < 1e-9 else frame, last)
    found = {}
    for person in {row[0] for row in rows}:
        own = sorted((at - first, (x - left) * metre, (top - y) * metre) for who, at, x, y in rows if who == person)
        if own[0][0] <= frame <= own[-1][0]:
            over = tick / step_hz * fps > last
            found[person] = _seen(own, frame, fps, standing, over)
    return found


def _seen(own: list[tuple[int, float, float]], frame: float, fps: float, standing: float, over: bool) -> Seen:
    k = bisect_right([at for at, _, _ in own], frame) - 1
    at, x, y = own[k]
    if k + 1 < len(own):
        part = (frame - at) / (own[k + 1][0] - at)
        x, y = x + part * (own[k + 1][1] - x), y + part * (own[k + 1][2] - y)
    vx, vy = _velocity(own, k, fps)
    moving = [n for n in range(len(own)) if _velocity(own, n, fps) != (0, 0)]
    of = max((n for n in moving if n <= k), default=min((n for n in moving if n > k), default=None))
    heading = (0.0, 1.0)
    if of is not None:
        along = _velocity(own, of, fps)
        heading = along[0] / math.hypot(*along), along[1] / math.hypot(*along)
    return Seen(x, y, 0 if over else vx, 0 if over else vy, heading, over or math.hypot(vx, vy) < standing)


def _velocity(own: list[tuple[int, float, float]], k: int, fps: float) -> tuple[float, float]:
    """From row k to the next; from the one before to the last one."""
    if len(own) == 1:
        return 0.0, 0.0
    k = min(k, len(own) - 2)
    frames = own[k + 1][0] - own[k][0]
    return (own[k + 1][1] - own[k][1]) / frames * fps, (own[k + 1][2] - own[k][2]) / frames * fps
