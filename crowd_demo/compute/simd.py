"""SIMD registers of sixteen agents, in plain Numba.

Four types live in vector registers: `f32v` (16 float32), `f64v` (16 float64), `i32v` (16 int32) and `mask` (16 bits).
The usual operators work on them, also against a scalar, which is broadcast; so do `abs`, `min` and `max`. Every
function here takes a scalar as well, so a formula is written once and the type of its arguments decides the width.
The scalar and the SIMD path share their source and, because each operation is the same IEEE operation and nothing is
contracted or reassociated, their bits. Numbers in the source of a formula take the type of what is beside them
(dispatch.py).

LLVM splits the registers where the CPU's are narrower (AVX2: two of 8, NEON: four of 4); the results do not change.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from crowd_demo.compute.arrays import Float, Int, Ints
from crowd_demo.compute.dispatch import FRACTION, WHOLE, NumberType, formula
from crowd_demo.compute.hashing import lowbias32
from crowd_demo.compute.jit import device
from crowd_demo.compute.llvm import I32, I64, AbstractTemplate, Conversion, function_of, infer_global, number, repeat

LANES = 16

class Lanes(types.Type):
    """A Numba type that lives in a vector register; `llvm` is the register, `scalar` the type of one lane."""

    def __init__(self, name: str, element: ir.Type, scalar: types.Type) -> None:
        super().__init__(name=name)
        self.llvm = ir.VectorType(element, LANES)
        self.scalar = scalar

    def can_convert_from(self, context: object, other: types.Type) -> Conversion | None:
        """A variable may be a number here and a register there."""
        return Conversion.safe if isinstance(other, NumberType) else None


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: object, kind: Lanes) -> None:
        super().__init__(manager, kind, kind.llvm)


f32v = Lanes("f32v", ir.FloatType(), types.float32)
f64v = Lanes("f64v", ir.DoubleType(), types.float64)  # two registers of AVX-512
i32v = Lanes("i32v", I32, types.int32)
mask = Lanes("mask", ir.IntType(1), types.boolean)


# --- broadcasting ----------------------------------------------------------------------------------------------------

def widened(context, builder: ir.IRBuilder, value: ir.Value, own: types.Type, kind: types.Type) -> ir.Value:
    """A value of one type as another one; a scalar in all lanes, which LLVM folds into the operand of the next instruction."""
    if own == kind:
        return value
    if isinstance(kind, Lanes):
        return repeat(builder, context.cast(builder, value, own, kind.scalar), LANES)
    return context.cast(builder, value, own, kind)


@lower_cast(NumberType, Lanes)
def _broadcast(context, builder, own, kind, value):
    return widened(context, builder, value, own, kind)


def lanes_of(kind: types.Type) -> Lanes:
    return f64v if kind == types.float64 else f32v if isinstance(kind, types.Float) or kind == FRACTION else i32v


@intrinsic
def splat(context, value, like):
    """Return `value` as wide as `like`: in all lanes of a register, or as one number; a number in the source as 32 bits."""
    own = value if not isinstance(value, NumberType) else types.int32 if value == WHOLE else types.float32
    wide = lanes_of(value) if isinstance(like, Lanes) else own
    return wide(value, like), lambda c, b, s, a: widened(c, b, a[0], s.args[0], wide)


@intrinsic
def no_sum(context, like):
    """0 to begin a sum with: sixteen int32, or one int64 (see `wrap32`)."""
    if isinstance(like, Lanes):
        return i32v(like), lambda c, b, s, a: number(i32v.llvm, 0)
    return types.int64(like), lambda c, b, s, a: number(I64, 0)


# --- operators -------------------------------------------------------------------------------------------------------

SCALARS = {f32v: (types.float32, WHOLE, FRACTION), f64v: (types.float64, types.float32, WHOLE, FRACTION),
           i32v: (types.int32, types.int64, WHOLE)}  # what is broadcast to the lanes of each


def _operator(op: Callable[..., object], kind: Lanes, emit: Callable[..., ir.Value], result: Lanes | None = None) -> None:
    scalars = SCALARS.get(kind, ())
    pairs = [(kind, kind)] + [(kind, s) for s in scalars] + [(s, kind) for s in scalars]

    @infer_global(op)
    class Rule(AbstractTemplate):
        def generic(self, args: Sequence[types.Type], kws: object) -> types.Type | None:
            args = tuple(types.unliteral(a) for a in args)
            return (result or kind)(*args) if args in pairs else None

    def lower(context, builder, sig, args):
        return emit(builder, *(widened(context, builder, a, own, kind) for a, own in zip(args, sig.args, strict=True)))

    for pair in pairs:
        lower_builtin(op, *pair)(lower)


for _op, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    for _floats in (f32v, f64v):
        _operator(_op, _floats, lambda b, x, y, name=_name: getattr(b, name)(x, y))
for _op, _name in ((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul")):
    _operator(_op, i32v, lambda b, x, y, name=_name: getattr(b, name)(x, y))
for _op, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">="), (operator.ne, "!=")):
    for _floats in (f32v, f64v):
        _operator(_op, _floats, lambda b, x, y, sign=_sign: b.fcmp_ordered(sign, x, y), mask)
for _op, _sign in ((operator.lt, "<"), (operator.gt, ">"), (operator.eq, "=="), (operator.ne, "!=")):
    _operator(_op, i32v, lambda b, x, y, sign=_sign: b.icmp_signed(sign, x, y), mask)
_operator(operator.and_, mask, lambda b, x, y: b.and_(x, y))
_operator(operator.or_, mask, lambda b, x, y: b.or_(x, y))
for _op, _sign in ((max, ">"), (min, "<")):  # of x and NaN they are x, as Python's
    for _floats in (f32v, f64v):
        _operator(_op, _floats, lambda b, x, y, sign=_sign: b.select(b.fcmp_ordered(sign, y, x), y, x))
    _operator(_op, i32v, lambda b, x, y, sign=_sign: b.select(b.icmp_signed(sign, y, x), y, x))


@infer_global(abs)
class _Absolute(AbstractTemplate):
    def generic(self, args: Sequence[types.Type], kws: object) -> types.Type | None:
        return args[0](args[0]) if args in ((f32v,), (f64v,)) else None


@lower_builtin(abs, f32v)
@lower_builtin(abs, f64v)
def _absolute(c, b, s, a):
    return _call_llvm("fabs", c, b, s, a)


# --- functions of one value, scalar or lanes -------------------------------------------------------------------------

def _kind(value: types.Type, lanes: Lanes, scalar: types.Type) -> types.Type:
    return lanes if isinstance(value, Lanes) else scalar


@intrinsic
def select(context, condition, yes, no):
    """Return `yes` where the condition holds, else `no`: a register if any of the three is one.

    The result has the type of `yes`, or of `no` if `yes` is a number in the source of a formula.
    """
    out = no if isinstance(yes, NumberType) else types.unliteral(yes)
    if isinstance(out, NumberType):
        out = types.int32 if yes == no == WHOLE else types.float32
    if isinstance(condition, Lanes) or isinstance(no, Lanes):
        out = out if isinstance(out, Lanes) else lanes_of(out)
    return out(condition, yes, no), lambda c, b, s, a: b.select(a[0], *(widened(c, b, a[k], s.args[k], out) for k in (1, 2)))


@intrinsic
def to_int(context, value):
    """Float -> int32, towards zero; the value must fit."""
    out = _kind(value, i32v, types.int32)
    return out(value), lambda c, b, s, a: b.fptosi(a[0], c.get_value_type(out))


@intrinsic
def to_float(context, value):
    """int32 -> float32, rounded to nearest."""
    out = _kind(value, f32v, types.float32)
    return out(value), lambda c, b, s, a: b.sitofp(a[0], c.get_value_type(out))


def _call_llvm(function, c, b, s, a):
    """LLVM's own function of one float, or of a register of them."""
    kind = a[0].type
    wide = isinstance(kind, ir.VectorType)
    bits = 64 if (kind.element if wide else kind) == ir.DoubleType() else 32
    name = f"llvm.{function}." + (f"v{LANES}f{bits}" if wide else f"f{bits}")
    return b.call(function_of(b, name, kind, kind), a)


