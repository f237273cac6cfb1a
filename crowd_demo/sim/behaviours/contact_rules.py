"""Contact: who overlaps whom, what that adds up to, and one pass over rows of cells (docs/model.md, "Contact"; contact.py has
the stages).

In a pass everybody is due, so a register holds sixteen agents that are contiguous in the order. Of the candidates seven in
eight are too far from all of them. A quick test by positions of 16 bits finds those, and never one who touches somebody; the
others are listed and then added up, for a branch that is hard to predict would cost more than the test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Longs, Mask, Register
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.packed import halves, squares_apart
from crowd_demo.compute.simd import LANES, any_set, bits_xor, chance, root, scramble, select, to_float, to_int, wrap32
from crowd_demo.compute.simd_memory import Contiguous, gather, load, store, take_block
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Strip, Sums, read_strip
from crowd_demo.sim.interaction.rows import Blocks, part
from crowd_demo.sim.interaction.strips import CANDIDATES, REGISTERS, Strips, fill
from crowd_demo.sim.neighbours.candidates import Cells
from crowd_demo.sim.store.state import Columns, MovingColumns

FIXED = 4096  # steps of a unit in the sums
STEPS = 8  # of a unit, in positions of 16 bits: they wrap at 8,192 units, and then somebody far away may be listed
ROUNDING = 2  # steps: two positions that are rounded come closer or go apart by less
POSITIONS = 3  # the row of the strip that has them, after those of `Body`


class Body(NamedTuple):
    """What others can observe of a person."""

    x: Float
    y: Float
    id: Int


class ContactRules(NamedTuple):
    """Constants of contact; lengths in world units."""

    reach: np.float32  # 2 * body: people nearer than this overlap
    reach_sq: np.float32
    relax: np.float32
    longest: np.float32  # shift in one pass
    near_sq: np.int32  # square of the distance in positions of 16 bits from which on two agents do not touch


# --- who overlaps whom -----------------------------------------------------------------------------------------------

@implements(pairwise.observe, ContactRules)
def observe(rules: ContactRules, columns: Columns, slots: Int) -> Body:
    return Body(gather(columns.x, slots), gather(columns.y, slots), gather(columns.id, slots))


@device
def touches(rules: ContactRules, me: Body, other: Body) -> Mask:
    """Return whether two agents overlap."""
    dx, dy = me.x - other.x, me.y - other.y
    return (dx * dx + dy * dy < rules.reach_sq) & (me.id != other.id)


@implements(pairwise.accumulate, ContactRules)
def accumulate(rules: ContactRules, me: Body, other: Body, sums: Sums) -> Sums:
    dx, dy = me.x - other.x, me.y - other.y
    distance_sq = dx * dx + dy * dy
    overlaps = touches(rules, me, other)
    if any_set(overlaps):  # seldom: most candidates are far away
        count, sum_x, sum_y = sums
        apart = overlaps & (distance_sq > 0)
        distance = root(select(apart, distance_sq, 1))
        weight = (rules.reach - distance) / distance * (FIXED / 2)
        term_x, term_y = select(apart, to_int(weight * dx), 0), select(apart, to_int(weight * dy), 0)
        same = overlaps & (distance_sq <= 0)
        if any_set(same):  # on the very same spot: in a direction drawn for the pair, opposite for the two
            key = scramble(bits_xor(me.id, other.id))
            half = select(me.id < other.id, -rules.longest, rules.longest) * FIXED
            term_x = select(same, to_int(half * chance(key, 1)), term_x)
            term_y = select(same, to_int(half * chance(key, 2)), term_y)
        sums = count + select(overlaps, 1, 0), sum_x + term_x, sum_y + term_y
    return sums


@implements(pairwise.finish, ContactRules)
def finish(rules: ContactRules, me: Body, sums: Sums) -> tuple[Float, Float, Int]:
    count, sum_x, sum_y = sums
    met = wrap32(count)
    scale = (1 / FIXED) / (1 + rules.relax * max(0, to_float(met) - 1))
    x, y = to_float(wrap32(sum_x)) * scale, to_float(wrap32(sum_y)) * scale
    length = root(x * x + y * y)
    far = length > rules.longest
    return select(far, x * (rules.longest / length), x), select(far, y * (rules.longest / length), y), met


# --- a pass by registers ---------------------------------------------------------------------------------------------

class NearAgents(NamedTuple):
    """Working memory; a row belongs to one worker."""

    listed: Ints  # [workers, as many as a strip holds]: indices into the strip
    shifts: Floats  # [workers, 2, 16]


def near_of(strips: Strips) -> NearAgents:
    """Return the working memory that goes with the strips."""
    workers, _, capacity = strips.rows.shape
    return NearAgents(np.zeros((workers, capacity), np.int32), np.zeros((workers, 2, LANES), np.float32))


@formula
def _write_positions(rules: ContactRules, columns: Columns, rows: Ints, size: int) -> None:
    """Write the positions of 16 bits of those in the strip."""
    for at in range(0, size, LANES):
        found = read_strip(rules, columns, rows, Contiguous(at))
        store(rows[POSITIONS], at, halves(to_int(found.x * STEPS), to_int(found.y * STEPS)))


@device
def _list_near(positions: Ints, mine: Register, first: int, last: int, near_sq: Int, listed: Ints, size: Int) -> Int:
    """List those of the strip's [first, last) that are near an agent of a register; return how many are listed now."""
    for at in range(np.uintp(first), np.uintp(last)):  # unsigned: see rows.py
        listed[size] = at
        size += np.uintp(any_set(squares_apart(mine, positions[at]) < near_sq))
    return size


