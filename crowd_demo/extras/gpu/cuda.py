"""A graphics card: its memory, and kernels that run on it, by NVIDIA's driver.

A launch on the GPU gets arrays that lie there, `GpuArray`s, wherever the same kernel gets NumPy's on the processor.
Launches come back at once; the GPU carries them out in their order, and `finish` waits.

A kernel's share is compiled as always, up to LLVM's intermediate code; what is made of that here is not the
processor's machine code but PTX, the assembly language that NVIDIA's drivers take. So there is one text of every
formula, one typing of it and one lowering, for processors and for GPUs. No toolkit is needed: llvmlite has the back
end, and NVIDIA's own bindings of the driver (the extra `cuda`) do the rest.

    worker, workers    the thread's number among all threads of the launch, and how many shares there are
    arguments          one record, each leaf in eight bytes: what numbers and arrays consist of (`leaves_of`)

Nothing is contracted: every product and sum is rounded by itself (`mul.rn`, `add.rn`, which the driver may not fuse),
and so are quotients and roots (`div.rn`, `sqrt.rn`); numbers below the smallest normal one stay. docs/design/gpu.md
has how that was tested.
"""

from __future__ import annotations

import math
import re
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import TypeVar, cast

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.extending import typeof_impl
from numpy.typing import NDArray

from crowd_demo.compute import cache as disk
from crowd_demo.compute import jit, llvm
from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Kernel, Launch

THREADS = 128  # of a block
OLDEST_MAJOR = 7  # compute capability that the code is made for (`OLDEST`)
T = TypeVar("T")
Scalar = TypeVar("Scalar", bound=np.generic)


@cache
def missing() -> str:
    """Return why no GPU can be used, in a few words; empty if one can."""
    try:
        if not find_spec("cuda.bindings"):
            return "not installed"
    except ModuleNotFoundError:
        return "not installed"
    if not hasattr(jit.compiler, "body_of") or llvm.TYPED:
        return "old Numba"
    try:
        gpu()
    except (ImportError, OSError, RuntimeError) as error:
        return str(error)
    return ""


@cache
def gpu() -> GraphicsProcessor:
    """Return the first GPU. Raises RuntimeError, in a few words, if there is none."""
    return GraphicsProcessor()


# --- arrays on the GPU ----------------------------------------------------------------------------------------------

class Memory:
    """A piece of the GPU's memory, given back when nobody has it any more."""

    def __init__(self, of: GraphicsProcessor, size: int) -> None:
        self._gpu = of
        self.address = int(cast(int, of.ask("cuMemAlloc", max(size, 16))))

    def __del__(self) -> None:
        with suppress(Exception):  # at the end of the process the driver may be gone
            self._gpu.ask("cuMemFree", self.address)


