"""Candidates in runs of an order, and in lists: for structures whose cells or leaves are not in rows.

Runs: the order is cut into groups (a leaf of a tree, a square of cells on a curve), and each group has a short list of
runs that together hold every agent within reach of any of its members. So the candidates of a register are a few contiguous
runs, as in a row of cells. Since a run may lie anywhere in the order, the SIMD kernel needs a strip of all agents: a
snapshot, written by a kernel of its own before.

Lists: each cell stores its first agent, each agent the next one of its cell. The scalar kernel follows the lists of the cells
around an agent. The SIMD kernel first writes the lists of a few rows of cells to a worker's own order, and then treats them
like rows of cells (rows.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Int, Ints, Longs, Rules
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import LANES, share_of_registers
from crowd_demo.compute.simd_memory import MAX_FIELDS, take_block
from crowd_demo.sim.interaction.pairwise import Observed, Strip, Sums, accumulate, no_sums, observe, sum_capacity
from crowd_demo.sim.interaction.rows import interact_block
from crowd_demo.sim.interaction.strips import (
    BLOCK,
    InteractionInput,
    Strips,
    accumulate_all,
    accumulate_alone,
    accumulate_run,
    fill,
    interact_by_registers,
    interact_one,
)
from crowd_demo.sim.neighbours.candidates import Cells, Lists, Runs
from crowd_demo.sim.neighbours.schedule import count_due, update_due
from crowd_demo.sim.store.state import Columns

GROUPS = 16  # that a worker takes at a time

# --- runs ------------------------------------------------------------------------------------------------------------

def snapshot_of(agents: int) -> Ints:
    """Return the rows of a strip of all agents, in the order of the structure."""
    return np.zeros((MAX_FIELDS, agents + LANES), np.int32)


@implements(accumulate_alone, Runs)
def accumulate_groups(runs: Runs, columns: Columns, rules: Rules, group: int, column: int, me: Observed, sums: Sums) -> tuple[
        Sums, int]:
    candidates = 0
    for run in range(runs.count[group]):
        first, last = runs.first[group, run], runs.last[group, run]
        for k in range(np.uintp(first), np.uintp(last)):
            sums = accumulate(rules, me, observe(rules, columns, np.uintp(runs.order[k])), sums)
        candidates += last - first
    return sums, candidates


@implements(accumulate_all, Runs)
def accumulate_runs(runs: Runs, given: InteractionInput, group: int, first: int, last: int, me: Observed, strip: Strip,
                    left: int) -> tuple[Sums, int, int]:
    sums, candidates, space = no_sums(given.rules, me[0]), 0, sum_capacity(given.rules)
    for run in range(runs.count[group]):
        begin, end = runs.first[group, run], runs.last[group, run]
        sums, space = accumulate_run(given, me, strip, begin, end, sums, space)
        candidates += end - begin
    return sums, candidates, left


@kernel
def interact_runs_scalar(worker: int, workers: int, runs: Runs, given: InteractionInput, strips: Strips) -> None:
    """Write the avoidance of the groups that this worker takes, one agent at a time."""
    first = take_block(strips.queue, GROUPS)
    while first < runs.groups[0]:
        for group in range(first, min(first + GROUPS, runs.groups[0])):
            for k in range(runs.start[group], runs.start[group + 1]):
                if update_due(given.schedule, given.columns.next_update[runs.order[k]]):
                    interact_one(runs, given, group, 0, runs.order[k], strips.counters[worker])
        first = take_block(strips.queue, GROUPS)


@kernel
def interact_runs_lanes(worker: int, workers: int, runs: Runs, given: InteractionInput, snapshot: Ints,
                        strips: Strips) -> None:
    """The same, sixteen agents at a time, from the snapshot."""
    strip, members, counters = Strip(snapshot, 0), strips.members[worker], strips.counters[worker]
    first = take_block(strips.queue, GROUPS)
    while first < runs.groups[0]:
        for group in range(first, min(first + GROUPS, runs.groups[0])):
            start: Int = np.int64(runs.start[group])
            end: Int = np.int64(runs.start[group + 1])
            waiting = count_due(given.columns.next_update, runs.order, start, end, given.schedule)
            if waiting > 0:  # also for few: the snapshot is there
                interact_by_registers(runs, given, group, start, end, waiting, strip, members, counters)
        first = take_block(strips.queue, GROUPS)


@kernel
def take_snapshot(worker: int, workers: int, order: Ints, agents: int, columns: Columns, rules: Rules, snapshot: Ints,
                  counters: Longs) -> None:
    """Write this worker's share of the snapshot: what others can observe of order[0:agents]."""
    first, last = share_of_registers(agents, worker, workers)
    fill(rules, columns, order, first, last, Strip(snapshot, 0), counters[worker])


