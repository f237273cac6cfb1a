"""Between memory and SIMD registers: elements by one index, by a run of sixteen or by any sixteen, records, and atomics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from llvmlite import ir
from numba import TypingError, typeof, types
from numba.extending import intrinsic

from crowd_demo.compute import llvm
from crowd_demo.compute.arrays import Int
from crowd_demo.compute.llvm import I8, I32, I64, function_of, impl_ret_borrowed
from crowd_demo.compute.simd import LANES, Lanes, f32v, f64v, i32v, lanes_of, mask

MAX_FIELDS = 11  # of a record
LANE_NAMES = {f32v: "f32", f64v: "f64", i32v: "i32"}  # what LLVM calls a lane


class Contiguous(NamedTuple):
    """Sixteen contiguous indices; `gather` takes it in place of one index or of any sixteen."""

    first: Int


def element_at(context, builder: ir.IRBuilder, signature, args: Sequence[ir.Value], array: int = 0) -> ir.Value:
    """The address of args[array][args[array + 1]]."""
    kind = signature.args[array]
    data = llvm.data_of(context, builder, kind, args[array])
    return llvm.element(builder, context.get_data_type(kind.dtype), data, args[array + 1])


def is_many(index: types.Type) -> bool:
    """Return whether it is sixteen indices: in a register, at the beginning of an array, or contiguous."""
    return isinstance(index, Lanes | types.Array | types.BaseTuple)


def read_at(c, b: ir.IRBuilder, kind: ir.Type, data: ir.Value, index: types.Type, at: ir.Value, many: bool) -> ir.Value:
    """Load what lies from the address `data` on: the element at an index, or sixteen from there on or at sixteen indices."""
    if isinstance(index, types.BaseTuple):
        at = b.extract_value(at, 0)
    elif is_many(index):
        return _read_scattered(c, b, kind, data, index, at)
    where = llvm.element(b, kind, data, at)
    return llvm.load(b, ir.VectorType(kind, LANES), where, align=4) if many else llvm.load(b, kind, where)


def _read_scattered(c, b: ir.IRBuilder, kind: ir.Type, data: ir.Value, index: types.Type, at: ir.Value) -> ir.Value:
    """Sixteen loads: indices in memory take half as long as those in a register or the CPU's own gather."""
    indices = llvm.data_of(c, b, index, at) if isinstance(index, types.Array) else None
    value: ir.Value = ir.Constant(ir.VectorType(I32 if kind == I8 else kind, LANES), ir.Undefined)
    for lane in range(LANES):
        number = ir.Constant(I32, lane)
        one = llvm.load(b, I32, llvm.element(b, I32, indices, number)) if indices else b.extract_element(at, number)
        element = llvm.load(b, kind, llvm.element(b, kind, data, b.sext(one, I64)))
        value = b.insert_element(value, b.zext(element, I32) if kind == I8 else element, number)
    return value


def _from_array(c, b, s, a):
    """array[index], the first two arguments of an intrinsic that returns one element or a register."""
    kind, data = c.get_data_type(s.args[0].dtype), llvm.data_of(c, b, s.args[0], a[0])
    return read_at(c, b, kind, data, s.args[1], a[1], isinstance(s.return_type, Lanes))


@intrinsic
def onward(context, array, index):
    """array[index:], without its length."""
    def code(c, b, s, a):
        rest = b.insert_value(a[0], element_at(c, b, s, a), c.data_model_manager[s.args[0]].get_field_position("data"))
        return impl_ret_borrowed(c, b, s.return_type, rest)
    return array(array, types.intp), code


@intrinsic
def load(context, array, index):
    """array[index:index+16]; the array must be padded so that the last register ends inside it."""
    return lanes_of(array.dtype)(array, types.intp), _from_array


@intrinsic
def store(context, array, index, value):
    """array[index:index+16] = value, or array[index] = value, by the type of the value."""
    def code(c, b, s, a):
        llvm.store(b, a[2], element_at(c, b, s, a), align=4)
        return c.get_dummy_value()
    return types.void(array, types.intp, value), code


