"""What is kept of a function that only compiled functions call: LLVM's intermediate code of it and of what it calls.

A kernel that is compiled later, by this process or another, often calls functions that were compiled for another kernel, with
the same types. To find them here saves up to a third of its time.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

from llvmlite import binding
from numba.core import bytecode
from numba.core.codegen import JITCodeLibrary

from crowd_demo.compute.machine_code import Kept, MachineCodes

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.codegen import CodeLibrary

# Numba numbers the functions that a process compiles, and the numbers are part of their names in the code. Those of other
# processes must differ, or the linker would take two functions that share a name, two closures say, for the same one.
bytecode.FunctionIdentity._unique_ids = itertools.count(random.SystemRandom().getrandbits(60))


class IntermediateCode(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function, to be linked into others: the caller optimises it and makes machine code of it."""

    def _optimize_final_module(self) -> None:
        """The caller does that."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class IntermediateCodes(MachineCodes):
    """Keeps that code instead."""

    def code(self, library: CodeLibrary) -> bytes:
        return bytes(library._final_module.as_bitcode())

    def restored(self, target_context: BaseContext, kept: Kept) -> tuple[CodeLibrary, object]:
        library = IntermediateCode(target_context.codegen(), kept.name)
        library._final_module = binding.parse_bitcode(kept.code)
        library._finalize_final_module()
        return library, object()
