"""What the kernels of all candidates share: working memory, one agent, and registers of sixteen.

Candidates come as rows of cells (rows.py), as runs of an order, or as lists (runs.py). Each of these has two kernels that do
the same work. The scalar one takes one agent at a time and reads each candidate's columns directly. The SIMD one copies what
can be observed of the candidates to a strip, in the order of the structure, and tests sixteen agents against each candidate at
once. The strip is contiguous whatever the order of the agents in memory, so SIMD works at every cadence of sorting; a recent
sort makes the copy cheap. All kernels read only columns that no kernel writes in this stage, add integers, and test a pair by
the same float32 operations: same bits.
"""

# Generic functions have no body of their own.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Longs, Rules
from crowd_demo.compute.dispatch import generic
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, after, count_set, lane_numbers, select, total
from crowd_demo.compute.simd_memory import gather, load, onward, put
from crowd_demo.sim.interaction.pairwise import (
    FLOATS,
    INTS,
    Observed,
    Strip,
    Sums,
    accumulate,
    copy_to_strip,
    finish,
    load_register,
    no_sums,
    pack,
    read_columns,
    read_strip,
    settle,
    sum_capacity,
)
from crowd_demo.sim.neighbours.candidates import Candidates
from crowd_demo.sim.neighbours.schedule import UpdateSchedule, next_update_of, next_updates_of, update_due
from crowd_demo.sim.store.columns import Columns

DUE, CANDIDATES, NEIGHBOURS, REGISTERS, COPIES, RUNS = range(6)
BLOCK = 8  # rows of cells that a worker takes at a time: the rows on both sides are copied too, a quarter more


class Strips(NamedTuple):
    """Working memory of all workers; one row of each array (but `queue`) belongs to one worker."""

    floats: Floats  # [workers, FLOATS, capacity]
    ints: Ints  # [workers, INTS, capacity]
    members: Ints  # [workers, 16]: indices into the strip of a packed register's agents
    waiting: Longs  # [workers, BLOCK]: agents due in each row of a block
    queue: Longs  # [1]: next row or group to take
    counters: Longs  # [workers, 8], numbered below


def strips_of(capacity: int, workers: int) -> Strips:
    """Return working memory for strips of so many agents."""
    capacity += 2 * LANES  # the last register may extend beyond the last agent; then a packed one
    return Strips(np.zeros((workers, FLOATS, capacity), np.float32), np.zeros((workers, INTS, capacity), np.int32),
                 np.zeros((workers, LANES), np.int32), np.zeros((workers, BLOCK), np.int64), np.zeros(1, np.int64),
                 np.zeros((workers, 8), np.int64))


# --- one agent, and sixteen ------------------------------------------------------------------------------------------

@device
def accumulate_run(rules: Rules, me: Observed, strip: Strip, first: int, last: int, sums: Sums, left: int) -> tuple[Sums, int]:
    """Add strip[first:last] to the sums of a register, which have room for `left`; return (sums, room left)."""
    at, end = np.uintp(first), np.uintp(last)  # unsigned, or each index would have to be looked at for its sign
    while at < end:
        if left == 0:
            sums, left = settle(rules, me, sums), sum_capacity(rules)
        some: Int = min(left, np.int64(end - at))
        stop = at + np.uintp(some)
        left -= some
        while at < stop:
            sums = accumulate(rules, me, read_strip(rules, strip, at), sums)
            at = after(at)
    return sums, left


@device
def store_avoidance(columns: Columns, slot: int, avoidance_x: Float, avoidance_y: Float, met: Int, schedule: UpdateSchedule,
                    counters: Longs) -> None:
    """Write the push of an agent's neighbours, and when it is due again."""
    columns.avoidance_x[slot], columns.avoidance_y[slot] = avoidance_x, avoidance_y
    columns.next_update[slot] = next_update_of(schedule, columns, slot)
    counters[NEIGHBOURS] += met
    counters[DUE] += 1


@device
def worth_registers(waiting: int, agents: int) -> bool:
    """Return whether a strip and registers pay: where at least a quarter of a row is due; fewer are cheaper one by one."""
    return waiting > 0 and 4 * waiting >= agents


@device
def worth_all(waiting: int, agents: int) -> bool:
    """Return whether nearly all are due: then contiguous registers are cheaper, and `store_register` leaves out the others."""
    return 4 * waiting >= 3 * agents


@device
def contiguous(slots: Int, first: int) -> bool:
    """Return whether these sixteen slots are a run; `first` is that of the first lane."""
    return count_set(slots - np.int32(first) == lane_numbers()) == LANES


@device
def fill(rules: Rules, columns: Columns, order: Ints, first: int, last: int, base: int, strip: Strip, counters: Longs) -> None:
    """Copy agents order[first:last] to the strip, from first - base on; runs of sixteen contiguous slots by vector loads."""
    for k in range(np.uintp(first), np.uintp(last), LANES):
        slots, slot = load(order, k), order[k]
        if contiguous(slots, slot):
            copy_to_strip(rules, columns, np.int64(slot), strip, k - base)
            counters[RUNS] += 1
        else:
            copy_to_strip(rules, columns, onward(order, k), strip, k - base)
        counters[COPIES] += 1


