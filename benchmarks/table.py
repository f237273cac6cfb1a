"""What the program should reach in a window, measured: each line with its target, what was found, and the verdict.

    python benchmarks/table.py [looking] [first-window] [first-use] [--quick]

*looking*       a picture takes at most 1.3 times as long with a colour mode, and a frame 2 ms more with an overlay
*first-window*  a start with an empty cache, in a window of Xvfb: progress bar, two pictures of the crowd that differ, memory
*first-use*     a technique's value that is chosen for the first time, all else compiled: seconds until the crowd has it

The exit code is 1 if a target was missed. Other numbers are in the report of `crowd-demo --headless --report -`, and claims of
`crowd-demo lab`; `compare.py` measures against another commit.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from compare import HERE, ChildError, output_of

from crowd_demo.measure.statistics import UNKNOWN, Interval, median_interval, ratio_interval

CHILD = str(Path(__file__).with_name("app_child.py"))


class Found(NamedTuple):
    """A number, and the bound that it should keep."""

    what: str
    value: float
    bound: float
    interval: Interval = UNKNOWN

    @property
    def is_met(self) -> bool:
        return self.value <= self.bound

    def __str__(self) -> str:
        interval = f"{self.interval.low:.2f}-{self.interval.high:.2f}" if self.interval.known else ""
        return f"{self.what:56}{self.value:9.3g}  {interval:13}<= {self.bound:<5g}  {'met' if self.is_met else 'missed'}"


def asked(*words: str, cache: str = "") -> str:
    """Return what Python prints, with kernels in the folder `cache`, or where they usually are. Raises ChildError."""
    environment = {**HERE.environment, **({"CROWD_DEMO_CACHE": cache} if cache else {})}
    return output_of([*HERE.command, *words], "child", env=environment, cwd=HERE.folder).decode()


def looked(kind: str, config: str, frames: int, *overrides: str) -> tuple[Any, dict[str, Any]]:
    """Return (pictures, frames) in milliseconds: of the plain crowd, and by the name of what is shown."""
    told = asked(CHILD, "looking", config, str(frames), kind, *overrides).splitlines()[-1]
    times = {name: np.array(blocks).T for name, blocks in json.loads(told).items()}
    return times.pop(""), times


MODES, ZOOMS = "1m-flock", {"": (), " at zoom 1": ("camera.zoom=1",), " at zoom 0.18": ("camera.zoom=0.18",)}


def looking(quick: bool) -> Iterator[Found]:
    plain, modes = looked("colours", MODES, 48 if quick else 96)
    for name, (pictures, _) in modes.items():
        ratio = ratio_interval(pictures, plain[0])
        yield Found(f"{MODES}, {name}: times the plain picture", ratio.value, 1.3, ratio)
    for where, zoom in ZOOMS.items():
        plain, overlays = looked("overlay", "20k", 64 if quick else 160, *zoom)
        for name, (_, frames) in overlays.items():
            more = median_interval(frames - plain[1])
            yield Found(f"20k, {name}{where}: ms more a frame", more.value, 2.0, more)


# --- a first start in a window, looked at from outside ---------------------------------------------------------------

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


def first_start(config: str, watched_s: float = 0.0) -> Seen:
    """Start with an empty cache, and watch until the crowd moves, or at least so long. Raises ChildError."""
    with screen() as (display, _), tempfile.TemporaryDirectory() as cache:
        environment = {**HERE.environment, "DISPLAY": display, "SDL_VIDEODRIVER": "x11", "CROWD_DEMO_CACHE": cache,
                       "CROWD_DEMO_PREFERENCES": ""}
        began = time.monotonic()
        process = subprocess.Popen([*HERE.command, "-m", "crowd_demo", "--config", config], env=environment,
                                   cwd=HERE.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        bar_s = moving_s = peak_mb = 0.0
        before: list[bytes] = []
        try:
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
                    peak_mb = max(peak_mb, sum(map(proportional_mb, _with_children(process.pid))))
                time.sleep(POLL_S if not before else POLL_S / 4)
        finally:
            process.terminate()
            process.wait()
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


def proportional_mb(pid: int) -> float:
    """The proportional set size of a process; 0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("Pss:")), 0.0)


def first_window(quick: bool) -> Iterator[Found]:
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        raise ChildError(f"the window needs {' and '.join(missing)}")
    seen = [first_start("20k") for _ in range(1 if quick else 3)]
    yield Found("20k, progress bar, s", median(each.bar_s for each in seen), 1.5)
    yield Found("20k, first moving picture, s", median(each.moving_s for each in seen), 12)
    watched_s = 75.0  # until the other choices have been compiled for a while
    yield Found("20k, all processes, MB", first_start("20k", watched_s).peak_mb, 500)


# --- a technique's value that is chosen for the first time -----------------------------------------------------------

CHOICES: Mapping[str, tuple[str, ...]] = {
    "20k": ("neighbours=z_grid", "neighbour_limit=first", "simd=False", "avoidance=push", "neighbours=linked",
            "neighbours=kd_tree", "neighbours=aabb_tree", "neighbour_limit=nearest", "curve=morton", "cull=agents"),
    "20k-flock": ("neighbours=field", "neighbour_limit=first", "neighbours=z_grid", "simd=False")}
STEADY = "240"  # frames before the choice: times are steady, and the helpers are started


def first_use(quick: bool) -> Iterator[Found]:
    for config, choices in CHOICES.items():
        with tempfile.TemporaryDirectory() as cache:
            asked("-m", "crowd_demo", "--config", config, "--headless", "--frames", "1", cache=cache)
            for choice in choices[:1 if quick else None]:
                with tempfile.TemporaryDirectory() as folder:
                    copy = shutil.copytree(cache, Path(folder) / "cache")
                    told = asked(CHILD, "first-use", config, STEADY, choice, cache=str(copy))
                yield Found(f"{config} {choice}, s", float(told.splitlines()[-1]), 4.0)


LINES = {"looking": looking, "first-window": first_window, "first-use": first_use}


def main(argv: list[str] | None = None) -> int:
    """Print each line as soon as it is known, or why it cannot be measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", help="lines to measure (all)")
    parser.add_argument("--quick", action="store_true", help="fewer blocks")
    args = parser.parse_args(argv)
    if unknown := set(args.names) - LINES.keys():
        parser.error(f"no such line: {', '.join(unknown)}; there are {', '.join(LINES)}")
    missed = False
    for name in args.names or LINES:
        try:
            for found in LINES[name](args.quick):
                print(found, flush=True)
                missed |= not found.is_met
        except ChildError as error:
            print(f"{name} could not be measured: {error}", flush=True)
            missed = True
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
