"""A first start of the program in a window of a screen of its own (Xvfb), looked at from outside."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from installs import Install
from variants import ChildError

TOOLS = ("Xvfb", "xwd")
SIZE = (1280, 720)
COLOURS = 200  # in the middle of the picture: more than the screen with the progress bar has
POLL_S = 0.4
PATIENCE_S = 180.0


class Seen(NamedTuple):
    """Seconds from the start until something was seen, and the most memory of all processes (proportional set sizes)."""

    bar_s: float
    moving_s: float  # two pictures of a crowd that differ
    peak_mb: float


def missing_tools() -> list[str]:
    return [tool for tool in TOOLS if not shutil.which(tool)]


def first_start(install: Install, config: str, watched_s: float = 0.0) -> Seen:
    """Start with an empty cache, and watch until the crowd moves, or at least so long. Raises ChildError."""
    with screen() as (display, _), tempfile.TemporaryDirectory() as cache:
        environment = {**install.environment, "DISPLAY": display, "SDL_VIDEODRIVER": "x11", "CROWD_DEMO_CACHE": cache,
                       "CROWD_DEMO_PREFERENCES": ""}
        began = time.monotonic()
        process = subprocess.Popen([*install.command, "-m", "crowd_demo", "--config", config], env=environment,
                                   cwd=install.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return _watch(process, display, began, watched_s)
        finally:
            process.terminate()
            process.wait()


def _watch(process: subprocess.Popen[bytes], display: str, began: float, watched_s: float) -> Seen:
    bar_s = moving_s = peak_mb = 0.0
    before: list[bytes] = []
    while not moving_s or time.monotonic() - began < watched_s:
        now_s = time.monotonic() - began
        if process.poll() is not None or now_s > PATIENCE_S:
            raise ChildError("no crowd was seen")
        if not moving_s:
            pixels = _middle(display)
            colours = len(set(pixels))
            bar_s = bar_s or now_s * (colours > 1)
            if before and colours > COLOURS and pixels != before:
                moving_s = now_s
            before = pixels if colours > COLOURS else []
        if watched_s:
            peak_mb = max(peak_mb, sum(status_mb(pid, "smaps_rollup", "Pss") for pid in _with_children(process.pid)))
        time.sleep(POLL_S if not before else POLL_S / 4)
    return Seen(bar_s, moving_s, peak_mb)


@contextmanager
def screen() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The display of a screen of its own, which ends afterwards, and the process that it is."""
    read, write = os.pipe()
    width, height = SIZE
    # Left to itself it starts afresh whenever its last client leaves, and refuses the next one meanwhile: "x11 not available".
    server = subprocess.Popen(["Xvfb", "-noreset", "-nolisten", "tcp", "-displayfd", str(write), "-screen", "0",
                               f"{width}x{height}x24"], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read, encoding="utf-8") as told:
            yield f":{told.readline().strip()}", server
    finally:
        server.terminate()
        server.wait()


def _middle(display: str) -> list[bytes]:
    """Pixels of the screen between the panels."""
    width, height = SIZE
    done = subprocess.run(["xwd", "-root", "-silent", "-display", display], capture_output=True, check=False)
    picture = done.stdout[-width * height * 4:]
    rows = (picture[(y * width + 500) * 4:(y * width + 800) * 4] for y in range(200, 500, 3))
    return [row[at:at + 3] for row in rows for at in range(0, len(row), 8)]


def _with_children(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text("utf-8").split():
                yield from _with_children(int(child))
    except OSError:
        return  # it has ended


def status_mb(pid: int, file: str, name: str) -> float:
    """A size in a file about a process; 0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/{file}").read_text("utf-8")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith(f"{name}:")), 0.0)
