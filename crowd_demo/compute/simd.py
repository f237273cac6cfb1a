"""SIMD registers of sixteen agents, in plain Numba.

Three types live in vector registers: `f32v` (16 float32), `i32v` (16 int32) and `mask` (16 bits). The usual operators work
on them, also against a scalar, which is broadcast. Every function here takes a scalar as well, so a formula is written
once and the type of its arguments decides the width: the scalar and the SIMD path share their source and, because each
operation is the same IEEE operation and nothing is contracted or reassociated, their bits.

LLVM splits the registers where the CPU's are narrower (AVX2: two of 8, NEON: four of 4); the results do not change.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.datamodel import DataModelManager
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, Signature, infer_global, signature
from numba.extending import intrinsic, models, register_model

from crowd_demo.compute.arrays import Float, Int
from crowd_demo.compute.hashing import lowbias32
from crowd_demo.compute.jit import device
from crowd_demo.compute.llvm import I32, repeat

LANES = 16

_F32, _BIT = ir.FloatType(), ir.IntType(1)


class Lanes(types.Type):
    """A Numba type that lives in a vector register; `llvm` is the register, `scalar` the type of one lane."""

    def __init__(self, name: str, element: ir.Type, scalar: types.Type) -> None:
        super().__init__(name=name)
        self.llvm = ir.VectorType(element, LANES)
        self.scalar = scalar


class _FloatLanes(Lanes):
    pass


class _IntLanes(Lanes):
    pass


class _MaskLanes(Lanes):
    pass


f32v = _FloatLanes("f32v", _F32, types.float32)
i32v = _IntLanes("i32v", I32, types.int32)
mask = _MaskLanes("mask", _BIT, types.boolean)

for _lanes in (f32v, i32v, mask):

    @register_model(type(_lanes))
    class _Model(models.PrimitiveModel):
        def __init__(self, manager: DataModelManager, kind: Lanes) -> None:
            super().__init__(manager, kind, kind.llvm)


# --- broadcasting ----------------------------------------------------------------------------------------------------

def _broadcast(builder: ir.IRBuilder, value: ir.Value, kind: Lanes) -> ir.Value:
    """One scalar in all lanes."""
    if value.type != kind.llvm.element:  # an int64 index or literal
        value = builder.trunc(value, kind.llvm.element)
    return repeat(builder, value, LANES)


def lanes_of(kind: types.Type) -> Lanes:
    return f32v if isinstance(kind, types.Float) else i32v


@intrinsic
def splat(context, value, like):
    """Return `value` as wide as `like`: broadcast to a register, or unchanged."""
    if isinstance(like, Lanes):
        wide = lanes_of(value)
        return wide(value, like), lambda c, b, s, a: _broadcast(b, a[0], wide)
    return value(value, like), lambda c, b, s, a: a[0]


@intrinsic
def no_sum(context, like):
    """0 to begin a sum with: sixteen int32, or one int64 (see `wrap32`)."""
    if isinstance(like, Lanes):
        return i32v(like), lambda c, b, s, a: ir.Constant(i32v.llvm, [0] * LANES)
    return types.int64(like), lambda c, b, s, a: ir.Constant(ir.IntType(64), 0)


# --- operators -------------------------------------------------------------------------------------------------------

def _operator(op: Callable[..., object], kind: Lanes, emit: Callable[..., ir.Value], result: Lanes | None = None) -> None:
    scalars = (types.float32,) if kind is f32v else (types.int32, types.int64) if kind is i32v else ()
    pairs = [(kind, kind)] + [(kind, s) for s in scalars] + [(s, kind) for s in scalars]

    @infer_global(op)
    class Rule(AbstractTemplate):
        def generic(self, args: Sequence[types.Type], kws: object) -> Signature | None:
            args = tuple(types.unliteral(a) for a in args)
            return signature(result or kind, *args) if args in pairs else None

    def lower(context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Sequence[ir.Value]) -> ir.Value:
        wide = [a if isinstance(t, Lanes) else _broadcast(builder, a, kind) for a, t in zip(args, sig.args, strict=True)]
        return emit(builder, *wide)

    for pair in pairs:
        lower_builtin(op, *pair)(lower)


for _op, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    _operator(_op, f32v, lambda b, x, y, name=_name: getattr(b, name)(x, y))
for _op, _name in ((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul")):
    _operator(_op, i32v, lambda b, x, y, name=_name: getattr(b, name)(x, y))
for _op, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">="), (operator.ne, "!=")):
    _operator(_op, f32v, lambda b, x, y, sign=_sign: b.fcmp_ordered(sign, x, y), mask)
for _op, _sign in ((operator.lt, "<"), (operator.gt, ">"), (operator.eq, "=="), (operator.ne, "!=")):
    _operator(_op, i32v, lambda b, x, y, sign=_sign: b.icmp_signed(sign, x, y), mask)
_operator(operator.and_, mask, lambda b, x, y: b.and_(x, y))
_operator(operator.or_, mask, lambda b, x, y: b.or_(x, y))


# --- functions of one value, scalar or lanes -------------------------------------------------------------------------

def _kind(value: types.Type, lanes: Lanes, scalar: types.Type) -> types.Type:
    return lanes if isinstance(value, Lanes) else scalar


@intrinsic
def select(context, condition, yes, no):
    """`yes` where the condition holds, else `no`; all of one width."""
    return types.unliteral(yes)(condition, yes, no), lambda c, b, s, a: b.select(
        a[0], a[1], c.cast(b, a[2], s.args[2], s.args[1]) if s.args[1] != s.args[2] else a[2])


@intrinsic
def to_int(context, value):
    """float32 -> int32, towards zero; the value must fit."""
    out = _kind(value, i32v, types.int32)
    return out(value), lambda c, b, s, a: b.fptosi(a[0], c.get_value_type(out))


@intrinsic
def to_float(context, value):
    """int32 -> float32, rounded to nearest."""
    out = _kind(value, f32v, types.float32)
    return out(value), lambda c, b, s, a: b.sitofp(a[0], c.get_value_type(out))


def _call_llvm(function: str, c: BaseContext, b: ir.IRBuilder, s: Signature, a: Sequence[ir.Value]) -> ir.Value:
    """LLVM's own function of one float32, or of a register of them."""
    kind = a[0].type
    name = f"llvm.{function}." + (f"v{LANES}f32" if isinstance(kind, ir.VectorType) else "f32")
    return b.call(cgutils.get_or_insert_function(b.module, ir.FunctionType(kind, [kind]), name), a)


