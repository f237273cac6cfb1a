"""Hand each worker its share of a kernel, through Numba's own pool of threads and without `parallel=True`.

`parallel=True` makes a loop nest, a generalised ufunc and its scheduling out of every kernel, which took two fifths of the
time to compile them all. Here a kernel stays an ordinary function: one intrinsic gives the pool a pointer to its body and a
pointer to its arguments. A call costs the same as before.

The pool has to be started before code that names it is compiled or loaded from the cache; `compute/jit.py` does that.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def for_each_worker(typing: Any, share: Any, workers: Any, args: Any) -> Any:
    """share(worker, workers, *args) for worker in range(workers), on a thread each as far as there are so many."""
    resolved = share.get_call_type(typing, (types.intp, types.intp, *args.types), {})

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte, intp = ir.IntType(8).as_pointer(), context.get_value_type(types.intp)
        result = share.dispatcher.get_compile_result(resolved)
        context.add_linking_libs([result.library])
        body = context.declare_function(builder.module, result.fndesc)
        thunk = _thunk(context, builder.module, body, resolved, values[2].type, len(args.types), byte, intp)

        total = context.cast(builder, values[1], signature.args[1], types.intp)
        bases = cgutils.alloca_once_value(builder, ir.Constant(byte, None))
        sizes = cgutils.alloca_once_value(builder, total)
        steps = cgutils.alloca_once(builder, intp, size=2)
        builder.store(ir.Constant(intp, 1), builder.gep(steps, [ir.Constant(intp, 0)]))
        builder.store(total, builder.gep(steps, [ir.Constant(intp, 1)]))
        record = cgutils.alloca_once_value(builder, values[2])
        kind = ir.FunctionType(ir.VoidType(), [byte] * 5 + [intp] * 3)
        pool = cgutils.get_or_insert_function(builder.module, kind, "numba_parallel_for")
        count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(intp, []), "get_num_threads")
        untyped = builder.bitcast(record, byte)
        alone = builder.icmp_signed("==", total, ir.Constant(intp, 1))
        with builder.if_else(alone) as (here, elsewhere):
            with here:  # the pool takes 30 us to hand one share to the thread that asks
                builder.call(thunk, [bases, sizes, steps, untyped])
            with elsewhere:
                pointers = [builder.bitcast(value, byte) for value in (thunk, bases, sizes, steps)]
                most = builder.call(count, [])
                threads = builder.select(builder.icmp_signed("<", total, most), total, most)
                builder.call(pool, [*pointers, untyped, ir.Constant(intp, 0), ir.Constant(intp, 1), threads])
        return context.get_dummy_value()

    return types.void(share, workers, args), code


def _thunk(context: Any, module: Any, body: Any, resolved: Any, record: Any, size: int, byte: Any, intp: Any) -> Any:
    """What the pool calls, once a worker: void(char **bases, intp *sizes, intp *steps, void *record).

    The base is null and the step 1, so the base that a call gets is the number of its worker; steps[1] says how many.
    """
    kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), intp.as_pointer(), intp.as_pointer(), byte])
    thunk = ir.Function(module, kind, name=f"share_{body.name}")
    thunk.linkage = "internal"
    inside = ir.IRBuilder(thunk.append_basic_block())
    bases, _, steps, data = thunk.args
    worker = inside.ptrtoint(inside.load(bases), intp)
    total = inside.load(inside.gep(steps, [ir.Constant(intp, 1)]))
    args = cgutils.unpack_tuple(inside, inside.load(inside.bitcast(data, record.as_pointer())), size)
    context.call_conv.call_function(inside, body, resolved.return_type, resolved.args, [worker, total, *args])
    inside.ret_void()
    return thunk
