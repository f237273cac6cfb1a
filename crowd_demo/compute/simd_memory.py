"""Between memory and SIMD registers: runs of sixteen elements, sixteen elements anywhere, and what is written back."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from crowd_demo.compute import llvm
from crowd_demo.compute.llvm import I32, I64, function_of, impl_ret_borrowed
from crowd_demo.compute.simd import LANES, Lanes, f32v, i32v, lanes_of, mask


def element_at(context, builder: ir.IRBuilder, signature, args: Sequence[ir.Value], array: int = 0) -> ir.Value:
    """The address of args[array][args[array + 1]]."""
    kind = signature.args[array]
    data = llvm.data_of(context, builder, kind, args[array])
    return llvm.element(builder, context.get_data_type(kind.dtype), data, args[array + 1])


def _one(c, b, s, a):
    return llvm.load(b, c.get_data_type(s.args[0].dtype), element_at(c, b, s, a))


def _run(c, b, s, a):
    return llvm.load(b, lanes_of(s.args[0].dtype).llvm, element_at(c, b, s, a), align=4)


def _scattered(c, b, s, a):
    """Sixteen loads: indices in memory take half as long as those in a register or the CPU's own gather."""
    data, kind = llvm.data_of(c, b, s.args[0], a[0]), c.get_data_type(s.args[0].dtype)
    index = llvm.data_of(c, b, s.args[1], a[1]) if isinstance(s.args[1], types.Array) else None
    value: ir.Value = ir.Constant(lanes_of(s.args[0].dtype).llvm, ir.Undefined)
    for lane in range(LANES):
        number = ir.Constant(I32, lane)
        at = llvm.load(b, I32, llvm.element(b, I32, index, number)) if index else b.extract_element(a[1], number)
        element = llvm.load(b, kind, llvm.element(b, kind, data, b.sext(at, I64)))
        if s.args[0].dtype == types.uint8:
            element = b.zext(element, I32)
        value = b.insert_element(value, element, number)
    return value


def _is_many(index: types.Type) -> bool:
    """Is it sixteen indices, in a register or at the beginning of an array?"""
    return isinstance(index, Lanes | types.Array)


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
    return lanes_of(array.dtype)(array, types.intp), _run


@intrinsic
def store(context, array, index, value):
    """array[index:index+16] = value, or array[index] = value, by the type of the value."""
    def code(c, b, s, a):
        llvm.store(b, a[2], element_at(c, b, s, a), align=4)
        return c.get_dummy_value()
    return types.void(array, types.intp, value), code


@intrinsic
def gather(context, array, index):
    """array[index] for one index or, lane by lane, for sixteen, in a register or in an array; they must lie in the array."""
    if not _is_many(index):
        return array.dtype(array, types.intp), _one
    return lanes_of(array.dtype)(array, index), _scattered


@intrinsic
def take(context, array, slots):
    """Return sixteen elements: those in sixteen slots, in a register or in an array, or the run that begins at one slot."""
    if _is_many(slots):
        return lanes_of(array.dtype)(array, slots), _scattered
    return lanes_of(array.dtype)(array, types.intp), _run


@intrinsic
def put(context, array, slots, wanted, value):
    """Write those lanes that are wanted to the elements in a register of slots, or to the run that begins at one slot."""
    kind = lanes_of(array.dtype)

    def code(c, b, s, a):
        if not isinstance(s.args[1], Lanes):
            _masked(b, "store", kind, a[3], llvm.cast(b, element_at(c, b, s, a), kind.llvm), a[2])
            return c.get_dummy_value()
        data = llvm.data_of(c, b, s.args[0], a[0])
        every = b.icmp_signed("==", b.bitcast(a[2], ir.IntType(LANES)), ir.Constant(ir.IntType(LANES), -1))
        with b.if_else(every, likely=True) as (all_of_them, some):
            with all_of_them:  # sixteen stores: the CPU's own scatter takes half as long again
                for lane in range(LANES):
                    number = ir.Constant(I32, lane)
                    at = llvm.element(b, kind.llvm.element, data, b.sext(b.extract_element(a[1], number), I64))
                    llvm.store(b, b.extract_element(a[3], number), at)
            with some:
                where = llvm.elements(b, kind.llvm.element, data, b.sext(a[1], ir.VectorType(I64, LANES)))
                _masked(b, "scatter", kind, a[3], where, a[2])
        return c.get_dummy_value()
    at = i32v if isinstance(slots, Lanes) else types.intp
    return types.void(array, at, mask, kind), code


def _masked(b: ir.IRBuilder, how: str, kind: Lanes, value: ir.Value, where: ir.Value, wanted: ir.Value) -> None:
    """Write the wanted lanes of a value to one place or, each by itself, to sixteen."""
    pointers = f"v{LANES}p0" if how == "scatter" else "p0"
    name = f"llvm.masked.{how}.v{LANES}{'f' if kind is f32v else 'i'}32.{pointers}"
    write = function_of(b, name, ir.VoidType(), kind.llvm, where.type, I32, mask.llvm)
    b.call(write, [value, where, ir.Constant(I32, 4), wanted])


@intrinsic
def pick(context, array, at, like):
    """Return array[at], or sixteen elements from there on; as wide as `like`."""
    if isinstance(like, Lanes):
        return lanes_of(array.dtype)(array, types.intp, like), _run
    return array.dtype(array, types.intp, like), _one


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
    def code(c, b, s, a):
        return b.atomic_rmw("add", llvm.data_of(c, b, s.args[0], a[0]), a[1], "monotonic")
    return types.int64(counter, types.int64), code


@intrinsic
def add_at(context, array, index, value):
    """Atomically add a whole number to array[index] and return what it was."""
    def code(c, b, s, a):
        return b.atomic_rmw("add", element_at(c, b, s, a), c.cast(b, a[2], s.args[2], array.dtype), "monotonic")
    return array.dtype(array, types.intp, value), code


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
