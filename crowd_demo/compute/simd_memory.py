"""Between memory and SIMD registers: runs of sixteen elements, sixteen elements anywhere, and what is written back."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from crowd_demo.compute.simd import I32, LANES, Lanes, f32v, i32v, lanes_of, mask, repeat


def _pointer(context: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Sequence[ir.Value], position: int,
             kind: Lanes | None = None) -> ir.Value:
    data = cgutils.create_struct_proxy(sig.args[position])(context, builder, args[position]).data
    at = builder.gep(data, [args[position + 1]])
    return builder.bitcast(at, kind.llvm.as_pointer()) if kind else at


def _one(c, b, s, a):
    return b.load(_pointer(c, b, s, a, 0))


def _run(c, b, s, a):
    value = b.load(_pointer(c, b, s, a, 0, lanes_of(s.args[0].dtype)))
    value.align = 4
    return value


def _scattered(c, b, s, a):
    """Sixteen loads: indices in memory take half as long as those in a register or the CPU's own gather."""
    data = cgutils.create_struct_proxy(s.args[0])(c, b, a[0]).data
    index = cgutils.create_struct_proxy(s.args[1])(c, b, a[1]).data if isinstance(s.args[1], types.Array) else None
    value: ir.Value = ir.Constant(lanes_of(s.args[0].dtype).llvm, ir.Undefined)
    for lane in range(LANES):
        number = ir.Constant(I32, lane)
        at = b.load(b.gep(index, [number])) if index else b.extract_element(a[1], number)
        element = b.load(b.gep(data, [b.sext(at, ir.IntType(64))]))
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
        rest = cgutils.create_struct_proxy(s.args[0])(c, b, a[0])
        rest.data = b.gep(rest.data, [a[1]])
        return rest._getvalue()
    return array(array, types.intp), code


@intrinsic
def load(context, array, index):
    """array[index:index+16]; the array must be padded so that the last register ends inside it."""
    return lanes_of(array.dtype)(array, types.intp), _run


@intrinsic
def store(context, array, index, value):
    """array[index:index+16] = value, or array[index] = value, by the type of the value."""
    def code(c, b, s, a):
        b.store(a[2], _pointer(c, b, s, a, 0, s.args[2] if isinstance(s.args[2], Lanes) else None)).align = 4
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
            _masked(b, "store", kind, a[3], _pointer(c, b, s, a, 0, kind), a[2])
            return c.get_dummy_value()
        data = cgutils.create_struct_proxy(s.args[0])(c, b, a[0]).data
        every = b.icmp_signed("==", b.bitcast(a[2], ir.IntType(LANES)), ir.Constant(ir.IntType(LANES), -1))
        with b.if_else(every, likely=True) as (all_of_them, some):
            with all_of_them:  # sixteen stores: the CPU's own scatter takes half as long again
                for lane in range(LANES):
                    number = ir.Constant(I32, lane)
                    at = b.gep(data, [b.sext(b.extract_element(a[1], number), ir.IntType(64))])
                    b.store(b.extract_element(a[3], number), at)
            with some:
                long = ir.VectorType(ir.IntType(64), LANES)
                base = repeat(b, b.ptrtoint(data, long.element))
                at = b.add(base, b.mul(b.sext(a[1], long), ir.Constant(long, [4] * LANES)))
                where = b.inttoptr(at, ir.VectorType(kind.llvm.element.as_pointer(), LANES))
                _masked(b, "scatter", kind, a[3], where, a[2])
        return c.get_dummy_value()
    at = i32v if isinstance(slots, Lanes) else types.intp
    return types.void(array, at, mask, kind), code


def _masked(b: ir.IRBuilder, how: str, kind: Lanes, value: ir.Value, where: ir.Value, wanted: ir.Value) -> None:
    """Write the wanted lanes of a value to one place or, each by itself, to sixteen."""
    pointers = f"v{LANES}p0" if how == "scatter" else "p0"
    name = f"llvm.masked.{how}.v{LANES}{'f' if kind is f32v else 'i'}32.{pointers}"
    write = ir.FunctionType(ir.VoidType(), [kind.llvm, where.type, I32, mask.llvm])
    b.call(cgutils.get_or_insert_function(b.module, write, name), [value, where, ir.Constant(I32, 4), wanted])


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
        data = cgutils.create_struct_proxy(s.args[0])(c, b, a[0]).data
        where, narrow = b.bitcast(b.gep(data, [a[1]]), small.as_pointer()), b.trunc(a[2], small)
        whole = b.icmp_signed(">=", a[3], ir.Constant(a[3].type, LANES))
        with b.if_else(whole) as (all_of_it, some):
            with all_of_it:
                b.store(narrow, where).align = 1
            with some:
                for lane in range(LANES):
                    with b.if_then(b.icmp_signed("<", ir.Constant(a[3].type, lane), a[3])):
                        number = ir.Constant(I32, lane)
                        b.store(b.extract_element(narrow, number), b.gep(data, [b.add(a[1], ir.Constant(a[1].type, lane))]))
        return c.get_dummy_value()
    return types.void(array, types.intp, i32v, types.intp), code


@intrinsic
def take_block(context, counter, size):
    """Atomically add `size` to counter[0] and return what it was: workers share a queue of work without a lock."""
    def code(c, b, s, a):
        data = cgutils.create_struct_proxy(s.args[0])(c, b, a[0]).data
        return b.atomic_rmw("add", data, a[1], "monotonic")
    return types.int64(counter, types.int64), code
