"""The second contract of the interaction: gather the k nearest neighbours of an agent, ties by id, then solve; and limits.

Sums over all neighbours (pairwise.py) must not depend on the order in which these are met. Here the neighbours come as a list
whose order is fixed, nearest first and of equally near ones the lowest id first. That list is the same for every structure,
order in memory and number of workers, so `solve` may do with it whatever it likes: add up floats, weigh by rank, stop early,
run a linear program. A behaviour asks for it by `Needs.nearest`, which is k, and implements `observe`, `perceive` and `solve`.

The technique *neighbour_limit* lets an agent interact with only some of its neighbours; `solve` then sums over these:

    first      scan at most `limit_scanned` others, in cell order, and stop at `limit_kept` neighbours
    nearest    of all neighbours the nearest `limit_kept`; of equally near ones those with the lowest ids

Limits are cheaper than all neighbours, and biased in a measurable direction: `first` depends on the order of scanning,
which is rows of cells downwards, cells to the right, agents by id. So the agents of each cell of the grid are sorted by id,
and the result is the same for every cadence of sorting, structure and number of workers. But the first ones all lie up and to
the left; metrics/avoidance_error.py measures it.

The search takes one agent at a time: lanes would share the tests, but not the lists, which are most of the work. For every
structure it goes over the cells of the grid.
"""

# Generic functions have no body of their own.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Longs, Rules
from crowd_demo.compute.dispatch import generic, implements
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd_memory import take_block
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.interaction.pairwise import accumulate, finish, no_sums, observe, perceive
from crowd_demo.sim.interaction.strips import BLOCK, CANDIDATES, InteractionInput, Strips, store_avoidance
from crowd_demo.sim.neighbours.schedule import update_due
from crowd_demo.sim.store.state import Columns

MAX_KEPT = 64  # neighbours: the maximum of `Needs.nearest` and `limit_kept`
HITS, FOUND, MAX_SCANNED, MAX_FOUND = range(4)


@generic
def solve(rules: Rules, columns: Columns, slot: int, near: Ints, size: int) -> tuple[Float, Float, Int]:
    """Return (avoidance_x, avoidance_y, neighbours used) for the agent in a slot; its neighbours are in the slots near[:size].

    A behaviour that adds up over all its neighbours need not implement it: with a limit its sums are those of the kept ones.
    """


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


# --- limits ----------------------------------------------------------------------------------------------------------

class NeighbourLimits(NamedTuple):
    """Which neighbours an agent keeps: the nearest or the first, and two limits."""

    nearest: bool
    scanned: int
    neighbours: int


class KeptNeighbours(NamedTuple):
    """Working memory of all workers, one row each: the neighbours that the present agent keeps, and counters."""

    slot: Ints  # [workers, MAX_KEPT]
    distance: Floats  # [workers, MAX_KEPT]
    counted: Longs  # [workers, 4], numbered above


def kept_of(workers: int) -> KeptNeighbours:
    shape = workers, MAX_KEPT
    return KeptNeighbours(np.zeros(shape, np.int32), np.zeros(shape, np.float32), np.zeros((workers, 4), np.int64))


@device
def choose(cells: Cells, columns: Columns, rules: Rules, row: int, column: int, slot: int, limits: NeighbourLimits,
           slots: Ints, distances: Floats) -> tuple[int, int, int, bool]:
    """Fill `slots` with the neighbours that an agent keeps; return (how many, found, scanned, whether a limit was hit)."""
    me = observe(rules, columns, np.uintp(slot))
    size, found, scanned = 0, 0, 0
    left, right = max(column - cells.reach, 0), min(column + cells.reach, cells.columns - 1)
    for beside in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        first, last = cells.start[beside * cells.columns + left], cells.start[beside * cells.columns + right + 1]
        for k in range(np.uintp(first), np.uintp(last)):
            other = cells.order[k]
            if other == slot:
                continue
            if not limits.nearest and (scanned == limits.scanned or found == limits.neighbours):
                return size, found, scanned, True
            scanned += 1
            is_neighbour, distance = perceive(rules, me, observe(rules, columns, np.uintp(other)))
            found += is_neighbour
            if not is_neighbour:
                continue
            if not limits.nearest:
                slots[size] = other
                size += 1
            elif size < limits.neighbours or distance <= distances[size - 1]:
                size = _insert(columns, other, distance, size, limits.neighbours, slots, distances)
    return size, found, scanned, found > size


@implements(solve, object)
def sum_of_kept(rules: Rules, columns: Columns, slot: int, near: Ints, size: int) -> tuple[Float, Float, Int]:
    """Return what the behaviour's own sums over the kept neighbours come to."""
    me = observe(rules, columns, np.uintp(slot))
    sums = accumulate(rules, me, me, no_sums(rules, columns.x[slot]))  # `finish` subtracts the agent itself
    for k in range(size):
        sums = accumulate(rules, me, observe(rules, columns, np.uintp(near[k])), sums)
    return finish(rules, me, sums)


# --- the kernel ------------------------------------------------------------------------------------------------------

@device
def _interact_row(cells: Cells, given: InteractionInput, row: int, limits: NeighbourLimits, slots: Ints, distances: Floats,
                  counters: Longs, counted: Longs) -> None:
    rules, columns = given.rules, given.columns
    for column in range(cells.columns):
        cell = row * cells.columns + column
        for k in range(cells.start[cell], cells.start[cell + 1]):
            slot = cells.order[k]
            if not update_due(given.schedule, columns.next_update[slot]):
                continue
            size, found, scanned, hit = choose(cells, columns, rules, row, column, slot, limits, slots, distances)
            store_avoidance(given, slot, solve(rules, columns, slot, slots, size), counters)
            counters[CANDIDATES] += scanned
            counted[HITS] += hit
            counted[FOUND] += found
            counted[MAX_SCANNED] = max(counted[MAX_SCANNED], scanned)
            counted[MAX_FOUND] = max(counted[MAX_FOUND], found)


@kernel
def interact_limited(worker: int, workers: int, cells: Cells, given: InteractionInput, limits: NeighbourLimits,
                     kept: KeptNeighbours, strips: Strips) -> None:
    """Write the avoidance of this worker's blocks of rows: of agents that are due, from the neighbours that they keep."""
    kept.counted[worker] = 0
    row = take_block(strips.queue, BLOCK)
    while row < cells.rows:
        for near in range(row, min(row + BLOCK, cells.rows)):
            _interact_row(cells, given, near, limits, kept.slot[worker], kept.distance[worker], strips.counters[worker],
                          kept.counted[worker])
        row = take_block(strips.queue, BLOCK)


def limit_counters(kept: KeptNeighbours, due_count: int) -> dict[str, float]:
    """Return the counters of the last step: others scanned, neighbours found, and agents whose search hit a limit."""
    total, most = kept.counted.sum(axis=0), kept.counted.max(axis=0)
    return {"scanned_max": float(most[MAX_SCANNED]), "found_mean": float(total[FOUND]) / max(due_count, 1),
            "found_max": float(most[MAX_FOUND]), "limit_hits": float(total[HITS])}
