"""Sums that count: each number that is added has a 1 below it, so that one addition adds it up and counts it.

A lane has 32 bits. The lowest nine count and the others add up, so there is room for `sum_capacity(most)` numbers that lie at
most so far from one's own. Then the sum is settled: it begins again, and how many they were and how far off, all in all, is
kept beside it. The sum of one agent alone has 64 bits, counts in half of them, and has room for all.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from crowd_demo.compute.arrays import Float, Int
from crowd_demo.compute.jit import device
from crowd_demo.compute.simd import LANES, Lanes, no_sum

COUNT_BITS, COUNT_BITS_ALONE = 9, 32  # of a lane, and of the sum of one agent
CountingSum = tuple[Int, Int, Int]  # the sum that counts; and what is settled of it: how many numbers, and their offsets


def sum_capacity(most: float) -> int:
    """Return how many numbers a register of sums has room for, if none lies more than `most` from one's own."""
    return max(min((1 << COUNT_BITS) - 1, int(((1 << 31 - COUNT_BITS) - 1) / max(most, 1))), 1)


def _constant(kind: ir.Type, of_lane: int, alone: int) -> ir.Constant:
    return ir.Constant(kind, [of_lane] * LANES) if isinstance(kind, ir.VectorType) else ir.Constant(kind, alone)


@intrinsic
def counted(context, number):
    """A number, or sixteen, with a 1 below: int32 -> int64, lanes -> lanes."""
    out = number if isinstance(number, Lanes) else types.int64

    def code(c, b, s, a):
        kind = c.get_value_type(out)
        wide = a[0] if isinstance(number, Lanes) else b.sext(a[0], kind)
        return b.add(b.shl(wide, _constant(kind, COUNT_BITS, COUNT_BITS_ALONE)), _constant(kind, 1, 1))
    return out(number), code


@intrinsic
def _count_of(context, total):
    """The bits that count."""
    return total(total), lambda c, b, s, a: b.and_(
        a[0], _constant(a[0].type, (1 << COUNT_BITS) - 1, (1 << COUNT_BITS_ALONE) - 1))


@intrinsic
def _above_count(context, total):
    """The bits above those."""
    return total(total), lambda c, b, s, a: b.ashr(a[0], _constant(a[0].type, COUNT_BITS, COUNT_BITS_ALONE))


@device
def nothing_counted(like: Float) -> CountingSum:
    """Return the sum of no numbers; `like` is a number or a register, for the width."""
    none = no_sum(like)
    return none, none, none


@device
def settled(sums: CountingSum, own: Int) -> CountingSum:
    """Return the sum with all of it settled; `own` is one's own number, counted."""
    total, count, offset = sums
    met = _count_of(total)
    return total - total, count + met, offset + _above_count(total - met * own)