@intrinsic
def floor(context, value):
    """The greatest whole number that is not above it, still a float32."""
    return value(value), partial(_call_llvm, "floor")


@intrinsic
def bits(context, value, shift, mask):
    """(value >> shift) & mask of the 32 bits of an int32; both are literals."""
    def code(c, b, s, a):
        def all_of(number):
            kind = a[0].type
            return ir.Constant(kind, [number] * LANES if isinstance(kind, ir.VectorType) else number)
        return b.and_(b.lshr(a[0], all_of(s.args[1].literal_value)), all_of(s.args[2].literal_value))
    if isinstance(shift, types.IntegerLiteral) and isinstance(mask, types.IntegerLiteral):
        return value(value, shift, mask), code
    return None


@device
def quotient(value: Int, by: int) -> Int:
    """value // by, of whole numbers from 0 on; the quotient must be below 2**22, for it is first found in float32."""
    near = to_int(to_float(value) * (np.float32(1.0) / np.float32(by)))
    rest = value - near * by
    near = select(rest < 0, near - 1, near)
    return select(rest < 0, near, select(rest < by, near, near + 1))


@device
def remainder32(value: Int, by: int) -> Int:
    """value % by, of the 32 bits of an int32 taken as a uint32; `by` is at most 256."""
    high, low = bits(value, 16, 0xFFFF), bits(value, 0, 0xFFFF)
    high = high - quotient(high, by) * by
    low = high * (65536 % by) + low
    return low - quotient(low, by) * by


@intrinsic
def wrap32(context, value):
    """A sum as int32, modulo 2**32: lanes wrap by themselves, scalar sums are int64 until here."""
    if isinstance(value, Lanes) or value == types.int32:
        return value(value), lambda c, b, s, a: a[0]
    return types.int32(value), lambda c, b, s, a: b.trunc(a[0], I32)


@intrinsic
def root(context, value):
    """Square root, correctly rounded."""
    return value(value), partial(_call_llvm, "sqrt")


