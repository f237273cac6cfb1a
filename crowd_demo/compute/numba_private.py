"""Compile and load kernels sooner, by names that Numba does not promise to keep; all that the package uses stand here.

`numba_plain.py` has the same functions by public options. With these names the first frame of `20k` is there after 13.5 s,
not 21.0 (24 s of CPU, not 38; empty cache, two idle cores), and a warm start takes 0.79 s, not 1.25. Importing this module
fails, and changes nothing in Numba, where a name is missing or the version is not one of those that were tested.
What is done otherwise (docs/design/cold-start.md has what it saves):

- Of a function that kernels call Numba makes machine code as well, and a wrapper for Python. Here it stays LLVM's intermediate
  code, which the kernel inlines and optimises, and which is kept on disk for other kernels.
- Numba's code between Python and a compiled function looks it up by the types of all arrays of all records (5 us for 100
  of them), and passes these on by value. Here types are compared with those of previous calls (0.4 us). Arrays are laid
  out in a flat record, and a kernel's body gets its address.
- Numba compiles a function anew for each number that its callers pass as a literal. Here it is compiled for any number.
- Functions that Numba has written in Python, such as `min`, are compiled like ours where our kernels call them.
- Beside machine code Numba keeps intermediate code and types on disk: two thirds of a file, and most of the time to load it.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numba
import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, compiler
from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler as NumbasCompiler
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.funcdesc import FunctionDescriptor, PythonFunctionDescriptor
from numba.core.lowering import Environment
from numba.core.pythonapi import PythonAPI
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.serialize import dumps
from numba.core.target_extension import jit_registry, target_registry
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NativeLowering
from numba.core.typing import signature

from crowd_demo.compute import cache, llvm, numba_plain
from crowd_demo.compute.cache import levels
from crowd_demo.compute.llvm import I8, I32, number
from crowd_demo.compute.workers import BYTES, HAS_POOL, INTP, field, run_shares
from crowd_demo.registry.texts import say_once

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.codegen import CodeLibrary
    from numba.core.typing import Signature

TESTED = (0, 60), (0, 68)  # the first version and the last one; pyproject.toml has the same
OPTIONS = {**numba_plain.OPTIONS, "nopython": True}
# Where an object has its class, a tuple its length, and an array what specifies its type, in bytes.
WORD = ctypes.sizeof(ctypes.c_void_p)
TYPE_AT, LENGTH_AT, NDIM_AT, DTYPE_AT, FLAGS_AT = (object.__basicsize__ + k * WORD for k in (-1, 0, 1, 5, 6))
CONTIGUOUS, WRITEABLE = {"C": (1, 1), "F": (3, 2), "A": (3, 0)}, 0x400  # flags that tell a layout, and those it has
DETERMINED = tuple, np.ndarray, bool, int, float, np.bool_, np.number, type(None)  # the class determines Numba's type
MACHINE_CODE, INTERMEDIATE_CODE = "kernel", "intermediate"  # kinds of files
_codegen, _function = cpu_target.target_context.codegen(), numba.njit(lambda: None)

# Private names: whose, and what for. Besides these, workers.py calls Numba's pool by its functions' names in LLVM.
PRIVATE: tuple[tuple[object, str, str], ...] = (
    (FunctionIdentity, "_unique_ids", "a process's number of a function, a part of its name: those of two must differ"),
    (JITCodeLibrary, "_optimize_final_module", "optimisation that intermediate code leaves to its caller"),
    (JITCodeLibrary, "_finalize_final_module", "the same, for making machine code; and puts loaded code to use"),
    (JITCodeLibrary, "_finalize_dynamic_globals", "finds addresses in the code, which cannot be kept"),
    (JITCodeLibrary, "_finalized", "nothing can be added to the code any more"),
    (JITCodeLibrary, "_get_compiled_object", "machine code, to keep it"),
    (JITCodeLibrary, "_set_compiled_object", "and to load it"),
    (_codegen.create_library("empty"), "_final_module", "the code itself"),
    (JITCodeLibrary, "_ensure_finalized", "code with all that it calls, the source of code for a GPU"),
    (_codegen, "_engine", "machine code in memory"),
    (_codegen._engine, "_defined_symbols", "the names of functions in loaded machine code"),
    (CompileResult, "_find_referenced_environments", "environments of inlined functions, by which `print` finds its texts"),
    (NativeLowering, "_name", "by which a pass of the compiler is registered"),
    (compiler, "_LowerResult", "the result of the pass to LLVM's code"),
    (_function, "_cache", "a function's files on disk: `load_overload`, `save_overload`, `cache_path`"),
    (_function.targetdescr.options, "_nrt", "no references are counted (numba_plain.py)"),
)
for _of, _name, _ in PRIVATE:
    getattr(_of, _name)
if not TESTED[0] <= numba.version_info.short <= TESTED[1]:
    raise ImportError(f"it is {numba.__version__}, which was not tested")
if not HAS_POOL:
    raise ImportError("its pool of threads is not found")
_array = np.zeros((1, 1), np.float32)
_read = ((_array, TYPE_AT, id(np.ndarray)), (_array, DTYPE_AT, id(_array.dtype)), (_array, NDIM_AT, 2),
         (_array, FLAGS_AT, _array.flags.num), (TESTED, LENGTH_AT, len(TESTED)))
for _object, _at, _expected in _read:
    if ctypes.c_ssize_t.from_address(id(_object) + _at).value & 0xFFFF_FFFF != _expected & 0xFFFF_FFFF:
        raise ImportError("arrays are laid out in another way")


# --- functions that kernels call -------------------------------------------------------------------------------------

class IntermediateCode(JITCodeLibrary):
    """The code of a function, to be linked into others: the caller optimises it and makes machine code of it."""

    def _optimize_final_module(self) -> None:
        """Leave it to the caller."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerToIntermediateCode(NativeLowering):
    """Numba's pass from its own representation to LLVM's, without the machine code at its end."""

    _name = "lower_to_intermediate_code"

    def run_pass(self, state: Any) -> bool:
        state.library = IntermediateCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        key = object()  # by which a caller finds the code
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = compiler._LowerResult(lowered.fndesc, lowered.call_helper, cfunc=key, env=lowered.env)
        return True