# --- lists -----------------------------------------------------------------------------------------------------------

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


@implements(accumulate_alone, Lists)
def accumulate_lists(lists: Lists, columns: Columns, rules: Rules, row: int, column: int, me: Observed, sums: Sums) -> tuple[
        Sums, int]:
    candidates = 0
    for near in range(max(row - lists.reach, 0), min(row + lists.reach + 1, lists.rows)):
        for beside in range(max(column - lists.reach, 0), min(column + lists.reach + 1, lists.columns)):
            other = lists.head[near * lists.columns + beside]
            while other >= 0:
                sums = accumulate(rules, me, observe(rules, columns, np.uintp(other)), sums)
                candidates += 1
                other = lists.next[other]
    return sums, candidates


@device
def _interact_lists(lists: Lists, given: InteractionInput, row: int, counters: Longs) -> None:
    for column in range(lists.columns):
        slot = lists.head[row * lists.columns + column]
        while slot >= 0:
            if update_due(given.schedule, given.columns.next_update[slot]):
                interact_one(lists, given, row, column, slot, counters)
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


def write_launch(lists: Lists, agents: int) -> tuple[Launch, Cells]:
    """Return the launch that writes all lists out as rows of cells, and those rows."""
    cells = lists.rows * lists.columns
    order, start = np.zeros(agents + LANES, np.int32), np.zeros(cells + 1 + LANES, np.int32)
    return launch(_write_out, lists, 0, cells, order, start), Cells(order, start, lists.columns, lists.rows, lists.reach)


def written_out(lists: Lists, agents: int) -> Cells:
    """Return all lists as rows of cells, for metrics."""
    launch, cells = write_launch(lists, agents)
    launch.run()
    return cells


@kernel
def interact_lists_scalar(worker: int, workers: int, lists: Lists, given: InteractionInput, strips: Strips) -> None:
    """Write the avoidance of this worker's rows of cells, one agent at a time."""
    row = take_block(strips.queue, BLOCK)
    while row < lists.rows:
        for near in range(row, min(row + BLOCK, lists.rows)):
            _interact_lists(lists, given, near, strips.counters[worker])
        row = take_block(strips.queue, BLOCK)


@kernel
def interact_lists_lanes(worker: int, workers: int, lists: Lists, given: InteractionInput, layout: ListLayout,
                         strips: Strips) -> None:
    """The same, sixteen agents at a time: lists are written out as rows of cells first."""
    order, start = layout.order[worker], layout.start[worker]
    first = take_block(strips.queue, BLOCK)
    while first < lists.rows:
        last = min(first + BLOCK, lists.rows)
        top, bottom = max(first - lists.reach, 0), min(last + lists.reach, lists.rows)
        _write_out(lists, top * lists.columns, bottom * lists.columns, order, start)
        cells = Cells(order, start, lists.columns, bottom - top, lists.reach)
        begin, end = start[(first - top) * lists.columns], start[(last - top) * lists.columns]
        interact_block(cells, given, first - top, last - top, begin, end, strips, worker)
        first = take_block(strips.queue, BLOCK)
