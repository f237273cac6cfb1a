"""What a measurement was made with: the processor, and the versions of the program and of its libraries."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from crowd_demo import __version__

LIBRARIES = ("numpy", "numba", "llvmlite", "pygame-ce", "pydantic")
REGISTERS = ("avx512f", "avx2", "avx", "sse2", "neon")  # widest first


def machine() -> dict[str, object]:
    """The processor, and the widest of its vector registers."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return {"cpu": _processor(), "cores": os.cpu_count(), "os": platform.platform(),
            "simd": next((name for name in REGISTERS if features.get(name)), None)}


def versions() -> dict[str, str]:
    """Of the program, Python and the libraries."""
    return {"crowd-demo": __version__, "python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def _processor() -> str:
    with suppress(OSError):
        return _first_model(Path("/proc/cpuinfo").read_text("utf-8").splitlines()) or platform.processor()
    return platform.processor()


def _first_model(lines: Iterable[str]) -> str:
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
