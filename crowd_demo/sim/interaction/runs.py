"""Candidates in rows of cells, in runs, and in lists.

Rows of cells: each row is a run of the order, so the candidates of an agent are a few runs. Workers take blocks one
by one: a few rows of cells, one row where many agents stand, parts of it where most do. The SIMD kernel copies the
rows of a block and those within reach to the worker's strip, and processes each row sixteen agents at a time; the
copy costs (BLOCK + 2 reach) / BLOCK of the block's agents.

Runs, for structures whose cells or leaves are not in rows: the order is cut into groups (a leaf of a tree, a square
of cells on a curve), and each group has a short list of runs that together hold every agent within reach of any of
its members. So the candidates of a register are a few contiguous runs, as in a row of cells. Since a run may lie
anywhere in the order, the SIMD kernel needs a strip of all agents: a snapshot, written by a kernel of its own before.

Lists: each cell stores its first agent, each agent the next one of its cell. The scalar kernel follows the lists of the cells
around an agent. The SIMD kernel first writes the lists of a few rows of cells to a worker's own order, and then treats them
like rows of cells.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Int, Ints, Longs, Rules
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import Launch, device, kernel, launch
from crowd_demo.compute.simd import LANES, count_set, lane_numbers, share_of_registers
from crowd_demo.compute.simd_memory import MAX_FIELDS, load, take_block
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.interaction.pairwise import Observed, Strip, Sums, accumulate, no_sums, observe, sum_capacity
from crowd_demo.sim.interaction.strips import (
    BLOCK,
    InteractionInput,
    Strips,
    accumulate_all,
    accumulate_alone,
    accumulate_run,
    add_up,
    fill,
    interact_by_registers,
    interact_one,
    worth_registers,
)
from crowd_demo.sim.neighbours.schedule import count_due, count_due_of_sixteen, update_due
from crowd_demo.sim.neighbours.structure import Lists, Runs
from crowd_demo.sim.store.state import Columns

SHARES, LEAST_BLOCK = 2, 2  # a block is at most 1/SHARES of a worker's share of the rows left, and at least LEAST_BLOCK rows
HEAVY = 4  # a block with more than 1/HEAVY of a worker's share of the agents is cut into its rows, and these into parts
PARTS, LEAST_PART = 16, 4 * LANES  # a part is 1/PARTS of a worker's share of the agents, or LEAST_PART
GROUPS = 16  # that a worker takes at a time


class Blocks(NamedTuple):
    """Block b is the agents order[start[b]:start[b + 1]], which stand in the rows [first[b], last[b])."""

    start: Ints  # int32[blocks + 1]
    first: Ints  # int32[blocks]
    last: Ints


def blocks_of(cells: Cells, workers: int) -> Blocks:
    """Return blocks that so many workers can share evenly: of at most BLOCK rows, and smaller where it is crowded."""
    rows = _rows(cells.rows, workers)
    start = cells.start.take(rows * cells.columns)
    # a product of agents and workers might not fit into 32 bits
    heavy = () if workers == 1 else start[1:] - start[:-1] > start[-1] // (HEAVY * workers)
    if not np.any(heavy):
        return Blocks(start, rows[:-1], rows[1:])
    size = max(int(start[-1]) // (PARTS * workers * LANES) * LANES, LEAST_PART)
    blocks: list[tuple[int, int, int]] = []
    for first, last, agents, cut in zip(rows[:-1].tolist(), rows[1:].tolist(), start.tolist(), heavy, strict=False):
        blocks += _cut(cells, first, last, size) if cut else [(agents, first, last)]
    starts, firsts, lasts = np.ascontiguousarray(np.array(blocks, np.int32).T)  # kernels are compiled for such arrays
    return Blocks(np.append(starts, start[-1]), firsts, lasts)


def _cut(cells: Cells, first: int, last: int, size: int) -> list[tuple[int, int, int]]:
    """Return the agents of some rows, at most `size` at a time: (where a block starts, its row, the row after that)."""
    starts = cells.start[first * cells.columns:last * cells.columns + 1:cells.columns].tolist()
    return [(k, row, row + 1) for row, begin, end in zip(range(first, last), starts, starts[1:], strict=False)
            for k in range(begin, end, size)]


@lru_cache(maxsize=8)
def _rows(rows: int, workers: int) -> Ints:
    """Return where blocks begin, and the end: of BLOCK rows, and fewer towards the end, so that workers end together."""
    begins = [0]
    while begins[-1] < rows:
        left = rows - begins[-1]
        fair = BLOCK if workers == 1 else max(left // (SHARES * workers), LEAST_BLOCK)
        begins.append(begins[-1] + min(left, BLOCK, fair))
    return np.array(begins, np.int32)


def largest(blocks: Blocks, cells: Cells) -> int:
    """Return how many agents the largest block reads: those of its rows, and of the rows within reach."""
    top = np.maximum(blocks.first - cells.reach, 0) * cells.columns
    bottom = np.minimum(blocks.last + cells.reach, cells.rows) * cells.columns
    return int((cells.start[bottom] - cells.start[top]).max())


@device
def part(cells: Cells, row: int, begin: int, end: int) -> tuple[Int, Int]:
    """Return (first, end) of the agents of a row that are in order[begin:end]."""
    first, last = cells.start[np.uintp(row * cells.columns)], cells.start[np.uintp((row + 1) * cells.columns)]
    return np.int64(max(begin, first)), np.int64(min(end, last))  # one type, or loops that begin there are compiled twice


# --- rows: one agent, and sixteen ------------------------------------------------------------------------------------

@implements(accumulate_alone, Cells)
def accumulate_cells(cells: Cells, columns: Columns, rules: Rules, row: int, column: int, me: Observed, sums: Sums) -> tuple[
        Sums, int]:
    candidates, left, right = 0, max(column - cells.reach, 0), min(column + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        first, last = cells.start[near * cells.columns + left], cells.start[near * cells.columns + right + 1]
        for k in range(np.uintp(first), np.uintp(last)):
            sums = accumulate(rules, me, observe(rules, columns, np.uintp(cells.order[k])), sums)
        candidates += last - first
    return sums, candidates


@device
def _interact_one_by_one(cells: Cells, given: InteractionInput, row: int, begin: int, end: int, counters: Longs) -> None:
    """Interaction of order[begin:end], agents of one row, of whom few or none are due."""
    next_update, schedule, cell = given.columns.next_update, given.schedule, row * cells.columns
    for first in range(begin, end, LANES):
        if count_due_of_sixteen(next_update, cells.order, first, end, schedule) == 0:
            continue
        for k in range(first, min(first + LANES, end)):
            slot = cells.order[k]
            if update_due(schedule, next_update[slot]):
                while cells.start[cell + 1] <= k:
                    cell += 1
                interact_one(cells, given, row, cell - row * cells.columns, slot, counters)


@device
def cell_of(k: int, cell: int, last: int, start: Ints) -> int:
    """Return the cell from `cell` to `last` that holds order[k]; sixteen at a time, seldom in more than one turn."""
    while True:
        further = count_set((load(start, cell + 1) < k + 1) & (lane_numbers() < last - cell))
        cell += further
        if further < LANES:
            return cell


@implements(accumulate_all, Cells)
def accumulate_rows(cells: Cells, given: InteractionInput, row: int, first: int, last: int, me: Observed, strip: Strip,
                    left: int) -> tuple[Sums, int, int]:
    """Add up for a register of one row of cells; `left` is not beyond the cell that holds order[first]."""
    before, beyond = row * cells.columns, (row + 1) * cells.columns - 1
    left = cell_of(first, max(left, before), beyond, cells.start)
    right = cell_of(last, left, beyond, cells.start)
    sums, candidates, space = no_sums(given.rules, me[0]), 0, sum_capacity(given.rules)
    start, stop = max(left - before - cells.reach, 0), min(right - before + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        begin = cells.start[np.uintp(near * cells.columns + start)]
        end = cells.start[np.uintp(near * cells.columns + stop + 1)]
        sums, space = add_up(given.rules, given, me, strip, begin, end, sums, space)
        candidates += end - begin
    return sums, candidates, left


@device
def interact_block(cells: Cells, given: InteractionInput, first: int, last: int, begin: int, end: int,
                   strips: Strips, worker: int) -> None:
    """Interaction of order[begin:end], agents of the rows [first, last), at most BLOCK, by registers where they pay."""
    top, bottom, waiting, counters = last, first, strips.waiting[worker], strips.counters[worker]
    for row in range(first, last):
        start, stop = part(cells, row, begin, end)
        waiting[row - first] = count_due(given.columns.next_update, cells.order, start, stop, given.schedule)
        if worth_registers(waiting[row - first], stop - start):
            top, bottom = min(top, row), row + 1
    strip = Strip(strips.rows[worker], np.int64(cells.start[max(top - cells.reach, 0) * cells.columns]))
    if top < bottom:
        stop = cells.start[min(bottom + cells.reach, cells.rows) * cells.columns]
        fill(given.rules, given.columns, cells.order, strip.base, stop, strip, counters)
    for row in range(first, last):
        start, stop = part(cells, row, begin, end)
        count = waiting[row - first]
        if worth_registers(count, stop - start):
            interact_by_registers(cells, given, row, start, stop, count, strip, strips.members[worker], counters)
        elif count > 0:
            _interact_one_by_one(cells, given, row, start, stop, counters)


# --- rows: the kernels -----------------------------------------------------------------------------------------------

@kernel
def interact_scalar(worker: int, workers: int, cells: Cells, given: InteractionInput, blocks: Blocks, strips: Strips) -> None:
    """Write the avoidance of the blocks that this worker takes, one agent at a time."""
    block = take_block(strips.queue, 1)
    while block < blocks.first.shape[0]:
        for row in range(blocks.first[block], blocks.last[block]):
            start, stop = part(cells, row, blocks.start[block], blocks.start[block + 1])
            _interact_one_by_one(cells, given, row, start, stop, strips.counters[worker])
        block = take_block(strips.queue, 1)


@kernel
def interact_lanes(worker: int, workers: int, cells: Cells, given: InteractionInput, blocks: Blocks, strips: Strips) -> None:
    """The same, sixteen agents at a time."""
    block = take_block(strips.queue, 1)
    while block < blocks.first.shape[0]:
        interact_block(cells, given, blocks.first[block], blocks.last[block], blocks.start[block], blocks.start[block + 1],
                       strips, worker)
        block = take_block(strips.queue, 1)


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