@intrinsic
def gather(context, array, index):
    """array[index] for one index, or for sixteen: contiguous, in an array or in a register. They must lie in the array."""
    if is_many(index):
        return lanes_of(array.dtype)(array, index), _from_array
    return array.dtype(array, types.intp), _from_array


@intrinsic
def put(context, array, slots, wanted, value):
    """Write those lanes that are wanted to the elements in a register of slots, or to the run that begins at one slot."""
    kind = lanes_of(array.dtype)

    def code(c, b, s, a):
        if isinstance(s.args[1], Lanes):
            put_scattered(b, kind, llvm.data_of(c, b, s.args[0], a[0]), *a[1:])
        else:
            _masked(b, "store", kind, a[3], llvm.cast(b, element_at(c, b, s, a), kind.llvm), a[2])
        return c.get_dummy_value()
    at = i32v if isinstance(slots, Lanes) else types.intp
    return types.void(array, at, mask, kind), code


def put_scattered(b: ir.IRBuilder, kind: Lanes, data: ir.Value, slots: ir.Value, wanted: ir.Value, value: ir.Value) -> None:
    every = b.icmp_signed("==", b.bitcast(wanted, ir.IntType(LANES)), ir.Constant(ir.IntType(LANES), -1))
    with b.if_else(every, likely=True) as (all_of_them, some):
        with all_of_them:  # sixteen stores: the CPU's own scatter takes half as long again
            for lane in range(LANES):
                number = ir.Constant(I32, lane)
                at = llvm.element(b, kind.llvm.element, data, b.sext(b.extract_element(slots, number), I64))
                llvm.store(b, b.extract_element(value, number), at)
        with some:
            where = llvm.elements(b, kind.llvm.element, data, b.sext(slots, ir.VectorType(I64, LANES)))
            _masked(b, "scatter", kind, value, where, wanted)


def _masked(b: ir.IRBuilder, how: str, kind: Lanes, value: ir.Value, where: ir.Value, wanted: ir.Value) -> None:
    """Write the wanted lanes of a value to one place or, each by itself, to sixteen."""
    pointers = f"v{LANES}p0" if how == "scatter" else "p0"
    name = f"llvm.masked.{how}.v{LANES}{LANE_NAMES[kind]}.{pointers}"
    write = function_of(b, name, ir.VoidType(), kind.llvm, where.type, I32, mask.llvm)
    b.call(write, [value, where, ir.Constant(I32, 4), wanted])


def _has_compress(c) -> bool:
    """Return whether one instruction moves the wanted lanes of a register to its beginning."""
    return llvm.VERSION >= (19,) and "+avx512f" in c.codegen().magic_tuple()[2]


@intrinsic
def has_compress(context):
    """Return whether `put_compressed` writes anything: the processor or LLVM may not have what it needs."""
    return types.boolean(), lambda c, b, s, a: ir.Constant(ir.IntType(1), int(_has_compress(c)))


@intrinsic
def put_compressed(context, array, at, wanted, value):
    """Write those lanes that are wanted, one behind the other, from array[at] on: an array and a register of int32."""
    def code(c, b, s, a):
        if _has_compress(c):
            kind, bits = i32v.llvm, ir.IntType(LANES)
            name = f"llvm.experimental.vector.compress.v{LANES}i32"
            packed = b.call(function_of(b, name, kind, kind, mask.llvm, kind), [a[3], a[2], ir.Constant(kind, ir.Undefined)])
            count = b.zext(b.ctpop(b.bitcast(a[2], bits)), I32)
            first = b.trunc(b.sub(b.shl(ir.Constant(I32, 1), count), ir.Constant(I32, 1)), bits)  # so many lanes
            where = llvm.cast(b, element_at(c, b, s, a), kind)
            _masked(b, "store", i32v, packed, where, b.bitcast(first, mask.llvm))
        return c.get_dummy_value()
    return types.void(array, types.uintp, mask, i32v), code


@intrinsic
def pick(context, array, at, like):
    """Return array[at], or sixteen elements from there on; as wide as `like`."""
    return (lanes_of(array.dtype) if isinstance(like, Lanes) else array.dtype)(array, types.intp, like), _from_array


# --- records: a row of an int32 matrix for each field, in which float32 keep their bits ------------------------------

