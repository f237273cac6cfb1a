"""The threads that run kernels: Numba's pool, and LLVM's code that hands each worker its share of a kernel.

The threads are TBB's where its library is installed, else OpenMP's, else those of Numba's own work queue. TBB's begin at once
and wait for nobody; OpenMP's have to be woken for each kernel (docs/design/threads.md). TBB's wheel is free but not open
source, so it is an extra: `pip install crowd-demo[fast]`.

Numba's `parallel=True` makes a loop nest, a generalised ufunc and its scheduling out of every kernel, which took two fifths of
the time to compile them all. Here all arguments are laid out one after the other in a flat record, and the pool gets the
addresses of that and of a function that calls the kernel's body. Importing this module starts the pool: code that names its
functions can only be compiled or loaded afterwards.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files

from crowd_demo.compute import numba_settings

OTHERS = ("omp", "workqueue")  # layers that NUMBA_THREADING_LAYER may ask for
LIBRARIES = ("libtbb.so.12", "libtbb.12.dylib", "tbb12.dll")


def load_tbb() -> bool:
    """Load the library of the distribution `tbb`, so that Numba finds it; return whether there is one.

    The wheel puts it where no linker looks, and setting a path would need another process.
    """
    with suppress(PackageNotFoundError, OSError):
        for file in files("tbb") or ():
            if file.name in LIBRARIES and os.environ.get("NUMBA_THREADING_LAYER") not in OTHERS:
                ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
                return True
    return False


# OpenMP's threads sleep between kernels instead of spinning. Spinning starts a kernel 30 us sooner (a step of 20k birds in
# 0.39 ms instead of 0.6), but as soon as another program wants a core it stalls whole frames: p99 0.8 ms against 50-90 ms.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
WORTH_NS = 20_000 if load_tbb() else 65_536  # of work that a worker should have: starting one takes 5 us, or 35 to 85

with numba_settings.checked():
    numba_settings.check_features()
    import numba

from llvmlite import binding, ir  # noqa: E402
from numba import types  # noqa: E402

from crowd_demo.compute import llvm  # noqa: E402

INTP = llvm.I64 if types.intp.bitwidth == 64 else llvm.I32
BYTES, INTPS = llvm.pointer_to(llvm.I8), llvm.pointer_to(INTP)
ONE = ir.Constant(INTP, 1)


def max_threads() -> int:
    return int(numba.config.NUMBA_NUM_THREADS)


def threading_layer() -> str:
    """What the threads are: tbb, omp or workqueue."""
    return str(numba.threading_layer())


with numba_settings.checked():
    numba_settings.check(max_threads(), numba.config.DISABLE_JIT)
    numba.set_num_threads(max_threads())

# Numba's functions, by their names in LLVM's code
POOL, THREADS, SET_THREADS = "numba_parallel_for", "get_num_threads", "set_num_threads"
HAS_POOL = all(map(binding.address_of_symbol, (POOL, THREADS, SET_THREADS)))


def run_shares(b: ir.IRBuilder, body: ir.Function, workers: ir.Value, record: ir.Value, kind: ir.Type) -> None:
    """Call body(worker, workers, *arguments) for each worker, in the pool.

    `body` is a function as Numba compiles it; `record` is the address of its arguments, a record of that kind. A single worker
    does not go to the pool, where it would wait 30 us for a thread.
    """
    share = _share(b.module, body, kind)
    bases, sizes = llvm.alloca_once_value(b, b.ptrtoint(record, INTP)), llvm.alloca_once_value(b, workers)
    steps = llvm.alloca_once(b, INTP, size=2)
    b.store(ONE, steps)
    b.store(workers, llvm.element(b, INTP, steps, ONE))
    pointers = [llvm.cast(b, value, llvm.I8) for value in (share, bases, sizes, steps, record)]
    with b.if_else(b.icmp_signed("==", workers, ONE)) as (here, elsewhere):
        with here:
            b.call(share, [bases, sizes, steps, pointers[-1]])
        with elsewhere:
            pool = llvm.function_of(b, POOL, ir.VoidType(), *[BYTES] * 5, *[INTP] * 3)
            most = b.call(llvm.function_of(b, THREADS, INTP), [])
            threads = b.select(b.icmp_signed("<", workers, most), workers, most)
            b.call(pool, [*pointers, ir.Constant(INTP, 0), ONE, threads])
            # TBB and OpenMP would keep this number for all kernels to come, so the pool would only ever shrink
            b.call(llvm.function_of(b, SET_THREADS, ir.VoidType(), INTP), [most])


def _share(module: ir.Module, body: ir.Function, record: ir.Type) -> ir.Function:
    """What the pool calls, once a thread: void(char **bases, intp *sizes, intp *steps, void *record).

    The step is 1, so a call gets the base that the number of its first worker is away from the record, and takes it for a
    number; sizes[0] are its workers, several where there are fewer threads, and steps[1] all of them.
    """
    kind = ir.FunctionType(ir.VoidType(), [INTPS, INTPS, INTPS, BYTES])
    share = ir.Function(module, kind, name=f"share_{body.name}")
    share.linkage = "internal"
    b = ir.IRBuilder(share.append_basic_block())
    bases, sizes, steps, data = share.args
    first = b.sub(llvm.load(b, INTP, bases), b.ptrtoint(data, INTP))
    workers = llvm.load(b, INTP, llvm.element(b, INTP, steps, ONE))
    leaves = [llvm.load(b, leaf, field(b, record, data, k)) for k, leaf in enumerate(record.elements)]
    returned = [b.bitcast(llvm.alloca_once(b, INTP), kind) for kind in body.function_type.args[:2]]  # nothing and no error
    with llvm.for_range(b, llvm.load(b, INTP, sizes), intp=INTP) as loop:
        b.call(body, [*returned, b.add(first, loop.index), workers, *leaves])
    b.ret_void()
    return share


def field(b: ir.IRBuilder, record: ir.Type, first: ir.Value, number: int) -> ir.Value:
    return llvm.element(b, record, first, ir.Constant(llvm.I32, 0), ir.Constant(llvm.I32, number))