class DeviceCompiler(CompilerBase):
    """Numba's compiler, with another pass instead of its own from its representation to LLVM's."""

    lowering: ClassVar[type[NativeLowering]] = LowerToIntermediateCode

    def define_pipelines(self) -> list[PassManager]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.lowering if each is NativeLowering else each, what) for each, what in passes.passes]
        passes.finalize()
        return [passes]


class BodyCompiler(DeviceCompiler):
    """The same for a kernel's body: no two of its arrays overlap, which lets LLVM keep elements in registers."""

    def define_pipelines(self) -> list[PassManager]:
        self.state.flags.noalias = True
        return super().define_pipelines()


class Device(CPUDispatcher):
    """A function that kernels call, and inline. Python may call it too: it is compiled once more for that."""

    def __init__(self, py_func: Callable[..., object], locals: Mapping[str, object] | None = None,
                 targetoptions: Mapping[str, object] | None = None,
                 pipeline_class: type[CompilerBase] = DeviceCompiler) -> None:
        inlined = {"no_cpython_wrapper": True, "forceinline": True, **OPTIONS}
        super().__init__(py_func, locals or {}, dict(targetoptions or inlined), pipeline_class)
        if pipeline_class is DeviceCompiler:  # nobody else calls a kernel's body
            self._cache = KernelCache(py_func, INTERMEDIATE_CODE, IntermediateCodeOnDisk())

    def get_call_template(self, args: tuple[types.Type, ...], kws: Mapping[str, types.Type]) -> Any:
        """Take a number in the caller's source for any number, or the function would be compiled once more for it."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)

    def add_overload(self, compiled: Any) -> None:
        """Keep what was compiled, but not where Python would look for it."""
        self.overloads[tuple(compiled.signature.args)] = without_notes(compiled)

    @cached_property
    def from_python(self) -> FromPython:
        """The function as Python calls it."""
        return FromPython(self.py_func, self.py_func, NumbasCompiler)

    def __call__(self, *args: object) -> object:
        return self.from_python(*args)


class FromPython(CPUDispatcher):
    """A function that Python calls, with whatever it inlines; what is compiled of it is kept on disk."""

    def __init__(self, py_func: Callable[..., object], kept_as: Callable[..., object],
                 pipeline_class: type[CompilerBase]) -> None:
        super().__init__(py_func, {}, dict(OPTIONS), pipeline_class)
        self._cache = KernelCache(kept_as, MACHINE_CODE, MachineCodeOnDisk())

    def add_overload(self, compiled: Any) -> None:
        """Also give the inlined functions their environments, by which `print` finds its texts."""
        super().add_overload(without_notes(compiled))
        for environment in compiled._find_referenced_environments():
            compiled.codegen.set_env(environment.env_name, environment)


def without_notes(compiled: Any) -> Any:
    """The result without the types of all its variables and the times of all passes, which nobody reads."""
    compiled.fndesc.typemap = compiled.fndesc.calltypes = None
    return compiled._replace(type_annotation="", metadata={})


def numbas_own(**options: object) -> Callable[[Callable[..., object]], Any]:
    """Compile functions that Numba has written in Python, such as `min`, like ours where our kernels call them."""
    flags = ConfigStack.top_or_none()
    return Device if flags and not flags.nrt else numba.jit(**options)


# --- kernels ---------------------------------------------------------------------------------------------------------

def body_of(share: Callable[..., None]) -> Device:
    """A kernel's share, whose code becomes a part of its entry."""
    return Device(share, targetoptions={"no_cpython_wrapper": True, **OPTIONS}, pipeline_class=BodyCompiler)