@intrinsic
def floor(context, value):
    """The greatest whole number that is not above it, as a float."""
    return value(value), partial(_call_llvm, "floor")


@intrinsic
def bits(context, value, shift, mask):
    """(value >> shift) & mask of the 32 bits of an int32; both are literals."""
    if isinstance(shift, types.IntegerLiteral) and isinstance(mask, types.IntegerLiteral):
        return value(value, shift, mask), lambda c, b, s, a: b.and_(
            b.lshr(a[0], number(a[0].type, shift.literal_value)), number(a[0].type, mask.literal_value))
    return None


@formula
def quotient(value: Int, by: int) -> Int:
    """value // by, of whole numbers from 0 on; the quotient must be below 2**22, for it is first found in float32."""
    near = to_int(to_float(value) * (1 / np.float32(by)))
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
        integer = i32v.llvm if isinstance(a[0].type, ir.VectorType) else I32
        bits = b.lshr(b.bitcast(a[0], integer), number(integer, 1))
        return b.bitcast(b.sub(number(integer, 0x5F3759DF), bits), a[0].type)
    return value(value), code


@formula
def inverse_root(value: Float) -> Float:
    """1 / sqrt(value), at most 0.18% too small, by one step of Newton's method: a root and a division take longer in lanes.

    Of 0 it is a number around 2e19, not infinity.
    """
    guess = _guess_inverse_root(value)
    return guess * (1.5 - 0.5 * value * guess * guess)


@intrinsic
def scramble(context, value):
    """The integer hash `lowbias32` (hashing.py): int32 -> int32."""
    return value(value), lambda c, b, s, a: lowbias32(
        a[0], b.xor, lambda h, n: b.lshr(h, number(h.type, n)), lambda h, n: b.mul(h, number(h.type, n)))


