"""What compiled code depends on: sources, versions, settings and the processor. Imports no compiler before it is asked.

There are two fingerprints. That of this machine names the folder of what is compiled here, for exactly this processor. The
portable one names the folder of kernels that were compiled elsewhere for a level of x86-64 processors: it leaves out the
processor, which only has to have the level, and the last digits of Python's version, on which no machine code depends.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import sysconfig
from contextlib import suppress
from itertools import dropwhile
from pathlib import Path

from crowd_demo.registry import plugins
from crowd_demo.registry.texts import say_once

PACKAGE = Path(__file__).parents[1]
COMPILED = b"@device", b"@formula", b"@kernel", b"@implements", b"@intrinsic"  # what makes code of a function
NO_CODE = "THREAD|CACHE|CUDA"  # settings of Numba that change no code; new ones count
PROCESSOR = "CPU_NAME", "CPU_FEATURES"  # Numba's settings of the processor that it compiles for

# The levels of the ABI of x86-64, by LLVM's names of processors and features, the highest first.
V3 = frozenset(("cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "avx2", "bmi", "bmi2", "f16c", "fma",
                "lzcnt", "movbe", "xsave"))
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS = {"x86-64-v4": V4, "x86-64-v3": V3}
NONE = "none"


def of_this_machine() -> str:
    """Hash of every source on which compiled code depends, and of the versions and settings that compile it.

    Numba notices a changed file, but not a changed callee in another file; a folder a fingerprint cannot be stale.
    """
    import numba
    import numpy

    added = [(str(path), path.read_bytes()) for path in plugins.sources()]  # all: a kernel may take a constant from any
    return _hash(_sources_hash(), added, numba.__version__, numpy.__version__, sys.version, _settings())


def portable() -> str:
    """Hash of the same without plugins and the processor, and with Python's minor version and ABI for its full version."""
    import llvmlite
    import numba
    import numpy

    settings = [(name, value) for name, value in _settings() if name not in PROCESSOR]
    python = sysconfig.get_config_var("EXT_SUFFIX")
    return _hash(_sources_hash(), numba.__version__, llvmlite.__version__, numpy.__version__, python, settings)


@functools.cache
def levels() -> tuple[str, ...]:
    """The levels that this processor has, the highest first; none where Numba is told of another processor."""
    import numba
    from llvmlite import binding

    has: set[str] = set()
    with suppress(RuntimeError):  # LLVM does not know the features of every system's processors
        has = {name for name, there in binding.get_host_cpu_features().items() if there}
    if any(getattr(numba.config, name) is not None for name in PROCESSOR):
        return ()
    most = asked_level()
    allowed = dropwhile(lambda level: most not in ("", level), LEVELS)  # all of them drop out of NONE
    return tuple(level for level in allowed if LEVELS[level] <= has)


def asked_level() -> str:
    """What the variable CROWD_DEMO_KERNELS says: the highest level of installed kernels, NONE, or nothing."""
    asked = os.environ.get("CROWD_DEMO_KERNELS", "")
    if asked not in ("", NONE, *LEVELS):
        say_once(f"CROWD_DEMO_KERNELS must be {', '.join(LEVELS)} or {NONE}, not {asked!r}: no installed kernels are used")
        return NONE
    return asked


def _settings() -> list[tuple[str, str]]:
    """Numba's settings (NUMBA_OPT, NUMBA_BOUNDSCHECK, ...) but those that change no code."""
    import numba

    return sorted((name, repr(value)) for name, value in vars(numba.config).items()
                  if name.isupper() and not re.search(NO_CODE, name))


@functools.cache
def _sources_hash() -> str:
    return _hash(*((path.relative_to(PACKAGE).as_posix(), source) for path, source in kernel_sources().items()))


def _hash(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def kernel_sources() -> dict[Path, bytes]:
    """All files of each folder that holds compiled code: a kernel takes constants and records from the files beside it."""
    sources = {path: path.read_bytes() for path in sorted(PACKAGE.rglob("*.py"))}
    folders: set[Path] = set()
    for path, source in sources.items():
        if path.parent not in folders and any(word in source for word in COMPILED):
            folders.add(path.parent)
    return {path: source for path, source in sources.items() if path.parent in folders}
