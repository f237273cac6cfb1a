"""Two numbers of 16 bits in each of sixteen lanes: places, for a test of distance that is quick and not quite exact.

Differences wrap: those of places that are less than 2**15 steps apart are right, and others may look small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from crowd_demo.compute.simd import LANES, i32v, repeat

_intrinsic: Callable[..., Callable[..., Any]] = intrinsic
_HALVES = ir.VectorType(ir.IntType(16), 2 * LANES)


@_intrinsic
def halves(context: Any, low: Any, high: Any) -> Any:
    """A register of pairs: the lower 16 bits of each of two registers of int32."""
    def code(c: Any, b: Any, s: Any, a: Any) -> Any:
        half = ir.Constant(i32v.llvm, [16] * LANES)
        return b.or_(b.lshr(b.shl(a[0], half), half), b.shl(a[1], half))
    return i32v(low, high), code


@_intrinsic
def squares_apart(context: Any, pairs: Any, other: Any) -> Any:
    """The sum of the squares of both differences of sixteen pairs to one pair."""
    def code(c: Any, b: Any, s: Any, a: Any) -> Any:
        apart = b.sub(b.bitcast(a[0], _HALVES), b.bitcast(repeat(b, a[1]), _HALVES))
        known = c.codegen()._tm_features.split(",")
        width, name = next(((width, name) for feature, width, name in SUMS_OF_PRODUCTS if feature in known), (0, ""))
        return _joined(b, [_summed(b, part, name) for part in _cut(b, apart, width)]) if name else _summed_plainly(b, apart)
    return i32v(pairs, other), code


# products of neighbouring numbers of 16 bits, added up, are one instruction: a feature, its width in bits, its name
SUMS_OF_PRODUCTS: tuple[tuple[str, int, str], ...] = (
    ("+avx512bw", 512, "llvm.x86.avx512.pmaddw.d.512"), ("+avx2", 256, "llvm.x86.avx2.pmadd.wd"),
    ("+sse2", 128, "llvm.x86.sse2.pmadd.wd"))


def _numbers(first: int, count: int, step: int = 1) -> ir.Constant:
    return ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(first, first + count * step, step)))


def _cut(b: ir.IRBuilder, value: ir.Value, bits: int) -> list[ir.Value]:
    count = bits // 16
    nothing = ir.Constant(value.type, ir.Undefined)
    return [b.shuffle_vector(value, nothing, _numbers(first, count)) for first in range(0, 2 * LANES, count)]


def _summed(b: ir.IRBuilder, part: ir.Value, name: str) -> ir.Value:
    result = ir.VectorType(ir.IntType(32), part.type.count // 2)
    function = cgutils.get_or_insert_function(b.module, ir.FunctionType(result, (part.type, part.type)), name)
    return b.call(function, (part, part))


def _joined(b: ir.IRBuilder, parts: list[ir.Value]) -> ir.Value:
    while len(parts) > 1:
        parts = [b.shuffle_vector(low, high, _numbers(0, 2 * low.type.count))
                 for low, high in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _summed_plainly(b: ir.IRBuilder, apart: ir.Value) -> ir.Value:
    nothing = ir.Constant(apart.type, ir.Undefined)
    low, high = (b.sext(b.shuffle_vector(apart, nothing, _numbers(first, LANES, 2)), i32v.llvm) for first in (0, 1))
    return b.add(b.mul(low, low), b.mul(high, high))
