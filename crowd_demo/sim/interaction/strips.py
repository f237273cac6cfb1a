"""What the kernels of all candidates share: working memory, one agent, and registers of sixteen agents.

Candidates come as rows of cells, as runs of an order, or as lists (runs.py). Each of these has two kernels that do
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

from crowd_demo.compute.arrays import Float, Int, Ints, Longs, Rules
from crowd_demo.compute.dispatch import generic, implements
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import (
    LANES,
    after,
    any_set,
    are_contiguous,
    count_set,
    lane_numbers,
    next_set,
    select,
    splat,
    total,
)
from crowd_demo.compute.simd_memory import MAX_FIELDS, Contiguous, gather, load, onward, put, store, store_record
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.interaction.pairwise import (
    Observed,
    Strip,
    Sums,
    accumulate,
    finish,
    no_sums,
    observe,
    perceive,
    read_strip,
    settle,
    sum_capacity,
)
from crowd_demo.sim.neighbours.schedule import UpdateSchedule, next_update_of, next_updates_of, update_due
from crowd_demo.sim.neighbours.structure import Candidates, Runs
from crowd_demo.sim.store.state import Columns

DUE, CANDIDATES, NEIGHBOURS, REGISTERS, COPIES, RUNS, TESTS, TOGETHER = range(8)
WORD = 32  # candidates that are tested before those within reach are added up
ROOM = 2 * LANES  # the last register may extend beyond the last agent; the last of the second one is far from everybody
BLOCK = 8  # rows of cells that a worker takes at a time: the rows on both sides are copied too, a quarter more


class InteractionInput(NamedTuple):
    """What all kernels of the interaction read of the world."""

    columns: Columns
    rules: Rules
    schedule: UpdateSchedule


class Strips(NamedTuple):
    """Working memory of all workers; one row of each array (but `queue`) belongs to one worker."""

    rows: Ints  # [workers, MAX_FIELDS, capacity]: of a `Strip`
    members: Ints  # [workers, 16]: indices into the strip of a register's agents, where not all are due
    waiting: Longs  # [workers, BLOCK]: agents due in each row of a block
    queue: Longs  # [1]: next row or group to take
    counters: Longs  # [workers, 8], numbered above


def strips_of(capacity: int, workers: int) -> Strips:
    """Return working memory for strips of at most `capacity` agents."""
    rows = np.zeros((workers, MAX_FIELDS, capacity + ROOM), np.int32)
    rows.view(np.float32)[:, 0, -1] = 1e18  # x of the candidate of lanes that have no other
    return Strips(rows, np.zeros((workers, LANES), np.int32),
                  np.zeros((workers, BLOCK), np.int64), np.zeros(1, np.int64), np.zeros((workers, 8), np.int64))


# --- one agent, and sixteen ------------------------------------------------------------------------------------------

@device
def accumulate_run(given: InteractionInput, me: Observed, strip: Strip, first: int, last: int, sums: Sums,
                   left: int) -> tuple[Sums, int]:
    """Add order[first:last] to the sums of a register, which have room for `left`; return (sums, room left)."""
    at, end = np.uintp(first - strip.base), np.uintp(last - strip.base)  # unsigned: no index is tested for its sign
    while at < end:
        if left == 0:
            sums, left = settle(given.rules, me, sums), sum_capacity(given.rules)
        some: Int = min(left, np.int64(end - at))
        stop = at + np.uintp(some)
        left -= some
        while at < stop:
            sums = accumulate(given.rules, me, read_strip(given.rules, given.columns, strip.rows, at), sums)
            at = after(at)
    return sums, left


@generic
def add_up(rules: Rules, given: InteractionInput, me: Observed, strip: Strip, first: int, last: int, sums: Sums,
           left: int) -> tuple[Sums, int]:
    """Add order[first:last], of a worker's own strip, to the sums of a register.

    By default with `accumulate_run`; a behaviour may choose `accumulate_near`.
    """


@implements(add_up, object)
def _each_candidate(rules: Rules, given: InteractionInput, me: Observed, strip: Strip, first: int, last: int,
                    sums: Sums, left: int) -> tuple[Sums, int]:
    return accumulate_run(given, me, strip, first, last, sums, left)


@device
def accumulate_near(given: InteractionInput, me: Observed, strip: Strip, first: int, last: int, sums: Sums) -> Sums:
    """Add order[first:last] to the sums of a register: in each turn one candidate within reach of each lane.

    It pays where `accumulate` takes long: few candidates are within reach of several lanes. Needs `perceive`.
    """
    rules, columns, rows = given.rules, given.columns, strip.rows
    members, far = rows[MAX_FIELDS - 1], np.int32(rows.shape[1] - 1)
    for begin in range(np.uintp(first - strip.base), np.uintp(last - strip.base), WORD):
        bits, bit = splat(0, me[0]), splat(1, me[0])
        for at in range(begin, min(begin + np.uintp(WORD), np.uintp(last - strip.base))):
            near, _ = perceive(rules, me, read_strip(rules, columns, rows, at))
            bits, bit = bits + select(near, bit, 0), bit + bit
        while any_set(bits != 0):
            number, bits = next_set(bits)
            store(members, 0, select(number < WORD, number + np.int32(begin), far))
            sums = accumulate(rules, me, read_strip(rules, columns, rows, members), sums)
    return sums


@device
def store_avoidance(given: InteractionInput, slot: int, avoidance: tuple[Float, Float, Int], counters: Longs) -> None:
    """Write the avoidance of an agent, with its number of neighbours, and when it is due again."""
    columns = given.columns
    columns.avoidance_x[slot], columns.avoidance_y[slot], met = avoidance
    columns.next_update[slot] = next_update_of(given.schedule, columns, slot)
    counters[NEIGHBOURS] += met
    counters[DUE] += 1


@device
def worth_registers(waiting: int, agents: int) -> bool:
    """Return whether a strip and registers pay: where at least a quarter of a row is due; fewer are cheaper one by one."""
    return waiting > 0 and 4 * waiting >= agents


@device
def fill(rules: Rules, columns: Columns, order: Ints, first: int, last: int, strip: Strip, counters: Longs) -> None:
    """Copy agents order[first:last] to the strip; runs of sixteen contiguous slots by vector loads."""
    for k in range(np.uintp(first), np.uintp(last), LANES):
        slot = order[k]
        if are_contiguous(load(order, k), slot):
            store_record(strip.rows, k - strip.base, observe(rules, columns, Contiguous(np.int64(slot))))
            counters[RUNS] += 1
        else:
            store_record(strip.rows, k - strip.base, observe(rules, columns, onward(order, k)))
        counters[COPIES] += 1


@device
def collect_due(given: InteractionInput, order: Ints, k: int, end: int, base: int, members: Ints) -> tuple[int, int]:
    """Fill `members` with the strip indices of the next agents that are due, at most sixteen; return (how many, next k).

    The rest of the sixteen repeat the last one.
    """
    size = 0
    while k < end and size < LANES:
        if update_due(given.schedule, given.columns.next_update[np.uintp(order[np.uintp(k)])]):
            members[size] = k - base
            size += 1
        k += 1
    for lane in range(size, LANES):
        members[lane] = members[size - 1] if size > 0 else 0
    return size, k


@device
def store_register(given: InteractionInput, slots: Int, slot: Int, size: int, all_due: bool, me: Observed, sums: Sums,
                   candidates: int, counters: Longs) -> None:
    """Write the avoidance of those of the first `size` lanes that are due, and when they are due again.

    `slot` is the slot of the first lane; each agent has tested `candidates` others.
    """
    columns, schedule = given.columns, given.schedule
    avoidance_x, avoidance_y, met = finish(given.rules, me, sums)
    wanted = lane_numbers() < size
    if not all_due:
        wanted = wanted & update_due(schedule, gather(columns.next_update, slots))
    next_update = next_updates_of(schedule, columns, slots, me[0], me[1], wanted)
    if are_contiguous(slots, slot):
        put(columns.avoidance_x, slot, wanted, avoidance_x)
        put(columns.avoidance_y, slot, wanted, avoidance_y)
        put(columns.next_update, slot, wanted, next_update)
    else:
        put(columns.avoidance_x, slots, wanted, avoidance_x)
        put(columns.avoidance_y, slots, wanted, avoidance_y)
        put(columns.next_update, slots, wanted, next_update)
    kept = count_set(wanted)
    counters[NEIGHBOURS] += total(select(wanted, met, 0))
    counters[CANDIDATES] += candidates * kept
    counters[TESTS] += candidates
    counters[TOGETHER] += candidates * kept
    counters[DUE] += kept
    counters[REGISTERS] += 1


# --- what each form of candidates defines ----------------------------------------------------------------------------

@generic
def accumulate_alone(candidates: Candidates, columns: Columns, rules: Rules, row: int, column: int, me: Observed,
                     sums: Sums) -> tuple[Sums, int]:
    """Return (sums, number of candidates) of one agent in a row and column of cells; for runs, in the group `row`."""


@generic
def accumulate_all(candidates: Candidates, given: InteractionInput, row: int, first: int, last: int, me: Observed,
                   strip: Strip, hint: int) -> tuple[Sums, int, int]:
    """Return (sums, number of candidates, hint) of a register of agents from order[first] to order[last] of a row or group.

    The hint is passed on to the next register of the row.
    """


@device
def interact_one(candidates: Candidates, given: InteractionInput, row: int, column: int, slot: int, counters: Longs) -> None:
    """Interaction of the agent in a slot, in a row and column of cells or in a group."""
    rules, columns = given.rules, given.columns
    me = observe(rules, columns, np.uintp(slot))
    sums, tested = accumulate_alone(candidates, columns, rules, row, column, me, no_sums(rules, columns.x[slot]))
    counters[CANDIDATES] += tested
    store_avoidance(given, slot, finish(rules, me, sums), counters)


@device
def interact_by_registers(candidates: Cells | Runs, given: InteractionInput, row: int, k: int, end: int, waiting: int,
                          strip: Strip, members: Ints, counters: Longs) -> None:
    """Interaction of order[k:end], agents of one row or group, of whom `waiting` are due.

    Where nearly all are due, contiguous registers are cheaper, and `store_register` leaves out the others; else each register
    takes sixteen agents that are due.
    """
    rules, columns, order = given.rules, given.columns, candidates.order
    agents, hint = end - k, 0
    whole = 4 * waiting >= 3 * agents
    all_due = waiting == agents or not whole
    while k < end:
        if whole:
            size = min(LANES, end - k)
            first, last = k, k + size - 1
            slots, me = load(order, k), read_strip(rules, columns, strip.rows, Contiguous(k - strip.base))
            k += size
        else:
            size, k = collect_due(given, order, k, end, strip.base, members)
            if size == 0:
                return
            first, last = strip.base + members[0], strip.base + members[size - 1]
            slots = gather(onward(order, strip.base), members)
            me = read_strip(rules, columns, strip.rows, members)
        sums, tested, hint = accumulate_all(candidates, given, row, first, last, me, strip, hint)
        store_register(given, slots, np.int64(order[np.uintp(first)]), size, all_due, me, sums, tested, counters)
