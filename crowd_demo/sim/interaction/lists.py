"""See for candidates in lists: each cell stores its first agent, each agent the next one of its cell.

The scalar kernel follows the lists of the cells around an agent. The SIMD kernel first writes the lists of a few rows of cells
to a worker's own order, and then treats them like rows of cells (rows.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Ints, Longs, Rules
from crowd_demo.compute.jit import Call, call, device, kernel
from crowd_demo.compute.simd import LANES
from crowd_demo.compute.simd_memory import take_block
from crowd_demo.sim.interaction.pairwise import BLOCK, CANDIDATES, Strips, accumulate, keep_one, no_sums, read_columns
from crowd_demo.sim.interaction.rows import see_block
from crowd_demo.sim.neighbours.candidates import Cells, Lists
from crowd_demo.sim.neighbours.schedule import Turn, due
from crowd_demo.sim.store.columns import Columns


class ListLayout(NamedTuple):
    """Lists written out as an order; one row for each worker."""

    order: Ints  # [workers, n + 32]
    start: Ints  # [workers, cells of the rows that a block reaches, and 17 more]


def rows_of(lists: Lists) -> int:
    """Return how many rows of cells a block reaches."""
    return min(BLOCK + 2 * lists.reach, lists.rows)


def layout_of_lists(lists: Lists, agents: int, workers: int) -> ListLayout:
    cells = rows_of(lists) * lists.columns
    return ListLayout(np.zeros((workers, agents + 2 * LANES), np.int32), np.zeros((workers, cells + 1 + LANES), np.int32))


@device
def _see_one(lists: Lists, columns: Columns, rules: Rules, row: int, column: int, slot: int, turn: Turn,
             counters: Longs) -> None:
    me = read_columns(rules, columns, np.uintp(slot))
    sums = no_sums(rules, columns.x[slot])
    for near in range(max(row - lists.reach, 0), min(row + lists.reach + 1, lists.rows)):
        for beside in range(max(column - lists.reach, 0), min(column + lists.reach + 1, lists.columns)):
            other = lists.head[near * lists.columns + beside]
            while other >= 0:
                sums = accumulate(rules, me, read_columns(rules, columns, np.uintp(other)), sums)
                counters[CANDIDATES] += 1
                other = lists.next[other]
    keep_one(rules, columns, slot, me, sums, turn, counters)


@device
def _see_row(lists: Lists, columns: Columns, rules: Rules, row: int, turn: Turn, counters: Longs) -> None:
    for column in range(lists.columns):
        slot = lists.head[row * lists.columns + column]
        while slot >= 0:
            if due(turn, columns.look_at[slot]):
                _see_one(lists, columns, rules, row, column, slot, turn, counters)
            slot = lists.next[slot]


@device
def _write_out(lists: Lists, first: int, last: int, order: Ints, start: Ints) -> None:
    """Write the lists of cells [first, last) to `order`, one after the other."""
    at = 0
    for cell in range(first, last):
        start[cell - first] = at
        slot = lists.head[cell]
        while slot >= 0:
            order[at] = slot
            at += 1
            slot = lists.next[slot]
    start[last - first] = at


def write_call(lists: Lists, agents: int) -> tuple[Call, Cells]:
    """Return the call that writes all lists out as rows of cells, and those rows."""
    cells = lists.rows * lists.columns
    order, start = np.zeros(agents + LANES, np.int32), np.zeros(cells + 1 + LANES, np.int32)
    return call(_write_out, lists, 0, cells, order, start), Cells(order, start, lists.columns, lists.rows, lists.reach)


def written_out(lists: Lists, agents: int) -> Cells:
    """Return all lists as rows of cells, for metrics."""
    call, cells = write_call(lists, agents)
    call.run()
    return cells


# --- the kernels -----------------------------------------------------------------------------------------------------

@kernel
def see_lists_scalar(worker: int, workers: int, lists: Lists, columns: Columns, rules: Rules, turn: Turn,
                     strips: Strips) -> None:
    """Write the pushes of this worker's rows of cells, one agent at a time."""
    row = take_block(strips.queue, BLOCK)
    while row < lists.rows:
        for near in range(row, min(row + BLOCK, lists.rows)):
            _see_row(lists, columns, rules, near, turn, strips.counters[worker])
        row = take_block(strips.queue, BLOCK)


@kernel
def see_lists_lanes(worker: int, workers: int, lists: Lists, columns: Columns, rules: Rules, turn: Turn, layout: ListLayout,
                    strips: Strips) -> None:
    """The same, sixteen agents at a time: lists are written out as rows of cells first."""
    strip = (strips.floats[worker], strips.ints[worker])
    members, waiting, counters = strips.members[worker], strips.waiting[worker], strips.counters[worker]
    order, start = layout.order[worker], layout.start[worker]
    first = take_block(strips.queue, BLOCK)
    while first < lists.rows:
        last = min(first + BLOCK, lists.rows)
        top, bottom = max(first - lists.reach, 0), min(last + lists.reach, lists.rows)
        _write_out(lists, top * lists.columns, bottom * lists.columns, order, start)
        cells = Cells(order, start, lists.columns, bottom - top, lists.reach)
        begin, end = start[(first - top) * lists.columns], start[(last - top) * lists.columns]
        see_block(cells, columns, rules, first - top, last - top, begin, end, turn, waiting, strip, members, counters)
        first = take_block(strips.queue, BLOCK)
