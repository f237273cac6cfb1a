"""What is kept of a compiled function: its machine code, and what Python needs to call it.

Numba would also keep LLVM's intermediate code, for functions that are compiled later, and the source with the type of every
variable. No function is compiled into another one from here (intermediate_code.py is for those), and nobody reads the types.
It took two thirds of a file, and most of the time to load it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from numba.core.caching import CompileResultCacheImpl
from numba.core.compiler import CompileResult

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.codegen import CodeLibrary
    from numba.core.funcdesc import FunctionDescriptor
    from numba.core.lowering import Environment
    from numba.core.typing import Signature


class Kept(NamedTuple):
    """A compiled function as it is pickled."""

    name: str  # of Numba's library
    code: bytes
    function: FunctionDescriptor  # module, names and types
    environment: Environment
    signature: Signature
    inlined: tuple[Environment, ...]  # environments of inlined functions, which use them to print


class MachineCodes(CompileResultCacheImpl):  # type: ignore[misc]
    """Makes a `Kept` of what Numba has compiled, and the other way round."""

    def reduce(self, compiled: CompileResult) -> Kept:
        function = compiled.fndesc
        function.typemap = function.calltypes = None
        return Kept(compiled.library.name, self.code(compiled.library), function, compiled.environment,
                    compiled.signature, tuple(filter(_may_be_used, compiled._find_referenced_environments())))

    def rebuild(self, target_context: BaseContext, kept: Kept) -> CompileResult:
        library, entry = self.restored(target_context, kept)
        return CompileResult(
            typing_context=target_context.typing_context, target_context=target_context, library=library, entry_point=entry,
            environment=kept.environment, fndesc=kept.function, signature=kept.signature, referenced_envs=kept.inlined,
            type_annotation="", typing_error=None, objectmode=False, lifted=(), call_helper=None, metadata=None,
            reload_init=())

    def code(self, library: CodeLibrary) -> bytes:
        """What is kept of a library's code."""
        return bytes(library._get_compiled_object())

    def restored(self, target_context: BaseContext, kept: Kept) -> tuple[CodeLibrary, object]:
        """The library with its code, and what a caller finds it by."""
        library = target_context.codegen().create_library(kept.name)
        library.enable_object_caching()
        library._set_compiled_object(kept.code)
        library._codegen._engine._defined_symbols.add(kept.function.llvm_cpython_wrapper_name)
        library._finalize_final_module()
        entry = target_context.get_executable(library, kept.function, kept.environment)
        for environment in kept.inlined:
            library.codegen.set_env(environment.env_name, environment)
        return library, entry


def _may_be_used(environment: Environment) -> bool:
    """Numba's own functions, `min` and others, print nothing; loading their environments would import half of Numba."""
    return bool(environment.consts) or not environment.globals["__name__"].startswith("numba.")
