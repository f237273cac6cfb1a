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
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from first_window import first_start, missing_tools
from installs import here, last_line
from variants import ChildError

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
    install = here(installed=False)
    environment = {**install.environment, **({"CROWD_DEMO_CACHE": cache} if cache else {})}
    done = subprocess.run([*install.command, *words], env=environment, cwd=install.folder, capture_output=True,
                          encoding="utf-8")
    if done.returncode:
        raise ChildError(f"ended with code {done.returncode}: {last_line(done.stderr)}")
    return done.stdout


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


def first_window(quick: bool) -> Iterator[Found]:
    if missing := missing_tools():
        raise ChildError(f"the window needs {' and '.join(missing)}")
    seen = [first_start(here(installed=False), "20k") for _ in range(1 if quick else 3)]
    yield Found("20k, progress bar, s", median(each.bar_s for each in seen), 1.5)
    yield Found("20k, first moving picture, s", median(each.moving_s for each in seen), 12)
    watched_s = 75.0  # until the other choices have been compiled for a while
    yield Found("20k, all processes, MB", first_start(here(installed=False), "20k", watched_s).peak_mb, 500)


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