@device
def _list_all(cells: Cells, columns: MovingColumns, rules: ContactRules, row: int, left: int, right: int, own: int, me: Body,
              strip: Strip, listed: Ints) -> tuple[Int, int]:
    """List who may touch the agents of a register; return how many these are, and how many were tested.

    The agents are in columns left..right of one row, from `own` on in the strip. All of these are near, and so are tested as
    `accumulate` does it.
    """
    size: Int = np.uintp(0)
    tested = 0
    positions, near_sq = strip.rows[POSITIONS], rules.near_sq
    mine = load(positions, own)
    left, right = max(left - cells.reach, 0), min(right + cells.reach, cells.columns - 1)
    for near in range(max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)):
        first = cells.start[near * cells.columns + left] - strip.base
        last = cells.start[near * cells.columns + right + 1] - strip.base
        tested += last - first
        if near == row:
            size = _list_near(positions, mine, first, own, near_sq, listed, size)
            first = min(own + LANES, last)
            for at in range(np.uintp(own), np.uintp(first)):
                listed[size] = at
                size += np.uintp(any_set(touches(rules, me, read_strip(rules, columns, strip.rows, at))))
        size = _list_near(positions, mine, first, last, near_sq, listed, size)
    return size, tested


@device
def _touch_row(cells: Cells, columns: MovingColumns, rules: ContactRules, row: int, begin: int, end: int, strip: Strip,
               listed: Ints, shifts: Floats, counters: Longs) -> None:
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
        own = k - strip.base
        me = read_strip(rules, columns, strip.rows, Contiguous(own))
        sums = pairwise.no_sums(rules, me.x)
        count, tested = _list_all(cells, columns, rules, row, left - cell, right - cell, own, me, strip, listed)
        counters[CANDIDATES] += tested
        counters[REGISTERS] += 1
        for i in range(count):
            sums = pairwise.accumulate(rules, me, read_strip(rules, columns, strip.rows, np.uintp(listed[i])), sums)
        shift_x, shift_y, _ = pairwise.finish(rules, me, sums)
        store(shifts[0], 0, shift_x)
        store(shifts[1], 0, shift_y)
        for lane in range(np.uintp(size)):
            slot = np.uintp(cells.order[np.uintp(k) + lane])
            columns.avoidance_x[slot], columns.avoidance_y[slot] = shifts[0, lane], shifts[1, lane]


@kernel
def touch_rows(worker: int, workers: int, cells: Cells, columns: MovingColumns, rules: ContactRules, blocks: Blocks,
               strips: Strips, near: NearAgents) -> None:
    """Write the shifts of this worker's blocks of rows, for one pass."""
    block = take_block(strips.queue, 1)
    while block < blocks.first.shape[0]:
        first, last = blocks.first[block], blocks.last[block]
        strip = Strip(strips.rows[worker], np.int64(cells.start[max(first - cells.reach, 0) * cells.columns]))
        stop = cells.start[min(last + cells.reach, cells.rows) * cells.columns]
        fill(rules, columns, cells.order, strip.base, stop, strip, strips.counters[worker])
        _write_positions(rules, columns, strip.rows, stop - strip.base)
        for row in range(first, last):
            begin, end = part(cells, row, blocks.start[block], blocks.start[block + 1])
            _touch_row(cells, columns, rules, row, begin, end, strip, near.listed[worker], near.shifts[worker],
                       strips.counters[worker])
        block = take_block(strips.queue, 1)
