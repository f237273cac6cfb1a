"""Columns of any number and type, and sums of what a rule returns: tuples, for one point or for sixteen.

Numba has no loop over a tuple of arrays that differ, so these functions write the code for each element.
"""

from __future__ import annotations

from llvmlite import ir
from numba import TypingError, types
from numba.extending import intrinsic

from crowd_demo.compute import llvm
from crowd_demo.compute.llvm import unpack_tuple
from crowd_demo.compute.simd import Lanes, lanes_of, mask, widened
from crowd_demo.compute.simd_memory import is_many, put_scattered, read_at


@intrinsic
def read_columns(context, columns, index):
    """Return columns[k][index] for all columns, at one index or at sixteen as for `gather`. A number stays."""
    many = is_many(index)
    read = [kind if not isinstance(kind, types.Array) else lanes_of(kind.dtype) if many else kind.dtype
            for kind in columns]
    record = types.Tuple(read)

    def code(c, b, s, a):
        values = unpack_tuple(b, a[0], len(columns))
        return c.make_tuple(b, record, [
            read_at(c, b, c.get_data_type(kind.dtype), llvm.data_of(c, b, kind, value), index, a[1], many)
            if isinstance(kind, types.Array) else value for kind, value in zip(columns, values, strict=True)])
    return record(columns, index), code


def values_of(returned: types.Type) -> list[types.Type]:
    """The types of what a rule returns: one value, or a tuple of them."""
    return list(returned) if isinstance(returned, types.BaseTuple) else [returned]


@intrinsic
def number_of_values(context, values):
    """Return how many values are in a tuple; 0 for one that is not in a tuple."""
    count = values.count if isinstance(values, types.BaseTuple) else 0
    return types.int64(values), lambda c, b, s, a: llvm.number(llvm.I64, count)


@intrinsic
def no_sums(context, values, like, out):
    """Return a 0 for each value, of the type of the array `out`, as wide as `like`."""
    kind = lanes_of(out.dtype) if isinstance(like, Lanes) else out.dtype
    sums = types.UniTuple(kind, len(values_of(values)))
    return sums(values, like, out), lambda c, b, s, a: c.make_tuple(
        b, sums, [ir.Constant(c.get_value_type(kind), None)] * sums.count)


def _term(c, b: ir.IRBuilder, value: ir.Value, own: types.Type, kind: types.Type) -> ir.Value:
    """A value as the type of its sum; a truth value counts 1."""
    if own == mask:
        one, zero = (widened(c, b, ir.Constant(ir.IntType(64), number), types.int64, kind) for number in (1, 0))
        return b.select(value, one, zero)
    if isinstance(own, Lanes) and own != kind:
        convert = b.fpext if is_fraction(own) else b.sitofp
        return convert(value, kind.llvm)
    return widened(c, b, value, own, kind)


def is_fraction(kind: types.Type) -> bool:
    """Return whether a type, of a number, a register or a number in the source, is a float."""
    return isinstance(getattr(kind, "scalar", getattr(kind, "own", kind)), types.Float)


@intrinsic
def add_values(context, sums, wanted, values):
    """Return the sums with the values added, in the lanes that are wanted."""
    kind, kinds = sums.dtype, values_of(values)
    if not is_fraction(kind) and any(map(is_fraction, kinds)):
        raise TypingError("a fraction does not fit a sum of whole numbers")

    def code(c, b, s, a):
        terms = unpack_tuple(b, a[2], len(kinds)) if isinstance(values, types.BaseTuple) else [a[2]]
        added = []
        for before, term, own in zip(unpack_tuple(b, a[0], sums.count), terms, kinds, strict=True):
            term = _term(c, b, term, own, kind)
            after = b.fadd(before, term) if is_fraction(kind) else b.add(before, term)
            added.append(b.select(a[1], after, before))
        return c.make_tuple(b, sums, added)
    return sums(sums, wanted, values), code


@intrinsic
def put_sums(context, out, slots, wanted, sums):
    """out[k, slots] = sums[k] for the lanes that are wanted; `out` has a row for each sum."""
    def code(c, b, s, a):
        _, length = unpack_tuple(b, llvm.create_struct_proxy(out)(c, b, a[0]).shape, 2)
        element = c.get_data_type(out.dtype)
        for row, value in enumerate(unpack_tuple(b, a[3], sums.count)):
            data = llvm.element(b, element, llvm.data_of(c, b, out, a[0]), b.mul(length, ir.Constant(length.type, row)))
            if isinstance(slots, Lanes):
                put_scattered(b, sums.dtype, data, a[1], a[2], value)
            else:
                llvm.store(b, value, llvm.element(b, element, data, a[1]))
        return c.get_dummy_value()
    return types.void(out, slots, wanted, sums), code