def _row(c, b: ir.IRBuilder, kind: types.Array, matrix: ir.Value, row: int) -> ir.Value:
    if row == MAX_FIELDS:
        raise TypingError(f"a record can have at most {MAX_FIELDS} fields")
    length = b.extract_value(matrix, (c.data_model_manager[kind].get_field_position("shape"), 1))
    return llvm.element(b, I32, llvm.data_of(c, b, kind, matrix), b.mul(length, ir.Constant(length.type, row)))


@intrinsic
def store_record(context, matrix, index, record):
    """matrix[k, index:index+16] = record[k] for all fields of a record of sixteen."""
    def code(c, b, s, a):
        for row in range(len(record)):
            value = b.extract_value(a[2], row)
            where = llvm.element(b, value.type.element, _row(c, b, matrix, a[0], row), a[1])
            llvm.store(b, value, where, align=4)
        return c.get_dummy_value()
    return types.void(matrix, types.intp, record), code


@intrinsic
def load_record(context, function, rules, columns, matrix, index):
    """Return record[k] = matrix[k, index] for all fields of what function(rules, columns, Contiguous(...)) returns.

    The index is one, or sixteen as for `gather`.
    """
    many = is_many(index)
    fields = function.get_call_type(context, (rules, columns, typeof(Contiguous(0))), {}).return_type
    kind = getattr(fields, "instance_class", None)
    record = types.BaseTuple.from_types([field if many else field.scalar for field in fields], kind)
    return record(function, rules, columns, matrix, index), lambda c, b, s, a: c.make_tuple(b, record, [
        read_at(c, b, field.llvm.element, _row(c, b, matrix, a[3], row), index, a[4], many)
        for row, field in enumerate(fields)])


@intrinsic
def store_bytes(context, array, index, value, count):
    """array[index:index+count] = value, the first of sixteen int32 from 0 to 255, in an array of uint8."""
    def code(c, b, s, a):
        small = ir.VectorType(ir.IntType(8), LANES)
        where, narrow = element_at(c, b, s, a), b.trunc(a[2], small)
        whole = b.icmp_signed(">=", a[3], ir.Constant(a[3].type, LANES))
        with b.if_else(whole) as (all_of_it, some):
            with all_of_it:
                llvm.store(b, narrow, where, align=1)
            with some:
                for lane in range(LANES):
                    with b.if_then(b.icmp_signed("<", ir.Constant(a[3].type, lane), a[3])):
                        number = ir.Constant(I32, lane)
                        llvm.store(b, b.extract_element(narrow, number), llvm.element(b, small.element, where, number))
        return c.get_dummy_value()
    return types.void(array, types.intp, i32v, types.intp), code


@intrinsic
def take_block(context, counter, size):
    """Atomically add `size` to counter[0] and return what it was: workers share a queue of work without a lock."""
    return types.int64(counter, types.int64), lambda c, b, s, a: b.atomic_rmw(
        "add", llvm.data_of(c, b, s.args[0], a[0]), a[1], "monotonic")


@intrinsic
def add_at(context, array, index, value):
    """Atomically add a whole number to array[index] and return what it was."""
    return array.dtype(array, types.intp, value), lambda c, b, s, a: b.atomic_rmw(
        "add", element_at(c, b, s, a), c.cast(b, a[2], s.args[2], array.dtype), "monotonic")


@intrinsic
def lower_to(context, array, index, value):
    """Atomically make array[index], a whole number, at most as large as the value."""
    def code(c, b, s, a):
        b.atomic_rmw("min", element_at(c, b, s, a), c.cast(b, a[2], s.args[2], array.dtype), "monotonic")
        return c.get_dummy_value()
    return types.void(array, types.intp, value), code


@intrinsic
def raise_to(context, array, index, value):
    """Atomically make array[index], a float32 from 0 on, at least as large as the value."""
    def code(c, b, s, a):
        where = llvm.cast(b, element_at(c, b, s, a), I32)  # such numbers are in the order of their bits
        b.atomic_rmw("max", where, b.bitcast(a[2], I32), "monotonic")
        return c.get_dummy_value()
    return types.void(array, types.intp, types.float32), code