def code_of(share: Callable[..., None], kinds: Iterable[types.Type]) -> tuple[bytes, FunctionDescriptor]:
    """Return the intermediate code of a share with all that it calls, as LLVM's bitcode, and its function in there."""
    body = body_of(share).get_compile_result(signature(types.void, types.intp, types.intp, *kinds))
    with global_compiler_lock:
        body.library._ensure_finalized()  # what it calls is linked in
    return bytes(body.library._final_module.as_bitcode()), body.fndesc


def declared(module: ir.Module, function: FunctionDescriptor) -> ir.Function:
    """Return a compiled function as a module that calls it knows it."""
    return cpu_target.target_context.declare_function(module, function)


def leaves_of(kinds: Iterable[types.Type]) -> tuple[ir.Type, ...]:
    """Return the numbers and pointers that arguments of these types consist of."""
    return tuple(cpu_target.target_context.get_arg_packer(list(kinds)).argument_types)


def entry_of(share: Callable[..., None]) -> KernelEntry:
    """What Python calls with a number of workers and the arguments of each worker's share."""
    return KernelEntry(numba_plain.named_like(share, _entry, share=body_of(share)), share, EntryCompiler)


class KernelEntry(FromPython):
    """Finds compiled code for the types of its arguments."""

    @cached_property
    def _known(self) -> list[tuple[Callable[..., bool], tuple[object, ...]]]:
        """Compiled code, and the last layout that it was found for."""
        return []

    def __call__(self, workers: int, args: tuple[object, ...]) -> None:
        for compiled, layout in self._known:
            if compiled(workers, args, layout):
                return
        layout = layout_of(args)
        kinds = numba.typeof(workers), numba.typeof(args)
        self.compile(kinds)
        compiled = self.overloads[kinds].entry_point
        # Types may come in ever new layouts: each unpickled array has a dtype of its own
        self._known = [(compiled, layout), *(known for known in self._known if known[0] is not compiled)]
        if not compiled(workers, args, layout):
            raise TypeError(f"{self.__name__}: the arguments have changed while it was compiled")


