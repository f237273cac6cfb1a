"""Names of array types, and of what a kernel's formula takes: one number, or a register of sixteen.

Annotations give the dtype of an array, the docstring or the comment beside it its shape. A formula that is written once for
one agent and for sixteen takes `Float`, `Int` and `Mask`: Numba decides which of the two when it compiles, and Python's type
system cannot express it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Marks = NDArray[np.int16]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint32]
Keys = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Array = NDArray[Any]  # of any numbers
Reals = Any  # float32 or float64, as each kernel is compiled
Values = tuple[Any, ...]  # arrays of various numbers, or a number from each
Whole = NDArray[np.integer]  # whole numbers of any width: ids from outside


def with_room(count: int) -> int:
    """Return the length of an array for `count` entries, and soon a few more."""
    return count + count // 4


class Tally:
    """Counts how often each number occurs, like NumPy's `bincount`, which would copy numbers of 32 bits. Owns its memory."""

    def __init__(self) -> None:
        self._part = np.empty(1 << 13, np.intp)

    def count(self, numbers: Ints, below: int) -> Longs:
        """Return int64[below]; the numbers are less than that."""
        counts = np.zeros(below, np.int64)
        for first in range(0, len(numbers), len(self._part)):
            part = self._part[:len(numbers) - first]
            part[:] = numbers[first:first + len(part)]
            counts += np.bincount(part, minlength=below)
        return counts


# Inside kernels only.
Float = Any  # float32, or sixteen of them in a register
Int = Any  # int32 or an index, or sixteen int32
Mask = Any  # a truth value, or sixteen
Register = Any  # sixteen of anything
Rules = Any  # a behaviour's constants of one step: the type of the record decides which behaviour a kernel is compiled for