@device
def collect_due(next_update: Ints, order: Ints, k: int, end: int, schedule: UpdateSchedule, base: int,
                members: Ints) -> tuple[int, int]:
    """Fill `members` with the strip indices of the next agents that are due, at most sixteen; return (how many, next k).

    The rest of the sixteen repeat the last one.
    """
    size = 0
    while k < end and size < LANES:
        if update_due(schedule, next_update[np.uintp(order[np.uintp(k)])]):
            members[size] = k - base
            size += 1
        k += 1
    for lane in range(size, LANES):
        members[lane] = members[size - 1] if size > 0 else 0
    return size, k


@device
def store_register(rules: Rules, columns: Columns, slots: Int, slot: Int, size: int, all_due: bool, me: Observed, sums: Sums,
                   candidates: int, schedule: UpdateSchedule, counters: Longs) -> None:
    """Write the pushes of those of the first `size` lanes that are due, and when they are due again.

    `slot` is the slot of the first lane; each agent has tested `candidates` others.
    """
    avoidance_x, avoidance_y, met = finish(rules, me, sums)
    wanted = lane_numbers() < size
    if not all_due:
        wanted = wanted & update_due(schedule, gather(columns.next_update, slots))
    next_update = next_updates_of(schedule, columns, slots, me[0], me[1], wanted)
    if contiguous(slots, slot):
        put(columns.avoidance_x, slot, wanted, avoidance_x)
        put(columns.avoidance_y, slot, wanted, avoidance_y)
        put(columns.next_update, slot, wanted, next_update)
    else:
        put(columns.avoidance_x, slots, wanted, avoidance_x)
        put(columns.avoidance_y, slots, wanted, avoidance_y)
        put(columns.next_update, slots, wanted, next_update)
    kept = count_set(wanted)
    counters[NEIGHBOURS] += total(select(wanted, met, np.int32(0)))
    counters[CANDIDATES] += candidates * kept
    counters[DUE] += kept
    counters[REGISTERS] += 1


# --- what each form of candidates defines ----------------------------------------------------------------------------

@generic
def accumulate_alone(candidates: Candidates, columns: Columns, rules: Rules, row: int, column: int, me: Observed,
                     sums: Sums) -> tuple[Sums, int]:
    """Return (sums, number of candidates) of one agent in a row and column of cells; for runs, in the group `row`."""


@generic
def accumulate_all(candidates: Candidates, rules: Rules, row: int, first: int, last: int, me: Observed, strip: Strip,
                   base: int, hint: int) -> tuple[Sums, int, int]:
    """Return (sums, number of candidates, hint) of a register of agents from order[first] to order[last] of a row or group.

    The hint is passed on to the next register of the row.
    """


@device
def interact_one(candidates: Candidates, columns: Columns, rules: Rules, row: int, column: int, slot: int,
                 schedule: UpdateSchedule, counters: Longs) -> None:
    """Interaction of the agent in a slot, in a row and column of cells or in a group."""
    me = read_columns(rules, columns, np.uintp(slot))
    sums, tested = accumulate_alone(candidates, columns, rules, row, column, me, no_sums(rules, columns.x[slot]))
    counters[CANDIDATES] += tested
    avoidance_x, avoidance_y, met = finish(rules, me, sums)
    store_avoidance(columns, slot, avoidance_x, avoidance_y, met, schedule, counters)


@device
def interact_by_registers(candidates: Candidates, columns: Columns, rules: Rules, row: int, order: Ints, k: int, end: int,
                          waiting: int, schedule: UpdateSchedule, strip: Strip, base: int, packed: Strip, at: int,
                          members: Ints, counters: Longs) -> None:
    """Interaction of order[k:end], agents of one row or group, of whom `waiting` are due and who begin the strip at `base`.

    By registers of contiguous agents where nearly all are due; else of those that are, packed to packed[at:at + 16].
    """
    agents, hint = end - k, 0
    whole, all_due = worth_all(waiting, agents), waiting == agents or not worth_all(waiting, agents)
    while k < end:
        if whole:
            size = min(LANES, end - k)
            first, last = k, k + size - 1
            slots, me = load(order, k), load_register(rules, strip, k - base)
            k += size
        else:
            size, k = collect_due(columns.next_update, order, k, end, schedule, base, members)
            if size == 0:
                return
            first, last = base + members[0], base + members[size - 1]
            indices = load(members, 0)
            pack(rules, strip, indices, packed, at)
            slots, me = gather(order, indices + np.int32(base)), load_register(rules, packed, at)
        sums, tested, hint = accumulate_all(candidates, rules, row, first, last, me, strip, base, hint)
        store_register(rules, columns, slots, np.int64(order[np.uintp(first)]), size, all_due, me, sums, tested, schedule,
                       counters)