def layout_of(args: tuple[object, ...]) -> tuple[object, ...]:
    """The classes of the arguments and of all that is in them, level by level, and the dtypes of arrays.

    Raises TypeError for what has a type that its class does not determine, such as a function or 2**63.
    """
    layout: list[object] = []
    level: list[object] = [args]
    while level:
        for each in level:
            if not isinstance(each, DETERMINED) or (isinstance(each, int) and each.bit_length() > 63):
                raise TypeError(f"kernels take arrays, numbers and tuples of these, not {each!r:.60}")
        layout += map(type, level)
        layout += [each.dtype for each in level if isinstance(each, np.ndarray)]
        level = [part for each in level if isinstance(each, tuple) for part in each]
    return tuple(layout)


def _entry(workers: int, args: tuple[object, ...]) -> None:
    """The function that Numba takes an entry for: it compiles one for the types of these arguments."""


@register_pass(mutates_CFG=False, analysis_only=False)
class LowerEntry(NativeLowering):
    """Instead of Numba's pass from its own representation to LLVM's: that of an entry is made here."""

    _name = "lower_entry"

    def run_pass(self, state: Any) -> bool:
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
        state.library, state["cr"] = library, compiler._LowerResult(function, call_helper=None, cfunc=python, env=environment)
        return True


class EntryCompiler(DeviceCompiler):
    lowering = LowerEntry


def build_entry(context: BaseContext, module: ir.Module, name: str, body: FunctionDescriptor, kinds: types.BaseTuple) -> None:
    """Add to a module the function of that name for Python: body(worker, workers, *args) for worker in range(workers).

    Python calls it with the number of workers, the arguments, and a layout. If they do not have it, it returns False.
    """
    python = context.get_argument_type(types.pyobject)
    entry = ir.Function(module, ir.FunctionType(python, [python] * 3), name=name)
    b = ir.IRBuilder(entry.append_basic_block())
    api = context.get_python_api(b)
    count, args, layout = (api.tuple_getitem(entry.args[1], k) for k in range(3))
    _return_unless_like(b, api, args, kinds, layout)
    workers = b.trunc(api.long_as_longlong(count), INTP)
    record = ir.LiteralStructType(leaves_of([kinds]))
    at = cgutils.alloca_once(b, record)
    _unpack(context, b, api, args, kinds, partial(field, b, record, at), 0)
    with cgutils.if_unlikely(b, cgutils.is_not_null(b, api.err_occurred())):
        b.ret(api.get_null_object())
    unlocked = api.save_thread()
    run_shares(b, context.declare_function(module, body), workers, at, record)
    api.restore_thread(unlocked)
    b.ret(api.bool_from_bool(cgutils.true_bit))


def _return_unless_like(
        b: ir.IRBuilder, api: PythonAPI, args: ir.Value, kinds: types.BaseTuple, layout: ir.Value) -> None:
    """Return False unless the arguments have this layout (`layout_of`), and the lengths and flags of these kinds."""
    known = itertools.count()
    level = [(args, kinds)]
    while level:
        arrays = [(value, kind) for value, kind in level if isinstance(kind, types.Array)]
        tuples = [(value, kind) for value, kind in level if isinstance(kind, types.BaseTuple)]
        same = [b.icmp_unsigned("==", _field(b, value, TYPE_AT, BYTES), api.tuple_getitem(layout, next(known)))
                for value, _ in level]
        _return_unless(b, api, same)
        same = [b.icmp_unsigned("==", _field(b, value, DTYPE_AT, BYTES), api.tuple_getitem(layout, next(known)))
                for value, _ in arrays]
        same += [b.icmp_unsigned("==", _field(b, value, LENGTH_AT, INTP), number(INTP, len(kind)))
                 for value, kind in tuples]
        for value, kind in arrays:
            relevant, expected = CONTIGUOUS[kind.layout]
            flags = b.and_(_field(b, value, FLAGS_AT, I32), number(I32, relevant | WRITEABLE))
            same += (b.icmp_unsigned("==", _field(b, value, NDIM_AT, I32), number(I32, kind.ndim)),
                     b.icmp_unsigned("==", flags, number(I32, expected | WRITEABLE * kind.mutable)))
        _return_unless(b, api, same)
        level = [(api.tuple_getitem(value, k), each) for value, kind in tuples for k, each in enumerate(kind)]


