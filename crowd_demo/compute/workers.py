"""What Python calls of a kernel: it unpacks the arguments and hands each worker its share, through Numba's pool of threads.

Numba's `parallel=True` makes a loop nest, a generalised ufunc and its scheduling out of every kernel, which took two fifths of
the time to compile them all. Its own code between Python and a compiled function checks every array of every record, and
passes them all on by value: a quarter of what was left. Here they are laid out one after the other in a flat record in
memory, and the pool gets a pointer to that and one to the kernel's body. A call costs no more than before.

The pool has to be started before code that names it is compiled or loaded from the cache; `compute/jit.py` does that.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.funcdesc import FunctionDescriptor
from numba.core.pythonapi import PythonAPI

BYTES = ir.IntType(8).as_pointer()
INTP = ir.IntType(64) if types.intp.bitwidth == 64 else ir.IntType(32)


def build_entry(context: BaseContext, module: ir.Module, name: str, body: FunctionDescriptor, kinds: types.BaseTuple) -> None:
    """Add to a module the function of that name for Python: body(worker, workers, *args) for worker in range(workers).

    Python calls it with the number of workers and a tuple of arguments of these kinds, already known to have them.
    """
    thunk, record_type = _thunk(context, module, context.declare_function(module, body), kinds)
    python = context.get_argument_type(types.pyobject)
    entry = ir.Function(module, ir.FunctionType(python, [python] * 3), name=name)
    builder = ir.IRBuilder(entry.append_basic_block())
    api = context.get_python_api(builder)
    workers = builder.trunc(api.long_as_longlong(api.tuple_getitem(entry.args[1], 0)), INTP)
    record = cgutils.alloca_once(builder, record_type)
    _unpack(context, builder, api, api.tuple_getitem(entry.args[1], 1), kinds, record, 0)
    with cgutils.if_unlikely(builder, cgutils.is_not_null(builder, api.err_occurred())):
        builder.ret(api.get_null_object())
    unlocked = api.save_thread()
    _share_out(builder, module, thunk, workers, builder.bitcast(record, BYTES))
    api.restore_thread(unlocked)
    api.return_none()


def _leaves(context: BaseContext, kind: types.Type) -> tuple[ir.Type, ...]:
    """The numbers and pointers that an argument consists of, as compiled functions take them."""
    return tuple(context.get_arg_packer([kind]).argument_types)


def _unpack(context: BaseContext, builder: ir.IRBuilder, api: PythonAPI, value: ir.Value, kind: types.Type, record: ir.Value,
            at: int) -> int:
    """Write the leaves of a Python value to the record from its leaf `at` on; return the leaf after them."""
    if isinstance(kind, types.BaseTuple):
        for k, each in enumerate(kind):
            at = _unpack(context, builder, api, api.tuple_getitem(value, k), each, record, at)
        return at
    where = cgutils.gep_inbounds(builder, record, 0, at)
    if isinstance(kind, types.Array):
        api.numba_array_adaptor(value, builder.bitcast(where, BYTES))
    elif kind in (types.float32, types.float64):
        builder.store(context.cast(builder, api.float_as_double(value), types.float64, kind), where)
    else:
        native = api.to_native_value(kind, value).value
        builder.store(context.data_model_manager[kind].as_argument(builder, native), where)
    return at + len(_leaves(context, kind))


def _share_out(builder: ir.IRBuilder, module: ir.Module, thunk: ir.Function, workers: ir.Value, record: ir.Value) -> None:
    """Let the pool call the thunk for each worker; a single one does not go there, where it would wait 30 us for a thread."""
    bases = cgutils.alloca_once_value(builder, record)
    sizes = cgutils.alloca_once_value(builder, workers)
    steps = cgutils.alloca_once(builder, INTP, size=2)
    builder.store(ir.Constant(INTP, 1), steps)
    builder.store(workers, builder.gep(steps, [ir.Constant(INTP, 1)]))
    alone = builder.icmp_signed("==", workers, ir.Constant(INTP, 1))
    with builder.if_else(alone) as (here, elsewhere):
        with here:
            builder.call(thunk, [bases, sizes, steps, record])
        with elsewhere:
            kind = ir.FunctionType(ir.VoidType(), [BYTES] * 5 + [INTP] * 3)
            pool = cgutils.get_or_insert_function(module, kind, "numba_parallel_for")
            most = builder.call(cgutils.get_or_insert_function(module, ir.FunctionType(INTP, []), "get_num_threads"), [])
            threads = builder.select(builder.icmp_signed("<", workers, most), workers, most)
            pointers = [builder.bitcast(value, BYTES) for value in (thunk, bases, sizes, steps)]
            builder.call(pool, [*pointers, record, ir.Constant(INTP, 0), ir.Constant(INTP, 1), threads])


def _thunk(context: BaseContext, module: ir.Module, body: ir.Function, kinds: types.BaseTuple) -> tuple[ir.Function, ir.Type]:
    """What the pool calls, once a worker: void(char **bases, intp *sizes, intp *steps, void *record); and the record's type.

    The step is 1, so a call gets the base that the number of its first worker is away from the record; sizes[0] are its
    workers, several where there are fewer threads, and steps[1] all of them.
    """
    record_type = ir.LiteralStructType(_leaves(context, kinds))
    kind = ir.FunctionType(ir.VoidType(), [BYTES.as_pointer(), INTP.as_pointer(), INTP.as_pointer(), BYTES])
    thunk = ir.Function(module, kind, name=f"share_{body.name}")
    thunk.linkage = "internal"
    builder = ir.IRBuilder(thunk.append_basic_block())
    bases, sizes, steps, data = thunk.args
    first = builder.sub(builder.ptrtoint(builder.load(bases), INTP), builder.ptrtoint(data, INTP))
    workers = builder.load(builder.gep(steps, [ir.Constant(INTP, 1)]))
    record = builder.bitcast(data, record_type.as_pointer())
    leaves = [builder.load(cgutils.gep_inbounds(builder, record, 0, k)) for k in range(len(record_type.elements))]
    returned = [cgutils.alloca_once(builder, each.pointee) for each in body.function_type.args[:2]]  # nothing and no error
    with cgutils.for_range(builder, builder.load(sizes), intp=INTP) as loop:
        builder.call(body, [*returned, builder.add(first, loop.index), workers, *leaves])
    builder.ret_void()
    return thunk, record_type
