"""Caps: an agent meets only some of its neighbours. Cheaper, and wrong in a direction that can be measured.

    first      scan at most `cap_scanned` others, in cell order, and stop at `cap_neighbours` neighbours (navkit)
    nearest    of all neighbours the nearest `cap_neighbours`; of equally near ones those with the lowest ids

`first` depends on the order of scanning: rows of cells downwards, cells to the right, agents by id. So the grid's order is put
in order of ids, cell by cell, and the result is the same for every cadence, structure and number of workers. But the first
ones all lie up and to the left: metrics/bias.py says how far. Neither is work for lanes, whose sixteen agents meet the same candidates;
whatever structure and lanes are on, one agent at a time looks around in the grid.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crowd_demo.compute.jit import device, kernel, prange
from crowd_demo.compute.simd import take_block
from crowd_demo.sim.interaction.pairwise import (
    BLOCK,
    CANDIDATES,
    accumulate,
    keep_one,
    no_sums,
    perceive,
    read_columns,
)
from crowd_demo.sim.neighbours.schedule import due

MOST_KEPT = 64  # neighbours: what `cap_neighbours` may ask for
HITS, FOUND, MOST_SCANNED, MOST_FOUND = range(4)


class Caps(NamedTuple):
    """The rule of one run."""

    nearest: bool
    scanned: int
    neighbours: int


class Kept(NamedTuple):
    """A worker's own memory: whom the present agent keeps, and its counters."""

    slot: Any  # int32[workers, MOST_KEPT]
    distance: Any  # float32[workers, MOST_KEPT]
    counted: Any  # int64[workers, 4], numbered above


def kept_of(workers: int) -> Kept:
    return Kept(np.zeros((workers, MOST_KEPT), np.int32), np.zeros((workers, MOST_KEPT), np.float32),
                np.zeros((workers, 4), np.int64))


# --- who is kept -----------------------------------------------------------------------------------------------------

@device
def _keep_nearest(columns: Any, slot: int, distance: Any, size: int, most: int, slots: Any, distances: Any) -> int:
    """Insert a neighbour into the list by (distance, id); returns its length."""
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
def choose(cells: Any, columns: Any, rules: Any, row: int, column: int, slot: int, caps: Any, slots: Any,
           distances: Any) -> Any:
    """Fill `slots` with the neighbours that an agent keeps; returns (how many, found, scanned, whether a cap was hit)."""
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
def _see_row(cells: Any, columns: Any, rules: Any, row: int, turn: Any, caps: Any, slots: Any, distances: Any,
             counters: Any, counted: Any) -> None:
    for column in range(cells.columns):
        cell = row * cells.columns + column
        for k in range(cells.start[cell], cells.start[cell + 1]):
            slot = cells.order[k]
            if not due(turn, columns.look_at[slot]):
                continue
            size, found, scanned, hit = choose(cells, columns, rules, row, column, slot, caps, slots, distances)
            me = read_columns(rules, columns, np.uintp(slot))
            sums = accumulate(rules, me, me, no_sums(rules, columns.x[slot]))  # `finish` takes oneself off again
            for kept in range(size):
                sums = accumulate(rules, me, read_columns(rules, columns, np.uintp(slots[kept])), sums)
            keep_one(rules, columns, slot, me, sums, turn, counters)
            counters[CANDIDATES] += scanned
            counted[HITS] += hit
            counted[FOUND] += found
            counted[MOST_SCANNED] = max(counted[MOST_SCANNED], scanned)
            counted[MOST_FOUND] = max(counted[MOST_FOUND], found)


@device
def _see_capped(worker: int, cells: Any, columns: Any, rules: Any, turn: Any, caps: Any, kept: Any, strip: Any) -> None:
    kept.counted[worker] = 0
    row = take_block(strip.queue, BLOCK)
    while row < cells.rows:
        for near in range(row, min(row + BLOCK, cells.rows)):
            _see_row(cells, columns, rules, near, turn, caps, kept.slot[worker], kept.distance[worker],
                     strip.counters[worker], kept.counted[worker])
        row = take_block(strip.queue, BLOCK)


@kernel
def see_capped(workers: int, cells: Any, columns: Any, rules: Any, turn: Any, caps: Any, kept: Any, strip: Any) -> None:
    for worker in prange(workers):
        _see_capped(worker, cells, columns, rules, turn, caps, kept, strip)


def cap_counters(kept: Kept, due_count: int) -> dict[str, float]:
    """Of the last step: others scanned and neighbours found, and agents whose look around was cut short."""
    total, most = kept.counted.sum(axis=0), kept.counted.max(axis=0)
    return {"scanned_max": float(most[MOST_SCANNED]), "found_mean": float(total[FOUND]) / max(due_count, 1),
            "found_max": float(most[MOST_FOUND]), "cap_hits": float(total[HITS])}