def _return_unless(b: ir.IRBuilder, api: PythonAPI, conditions: list[ir.Value]) -> None:
    with b.if_then(b.not_(reduce(b.and_, conditions, cgutils.true_bit)), likely=False):
        b.ret(api.bool_from_bool(cgutils.false_bit))


def _field(b: ir.IRBuilder, value: ir.Value, at: int, kind: ir.Type) -> ir.Value:
    """A field of a Python object, so many bytes from its beginning."""
    return llvm.load(b, kind, llvm.element(b, I8, value, ir.Constant(I32, at)))


def _unpack(context: BaseContext, b: ir.IRBuilder, api: PythonAPI, value: ir.Value, kind: types.Type,
            address_of: Callable[[int], ir.Value], leaf: int) -> int:
    """Write the leaves of a Python value to a record's fields from `leaf` on; return the number of the field after them."""
    if isinstance(kind, types.BaseTuple):
        for k, each in enumerate(kind):
            leaf = _unpack(context, b, api, api.tuple_getitem(value, k), each, address_of, leaf)
        return leaf
    if isinstance(kind, types.Array):
        api.numba_array_adaptor(value, llvm.cast(b, address_of(leaf), llvm.I8))
    elif kind in (types.float32, types.float64):
        b.store(context.cast(b, api.float_as_double(value), types.float64, kind), address_of(leaf))
    else:
        native = api.to_native_value(kind, value).value
        b.store(context.data_model_manager[kind].as_argument(b, native), address_of(leaf))
    return leaf + len(leaves_of([kind]))


# --- on disk ---------------------------------------------------------------------------------------------------------

class Kept(NamedTuple):
    """A compiled function as it is pickled."""

    name: str  # of Numba's library
    code: bytes
    function: FunctionDescriptor  # module, names and types
    environment: Environment
    signature: Signature
    inlined: tuple[Environment, ...]  # environments of inlined functions, which use them to print


class MachineCodeOnDisk:
    """Keeps the machine code of what Python calls."""

    def code(self, library: CodeLibrary) -> bytes:
        return bytes(library._get_compiled_object())

    def restored(self, context: BaseContext, kept: Kept) -> tuple[CodeLibrary, object]:
        """The library with its code, and what a caller finds it by."""
        library = context.codegen().create_library(kept.name)
        library.enable_object_caching()
        library._set_compiled_object(kept.code)
        context.codegen()._engine._defined_symbols.add(kept.function.llvm_cpython_wrapper_name)
        library._finalize_final_module()
        entry = context.get_executable(library, kept.function, kept.environment)
        for environment in kept.inlined:
            library.codegen.set_env(environment.env_name, environment)
        return library, entry


class IntermediateCodeOnDisk(MachineCodeOnDisk):
    """Keeps intermediate code: a kernel that is compiled later, by any process, often calls the same functions."""

    def code(self, library: CodeLibrary) -> bytes:
        return bytes(library._final_module.as_bitcode())

    def restored(self, context: BaseContext, kept: Kept) -> tuple[CodeLibrary, object]:
        library = IntermediateCode(context.codegen(), kept.name)
        library._final_module = binding.parse_bitcode(kept.code)
        library._finalize_final_module()
        return library, object()


