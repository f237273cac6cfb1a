"""See: every agent that is due meets its neighbours and keeps what they ask of it.

Two kernels do the same work. `see_scalar` takes one agent at a time and reads each candidate through `order`, as one would
write it first. `see_lanes` copies a few cell rows into a strip of memory, in cell order, and lets sixteen agents of a row
meet each candidate at once: candidates are contiguous whatever the order of the agents in memory, so lanes work at every
cadence of sorting, and what a sort buys is a cheap copy. Both read only state that nobody writes in this stage, add
integers, and test a pair by the same float32 operations: same bits.

The behaviour is chosen by the type of `rules`: flock.py and crowd.py overload the five functions below.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..jit import device, kernel, prange
from .lanes import LANES, count_set, lane_numbers, load, store, take_block
from .stagger import due, next_look

# --- what a behaviour defines ----------------------------------------------------------------------------------------


def copy_in(rules: Any, columns: Any, slots: Any, strip: Any, at: int) -> None:
    """Copy what others can see of sixteen agents to the strip; `slots` is a register of slots or the first of a run."""


def from_columns(rules: Any, columns: Any, slot: Any) -> Any:
    """What others can see of the agent in a slot."""


def from_strip(rules: Any, strip: Any, at: Any) -> Any:
    """The same of the agent at a place of the strip."""


def register(rules: Any, strip: Any, at: Any) -> Any:
    """The same of sixteen agents that lie one after the other in the strip."""


def nobody(rules: Any, like: Any) -> Any:
    """The sums before anybody was met."""


def meet(rules: Any, me: Any, other: Any, sums: Any) -> Any:
    """The sums after meeting `other` (which may be oneself: that adds what `answer` takes off again)."""


def answer(rules: Any, me: Any, sums: Any) -> Any:
    """(push_x, push_y, neighbours) from the sums."""


# --- the two ways through a row --------------------------------------------------------------------------------------

class Strip(NamedTuple):
    """A worker's own memory; rows of these arrays belong to one worker each."""

    floats: Any  # float32[workers, 2, capacity]
    ints: Any  # int32[workers, 4, capacity]
    members: Any  # int32[workers, 16]: places in the strip of a register's agents
    pushes: Any  # float32[workers, 2, 16]
    met: Any  # int32[workers, 16]
    waiting: Any  # int64[workers, BLOCK]: agents due in each row of a block
    queue: Any  # int64[1]: next row of cells to take
    counters: Any  # int64[workers, 8], numbered below


DUE, CANDIDATES, NEIGHBOURS, REGISTERS, COPIES, RUNS = range(6)
BLOCK = 8  # rows of cells that a worker takes at a time: the two rows beside them are copied too, a quarter more


def strip_of(capacity: int, workers: int) -> Strip:
    capacity += 2 * LANES  # the last register may end beyond the last agent; behind it a packed one
    return Strip(np.zeros((workers, 2, capacity), np.float32), np.zeros((workers, 4, capacity), np.int32),
                 np.zeros((workers, LANES), np.int32), np.zeros((workers, 2, LANES), np.float32),
                 np.zeros((workers, LANES), np.int32), np.zeros((workers, BLOCK), np.int64), np.zeros(1, np.int64),
                 np.zeros((workers, 8), np.int64))


