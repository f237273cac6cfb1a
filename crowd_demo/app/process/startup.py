"""How long ago the process was started."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

_IMPORTED = time.perf_counter()


def seconds_since_start() -> float:
    """Seconds since the process was started; where the system does not say, since this module was imported."""
    if sys.platform == "linux":
        with suppress(OSError, ValueError):
            fields = Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()
            began = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # after boot
            return time.clock_gettime(time.CLOCK_BOOTTIME) - began
    return time.perf_counter() - _IMPORTED
