"""Several numbers in the bits of one lane: sums that count, and pairs of 16 bits.

**Sums that count**: each number that is added has a 1 below it, so that one addition adds it up and counts it. A lane has 32
bits. The lowest nine count and the others add up, so there is room for `sum_capacity(most)` numbers that lie at most so far
from one's own. Then the sum is settled: it begins again, and how many they were and how far off, all in all, is kept beside
it. The sum of one agent alone has 64 bits, counts in half of them, and has room for all.

**Pairs** are positions, for a test of distance that is quick and not quite exact. Differences wrap: those of positions less
than 2**15 steps apart are right, and others may look small.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from crowd_demo.compute.arrays import Float, Int
from crowd_demo.compute.jit import device
from crowd_demo.compute.llvm import I32, function_of, number, repeat
from crowd_demo.compute.simd import LANES, Lanes, i32v, no_sum

# --- sums that count -------------------------------------------------------------------------------------------------

COUNT_BITS, COUNT_BITS_ALONE = 9, 32  # of a lane, and of the sum of one agent
CountingSum = tuple[Int, Int, Int]  # the sum that counts; and what is settled of it: how many numbers, and their offsets


def sum_capacity(most: float) -> int:
    """Return how many numbers a register of sums has room for, if none lies more than `most` from one's own."""
    return max(min((1 << COUNT_BITS) - 1, int(((1 << 31 - COUNT_BITS) - 1) / max(most, 1))), 1)


def _constant(kind: ir.Type, of_lane: int, alone: int) -> ir.Constant:
    return number(kind, of_lane if isinstance(kind, ir.VectorType) else alone)


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


# --- pairs -----------------------------------------------------------------------------------------------------------

_PAIRS = ir.VectorType(ir.IntType(16), 2 * LANES)


@intrinsic
def halves(context, low, high):
    """A register of pairs: the lower 16 bits of each of two registers of int32."""
    def code(c, b, s, a):
        half = number(i32v.llvm, 16)
        return b.or_(b.lshr(b.shl(a[0], half), half), b.shl(a[1], half))
    return i32v(low, high), code


@intrinsic
def squares_apart(context, pairs, other):
    """The sum of the squares of both differences of sixteen pairs to one pair."""
    def code(c, b, s, a):
        apart = b.sub(b.bitcast(a[0], _PAIRS), b.bitcast(repeat(b, a[1], LANES), _PAIRS))
        known = c.codegen().magic_tuple()[2].split(",")  # features of the processor
        width, name = next(((width, name) for feature, width, name in SUMS_OF_PRODUCTS if feature in known), (0, ""))
        return _joined(b, [_summed(b, part, name) for part in _cut(b, apart, width)]) if name else _summed_plainly(b, apart)
    return i32v(pairs, other), code


# products of neighbouring numbers of 16 bits, added up, are one instruction: a feature, its width in bits, its name
SUMS_OF_PRODUCTS: tuple[tuple[str, int, str], ...] = (
    ("+avx512bw", 512, "llvm.x86.avx512.pmaddw.d.512"), ("+avx2", 256, "llvm.x86.avx2.pmadd.wd"),
    ("+sse2", 128, "llvm.x86.sse2.pmadd.wd"))


def _numbers(first: int, count: int, step: int = 1) -> ir.Constant:
    return ir.Constant(ir.VectorType(I32, count), list(range(first, first + count * step, step)))


def _cut(b: ir.IRBuilder, value: ir.Value, bits: int) -> list[ir.Value]:
    count = bits // 16
    nothing = ir.Constant(value.type, ir.Undefined)
    return [b.shuffle_vector(value, nothing, _numbers(first, count)) for first in range(0, 2 * LANES, count)]


def _summed(b: ir.IRBuilder, part: ir.Value, name: str) -> ir.Value:
    result = ir.VectorType(I32, part.type.count // 2)
    return b.call(function_of(b, name, result, part.type, part.type), (part, part))


def _joined(b: ir.IRBuilder, parts: list[ir.Value]) -> ir.Value:
    while len(parts) > 1:
        parts = [b.shuffle_vector(low, high, _numbers(0, 2 * low.type.count))
                 for low, high in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _summed_plainly(b: ir.IRBuilder, apart: ir.Value) -> ir.Value:
    nothing = ir.Constant(apart.type, ir.Undefined)
    low, high = (b.sext(b.shuffle_vector(apart, nothing, _numbers(first, LANES, 2)), i32v.llvm) for first in (0, 1))
    return b.add(b.mul(low, low), b.mul(high, high))