@device
def _see_one(cells: Any, columns: Any, rules: Any, row: int, column: int, slot: int, turn: Any, counters: Any) -> None:
    """One agent of a cell meets all who stand within reach."""
    me = from_columns(rules, columns, np.uintp(slot))
    sums = nobody(rules, columns.x[slot])
    left, right = max(column - cells.reach, 0), min(column + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        first, last = cells.start[near * cells.columns + left], cells.start[near * cells.columns + right + 1]
        for k in range(np.uintp(first), np.uintp(last)):
            sums = meet(rules, me, from_columns(rules, columns, np.uintp(cells.order[k])), sums)
        counters[CANDIDATES] += last - first
    columns.push_x[slot], columns.push_y[slot], met = answer(rules, me, sums)
    columns.look_at[slot] = next_look(turn, columns, slot)
    counters[NEIGHBOURS] += met
    counters[DUE] += 1


@device
def _see_row_one_by_one(cells: Any, columns: Any, rules: Any, row: int, turn: Any, counters: Any) -> None:
    for column in range(cells.columns):
        cell = row * cells.columns + column
        for k in range(cells.start[cell], cells.start[cell + 1]):
            slot = cells.order[k]
            if due(turn, columns.look_at[slot]):
                _see_one(cells, columns, rules, row, column, slot, turn, counters)


@device
def _fill(rules: Any, columns: Any, order: Any, first: int, last: int, strip: Any, counters: Any) -> None:
    """Copy agents order[first:last] to the start of the strip; runs that lie in memory as in the order go by vector."""
    for k in range(first, last, LANES):
        slots = load(order, k)
        if count_set(slots - order[k] == lane_numbers()) == LANES:
            copy_in(rules, columns, np.int64(order[k]), strip, k - first)
            counters[RUNS] += 1
        else:
            copy_in(rules, columns, slots, strip, k - first)
        counters[COPIES] += 1


@device
def _collect(columns: Any, order: Any, k: int, end: int, turn: Any, base: int, members: Any) -> Any:
    """Places in the strip of the next agents that are due, at most sixteen; returns (how many, where to go on)."""
    size = 0
    while k < end and size < LANES:
        if due(turn, columns.look_at[order[k]]):
            members[size] = k - base
            size += 1
        k += 1
    return size, k


@device
def _pack(strip: Any, members: Any, size: int) -> int:
    """Copy the members to the last places of the strip, so that they can be loaded as a register."""
    floats, ints = strip
    tail = floats.shape[1] - LANES
    for lane in range(size):
        for field in range(floats.shape[0]):
            floats[field, tail + lane] = floats[field, members[lane]]
        for field in range(ints.shape[0]):
            ints[field, tail + lane] = ints[field, members[lane]]
    return tail


@device
def _meet_all(cells: Any, rules: Any, row: int, left: int, right: int, me: Any, strip: Any, base: int) -> Any:
    """(sums, candidates) of a register whose agents stand in columns left..right of one row."""
    sums = nobody(rules, me[0])
    candidates = 0
    left, right = max(left - cells.reach, 0), min(right + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        first, last = cells.start[near * cells.columns + left], cells.start[near * cells.columns + right + 1]
        # Unsigned: a signed index carries code for negative ones, a fifth of the loop.
        for at in range(np.uintp(first - base), np.uintp(last - base)):
            sums = meet(rules, me, from_strip(rules, strip, at), sums)
        candidates += last - first
    return sums, candidates


@device
def _see_row_by_registers(cells: Any, columns: Any, rules: Any, row: int, everyone: bool, turn: Any, strip: Any, base: int,
                          memory: Any, counters: Any) -> None:
    members, pushes, met = memory
    first_cell = row * cells.columns
    k, end = cells.start[first_cell], cells.start[first_cell + cells.columns]
    left = first_cell
    while k < end:
        if everyone:
            size, at = min(LANES, end - k), k - base
            front, back = k, k + size - 1
            k += size
        else:
            size, k = _collect(columns, cells.order, k, end, turn, base, members)
            if size == 0:
                return
            at = _pack(strip, members, size)
            front, back = base + members[0], base + members[size - 1]
        while cells.start[left + 1] <= front:
            left += 1
        right = left
        while cells.start[right + 1] <= back:
            right += 1
        me = register(rules, strip, at)
        sums, candidates = _meet_all(cells, rules, row, left - first_cell, right - first_cell, me, strip, base)
        push_x, push_y, neighbours = answer(rules, me, sums)
        store(pushes[0], 0, push_x)
        store(pushes[1], 0, push_y)
        store(met, 0, neighbours)
        for lane in range(size):
            slot = np.uintp(cells.order[front + lane if everyone else base + members[lane]])
            columns.push_x[slot], columns.push_y[slot] = pushes[0, lane], pushes[1, lane]
            columns.look_at[slot] = next_look(turn, columns, slot)
            counters[NEIGHBOURS] += met[lane]
        counters[CANDIDATES] += candidates * size
        counters[DUE] += size
        counters[REGISTERS] += 1


@device
def _due_in_row(cells: Any, columns: Any, row: int, turn: Any) -> int:
    count = 0
    for k in range(cells.start[row * cells.columns], cells.start[(row + 1) * cells.columns]):
        count += due(turn, columns.look_at[np.uintp(cells.order[k])])
    return count


@device
def _worth_registers(waiting: int, agents: int) -> bool:
    """A strip and registers pay where at least a quarter of a row is due; a few stragglers are cheaper one by one."""
    return waiting > 0 and 4 * waiting >= agents


# --- the kernels -----------------------------------------------------------------------------------------------------

@device
def _see_scalar(worker: int, cells: Any, columns: Any, rules: Any, turn: Any, strip: Any) -> None:
    counters = strip.counters[worker]
    row = take_block(strip.queue, BLOCK)
    while row < cells.rows:
        for near in range(row, min(row + BLOCK, cells.rows)):
            _see_row_one_by_one(cells, columns, rules, near, turn, counters)
        row = take_block(strip.queue, BLOCK)


@device
def _see_lanes(worker: int, cells: Any, columns: Any, rules: Any, turn: Any, strip: Any) -> None:
    counters, waiting = strip.counters[worker], strip.waiting[worker]
    view = (strip.floats[worker], strip.ints[worker])
    memory = (strip.members[worker], strip.pushes[worker], strip.met[worker])
    first = take_block(strip.queue, BLOCK)
    while first < cells.rows:
        last = min(first + BLOCK, cells.rows)
        top, bottom = last, first
        for row in range(first, last):
            agents = cells.start[(row + 1) * cells.columns] - cells.start[row * cells.columns]
            waiting[row - first] = _due_in_row(cells, columns, row, turn)
            if _worth_registers(waiting[row - first], agents):
                top, bottom = min(top, row), row + 1
        base = cells.start[max(top - cells.reach, 0) * cells.columns]
        if top < bottom:
            stop = cells.start[min(bottom + cells.reach, cells.rows) * cells.columns]
            _fill(rules, columns, cells.order, base, stop, view, counters)
        for row in range(first, last):
            agents = cells.start[(row + 1) * cells.columns] - cells.start[row * cells.columns]
            count = waiting[row - first]
            if _worth_registers(count, agents):
                _see_row_by_registers(cells, columns, rules, row, count == agents, turn, view, base, memory, counters)
            elif count > 0:
                _see_row_one_by_one(cells, columns, rules, row, turn, counters)
        first = take_block(strip.queue, BLOCK)


@kernel
def see_scalar(workers: int, cells: Any, columns: Any, rules: Any, turn: Any, strip: Any) -> None:
    for worker in prange(workers):
        _see_scalar(worker, cells, columns, rules, turn, strip)


@kernel
def see_lanes(workers: int, cells: Any, columns: Any, rules: Any, turn: Any, strip: Any) -> None:
    for worker in prange(workers):
        _see_lanes(worker, cells, columns, rules, turn, strip)
