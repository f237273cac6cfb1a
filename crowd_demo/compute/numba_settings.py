"""Settings of Numba, the variables NUMBA_..., may keep it from starting or end the process: an error of one line here."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

MAX_THREADS = 1024  # OpenMP ends the process if the system does not give it as many as it wants
FEATURES = r"([+-][\w.-]+(,[+-][\w.-]+)*)?"  # LLVM ends the process at anything else


class SettingError(Exception):
    """Numba does not start with its present settings; the text is one line."""


@contextmanager
def checked() -> Iterator[None]:
    """Import Numba, or start its threads, in here. Raises SettingError.

    Numba only warns of a value that it cannot parse, in ten lines.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Environment variable 'NUMBA_", RuntimeWarning)
        try:
            yield
        except (ValueError, RuntimeWarning) as error:
            settings = ", ".join(f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_"))
            why = " ".join(str(error).partition("The parse failed")[0].split())
            raise SettingError(f"Numba does not start with {settings or 'its settings'}: {why}") from error


def check_features() -> None:
    """Raises ValueError."""
    if not re.fullmatch(FEATURES, features := os.environ.get("NUMBA_CPU_FEATURES", "")):
        raise ValueError(f"NUMBA_CPU_FEATURES must be like +avx2,-fma, not {features!r}")


def check(count: int, disabled: object) -> None:
    """Raise ValueError for settings that Numba accepts and kernels cannot run with."""
    if disabled:
        raise ValueError("kernels have to be compiled: NUMBA_DISABLE_JIT must be 0")
    if count > max(MAX_THREADS, os.cpu_count() or 1):
        raise ValueError(f"NUMBA_NUM_THREADS must be at most {MAX_THREADS}, not {count}")