class KernelCache:
    """What is kept of one function; Numba asks it before it compiles, and gives it what has been compiled."""

    def __init__(self, function: Callable[..., object], kind: str, form: MachineCodeOnDisk) -> None:
        self._function, self._kind, self._form = function, kind, form

    @cached_property
    def files(self) -> cache.KernelFiles | None:
        """Found when it is first needed: a start that compiles nothing asks for few."""
        return cache.files_of(self._function, self._kind, cache.folder())

    @cached_property
    def _installed(self) -> cache.KernelFiles | None:
        """Those of installed kernels, which bring no intermediate code."""
        return cache.files_of(self._function, self._kind, cache.installed_folder()) if self._kind == MACHINE_CODE else None

    @property
    def cache_path(self) -> str:
        return str(self.files and self.files.folder)

    def load_overload(self, signature: object, context: BaseContext) -> CompileResult | None:
        """Return the compiled function or, whatever is wrong with its file, None.

        Numba would first make its compiler ready (0.4 s), which a start that compiles nothing does not need.
        """
        for files, key in self._places(signature, context):
            try:
                if kept := files.load(key):
                    assert isinstance(kept, Kept)
                    library, entry = self._form.restored(context, kept)
                    return compile_result(
                        typing_context=context.typing_context, target_context=context, library=library, entry_point=entry,
                        environment=kept.environment, fndesc=kept.function, signature=kept.signature,
                        referenced_envs=kept.inlined, type_annotation="", objectmode=False, lifted=(), reload_init=())
            except Exception as error:
                say_once(f"a damaged file in {files.folder} is compiled again, like any other ({error})", "damaged")
        return None

    def save_overload(self, signature: object, compiled: CompileResult) -> None:
        """Keep a compiled function, unless it has an address of this process in its code, say of a large constant array."""
        if self.files and not compiled.library.has_dynamic_globals:
            inlined = tuple(filter(_may_be_used, compiled._find_referenced_environments()))
            kept = Kept(compiled.library.name, self._form.code(compiled.library), without_notes(compiled).fndesc,
                        compiled.environment, compiled.signature, inlined)
            self.files.save((signature, compiled.target_context.codegen().magic_tuple()), kept, dumps)

    def holds(self, signature: object, context: BaseContext) -> bool:
        return any(files.holds(key) for files, key in self._places(signature, context))

    def machine_code(self, signature: object, context: BaseContext) -> bytes | None:
        return next((kept.code for files, key in self._places(signature, context)
                     if isinstance(kept := files.load(key), Kept)), None)

    def _places(self, signature: object, context: BaseContext) -> Iterator[tuple[cache.KernelFiles, object]]:
        """Where the function may be, and its key there: the types of the arguments, and the processor.

        What was compiled here comes first: it is for exactly this processor. An installed kernel has the key that it got where
        Numba compiled it for a level: the level's name instead of the processor's, and no features beyond those of the name.
        """
        system, *_ = here = context.codegen().magic_tuple()
        if self.files:
            yield self.files, (signature, here)
        if self._installed:
            for level in levels():
                yield self._installed, (signature, (system, level, ""))


def _may_be_used(environment: Environment) -> bool:
    """Numba's own functions, `min` and others, print nothing; loading their environments would import half of Numba."""
    return bool(environment.consts) or not environment.globals["__name__"].startswith("numba.")


def holds(compiled: Any, signature: object) -> bool:
    """Return whether there is a file for this signature of a function."""
    return isinstance(compiled, FromPython) and compiled._cache.holds(signature, compiled.targetctx)


def machine_code(compiled: object, signature: object) -> bytes | None:
    """Return the kept object file of a function for this signature."""
    return compiled._cache.machine_code(signature, compiled.targetctx) if isinstance(compiled, FromPython) else None


def note(compiled: Any, signature: object) -> None:
    """Its file tells that it has been compiled."""


def make_compiler_ready() -> None:
    """Load what only compiling needs, which takes 0.4 s; else the first kernel that is compiled waits for it."""
    cpu_target.target_context.refresh()


# Numba numbers the functions that a process compiles, and the numbers are part of their names in the code. Those of other
# processes must differ, or the linker would take two functions that share a name, two closures say, for the same one.
FunctionIdentity._unique_ids = itertools.count(random.SystemRandom().getrandbits(60))
del jit_registry[target_registry["cpu"]]
jit_registry[target_registry["cpu"]] = numbas_own
