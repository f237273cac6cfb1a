"""Resident memory of runs without a window, kernels in the cache, nothing recorded."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from installs import here
from variants import ChildError

from targets.base import Found, Session, Target, on_linux

AT_MOST_MB = {"20k": 200, "1m-flock": 350}
FRAMES = 150
POLL_S = 0.05


def measure(session: Session) -> Iterator[Found]:
    on_linux()
    for config, bound in AT_MOST_MB.items():
        resident_mb(config)  # compiles what is missing
        found = resident_mb(config)
        yield Found(f"{config}, MB", found[-1], bound, details={"peak_mb": max(found)})


def resident_mb(config: str) -> list[float]:
    """What it was while the program ran, without what it takes to end. Raises ChildError."""
    install = here(installed=False)
    command = [*install.command, "-m", "crowd_demo", "--config", config, "--headless", "--frames", str(FRAMES),
               "--set", "time.rewind_mb=0"]
    with subprocess.Popen(command, env=install.environment, cwd=install.folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        found = []
        while process.poll() is None:
            found.append(_resident_mb(process.pid))
            time.sleep(POLL_S)
    if process.returncode or len(found) < 3:
        raise ChildError(f"{config}: ended with code {process.returncode}")
    return [each for each in found if each][:-1]


def _resident_mb(pid: int) -> float:
    """0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS")), 0.0)


TARGET = Target("memory", "resident memory, headless, nothing recorded", "20k: 200 MB, a million: 350 MB",
                "VmRSS of `crowd-demo --headless --frames 150 --set time.rewind_mb=0` near its end, kernels cached", measure)
