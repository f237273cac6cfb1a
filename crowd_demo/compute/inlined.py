"""Compile a function for other compiled functions alone: into LLVM's intermediate code, which the caller inlines.

Of a function that kernels call Numba makes machine code as well, and two wrappers by which Python could call it. Nothing of
that is ever used, and it took half of the time to compile a kernel. Numba would also count references to arrays, up to
a dozen times in each turn of a loop; here arrays belong to the caller, who keeps them for the time of the call, so no function
can make one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numba
from numba import types
from numba.core.caching import NullCache
from numba.core.compiler import Compiler as NumbasCompiler
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.target_extension import jit_registry, target_registry
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NativeLowering

from crowd_demo.compute import cache
from crowd_demo.compute.intermediate_code import IntermediateCode

# A division by zero is inf or nan, never a branch; no references are counted; Numba's second wrapper is for C.
OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerToIntermediateCode(NativeLowering):  # type: ignore[misc]
    """Numba's pass from its own representation to LLVM's, without the machine code at its end."""

    _name = "lower_to_intermediate_code"

    def run_pass(self, state: Any) -> bool:
        state.library = IntermediateCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        key = object()  # by which a caller finds the code
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=key, env=lowered.env)
        return True


class Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, with another pass instead of its own from Python's code to LLVM's."""

    lowering: ClassVar[type[NativeLowering]] = LowerToIntermediateCode

    def define_pipelines(self) -> list[PassManager]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.lowering if each is NativeLowering else each, what) for each, what in passes.passes]
        passes.finalize()
        return [passes]


def without_notes(compiled: Any) -> Any:
    """The result without the types of all its variables and the times of all passes, which nobody reads."""
    compiled.fndesc.typemap = compiled.fndesc.calltypes = None
    return compiled._replace(type_annotation="", metadata={})


class Called(CPUDispatcher):  # type: ignore[misc]
    """A function that Python calls, with whatever it inlines; what is compiled of it is kept on disk."""

    def __init__(self, py_func: Callable[..., object], locals: Mapping[str, object] | None = None,
                 targetoptions: Mapping[str, object] | None = None,
                 pipeline_class: type[CompilerBase] = NumbasCompiler) -> None:
        super().__init__(py_func, locals or {}, dict(targetoptions or {"nopython": True, **OPTIONS}), pipeline_class)
        cache.keep(py_func, self)

    def add_overload(self, compiled: Any) -> None:
        """Also give the inlined functions their environments, by which `print` finds its texts."""
        super().add_overload(without_notes(compiled))
        for environment in compiled._find_referenced_environments():
            compiled.codegen.set_env(environment.env_name, environment)


class Inlined(CPUDispatcher):  # type: ignore[misc]
    """A function that compiled functions call. Python may call it too, in tests say: it is compiled once more for that."""

    def __init__(self, py_func: Callable[..., object], locals: Mapping[str, object] | None = None,
                 targetoptions: Mapping[str, object] | None = None) -> None:
        super().__init__(py_func, locals or {}, dict(targetoptions or {}), Compiler)

    def compile(self, signature: object) -> object:
        """Look on disk first. Where that is takes long to find, and a start that compiles nothing need not know."""
        if self.targetoptions.get("forceinline") and isinstance(self._cache, NullCache):  # nobody else calls a kernel's body
            cache.keep_intermediate(self.py_func, self)
        return super().compile(signature)

    def get_call_template(self, args: tuple[types.Type, ...], kws: Mapping[str, types.Type]) -> Any:
        """Take a number in the caller's source for any number, or the function would be compiled once more for it."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)

    def add_overload(self, compiled: Any) -> None:
        """Keep what was compiled, but not where Python would look for it."""
        self.overloads[tuple(compiled.signature.args)] = without_notes(compiled)

    @cached_property
    def from_python(self) -> Called:
        """The function as Python calls it."""
        return Called(self.py_func)

    def __call__(self, *args: object) -> object:
        return self.from_python(*args)


def inlined(function: Callable[..., object], always: bool = True, noalias: bool = False) -> Inlined:
    """The function for compiled callers; it cannot raise.

    `always`: inline it whatever its size. `noalias`: no two of its arrays overlap, which lets LLVM keep elements in registers.
    """
    made = Inlined(function, targetoptions={"nopython": True, "no_cpython_wrapper": True, "forceinline": always, **OPTIONS})
    if noalias:
        made._compiler._customize_flags = _without_aliases
    return made


def _without_aliases(flags: Any) -> Any:
    flags.noalias = True
    return flags


def numbas_own(**options: object) -> Callable[[Callable[..., object]], Any]:
    """How Numba compiles those of its own functions that are written in Python, such as `min`: like ours, for our kernels."""
    flags = ConfigStack.top_or_none()
    return inlined if flags and not flags.nrt else numba.jit(**options)


del jit_registry[target_registry["cpu"]]
jit_registry[target_registry["cpu"]] = numbas_own
