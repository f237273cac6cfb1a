"""A bird that follows its nearest neighbours alone, six or seven of them, however far away (Ballerini and others 2008).

So a flock keeps together where it is thin as well as where it is dense. A bird is pulled to its neighbours as far as these lie
on one side: hardly in the middle of a flock, strongly at its edge, which gets sharp (Hildenbrandt, Carere, Hemelrijk 2010).
The second contract of *see* gathers the neighbours in a fixed order, so float32 sums are the same everywhere.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Float, Int, Ints, Mask
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.packed import counted
from crowd_demo.compute.simd import root, to_int
from crowd_demo.sim.behaviours.flock_parts import FIXED, drive_apart, follows, meet_close, no_apart
from crowd_demo.sim.behaviours.flock_rules import FlockColumns, FlockRules, read_columns
from crowd_demo.sim.interaction import nearest, pairwise
from crowd_demo.sim.interaction.pairwise import Seen


class NearestRules(FlockRules):
    """The constants of a flock whose birds follow their nearest."""


implements(pairwise.read_columns, NearestRules)(read_columns)


@implements(pairwise.perceive, NearestRules)
def perceive(rules: NearestRules, me: Seen, other: Seen) -> tuple[Mask, Float]:
    dx, dy = other[0] - me[0], other[1] - me[1]
    distance_sq = dx * dx + dy * dy
    return follows(rules.eyes, me, dx, dy, distance_sq, rules.sight_sq), distance_sq


@implements(nearest.solve, NearestRules)
def solve(rules: NearestRules, columns: FlockColumns, slot: int, near: Ints, size: int) -> tuple[Float, Float, Int]:
    zero = np.float32(0)
    if size == 0:
        return zero, zero, size
    x, y = columns.x[slot], columns.y[slot]
    sum_x, sum_y, sum_vx, sum_vy, distances = zero, zero, zero, zero, zero
    apart = no_apart(rules.apart, x)
    for k in range(size):
        other = np.uintp(near[k])
        dx, dy = columns.x[other] - x, columns.y[other] - y
        distance_sq = dx * dx + dy * dy
        sum_x, sum_y, distances = sum_x + dx, sum_y + dy, distances + root(distance_sq)
        sum_vx, sum_vy = sum_vx + columns.vx[other], sum_vy + columns.vy[other]
        px, py = counted(to_int(columns.x[other] * np.float32(FIXED))), to_int(columns.y[other] * np.float32(FIXED))
        apart = meet_close(rules.apart, distance_sq < rules.separation_sq, dx, dy, distance_sq, px, py, apart)
    away_x, away_y = drive_apart(rules.apart, counted(to_int(x * np.float32(FIXED))), to_int(y * np.float32(FIXED)), apart)
    part = np.float32(1) / np.float32(size)
    mean_x, mean_y = sum_x * part, sum_y * part
    one_sided = root(mean_x * mean_x + mean_y * mean_y) / (distances * part) if distances > zero else zero
    pull = rules.cohere * one_sided
    push_x = rules.align * (sum_vx * part - columns.vx[slot]) + pull * mean_x + rules.separate * away_x
    push_y = rules.align * (sum_vy * part - columns.vy[slot]) + pull * mean_y + rules.separate * away_y
    return push_x, push_y, size
