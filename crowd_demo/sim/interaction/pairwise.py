"""See: every agent that is due meets its neighbours and keeps what they ask of it. What all ways of doing so share.

Who may be near whom comes as rows of cells (see_rows.py), as runs of an order (see_runs.py) or as lists (see_lists.py). Each
of these has two kernels that do the same work. The scalar one takes one agent at a time and reads each candidate where it
lies, as one would write it first. The lanes copy what can be seen of the candidates into a strip of memory, in the order of
the structure, and let sixteen agents meet each candidate at once: candidates are contiguous whatever the order of the
agents in memory, so lanes work at every cadence of sorting, and what a sort buys is a cheap copy. All read only state that
nobody writes in this stage, add integers, and test a pair by the same float32 operations: same bits.

The behaviour is chosen by the type of `rules`: flock.py, crowd.py and crates.py each define the eight functions below
(dispatch.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from crowd_demo.compute.dispatch import generic
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, count_set, lane_numbers, load, store
from crowd_demo.sim.neighbours.schedule import due, next_look

# --- what a behaviour defines ----------------------------------------------------------------------------------------

@generic
def copy_to_strip(rules: Any, columns: Any, slots: Any, strip: Any, at: int) -> None:
    """Copy what others can see of sixteen agents to the strip; `slots` is a register of slots or the first of a run."""


@generic
def read_columns(rules: Any, columns: Any, slot: Any) -> Any:
    """What others can see of the agent in a slot."""


@generic
def read_strip(rules: Any, strip: Any, at: Any) -> Any:
    """The same of the agent at a place of the strip."""


@generic
def load_register(rules: Any, strip: Any, at: Any) -> Any:
    """The same of sixteen agents that lie one after the other in the strip."""


@generic
def no_sums(rules: Any, like: Any) -> Any:
    """The sums before anybody was met."""


@generic
def accumulate(rules: Any, me: Any, other: Any, sums: Any) -> Any:
    """The sums after meeting `other` (which may be oneself: that adds what `finish` takes off again)."""


@generic
def finish(rules: Any, me: Any, sums: Any) -> Any:
    """(push_x, push_y, neighbours) from the sums."""


@generic
def perceive(rules: Any, me: Any, other: Any) -> Any:
    """(whether `other` is a neighbour, how far away, in any measure that puts neighbours in order); for caps."""


# --- memory ----------------------------------------------------------------------------------------------------------

class Strip(NamedTuple):
    """A worker's own memory; rows of these arrays belong to one worker each."""

    floats: Any  # float32[workers, 4, capacity]
    ints: Any  # int32[workers, 4, capacity]
    members: Any  # int32[workers, 16]: places in the strip of a register's agents
    pushes: Any  # float32[workers, 2, 16]
    met: Any  # int32[workers, 16]
    waiting: Any  # int64[workers, BLOCK]: agents due in each row of a block
    queue: Any  # int64[1]: next row or group to take
    counters: Any  # int64[workers, 8], numbered below


DUE, CANDIDATES, NEIGHBOURS, REGISTERS, COPIES, RUNS = range(6)
BLOCK = 8  # rows of cells that a worker takes at a time: the two rows beside them are copied too, a quarter more


def strip_of(capacity: int, workers: int) -> Strip:
    capacity += 2 * LANES  # the last register may end beyond the last agent; behind it a packed one
    return Strip(np.zeros((workers, 4, capacity), np.float32), np.zeros((workers, 4, capacity), np.int32),
                 np.zeros((workers, LANES), np.int32), np.zeros((workers, 2, LANES), np.float32),
                 np.zeros((workers, LANES), np.int32), np.zeros((workers, BLOCK), np.int64), np.zeros(1, np.int64),
                 np.zeros((workers, 8), np.int64))


# --- one agent, and sixteen ------------------------------------------------------------------------------------------

@device
def keep_one(rules: Any, columns: Any, slot: int, me: Any, sums: Any, turn: Any, counters: Any) -> None:
    """An agent keeps what its neighbours ask of it."""
    columns.push_x[slot], columns.push_y[slot], met = finish(rules, me, sums)
    columns.look_at[slot] = next_look(turn, columns, slot)
    counters[NEIGHBOURS] += met
    counters[DUE] += 1


@device
def worth_registers(waiting: int, agents: int) -> bool:
    """A strip and registers pay where at least a quarter of a row is due; a few stragglers are cheaper one by one."""
    return waiting > 0 and 4 * waiting >= agents


@device
def worth_all(waiting: int, agents: int) -> bool:
    """Where nearly all are due, registers of agents as they stand are cheaper than packed ones; the others are left out."""
    return 4 * waiting >= 3 * agents


@device
def fill(rules: Any, columns: Any, order: Any, first: int, last: int, base: int, strip: Any, counters: Any) -> None:
    """Copy agents order[first:last] to the strip, from first - base on; what lies in memory as in the order goes by vector."""
    for k in range(first, last, LANES):
        slots = load(order, k)
        if count_set(slots - order[k] == lane_numbers()) == LANES:
            copy_to_strip(rules, columns, np.int64(order[k]), strip, k - base)
            counters[RUNS] += 1
        else:
            copy_to_strip(rules, columns, slots, strip, k - base)
        counters[COPIES] += 1


@device
def collect(columns: Any, order: Any, k: int, end: int, turn: Any, base: int, members: Any) -> Any:
    """Positions in the strip of the next agents that are due, at most sixteen; returns (how many, where to go on)."""
    size = 0
    while k < end and size < LANES:
        if due(turn, columns.look_at[order[k]]):
            members[size] = k - base
            size += 1
        k += 1
    return size, k


@device
def pack(strip: Any, members: Any, size: int, target: Any, at: int) -> None:
    """Copy the members of a strip to sixteen places of the target, so that they can be loaded as a register."""
    floats, ints = strip
    to_floats, to_ints = target
    for lane in range(size):
        for field in range(floats.shape[0]):
            to_floats[field, at + lane] = floats[field, members[lane]]
        for field in range(ints.shape[0]):
            to_ints[field, at + lane] = ints[field, members[lane]]


@device
def name_members(first: int, size: int, members: Any) -> None:
    """The members of a register whose agents lie one after the other."""
    for lane in range(size):
        members[lane] = first + lane


@device
def keep_register(rules: Any, columns: Any, order: Any, base: int, size: int, me: Any, sums: Any, candidates: int, turn: Any,
                  memory: Any, counters: Any) -> None:
    """`keep_one` for those members of a register that are due; each has met so many candidates."""
    members, pushes, met = memory
    push_x, push_y, neighbours = finish(rules, me, sums)
    store(pushes[0], 0, push_x)
    store(pushes[1], 0, push_y)
    store(met, 0, neighbours)
    for lane in range(size):
        slot = np.uintp(order[base + members[lane]])
        if due(turn, columns.look_at[slot]):
            columns.push_x[slot], columns.push_y[slot] = pushes[0, lane], pushes[1, lane]
            columns.look_at[slot] = next_look(turn, columns, slot)
            counters[NEIGHBOURS] += met[lane]
            counters[CANDIDATES] += candidates
            counters[DUE] += 1
    counters[REGISTERS] += 1
