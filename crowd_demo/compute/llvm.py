"""Addresses, loads and stores in LLVM's code, for all versions of llvmlite: before 0.45 a pointer says what it points to.

Addresses are made by `getelementptr` alone: LLVM 22 may miscompile those that are made of integers (Numba issue #10695).

The names of `numba.core` that intrinsics and types of ours need, however kernels are compiled, are imported here and nowhere
else (numba_private.py has those that only make compiling quicker). Most of Numba's own extensions use them, and they have not
changed since 0.53. Without them:

    alloca_once, for_range, unpack_tuple    a few instructions each, which llvmlite's IRBuilder writes
    create_struct_proxy                     `extract_value` by the position of a field, as in `data_of`
    impl_ret_borrowed                       the value itself, where no references are counted
    AbstractTemplate, infer_global          `numba.extending.type_callable`, which takes longer for each operator
    Conversion, lower_constant              numbers of formulas would be written `np.float32(1)` (dispatch.py)
"""

from __future__ import annotations

from llvmlite import binding, ir
from numba import types
from numba.core.cgutils import alloca_once, alloca_once_value, create_struct_proxy, for_range, unpack_tuple
from numba.core.imputils import impl_ret_borrowed, lower_constant
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global

__all__ = ["AbstractTemplate", "Conversion", "alloca_once", "alloca_once_value", "cast", "create_struct_proxy", "data_of",
           "element", "elements", "for_range", "function_of", "impl_ret_borrowed", "infer_global", "load", "lower_constant",
           "number", "pointer_to", "repeat", "store", "unpack_tuple"]

VERSION = binding.llvm_version_info
TYPED = VERSION < (17,)  # of llvmlite 0.43 and 0.44: pointers say what they point to
I8, I32, I64 = (ir.IntType(bits) for bits in (8, 32, 64))


def pointer_to(kind: ir.Type) -> ir.Type:
    return ir.PointerType(kind) if TYPED else ir.PointerType()


def cast(b: ir.IRBuilder, where: ir.Value, kind: ir.Type) -> ir.Value:
    """The same address, of a value of another kind."""
    return b.bitcast(where, pointer_to(kind))


def load(b: ir.IRBuilder, kind: ir.Type, where: ir.Value, align: int | None = None) -> ir.Value:
    return b.load(cast(b, where, kind), align=align) if TYPED else b.load(where, align=align, typ=kind)


def store(b: ir.IRBuilder, value: ir.Value, where: ir.Value, align: int | None = None) -> None:
    b.store(value, cast(b, where, value.type), align=align)


def element(b: ir.IRBuilder, kind: ir.Type, first: ir.Value, *index: ir.Value) -> ir.Value:
    """The address of first[index], where `first` is the address of something of that kind, an element or a record."""
    if TYPED:
        return b.gep(cast(b, first, kind), index)
    found = b.gep(first, index, source_etype=kind)
    found.type = ir.PointerType()  # Numba's own pointers may still say what they point to
    return found


def elements(b: ir.IRBuilder, kind: ir.Type, first: ir.Value, indices: ir.Value) -> ir.Value:
    """The addresses of first[index] for a register of indices."""
    count = indices.type.count
    if not TYPED:
        return b.gep(repeat(b, first, count), [indices], source_etype=kind)
    found = ir.Constant(ir.VectorType(pointer_to(kind), count), ir.Undefined)
    for lane in range(count):
        number = ir.Constant(I32, lane)
        found = b.insert_element(found, element(b, kind, first, b.extract_element(indices, number)), number)
    return found


def repeat(b: ir.IRBuilder, value: ir.Value, count: int) -> ir.Value:
    """A register with a value in all lanes; LLVM folds it into the operand of the next instruction."""
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = b.insert_element(undefined, value, ir.Constant(I32, 0))
    return b.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(I32, count), [0] * count))


def number(kind: ir.Type, value: int) -> ir.Constant:
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


def function_of(b: ir.IRBuilder, name: str, result: ir.Type, *arguments: ir.Type) -> ir.Function:
    known = b.module.globals.get(name)
    return known or ir.Function(b.module, ir.FunctionType(result, arguments), name)


def data_of(context, b: ir.IRBuilder, kind: types.Array, array: ir.Value) -> ir.Value:
    """The address of an array's first element."""
    return b.extract_value(array, context.data_model_manager[kind].get_field_position("data"))
