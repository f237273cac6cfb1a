"""Compile functions and kernels by Numba's public options: what `numba_private.py` does sooner, with the same results."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from crowd_demo.compute import cache
from crowd_demo.compute.workers import HAS_POOL, field, run_shares

# isort: split
import numba  # by workers.py first, which looks at its settings
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, typeof_impl

from crowd_demo.compute import llvm

# A division by zero is inf or nan, never a branch; the wrapper is for C.
OPTIONS: dict[str, object] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
if hasattr(numba.njit(lambda: None).targetdescr.options, "_nrt"):
    # Count no references to arrays: they belong to the caller, who keeps them for the time of the call, so no function can
    # make one. This option is private; without it *move* of 20k birds takes 0.25 instead of 0.06 ms.
    OPTIONS["_nrt"] = False
IN_KERNELS = {**OPTIONS, "no_cpython_wrapper": True}


class Device:
    """A function that kernels inline. Python may call it too: it is compiled once more for that."""

    def __init__(self, function: Callable[..., object]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.in_kernels = numba.njit(forceinline=True, **IN_KERNELS)(function)

    @functools.cached_property
    def from_python(self) -> Any:
        return _kept(numba.njit(**OPTIONS)(self.py_func), self.py_func)

    def __call__(self, *args: object) -> object:
        return self.from_python(*args)


@typeof_impl.register(Device)
def _type_of(device: Device, context: object) -> types.Type:
    return numba.typeof(device.in_kernels)


@intrinsic
def run_all(typing, share, workers, args):
    resolved = share.get_call_type(typing, (types.intp, types.intp, *args), {})

    def code(context, b, signature, values):
        compiled = share.dispatcher.get_compile_result(resolved)
        context.add_linking_libs([compiled.library])
        packer = context.get_arg_packer(list(args))
        kind = ir.LiteralStructType(packer.argument_types)
        record = llvm.alloca_once(b, kind)
        for number, leaf in enumerate(packer.as_arguments(b, llvm.unpack_tuple(b, values[2]))):
            b.store(leaf, field(b, kind, record, number))
        count = context.cast(b, values[1], signature.args[1], types.intp)
        run_shares(b, context.declare_function(b.module, compiled.fndesc), count, record, kind)
        return context.get_dummy_value()
    return types.void(share, workers, args), code


def _in_pool(workers: int, args: tuple[object, ...]) -> None:
    run_all(share, workers, args)  # type: ignore[name-defined]  # noqa: F821  (each kernel brings its share)


def _one_by_one(workers: int, args: tuple[object, ...]) -> None:
    for worker in range(workers):
        share(worker, workers, *args)  # type: ignore[name-defined]  # noqa: F821


def entry_of(share: Callable[..., None]) -> Any:
    """What Python calls with a number of workers and the arguments of each worker's share."""
    body = numba.njit(**IN_KERNELS)(share)
    function = named_like(share, _in_pool if HAS_POOL else _one_by_one, share=body, run_all=run_all)
    return _kept(numba.njit(**OPTIONS)(function), share)


def named_like(function: Callable[..., None], template: Callable[..., None], **names: object) -> FunctionType:
    """The template under another function's name and line, with globals of its own.

    A cache files a function under these, and a closure under a pickle that differs in each process.
    """
    assert isinstance(function, FunctionType) and isinstance(template, FunctionType)
    code = template.__code__.replace(co_filename=function.__code__.co_filename, co_name=function.__name__,
                                     co_firstlineno=function.__code__.co_firstlineno)
    made = FunctionType(code, {"__name__": function.__module__, **names})
    made.__qualname__ = function.__qualname__
    return made


# --- on disk ---------------------------------------------------------------------------------------------------------

_notes: dict[object, cache.KernelFiles] = {}  # by function: empty files, one for each signature that Numba keeps


def _kept(dispatcher: Any, function: Callable[..., object]) -> Any:
    """Let Numba keep in our folder what is compiled of a function."""
    if cache.has_room() and (files := cache.files_of(function, "plain", cache.folder())):
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache.folder())
        dispatcher.enable_caching()
        numba.config.CACHE_DIR = before
        _notes[dispatcher] = files
    return dispatcher


def holds(dispatcher: Any, signature: object) -> bool:
    """Return whether the function has been compiled and kept."""
    return dispatcher in _notes and _notes[dispatcher].holds(signature)


def machine_code(dispatcher: object, signature: object) -> None:
    """Numba's index does not tell where the code is."""


def note(dispatcher: Any, signature: object) -> None:
    """Note that the function has been compiled, which Numba's index does not tell."""
    if dispatcher in _notes:
        _notes[dispatcher].save(signature, None)


def make_compiler_ready() -> None:
    numba.njit(**IN_KERNELS)(lambda: None).compile(())
