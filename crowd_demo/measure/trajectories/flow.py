"""Flow: when people pass a line for the first time, and how many of them in a second."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Bools, Doubles, Longs
from crowd_demo.measure.trajectories.table import Line, Trajectories


def crossings(of: Trajectories, line: Line) -> tuple[Longs, Doubles]:
    """Return (id, time in s) of everybody's first step across the line, the earliest first.

    The time is that of the frame after the step. A step that ends on the line has not crossed it, one that begins there
    has.
    """
    rows = of.by_person()
    if len(rows.id) < 2:
        return np.zeros(0, np.int64), np.zeros(0)
    crosses = steps_across(rows.x[:-1], rows.y[:-1], rows.x[1:], rows.y[1:], line) & (rows.id[1:] == rows.id[:-1])
    people, first = np.unique(rows.id[:-1][crosses], return_index=True)
    frames = rows.frame[1:][crosses][first]
    order = np.argsort(frames, kind="stable")
    return people[order], frames[order] / of.fps


def flow(times: Doubles) -> float:
    """Return people a second between the first and the last of these times, nan for less than two."""
    return float((len(times) - 1) / (times[-1] - times[0])) if len(times) > 1 and times[-1] > times[0] else float("nan")


def middle(times: Doubles, part: float = 0.6) -> Doubles:
    """Return the middle part of the sorted times: a queue has formed by then, and has not ended yet."""
    cut = int(len(times) * (1 - part) / 2)
    return times[cut:len(times) - cut]


def longest_gap(times: Doubles) -> float:
    """Return the longest time between two that follow each other, s."""
    return float(np.diff(times).max(initial=0.0))


def steps_across(x: Doubles, y: Doubles, to_x: Doubles, to_y: Doubles, line: Line) -> Bools:
    """Say which steps meet the line and do not end on it."""
    along_x, along_y = line.to_x - line.x, line.to_y - line.y
    before = along_x * (y - line.y) - along_y * (x - line.x)  # on which side of the line: > 0, < 0, 0 on it
    after = along_x * (to_y - line.y) - along_y * (to_x - line.x)
    changes = (after != 0) & (before * after <= 0)
    part = np.where(changes, before / np.where(changes, before - after, 1), 0)  # of the step, where it meets the line
    meets_x, meets_y = x + (to_x - x) * part, y + (to_y - y) * part
    place = ((meets_x - line.x) * along_x + (meets_y - line.y) * along_y) / (along_x**2 + along_y**2)
    return changes & (place >= 0) & (place <= 1)