class GpuArray:
    """An array in the GPU's memory, or a part of one: contiguous."""

    __slots__ = ("address", "dtype", "kind", "memory", "packed", "shape")

    def __init__(self, memory: Memory, address: int, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> None:
        self.memory, self.address, self.shape, self.dtype = memory, address, shape, dtype
        strides = tuple(dtype.itemsize * math.prod(shape[axis + 1:]) for axis in range(len(shape)))
        items = math.prod(shape)  # the rest is what Numba takes an array for: no owner, and then these
        self.packed = struct.pack(f"<{5 + 2 * len(shape)}q", 0, 0, items, dtype.itemsize, address, *shape, *strides)
        self.kind = dtype.char + str(len(shape))

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


@typeof_impl.register(GpuArray)
def _type_of(array: GpuArray, context: object) -> types.Type:
    from numba.np.numpy_support import from_dtype
    return types.Array(from_dtype(np.dtype(array.dtype.char)), len(array.shape), "C")


# --- the GPU --------------------------------------------------------------------------------------------------------

class GraphicsProcessor:
    """The first GPU of this machine. Any thread may use it, one at a time."""

    def __init__(self) -> None:
        from cuda.bindings import driver  # the extra `cuda`

        self._driver, self._thread = driver, threading.local()
        self._context: object = None  # made when it is first used, which takes some tenths of a second
        try:
            self._call("cuInit", 0)
            self._device = self._call("cuDeviceGet", 0)
        except RuntimeError:
            raise RuntimeError("no GPU") from None
        self.name = cast(bytes, self._call("cuDeviceGetName", 128, self._device)).partition(b"\0")[0].decode()
        about = driver.CUdevice_attribute
        major, mode = (cast(int, self._call("cuDeviceGetAttribute", each, self._device)) for each in (
            about.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, about.CU_DEVICE_ATTRIBUTE_COMPUTE_MODE))
        if major < OLDEST_MAJOR or mode == int(driver.CUcomputemode.CU_COMPUTEMODE_PROHIBITED):
            raise RuntimeError("old GPU" if major < OLDEST_MAJOR else "no GPU")
        self.processors = cast(int, self._call(
            "cuDeviceGetAttribute", about.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, self._device))

    def ask(self, function: str, *args: object) -> object:
        """Call a function of the driver, for this GPU, and return what it does. Raises RuntimeError where that
        fails."""
        if not getattr(self._thread, "uses", False):
            self._context = self._context or self._call("cuDevicePrimaryCtxRetain", self._device)
            self._call("cuCtxSetCurrent", self._context)
            self._thread.uses = True
        return self._call(function, *args)

    def _call(self, function: str, *args: object) -> object:
        error, *result = getattr(self._driver, function)(*args)
        if error != self._driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"the GPU failed: {function}: {error.name}")
        return result[0] if result else None

    # --- memory ------------------------------------------------------------------------------------------------------
    # For the type checker the GPU's arrays are NumPy's, which kernels take them for.

    def array(self, shape: tuple[int, ...], dtype: type[Scalar]) -> NDArray[Scalar]:
        """Return an array of zeros on the GPU. Raises MemoryError where there is no room."""
        kind = np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        try:
            memory = Memory(self, size)
        except RuntimeError as error:
            if "OUT_OF_MEMORY" not in str(error):
                raise
            raise MemoryError(f"the GPU has no room for {size / 1e6:,.0f} MB more") from None
        self.ask("cuMemsetD8", memory.address, 0, max(size, 16))
        return cast(NDArray[Scalar], GpuArray(memory, memory.address, shape, kind))

    def row(self, matrix: NDArray[np.generic], number: int, dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
        """Return an element of an array's first axis, taken for numbers of another type that are as wide."""
        of = cast(GpuArray, matrix)
        address = of.address + number * int(np.prod(of.shape[1:])) * of.dtype.itemsize
        return cast(NDArray[np.generic], GpuArray(of.memory, address, of.shape[1:], dtype))

    def upload(self, source: NDArray[np.generic], target: NDArray[np.generic]) -> None:
        """Copy a contiguous array to one of the GPU's of the same size."""
        assert source.nbytes == target.nbytes and source.flags.c_contiguous
        if source.nbytes:
            self.ask("cuMemcpyHtoD", cast(GpuArray, target).address, source.ctypes.data, source.nbytes)

    def download(self, source: NDArray[np.generic], target: NDArray[np.generic]) -> None:
        """Copy an array of the GPU's, once all launches so far are done."""
        assert source.nbytes == target.nbytes and target.flags.c_contiguous
        if source.nbytes:
            self.ask("cuMemcpyDtoH", target.ctypes.data, cast(GpuArray, source).address, source.nbytes)

    def copied(self, value: T, before: object = None) -> T:
        """Return a record with its arrays on the GPU, in the memory of `before` where that has the same size."""
        if isinstance(value, np.ndarray):
            plain = np.ascontiguousarray(value)
            fits = isinstance(before, np.ndarray | GpuArray) and (before.shape, before.dtype) == (plain.shape, plain.dtype)
            target = cast(Ints, before) if fits else self.array(plain.shape, plain.dtype.type)
            self.upload(plain, target)
            return cast(T, target)
        if isinstance(value, tuple):
            parts = before if isinstance(before, tuple) else [None] * len(value)
            made = [self.copied(each, part) for each, part in zip(value, parts, strict=True)]
            return cast(T, type(value)(*made) if hasattr(value, "_fields") else tuple(made))
        return value

    # --- kernels -----------------------------------------------------------------------------------------------------

    def threads_for(self, items: int) -> int:
        """Return how many threads share so many items: one each, up to what the GPU has at a time."""
        return max(min(items, self.processors * 2048), 1)

    def launch(self, kernel: Callable[..., object], workers: int, *args: object) -> Launch:
        assert isinstance(kernel, Kernel)
        return Launch(on_gpu(kernel), (workers, *args))

    def finish(self) -> None:
        """Wait until all launches are done. Raises RuntimeError where one failed."""
        self.ask("cuCtxSynchronize")

    def load(self, code: str) -> object:
        """Return the function of a kernel's code, which the driver translates for this GPU."""
        module = self.ask("cuModuleLoadData", code.encode("ascii") + b"\0")
        return self.ask("cuModuleGetFunction", module, ENTRY.encode())

    def start(self, function: object, workers: int, record: bytes) -> None:
        """Start a kernel with as many threads as workers; the driver copies the record."""
        address = np.array([np.frombuffer(record, np.uint8).ctypes.data], np.uint64)
        self.ask("cuLaunchKernel", function, -(-workers // THREADS), 1, 1, THREADS, 1, 1, 0, 0, address.ctypes.data, 0)


@cache
def on_gpu(kernel: Kernel[...]) -> KernelOnGpu:
    return KernelOnGpu(kernel)


class KernelOnGpu(Kernel[...]):
    """A kernel that the GPU runs: called with a number of threads and the arguments of each, arrays of the GPU's."""

    def __init__(self, kernel: Kernel[...]) -> None:
        self.entry = _Entry(kernel.share)
        self.share = kernel.share
        self.__name__, self.__module__, self.__doc__ = kernel.__name__, kernel.__module__, kernel.__doc__

    def is_on_disk(self, signature: tuple[object, ...]) -> bool:
        return self.entry.is_on_disk(signature)


class _Entry:
    """What is compiled of a kernel for the GPU, by the types of its arguments."""

    def __init__(self, share: Callable[..., None]) -> None:
        self._share = share
        self.overloads: dict[tuple[object, ...], object] = {}
        self._by_kinds: dict[tuple[object, ...], object] = {}  # the same, found sooner

    def __call__(self, workers: int, args: tuple[object, ...]) -> None:
        pieces: list[bytes] = [_WHOLE.pack(workers)]
        kinds: list[object] = []
        pack(args, pieces, kinds)
        function = self._by_kinds.get(key := tuple(kinds))
        if function is None:
            import numba

            signature = numba.typeof(workers), numba.typeof(args)
            function = self._by_kinds[key] = self.compile(signature)
        gpu().start(function, workers, b"".join(pieces))

    def compile(self, signature: tuple[object, ...]) -> object:
        if signature not in self.overloads:
            files = self._files()
            try:
                code = files.load(signature) if files else None
            except Exception:  # damaged: it is made again
                code = None
            if not isinstance(code, str):
                code = ptx_of(self._share, tuple(signature[1]))  # type: ignore[arg-type]
                if files:
                    files.save(signature, code)
            self.overloads[signature] = gpu().load(code)
        return self.overloads[signature]

    def is_on_disk(self, signature: tuple[object, ...]) -> bool:
        return bool((files := self._files()) and files.holds(signature))

    def _files(self) -> disk.KernelFiles | None:
        return disk.files_of(self._share, "ptx", disk.folder())


# --- arguments as the GPU takes them --------------------------------------------------------------------------------

_WHOLE, _SINGLE, _DOUBLE = struct.Struct("<q"), struct.Struct("<f4x"), struct.Struct("<d")


def pack(value: object, pieces: list[bytes], kinds: list[object]) -> None:
    """Append the leaves of a value, eight bytes each, and what decides its type."""
    kind = type(value)
    if kind is GpuArray:
        pieces.append(value.packed)  # type: ignore[attr-defined]
        kinds.append(value.kind)  # type: ignore[attr-defined]
        return
    kinds.append(kind)
    if isinstance(value, tuple):
        kinds.append(len(value))
        for each in value:
            pack(each, pieces, kinds)
    elif isinstance(value, np.float32):
        pieces.append(_SINGLE.pack(value))
    elif isinstance(value, float):
        pieces.append(_DOUBLE.pack(value))
    else:
        pieces.append(_WHOLE.pack(value))


# --- PTX: kernels for a graphics card, a worker is a thread of the GPU -----------------------------------------------

TRIPLE = "nvptx64-nvidia-cuda"
OLDEST = "sm_70"  # Volta; the driver translates for later GPUs
SLOT_BYTES = 8
ENTRY = "entry"
_GLOBAL = 1  # the address space of the GPU's memory


def ptx_of(share: Callable[..., None], kinds: Sequence[types.Type], model: str = OLDEST) -> str:
    """Return the PTX of a kernel whose share has arguments of these types; its function is `ENTRY`."""
    from crowd_demo.compute import numba_private  # late: `missing` is asked where that cannot be imported

    code, function = numba_private.code_of(share, kinds)  # with all that it calls
    module, entry, leaves = binding.parse_bitcode(code), ir.Module(), numba_private.leaves_of(kinds)
    body, record = numba_private.declared(entry, function), ir.ArrayType(llvm.I64, len(leaves) + 1)
    # the function that each thread runs: body(worker, workers, *arguments), if there is such a worker
    thread_of = ir.Function(entry, ir.FunctionType(ir.VoidType(), [llvm.pointer_to(record)]), ENTRY)
    thread_of.calling_convention = "ptx_kernel"
    b = ir.IRBuilder(thread_of.append_basic_block())
    block, size, thread = (b.zext(b.call(llvm.function_of(b, f"llvm.nvvm.read.ptx.sreg.{name}.x", llvm.I32), []), llvm.I64)
                           for name in ("ctaid", "ntid", "tid"))
    worker = b.add(b.mul(block, size), thread)
    workers = _leaf(b, thread_of.args[0], 0, llvm.I64)
    with b.if_then(b.icmp_signed("<", worker, workers)):
        returned = [b.bitcast(b.alloca(llvm.I64), kind) for kind in body.function_type.args[:2]]  # nothing and no error
        arguments = [_leaf(b, thread_of.args[0], number, kind) for number, kind in enumerate(leaves, 1)]
        b.call(body, [*returned, worker, workers, *arguments])
    b.ret_void()
    by_value = f"({{}} byval([{len(leaves) + 1} x i64]) align {SLOT_BYTES} %"  # which llvmlite cannot say of an argument
    text = re.sub(rf'({ENTRY}"?)\((ptr|i64\*) %', lambda found: found[1] + by_value.format(found[2]), str(entry))
    module.link_in(binding.parse_assembly(text))
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(TRIPLE).create_target_machine(cpu=model, opt=3)
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != ENTRY:
            each.linkage = "internal"
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return str(machine.emit_assembly(module))


def _leaf(b: ir.IRBuilder, record: ir.Value, number: int, kind: ir.Type) -> ir.Value:
    where = llvm.element(b, llvm.I64, record, ir.Constant(llvm.I64, number))
    if not isinstance(kind, ir.PointerType):
        return llvm.load(b, kind, where)
    address = b.load(where, typ=ir.PointerType(addrspace=_GLOBAL))
    return b.addrspacecast(address, kind)
