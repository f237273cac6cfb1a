"""A pass of contact for rows of cells, in lanes: what `see` does with them, without what only see needs.

Everybody is due in every pass, so registers hold agents that are contiguous in the order. Candidates are tested first and
those that touch anybody in the register are listed: few do, and a branch for each that is hard to foresee would cost more
than the test.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints, Register
from crowd_demo.compute.halves import halves, squares_apart
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd import LANES, any_set, load, store, take_block, to_int
from crowd_demo.sim.behaviours.contact import ContactRules, touches
from crowd_demo.sim.interaction.pairwise import Seen, Strip, Strips, accumulate, fill, finish, load_register, no_sums, read_strip
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.store.columns import MovingColumns

STEPS = 8  # of a unit, in places of 16 bits: they wrap at 8,192 units
ROUNDING = 2.0  # steps: rounding down moves two places up to the root of 2 closer or apart
PAIRS = 1  # the field of the strip that has them


@device
def _pack(strip: Strip, size: int) -> None:
    """Write the places of the strip as pairs of 16 bits: integers of STEPS to a unit."""
    floats, ints = strip
    for at in range(0, size, LANES):
        x, y = load(floats[0], at) * np.float32(STEPS), load(floats[1], at) * np.float32(STEPS)
        store(ints[PAIRS], at, halves(to_int(x), to_int(y)))


@device
def _list_near(pairs: Ints, me: Register, first: int, last: int, near_sq: int, touching: Ints, size: int) -> int:
    """List those of the strip's [first, last) that are near an agent of a register."""
    for at in range(np.uintp(first), np.uintp(last)):  # unsigned: see rows.py
        touching[size] = at
        size += np.uintp(any_set(squares_apart(me, pairs[at]) < near_sq))
    return size


@device
def _list_touching(cells: Cells, rules: ContactRules, row: int, left: int, right: int, own: int, me: Seen, strip: Strip,
                   base: int, touching: Ints) -> int:
    """List the candidates that may touch an agent of a register, whose agents are in columns left..right of one row.

    The agents of the register itself, from `own` on, are all near, and so tested exactly.
    """
    size, pairs = np.uintp(0), strip[1][PAIRS]
    mine = load(pairs, own)
    near_sq = np.int32((rules.reach * np.float32(STEPS) + np.float32(ROUNDING)) * (rules.reach * np.float32(STEPS) + np.float32(ROUNDING)))
    left, right = max(left - cells.reach, 0), min(right + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        first = cells.start[near * cells.columns + left] - base
        last = cells.start[near * cells.columns + right + 1] - base
        if near == row:
            size = _list_near(pairs, mine, first, own, near_sq, touching, size)
            first = min(own + LANES, last)
            for at in range(np.uintp(own), np.uintp(first)):
                touching[size] = at
                size += np.uintp(any_set(touches(rules, me, read_strip(rules, strip, at))))
        size = _list_near(pairs, mine, first, last, near_sq, touching, size)
    return size


@device
def _touch_row(cells: Cells, columns: MovingColumns, rules: ContactRules, row: int, strip: Strip, base: int, touching: Ints,
               pushes: Floats) -> None:
    first_cell = row * cells.columns
    left = first_cell
    end = cells.start[first_cell + cells.columns]
    for k in range(cells.start[first_cell], end, LANES):
        size = min(LANES, end - k)
        while cells.start[left + 1] <= k:
            left += 1
        right = left
        while cells.start[right + 1] < k + size:
            right += 1
        me, sums = load_register(rules, strip, k - base), no_sums(rules, load_register(rules, strip, k - base)[0])
        listed = _list_touching(cells, rules, row, left - first_cell, right - first_cell, k - base, me, strip, base, touching)
        for i in range(listed):
            sums = accumulate(rules, me, read_strip(rules, strip, np.uintp(touching[i])), sums)
        push_x, push_y, _ = finish(rules, me, sums)
        store(pushes[0], 0, push_x)
        store(pushes[1], 0, push_y)
        for lane in range(np.uintp(size)):
            slot = np.uintp(cells.order[np.uintp(k) + lane])
            columns.push_x[slot], columns.push_y[slot] = pushes[0, lane], pushes[1, lane]


@kernel
def touch_rows(worker: int, workers: int, cells: Cells, columns: MovingColumns, rules: ContactRules, blocks: Ints,
               strips: Strips, touching: Ints) -> None:
    """Block b is the rows [blocks[b], blocks[b + 1])."""
    strip = (strips.floats[worker], strips.ints[worker])
    block = take_block(strips.queue, 1)
    while block < blocks.shape[0] - 1:
        first, last = blocks[block], blocks[block + 1]
        base = cells.start[max(first - cells.reach, 0) * cells.columns]
        stop = cells.start[min(last + cells.reach, cells.rows) * cells.columns]
        fill(rules, columns, cells.order, base, stop, base, strip, strips.counters[worker])
        _pack(strip, stop - base)
        for row in range(first, last):
            _touch_row(cells, columns, rules, row, strip, base, touching[worker], strips.pushes[worker])
        block = take_block(strips.queue, 1)
