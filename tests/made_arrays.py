"""Which arrays of NumPy are made, and where: every one, also those that are gone at the end of a frame.

NumPy asks a handler for the memory of an array's elements, and a thread may bring its own (NEP 49). `tracemalloc` sees the
same memory, but only what is alive when it is asked.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

SET_HANDLER, GET_HANDLER = 304, 305  # places of PyDataMem_* in NumPy's table of functions, which never change
NAME = b"mem_handler"  # what NumPy calls the capsule of a handler
LEAST_BYTES = 1025  # NumPy keeps the memory of smaller arrays for the next ones
KEYFRAME = "crowd_demo.app.crowd._take"
ALLOWED = {  # functions that may make arrays in a steady frame, and what these are
    KEYFRAME: "keyframes to go back to, twice a second",
    "crowd_demo.host.report.collect": "the report's record, every 512 frames",
    "crowd_demo.render.figures.crates._add": "what a crate of a size looks like that was never in view",
    "crowd_demo.sim.terrain.crowding.calls": "prices of tiles, every two seconds: snapshots may keep those that were before",
    "crowd_demo.sim.interaction.interaction_stage._make_room": "strips, half as large again: rows of cells were never so full",
}


class Made(NamedTuple):
    """An array that was made: its size, and the functions that were running, the innermost first, as "module.function"."""

    nbytes: int
    callers: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.nbytes:,} bytes in {' < '.join([name for name in self.callers if name.startswith('crowd_demo')][:3])}"


def is_allowed(made: Made) -> bool:
    return bool(ALLOWED.keys() & set(made.callers))


class _Allocator(ctypes.Structure):
    """`PyDataMem_Handler` of NumPy's interface for C."""

    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
                ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p), ("realloc", ctypes.c_void_p),
                ("free", ctypes.c_void_p)]


_Malloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_Calloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_Realloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Handler:
    """Hands on to NumPy's handler, and notes what was asked for. Arrays that it made keep it: there is one, for good.

    Memory is given back by NumPy's own function: that also happens while an exception is on its way, when no Python may run.
    """

    def __init__(self) -> None:
        self.made: list[Made] | None = None  # nothing is noted while this is None
        usual = _Allocator.from_address(_address_of(_function(GET_HANDLER)(), NAME))
        malloc, calloc, realloc = _Malloc(usual.malloc), _Calloc(usual.calloc), _Realloc(usual.realloc)

        def noted(size: int, memory: Any) -> Any:
            if self.made is not None and size >= LEAST_BYTES:
                self.made.append(Made(size, tuple(_names(sys._getframe(2)))))
            return memory

        self._kept = (_Malloc(lambda context, size: noted(size, malloc(context, size))),
                      _Calloc(lambda context, count, size: noted(count * size, calloc(context, count, size))),
                      _Realloc(lambda context, old, size: noted(size, realloc(context, old, size))))
        self._allocator = _Allocator(b"crowd_demo_made", 1, usual.context,
                                     *(ctypes.cast(each, ctypes.c_void_p) for each in self._kept), usual.free)
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi))
        self.capsule = new(ctypes.addressof(self._allocator), NAME, None)

    def install(self) -> object:
        """Ask this handler for arrays that the calling thread makes; return the one that was asked before."""
        return _set_handler(self.capsule)


def _address_of(capsule: object, name: bytes | None) -> Any:
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return pointer(capsule, name)


def _function(place: int, *takes: Any) -> Callable[..., object]:
    """A function of NumPy's table, which returns an object."""
    table = ctypes.cast(_address_of(np._core.multiarray._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))  # type: ignore[attr-defined]
    address = table[place]
    assert address
    return ctypes.PYFUNCTYPE(ctypes.py_object, *takes)(address)


def _set_handler(capsule: object) -> object:
    return _function(SET_HANDLER, ctypes.py_object)(capsule)


def _names(frame: FrameType | None) -> Iterator[str]:
    while frame:
        yield f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}"
        frame = frame.f_back


_HANDLERS: list[Handler] = []


@contextmanager
def made_arrays(in_thread: Callable[[Callable[[], object]], object]) -> Iterator[list[Made]]:
    """Note the arrays that are made in this thread and in another one, in which `in_thread(f)` runs `f` and waits for it."""
    if not _HANDLERS:
        _HANDLERS.append(Handler())
    handler = _HANDLERS[0]
    before = handler.install(), in_thread(handler.install)
    handler.made = []
    try:
        yield handler.made
    finally:
        handler.made = None
        _set_handler(before[0])
        in_thread(lambda: _set_handler(before[1]))
