"""Compile a kernel: its body for one worker, and around it what Python calls, made by hand (workers.py).

Numba only finds the types of the arguments, and keeps one such function for each combination of them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from numba import types
from numba.core.compiler import StateDict, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.lowering import Environment
from numba.core.typed_passes import NativeLowering
from numba.core.typing import signature

from crowd_demo.compute.inlined import Called, Compiler, inlined
from crowd_demo.compute.workers import build_entry


@register_pass(mutates_CFG=False, analysis_only=False)
class LowerEntry(NativeLowering):  # type: ignore[misc]
    """Instead of Numba's pass from Python's code to LLVM's: that of an entry is made here."""

    _name = "lower_entry"

    def run_pass(self, state: StateDict) -> bool:
        context, kinds = state.targetctx, state.args[1]
        share = state.func_id.func.__globals__["share"]
        body = share.get_compile_result(signature(types.void, types.intp, types.intp, *kinds))
        function = PythonFunctionDescriptor.from_specialized_function(
            state.func_ir, state.typemap, state.return_type, state.calltypes, mangler=context.mangler, inline=False,
            noalias=False, abi_tags=())
        library = context.codegen().create_library(state.func_id.func_qualname)
        library.enable_object_caching()
        library.add_linking_library(body.library)
        module = library.create_ir_module(function.unique_name)
        context.declare_env_global(module, context.get_env_name(function))
        build_entry(context, module, function.llvm_cpython_wrapper_name, body.fndesc, kinds)
        library.add_ir_module(module)
        environment = Environment.from_fndesc(function)
        python = context.get_executable(library, function, environment)
        state.library, state["cr"] = library, _LowerResult(function, call_helper=None, cfunc=python, env=environment)
        return True


class EntryCompiler(Compiler):
    """Numba's compiler, with that pass instead of its own."""

    lowering = LowerEntry


def _entry(workers: int, args: tuple[object, ...]) -> None:
    """The function that Numba takes an entry for."""


class Entry(Called):
    """What Python calls with a number of workers and the arguments of each worker's share."""

    def __init__(self, share: Callable[..., None]) -> None:
        # The cache files a function under the file and line of its code, and a closure under a pickle that differs in each
        # process. So each kernel gets a function of its own, with its body as a global.
        code = _entry.__code__.replace(co_filename=share.__code__.co_filename, co_name=share.__name__,
                                       co_firstlineno=share.__code__.co_firstlineno)
        body = inlined(share, always=False, noalias=True)
        function = FunctionType(code, {"share": body, "__name__": share.__module__})
        function.__qualname__ = share.__qualname__
        super().__init__(function, pipeline_class=EntryCompiler)
