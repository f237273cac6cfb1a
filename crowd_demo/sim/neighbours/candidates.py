"""Candidates, the agents that may be neighbours, in the three forms in which structures return them.

    Cells    rows of cells: the agents of a row lie one after the other in `order`, so those within reach are a few runs
    Runs     groups (a leaf, a square of cells on a curve), each with a short list of runs that hold all within its reach
    Lists    each cell stores its first agent, each agent the next one of its cell

A list of runs has a fixed length: when it is full, the last run is stretched instead, over agents that are too far away.
That is slower and just as exact: a candidate that is no neighbour adds nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Ints, Longs
from crowd_demo.compute.jit import device
from crowd_demo.grid.cells import Cells

MAX_RUNS = 16  # a group: trees over a uniform crowd need 4 to 8
GAP = 6  # agents between two runs that are cheaper to test than to skip


class Runs(NamedTuple):
    """Candidates in groups."""

    order: Ints  # [n + 16]: slots by group
    groups: Longs  # [1]: how many there are
    start: Ints  # [groups + 1]: the agents of group g are order[start[g]:start[g + 1]]
    count: Ints  # type: ignore[assignment]  # [groups]: runs of each group; hides tuple.count
    first: Ints  # [groups, MAX_RUNS]: its candidates are order[first[g, r]:last[g, r]], ascending and apart
    last: Ints  # [groups, MAX_RUNS]


class Lists(NamedTuple):
    """Candidates in lists; -1 ends a list."""

    head: Ints  # [rows * columns]: first slot of each cell
    next: Ints  # [n]: the slot after each slot
    columns: int
    rows: int
    reach: int  # cells to look at on each side


Candidates = Cells | Runs | Lists


def runs_of(order: Ints, groups: int) -> Runs:
    return Runs(order, np.zeros(1, np.int64), np.zeros(groups + 1, np.int32), np.zeros(groups, np.int32),
                np.zeros((groups, MAX_RUNS), np.int32), np.zeros((groups, MAX_RUNS), np.int32))


@device
def holder_of(k: int, start: Ints, groups: int) -> int:
    """Return the group that holds order[k], the last one that starts there or before; k is below start[groups].

    By bisection: `np.searchsorted` takes half a second to compile.
    """
    low, high = 0, groups
    while high - low > 1:
        middle = (low + high) >> 1
        if start[middle] <= k:
            low = middle
        else:
            high = middle
    return low


@device
def add_run(runs: Runs, group: int, first: int, last: int) -> None:
    """Append order[first:last] to the candidates of a group; runs come in ascending order."""
    count = runs.count[group]
    if last <= first:
        return
    if count > 0 and (first - runs.last[group, count - 1] <= GAP or count == MAX_RUNS):
        runs.last[group, count - 1] = last
        return
    runs.first[group, count], runs.last[group, count] = first, last
    runs.count[group] = count + 1
