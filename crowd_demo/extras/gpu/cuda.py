"""A graphics card: its memory, and kernels that run on it, by NVIDIA's driver.

A launch on the GPU gets arrays that lie there, `GpuArray`s, wherever the same kernel gets NumPy's on the processor (ptx.py
has how one text serves both). Launches come back at once; the GPU carries them out in their order, and `finish` waits.

Only NVIDIA's own bindings of the driver are needed (the extra `cuda`): no toolkit, and no second compiler.
"""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import TypeVar, cast

import numpy as np
from numba import types
from numba.extending import typeof_impl
from numpy.typing import NDArray

from crowd_demo.compute import cache as disk
from crowd_demo.compute import jit, llvm
from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import Kernel, Launch

THREADS = 128  # of a block
OLDEST_MAJOR = 7  # compute capability that the code is made for (ptx.py)
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
        """Call a function of the driver, for this GPU, and return what it does. Raises RuntimeError where that fails."""
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
        """Return the launch of a kernel by so many threads of the GPU."""
        assert isinstance(kernel, Kernel)
        return Launch(on_gpu(kernel), (workers, *args))

    def finish(self) -> None:
        """Wait until all launches are done. Raises RuntimeError where one failed."""
        self.ask("cuCtxSynchronize")

    def load(self, code: str) -> object:
        """Return the function of a kernel's code, which the driver translates for this GPU."""
        from crowd_demo.extras.gpu.ptx import ENTRY

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
            self.overloads[signature] = gpu().load(self._ptx(signature))
        return self.overloads[signature]

    def is_on_disk(self, signature: tuple[object, ...]) -> bool:
        return bool((files := self._files()) and files.holds(signature))

    def _files(self) -> disk.KernelFiles | None:
        return disk.files_of(self._share, "ptx", disk.folder())

    def _ptx(self, signature: tuple[object, ...]) -> str:
        """Return the kernel's code for any GPU, from disk or made now."""
        from crowd_demo.extras.gpu import ptx

        files = self._files()
        try:
            found = files.load(signature) if files else None
        except Exception:  # damaged: it is made again
            found = None
        if isinstance(found, str):
            return found
        made = ptx.ptx_of(self._share, tuple(signature[1]))  # type: ignore[arg-type]
        if files:
            files.save(signature, made)
        return made


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