@intrinsic
def bits_xor(context, value, key):
    """`value ^ key` in 32 bits; the key is an int32, or sixteen."""
    if isinstance(value, Lanes) and not isinstance(key, Lanes):
        return value(value, types.int32), lambda c, b, s, a: b.xor(a[0], repeat(b, a[1], LANES))
    return value(value, key if isinstance(key, Lanes) else types.int32), lambda c, b, s, a: b.xor(a[0], a[1])


@formula
def chance(identity: Int, key: Int) -> Float:
    """Uniform in [-1, 1), for one id or for sixteen; `key` stands for (seed, tick, purpose), see hashing.py."""
    return to_float(scramble(bits_xor(identity, key))) * 2.0**-31


@intrinsic
def modulo(context, value, divisor, inverse):
    """`value % divisor` by a product with `inverse`, 2**32 / divisor rounded up: exact for 0 <= value < 2**28 and up to 16."""
    def code(c, b, s, a):
        numbers = a[1], a[2], number(I64, 32)
        by, times, half = (repeat(b, each, LANES) for each in numbers) if isinstance(s.args[0], Lanes) else numbers
        wide = b.zext(a[0], by.type)
        return b.trunc(b.sub(wide, b.mul(b.lshr(b.mul(wide, times), half), by)), a[0].type)
    return value(value, types.int64, types.int64), code


@intrinsic
def lane_numbers(context):
    """0, 1, ... 15."""
    return i32v(), lambda c, b, s, a: ir.Constant(i32v.llvm, list(range(LANES)))


@intrinsic
def width_of(context, like):
    """16 for a register, 1 for a number."""
    width = LANES if isinstance(like, Lanes) else 1
    return types.intp(like), lambda c, b, s, a: number(I64, width)


@intrinsic
def count_set(context, lanes):
    return types.int64(mask), lambda c, b, s, a: b.zext(b.ctpop(b.bitcast(a[0], ir.IntType(LANES))), I64)


@device
def are_contiguous(indices: Int, first: Int) -> bool:
    """Return whether sixteen indices follow each other; `first` is that of the first lane."""
    return count_set(indices == lane_numbers() + first) == LANES


@device
def share_of_registers(count: int, worker: int, workers: int) -> tuple[int, int]:
    """Return (first, end) of a worker's share of `count` elements, in whole registers: the last may extend beyond them."""
    registers = (count + LANES - 1) // LANES
    return registers * worker // workers * LANES, registers * (worker + 1) // workers * LANES


@device
def first_at(values: Ints, value: int) -> int:
    """Return the first k with values[k] >= value, in ascending values, or their number.

    By bisection: `np.searchsorted` takes half a second to compile.
    """
    low, high = 0, values.shape[0]
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@intrinsic
def total(context, value):
    """The sum of all lanes, modulo 2**32."""
    return types.int64(i32v), lambda c, b, s, a: b.sext(
        b.call(function_of(b, f"llvm.vector.reduce.add.v{LANES}i32", I32, i32v.llvm), a), I64)


@intrinsic
def set_lanes(context, lanes):
    """Return a mask as a number: bit k is set where lane k is."""
    return types.int64(mask), lambda c, b, s, a: b.zext(b.bitcast(a[0], ir.IntType(LANES)), I64)


@intrinsic
def lane_of(context, lanes, lane):
    return lanes.scalar(lanes, types.int64), lambda c, b, s, a: b.extract_element(a[0], a[1])


@intrinsic
def lowest_set(context, bits):
    """Return the number of the lowest bit that is set, of an int64 that is not 0."""
    return types.int64(types.int64), lambda c, b, s, a: b.cttz(a[0], ir.Constant(ir.IntType(1), 1))


@intrinsic
def next_set(context, bits):
    """Return (the number of the lowest bit that is set in each lane, 32 where there is none, the bits without it)."""
    def code(c, b, s, a):
        kind, flag = i32v.llvm, ir.IntType(1)
        count = function_of(b, f"llvm.cttz.v{LANES}i32", kind, kind, flag)
        return c.make_tuple(b, s.return_type, [b.call(count, [a[0], ir.Constant(flag, 0)]),
                                               b.and_(a[0], b.sub(a[0], number(kind, 1)))])
    return types.UniTuple(i32v, 2)(i32v), code


@intrinsic
def after(context, index):
    """Return index + 1, hidden from LLVM: it would unroll the loop and need two instructions for many masked sums."""
    def code(c, b, s, a):
        following = b.add(a[0], ir.Constant(a[0].type, 1))
        return b.asm(ir.FunctionType(following.type, [following.type]), "", "=r,0", [following], side_effect=False)
    return types.uintp(types.uintp), code


@intrinsic
def any_set(context, condition):
    """Return whether a condition is true, or that of any lane."""
    if isinstance(condition, Lanes):
        return types.boolean(condition), lambda c, b, s, a: b.icmp_unsigned(
            "!=", b.bitcast(a[0], ir.IntType(LANES)), ir.Constant(ir.IntType(LANES), 0))
    return types.boolean(types.boolean), lambda c, b, s, a: a[0]
