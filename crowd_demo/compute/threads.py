"""Which pool of threads runs the kernels: TBB's where its library is installed, else OpenMP's, else Numba's own work queue.

TBB's threads begin at once and wait for nobody; OpenMP's have to be woken for each kernel (docs/design/threads.md). Its wheel
is free but not open source, so it is an extra: `pip install crowd-demo[fast]`.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files

OTHERS = ("omp", "workqueue")  # layers that NUMBA_THREADING_LAYER may ask for
LIBRARIES = ("libtbb.so.12", "libtbb.12.dylib", "tbb12.dll")


def load_tbb() -> None:
    """Load the library of the distribution `tbb`, if there is one, so that Numba finds it. Call before Numba is imported.

    The wheel puts it where no linker looks, and setting a path would need another process.
    """
    if os.environ.get("NUMBA_THREADING_LAYER") in OTHERS:
        return
    with suppress(PackageNotFoundError, OSError):
        for file in files("tbb") or ():
            if file.name in LIBRARIES:
                ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
                return
