"""The second contract of *see*: gather the k nearest neighbours of an agent, ties by id, then solve.

Sums over all neighbours (pairwise.py) must not depend on the order in which these are met. Here the neighbours come as a list
whose order is fixed, nearest first and of equally near ones the lowest id first. That list is the same for every structure,
order in memory and number of workers, so `solve` may do with it whatever it likes: add up floats, weigh by rank, stop early,
run a linear program.

A behaviour asks for it by `Needs.nearest`, which is k, and implements `read_columns`, `perceive` and `solve`. The technique
*cap* uses it too, with the behaviour's own sums for a solve (capped.py).

The search takes one agent at a time: lanes would share the tests, but not the lists, which are most of the work. For every
structure it goes over the cells of the grid.
"""

# Generic functions have no body of their own.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Rules
from crowd_demo.compute.dispatch import generic
from crowd_demo.compute.jit import device
from crowd_demo.sim.interaction.pairwise import perceive, read_columns
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.store.columns import Columns

MOST_KEPT = 64  # neighbours: what `Needs.nearest` and `cap_neighbours` may ask for


@generic
def solve(rules: Rules, columns: Columns, slot: int, near: Ints, size: int) -> tuple[Float, Float, Int]:
    """Return (push_x, push_y, neighbours used) for the agent in a slot; its neighbours are in the slots near[:size]."""


@device
def _insert(columns: Columns, slot: int, distance: Float, size: int, most: int, near: Ints, distances: Floats) -> int:
    """Insert a neighbour into the list by (distance, id) and return the list's new length."""
    at = size
    while at > 0 and (distance < distances[at - 1] or (
            distance == distances[at - 1] and columns.id[slot] < columns.id[near[at - 1]])):
        at -= 1
    if at == most:
        return size
    size = min(size + 1, most)
    for k in range(size - 1, at, -1):
        near[k], distances[k] = near[k - 1], distances[k - 1]
    near[at], distances[at] = slot, distance
    return size


@device
def gather(cells: Cells, columns: Columns, rules: Rules, row: int, column: int, slot: int, most: int, near: Ints,
           distances: Floats) -> tuple[int, int, int]:
    """Fill `near` with the `most` nearest neighbours of the agent in a slot; return (how many, found, scanned)."""
    me = read_columns(rules, columns, np.uintp(slot))
    size, found, scanned, farthest = 0, 0, 0, np.float32(np.inf)
    left, right = max(column - cells.reach, 0), min(column + cells.reach, cells.columns - 1)
    for beside in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        first, last = cells.start[beside * cells.columns + left], cells.start[beside * cells.columns + right + 1]
        for k in range(np.uintp(first), np.uintp(last)):
            other = cells.order[k]
            if other == slot:
                continue
            scanned += 1
            is_neighbour, distance = perceive(rules, me, read_columns(rules, columns, np.uintp(other)))
            found += is_neighbour
            if is_neighbour & (distance <= farthest):
                size = _insert(columns, other, distance, size, most, near, distances)
                farthest = distances[most - 1] if size == most else farthest
    return size, found, scanned
