"""Caps: an agent interacts with only some of its neighbours. That is cheaper, and biased in a direction that can be measured.

    first      scan at most `cap_scanned` others, in cell order, and stop at `cap_neighbours` neighbours (navkit)
    nearest    of all neighbours the nearest `cap_neighbours`; of equally near ones those with the lowest ids

`first` depends on the order of scanning: rows of cells downwards, cells to the right, agents by id. So the agents of each cell
of the grid are sorted by id, and the result is the same for every cadence of sorting, structure and number of workers. But
the first ones all lie up and to the left; metrics/bias.py measures it. SIMD does not apply to either, because the sixteen
agents of a register share their candidates: for every structure, the scalar kernel below searches the grid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Ints, Longs, Rules
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd import take_block
from crowd_demo.sim.interaction.pairwise import (
    BLOCK,
    CANDIDATES,
    Strips,
    accumulate,
    keep_one,
    no_sums,
    perceive,
    read_columns,
)
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.neighbours.schedule import Turn, due
from crowd_demo.sim.store.columns import Columns

MOST_KEPT = 64  # neighbours: what `cap_neighbours` may ask for
HITS, FOUND, MOST_SCANNED, MOST_FOUND = range(4)


class Caps(NamedTuple):
    """Which cap, and its two limits."""

    nearest: bool
    scanned: int
    neighbours: int


class Kept(NamedTuple):
    """Working memory of all workers, one row each: the neighbours that the present agent keeps, and counters."""

    slot: Ints  # [workers, MOST_KEPT]
    distance: Floats  # [workers, MOST_KEPT]
    counted: Longs  # [workers, 4], numbered above


def kept_of(workers: int) -> Kept:
    return Kept(np.zeros((workers, MOST_KEPT), np.int32), np.zeros((workers, MOST_KEPT), np.float32),
                np.zeros((workers, 4), np.int64))


# --- which neighbours are kept ---------------------------------------------------------------------------------------

@device
def _keep_nearest(columns: Columns, slot: int, distance: Float, size: int, most: int, slots: Ints, distances: Floats) -> int:
    """Insert a neighbour into the list by (distance, id) and return the list's new length."""
    at = size
    while at > 0 and (distance < distances[at - 1] or (
            distance == distances[at - 1] and columns.id[slot] < columns.id[slots[at - 1]])):
        at -= 1
    if at == most:
        return size
    size = min(size + 1, most)
    for k in range(size - 1, at, -1):
        slots[k], distances[k] = slots[k - 1], distances[k - 1]
    slots[at], distances[at] = slot, distance
    return size


@device
def choose(cells: Cells, columns: Columns, rules: Rules, row: int, column: int, slot: int, caps: Caps, slots: Ints,
           distances: Floats) -> tuple[int, int, int, bool]:
    """Fill `slots` with the neighbours that an agent keeps; return (how many, found, scanned, whether a cap was hit)."""
    me = read_columns(rules, columns, np.uintp(slot))
    size, found, scanned = 0, 0, 0
    left, right = max(column - cells.reach, 0), min(column + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        for k in range(cells.start[near * cells.columns + left], cells.start[near * cells.columns + right + 1]):
            other = cells.order[k]
            if other == slot:
                continue
            if not caps.nearest and (scanned == caps.scanned or found == caps.neighbours):
                return size, found, scanned, True
            scanned += 1
            is_neighbour, distance = perceive(rules, me, read_columns(rules, columns, np.uintp(other)))
            if is_neighbour:
                found += 1
                if caps.nearest:
                    size = _keep_nearest(columns, other, distance, size, caps.neighbours, slots, distances)
                else:
                    slots[size] = other
                    size += 1
    return size, found, scanned, found > size


@device
def _see_row(cells: Cells, columns: Columns, rules: Rules, row: int, turn: Turn, caps: Caps, slots: Ints, distances: Floats,
             counters: Longs, counted: Longs) -> None:
    for column in range(cells.columns):
        cell = row * cells.columns + column
        for k in range(cells.start[cell], cells.start[cell + 1]):
            slot = cells.order[k]
            if not due(turn, columns.look_at[slot]):
                continue
            size, found, scanned, hit = choose(cells, columns, rules, row, column, slot, caps, slots, distances)
            me = read_columns(rules, columns, np.uintp(slot))
            sums = accumulate(rules, me, me, no_sums(rules, columns.x[slot]))  # `finish` subtracts the agent itself
            for kept in range(size):
                sums = accumulate(rules, me, read_columns(rules, columns, np.uintp(slots[kept])), sums)
            keep_one(rules, columns, slot, me, sums, turn, counters)
            counters[CANDIDATES] += scanned
            counted[HITS] += hit
            counted[FOUND] += found
            counted[MOST_SCANNED] = max(counted[MOST_SCANNED], scanned)
            counted[MOST_FOUND] = max(counted[MOST_FOUND], found)


@kernel
def see_capped(worker: int, workers: int, cells: Cells, columns: Columns, rules: Rules, turn: Turn, caps: Caps, kept: Kept,
               strips: Strips) -> None:
    kept.counted[worker] = 0
    row = take_block(strips.queue, BLOCK)
    while row < cells.rows:
        for near in range(row, min(row + BLOCK, cells.rows)):
            _see_row(cells, columns, rules, near, turn, caps, kept.slot[worker], kept.distance[worker],
                     strips.counters[worker], kept.counted[worker])
        row = take_block(strips.queue, BLOCK)


def cap_counters(kept: Kept, due_count: int) -> dict[str, float]:
    """Return the counters of the last step: others scanned, neighbours found, and agents whose search hit a cap."""
    total, most = kept.counted.sum(axis=0), kept.counted.max(axis=0)
    return {"scanned_max": float(most[MOST_SCANNED]), "found_mean": float(total[FOUND]) / max(due_count, 1),
            "found_max": float(most[MOST_FOUND]), "cap_hits": float(total[HITS])}
