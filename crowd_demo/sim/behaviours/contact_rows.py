"""A pass of contact for rows of cells, in lanes: what *see* does with them, without what only *see* needs.

Everybody is due in every pass, so a register holds sixteen agents that are contiguous in the order. Of the candidates seven
in eight are too far from all of them. A quick test by places of 16 bits finds those, and never one who touches somebody;
the others are listed and then added up, for a branch that is hard to predict would cost more than the test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats, Int, Ints, Longs, Register
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.packed import halves, squares_apart
from crowd_demo.compute.simd import LANES, any_set, to_int
from crowd_demo.compute.simd_memory import load, store, take_block
from crowd_demo.sim.behaviours.contact_rules import ContactRules, touches
from crowd_demo.sim.interaction.blocks import Blocks, part
from crowd_demo.sim.interaction.pairwise import (
    CANDIDATES,
    REGISTERS,
    Seen,
    Strip,
    Strips,
    accumulate,
    fill,
    finish,
    load_register,
    no_sums,
    read_strip,
)
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.store.columns import MovingColumns

STEPS = 8  # of a unit, in places of 16 bits: they wrap at 8,192 units, and then somebody far away may be listed
ROUNDING = 2  # steps: two places that are rounded come closer or go apart by less
PLACES = 1  # the field of the strip that has them


class Close(NamedTuple):
    """Working memory; a row belongs to one worker."""

    listed: Ints  # [workers, as many as a strip holds]: indices into the strip
    shifts: Floats  # [workers, 2, 16]


def close_of(strips: Strips) -> Close:
    workers, _, capacity = strips.floats.shape
    return Close(np.zeros((workers, capacity), np.int32), np.zeros((workers, 2, LANES), np.float32))


@device
def _place(strip: Strip, size: int) -> None:
    """Write the places of 16 bits of those in the strip."""
    floats, ints = strip
    steps = np.float32(STEPS)
    for at in range(0, size, LANES):
        store(ints[PLACES], at, halves(to_int(load(floats[0], at) * steps), to_int(load(floats[1], at) * steps)))


@device
def _list_near(places: Ints, mine: Register, first: int, last: int, near_sq: Int, listed: Ints, size: Int) -> Int:
    """List those of the strip's [first, last) that are near an agent of a register; return how many are listed now."""
    for at in range(np.uintp(first), np.uintp(last)):  # unsigned: see rows.py
        listed[size] = at
        size += np.uintp(any_set(squares_apart(mine, places[at]) < near_sq))
    return size


@device
def _list_all(cells: Cells, rules: ContactRules, row: int, left: int, right: int, own: int, me: Seen, strip: Strip, base: int,
              listed: Ints) -> tuple[Int, int]:
    """List who may touch the agents of a register; return how many these are, and how many were tested.

    The agents are in columns left..right of one row, from `own` on in the strip. All of these are near, and so are tested as
    `accumulate` does it.
    """
    size: Int = np.uintp(0)
    tested = 0
    places, reach = strip[1][PLACES], rules.reach * np.float32(STEPS) + np.float32(ROUNDING)
    mine, near_sq = load(places, own), np.int32(reach * reach) + np.int32(1)
    left, right = max(left - cells.reach, 0), min(right + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        first = cells.start[near * cells.columns + left] - base
        last = cells.start[near * cells.columns + right + 1] - base
        tested += last - first
        if near == row:
            size = _list_near(places, mine, first, own, near_sq, listed, size)
            first = min(own + LANES, last)
            for at in range(np.uintp(own), np.uintp(first)):
                listed[size] = at
                size += np.uintp(any_set(touches(rules, me, read_strip(rules, strip, at))))
        size = _list_near(places, mine, first, last, near_sq, listed, size)
    return size, tested


@device
def _touch_row(cells: Cells, columns: MovingColumns, rules: ContactRules, row: int, begin: int, end: int, strip: Strip,
               base: int, listed: Ints, shifts: Floats, counters: Longs) -> None:
    """Move order[begin:end], agents of one row, apart from whom they touch."""
    cell = row * cells.columns
    left = cell
    for k in range(begin, end, LANES):
        size = min(LANES, end - k)
        while cells.start[left + 1] <= k:
            left += 1
        right = left
        while cells.start[right + 1] < k + size:
            right += 1
        me = load_register(rules, strip, k - base)
        sums = no_sums(rules, me[0])
        near, tested = _list_all(cells, rules, row, left - cell, right - cell, k - base, me, strip, base, listed)
        counters[CANDIDATES] += tested
        counters[REGISTERS] += 1
        for i in range(near):
            sums = accumulate(rules, me, read_strip(rules, strip, np.uintp(listed[i])), sums)
        shift_x, shift_y, _ = finish(rules, me, sums)
        store(shifts[0], 0, shift_x)
        store(shifts[1], 0, shift_y)
        for lane in range(np.uintp(size)):
            slot = np.uintp(cells.order[np.uintp(k) + lane])
            columns.push_x[slot], columns.push_y[slot] = shifts[0, lane], shifts[1, lane]


@kernel
def touch_rows(worker: int, workers: int, cells: Cells, columns: MovingColumns, rules: ContactRules, blocks: Blocks,
               strips: Strips, close: Close) -> None:
    """Write the shifts of this worker's blocks of rows, for one pass."""
    strip = (strips.floats[worker], strips.ints[worker])
    block = take_block(strips.queue, 1)
    while block < blocks.first.shape[0]:
        first, last = blocks.first[block], blocks.last[block]
        base = cells.start[max(first - cells.reach, 0) * cells.columns]
        stop = cells.start[min(last + cells.reach, cells.rows) * cells.columns]
        fill(rules, columns, cells.order, base, stop, base, strip, strips.counters[worker])
        _place(strip, stop - base)
        for row in range(first, last):
            begin, end = part(cells, row, blocks.start[block], blocks.start[block + 1])
            _touch_row(cells, columns, rules, row, begin, end, strip, base, close.listed[worker], close.shifts[worker],
                       strips.counters[worker])
        block = take_block(strips.queue, 1)