@intrinsic
def _guess_inverse_root(context, value):
    """A first guess: the number whose bits are 0x5f3759df less half of those of the value."""
    def code(c, b, s, a):
        wide = isinstance(a[0].type, ir.VectorType)
        integer = i32v.llvm if wide else I32

        def constant(n):
            return ir.Constant(integer, [n] * LANES if wide else n)
        bits = b.lshr(b.bitcast(a[0], integer), constant(1))
        return b.bitcast(b.sub(constant(0x5F3759DF), bits), a[0].type)
    return value(value), code


@device
def inverse_root(value: Float) -> Float:
    """1 / sqrt(value), less by 0.18 % at most, by one step of Newton's: a root and a division take lanes longer.

    Of 0 it is a number around 2e19, not infinity.
    """
    guess = _guess_inverse_root(value)
    return guess * (np.float32(1.5) - np.float32(0.5) * value * guess * guess)


@intrinsic
def scramble(context, value):
    """The integer hash `lowbias32` (hashing.py): int32 -> int32."""
    def code(c, b, s, a):
        def constant(n):
            return ir.Constant(a[0].type, [n] * LANES if isinstance(a[0].type, ir.VectorType) else n)
        return lowbias32(a[0], b.xor, lambda h, n: b.lshr(h, constant(n)), lambda h, n: b.mul(h, constant(n)))
    return value(value), code


@intrinsic
def bits_xor(context, value, key):
    """`value ^ key` in 32 bits; the key is an int32."""
    def code(c, b, s, a):
        wide = isinstance(s.args[0], Lanes)
        return b.xor(a[0], _broadcast(b, a[1], i32v) if wide else a[1])
    return value(value, types.int32), code


@device
def chance(identity: Int, key: Int) -> Float:
    """Uniform in [-1, 1), for one id or for sixteen; `key` stands for (seed, tick, purpose), see hashing.py."""
    return to_float(scramble(bits_xor(identity, key))) * np.float32(2.0**-31)


@intrinsic
def modulo(context, value, divisor, inverse):
    """`value % divisor` by a product with `inverse`, 2**32 / divisor rounded up: exact for 0 <= value < 2**28 and up to 16."""
    def code(c, b, s, a):
        numbers = a[1], a[2], ir.Constant(ir.IntType(64), 32)
        by, times, half = (repeat(b, each, LANES) for each in numbers) if isinstance(s.args[0], Lanes) else numbers
        wide = b.zext(a[0], by.type)
        return b.trunc(b.sub(wide, b.mul(b.lshr(b.mul(wide, times), half), by)), a[0].type)
    return value(value, types.int64, types.int64), code


@intrinsic
def lane_numbers(context):
    """0, 1, ... 15."""
    return i32v(), lambda c, b, s, a: ir.Constant(i32v.llvm, list(range(LANES)))


@intrinsic
def count_set(context, lanes):
    """How many lanes of a mask are set."""
    def code(c, b, s, a):
        return b.zext(b.ctpop(b.bitcast(a[0], ir.IntType(LANES))), ir.IntType(64))
    return types.int64(mask), code


@intrinsic
def total(context, value):
    """The sum of all lanes, modulo 2**32."""
    def code(c, b, s, a):
        name = f"llvm.vector.reduce.add.v{LANES}i32"
        reduce = cgutils.get_or_insert_function(b.module, ir.FunctionType(I32, [i32v.llvm]), name)
        return b.sext(b.call(reduce, a), ir.IntType(64))
    return types.int64(i32v), code


@intrinsic
def after(context, index):
    """Return index + 1 without LLVM's knowing: it would unroll the loop, and need two instructions for many a masked sum."""
    def code(c, b, s, a):
        following = b.add(a[0], ir.Constant(a[0].type, 1))
        return b.asm(ir.FunctionType(following.type, [following.type]), "", "=r,0", [following], side_effect=False)
    return types.uintp(types.uintp), code


@intrinsic
def any_set(context, condition):
    """Is a condition true, or that of any lane?"""
    if isinstance(condition, Lanes):
        return types.boolean(condition), lambda c, b, s, a: b.icmp_unsigned(
            "!=", b.bitcast(a[0], ir.IntType(LANES)), ir.Constant(ir.IntType(LANES), 0))
    return types.boolean(types.boolean), lambda c, b, s, a: a[0]
