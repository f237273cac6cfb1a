"""The table of what this program should reach, measured: each line with its target, what was found, and the verdict.

    python benchmarks/table.py [NAME]... [--list] [--quick]

`--quick` takes fewer blocks and leaves out what is large. A line that cannot be measured here says why. The exit code is 1 if
a target was missed. Steps against C, by size and by thread are claims of `crowd-demo lab`; `compare.py` measures against
another commit.
"""

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from first_window import first_start, missing_tools
from installs import InstallError, here, last_line
from variants import ChildError

from crowd_demo.cli.arguments import Parser, mistaken
from crowd_demo.cli.main import exit_code
from crowd_demo.host.shutdown import FAILED, OK
from crowd_demo.measure.statistics import UNKNOWN, Interval, median_interval, ratio_interval

CHILD = Path(__file__).with_name("app_child.py")


class SkippedError(Exception):
    """Why this cannot be measured here."""


class Found(NamedTuple):
    """A number, and the bound that it should keep."""

    what: str
    value: float
    bound: float
    at_least: bool = False  # the bound is a lower one
    interval: Interval = UNKNOWN

    @property
    def verdict(self) -> str:
        if math.isnan(self.value):
            return "unknown"
        return "met" if (self.value >= self.bound if self.at_least else self.value <= self.bound) else "missed"


class Target(NamedTuple):
    """A line of the table; with True it is measured in less time."""

    name: str
    what: str
    target: str
    how: str
    measure: Callable[[bool], Iterable[Found]]  # raises SkippedError, ChildError and InstallError


def asked(what: str, config: str, *overrides: str, frames: int = 60, cache: str = "") -> dict[str, Any]:
    """Ask app_child.py, with its kernels in the folder `cache`, or where they usually are. Raises ChildError."""
    return output([str(CHILD), what, config, str(frames), *overrides], cache)


def reported(config: str, *overrides: str, frames: int = 60, cache: str = "") -> dict[str, Any]:
    """The program's own report of so many frames. Raises ChildError."""
    changes = [word for each in overrides for word in ("--set", each)]
    return output(["-m", "crowd_demo", "--config", config, *changes, "--headless", "--frames", str(frames), "--report", "-"],
                  cache)


def output(words: Sequence[str], cache: str) -> dict[str, Any]:
    install = here(installed=False)
    environment = {**install.environment, **({"CROWD_DEMO_CACHE": cache} if cache else {})}
    done = subprocess.run([*install.command, *words], env=environment, cwd=install.folder, capture_output=True,
                          encoding="utf-8")
    if done.returncode:
        raise ChildError(f"ended with code {done.returncode}: {last_line(done.stderr)}")
    found: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{"):])
    return found


# --- what looking costs ----------------------------------------------------------------------------------------------

MODES, ZOOMS = "1m-flock", {"": (), " at zoom 1": ("camera.zoom=1",), " at zoom 0.18": ("camera.zoom=0.18",)}


def looking(quick: bool) -> Iterator[Found]:
    plain, *modes = ((name, np.array(ms)) for name, ms in asked("colours", MODES, frames=48 if quick else 96).items())
    for name, ms in modes:
        ratio = ratio_interval(ms, plain[1])
        yield Found(f"{MODES}, {name}: times the plain picture", ratio.value, 1.3, interval=ratio)
    for where, zoom in ZOOMS.items():
        plain, *overlays = ((name, np.array(ms)) for name, ms in asked(
            "overlays", "20k", *zoom, frames=64 if quick else 160).items())
        for name, ms in overlays:
            more = median_interval(ms - plain[1])
            yield Found(f"20k, {name}{where}: ms more a frame", more.value, 2.0, interval=more)


# --- memory ----------------------------------------------------------------------------------------------------------

def memory(quick: bool) -> Iterator[Found]:
    for config, bound in {"20k": 200, "1m-flock": 350}.items():
        reported(config, frames=1)  # compiles what is missing
        yield Found(f"{config}, MB", reported(config, "time.rewind_mb=0", frames=150)["rss_mb"]["current"], bound)


# --- the window ------------------------------------------------------------------------------------------------------

PATTERNS = {"at one point": ("spawn.pattern=point",),
            "in one cell": ("spawn.pattern=clump", "spawn.share=1", "spawn.box=0.006")}


def one_cell(quick: bool) -> Iterator[Found]:
    for crowd, config in {"birds": "20k-flock", "people": "20k"}.items():
        for where, overrides in PATTERNS.items():
            yield Found(f"{crowd} {where}: FPS", 1e3 / reported(config, *overrides)["frame_ms"]["median"], 10, at_least=True)
            waited = asked("keys", config, *overrides)["waited_ms"]
            yield Found(f"{crowd} {where}: a key waits (95 %), ms", float(np.percentile(waited, 95)), 100)


def no_stage(quick: bool) -> Iterator[Found]:
    yield Found("20k-flock, ms", reported("20k-flock", frames=600)["stages"]["other"]["median_ms"], 0.25)


def first_window(quick: bool) -> Iterator[Found]:
    if missing := missing_tools():
        raise SkippedError(f"the window needs {' and '.join(missing)}")
    seen = [first_start(here(installed=False), "20k") for _ in range(1 if quick else 3)]
    yield Found("20k, progress bar, s", median(each.bar_s for each in seen), 1.5)
    yield Found("20k, first moving picture, s", median(each.moving_s for each in seen), 12)
    watched_s = 75.0  # until the other choices have been compiled for a while
    yield Found("20k, all processes, MB", first_start(here(installed=False), "20k", watched_s).peak_mb, 500)


CHOICES: Mapping[str, tuple[str, ...]] = {
    "20k": ("neighbours=z_grid", "neighbour_limit=first", "simd=False", "avoidance=push", "neighbours=linked",
            "neighbours=kd_tree", "neighbours=aabb_tree", "neighbour_limit=nearest", "curve=morton", "cull=agents"),
    "20k-flock": ("neighbours=field", "neighbour_limit=first", "neighbours=z_grid", "simd=False")}
STEADY = 240  # frames before the choice: times are steady, and the helpers are started


def first_use(quick: bool) -> Iterator[Found]:
    for config, choices in CHOICES.items():
        with tempfile.TemporaryDirectory() as cache:
            reported(config, frames=1, cache=cache)
            for choice in choices[:1 if quick else None]:
                with tempfile.TemporaryDirectory() as folder:
                    copy = shutil.copytree(cache, Path(folder) / "cache")
                    seconds = asked("first-use", config, choice, frames=STEADY, cache=str(copy))["seconds"]
                yield Found(f"{config} {choice}, s", seconds, 4.0)


TARGETS = (
    Target("looking", "what colour modes and overlays cost", "a picture 1.3 times, a frame 2 ms more",
           "the whole program without a window; each mode and overlay in turns with none", looking),
    Target("one-cell", "all 20,000 agents in one cell", "10 FPS, a key waits at most 100 ms",
           "the whole program without a window; from a press of F1 at a random moment until the help is shown", one_cell),
    Target("memory", "resident memory, headless, nothing recorded", "20k: 200 MB, a million: 350 MB",
           "the report of `crowd-demo --headless --frames 150 --set time.rewind_mb=0`, kernels cached", memory),
    Target("no-stage", "what a frame spends in no stage: Python, and handing over to the worker's thread", "0.25 ms",
           "median of the whole program without a window", no_stage),
    Target("first-window", "a start with an empty cache of kernels, in a window",
           "progress bar 1.5 s, moving picture 12 s, 500 MB",
           "a window of Xvfb until two pictures of the crowd differ, then for memory until other choices have been compiled",
           first_window),
    Target("first-use", "a technique's value that is chosen for the first time, all else compiled", "4 s each",
           "the whole program without a display server: seconds from the choice until the crowd has it",
           first_use))


# --- the command -----------------------------------------------------------------------------------------------------

def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 fine, 1 a target was missed, 2 a mistake of the user."""
    return exit_code(lambda: _main(_parser().parse_args(argv)))


def _parser() -> Parser:
    made = Parser(prog="benchmarks/table.py", allow_abbrev=False, description=str(__doc__).partition("\n")[0])
    made.add_argument("names", metavar="NAME", nargs="*", help="lines to measure (all)")
    made.add_argument("--list", action="store_true", help="say what there is, and measure nothing")
    made.add_argument("--quick", action="store_true", help="fewer blocks, and nothing large")
    return made


def _main(args: argparse.Namespace) -> int:
    known = {target.name: target for target in TARGETS}
    if unknown := [name for name in args.names if name not in known]:
        return mistaken(f"{unknown[0]}: no such line; there are {', '.join(known)}")
    chosen = [known[name] for name in args.names or known]
    if args.list:
        print(*listed(chosen), sep="\n")
        return OK
    print(head())
    founds = [found for target in chosen for found in measured(target, args.quick)]
    return FAILED if any(found.verdict == "missed" for found in founds) else OK


def measured(target: Target, quick: bool) -> Iterator[Found]:
    """Yield each result, printed at once, or a line with the reason why it cannot be measured."""
    try:
        for found in target.measure(quick):
            print(row(target.name, found), flush=True)
            yield found
    except (SkippedError, ChildError, InstallError) as error:
        print(f"{target.name:13}{'skipped' if isinstance(error, SkippedError) else 'failed'}: {error}", flush=True)


def head() -> str:
    return f"{'':13}{'':52}{'found':>9}  {'95 %':13}{'target':>8}"


def row(name: str, found: Found) -> str:
    interval = f"{found.interval.low:.2f}-{found.interval.high:.2f}" if found.interval.known else ""
    bound = f"{'>=' if found.at_least else '<='} {found.bound:g}"
    return f"{name:13}{found.what:52}{found.value:9.3g}  {interval:13}{bound:>8}  {found.verdict}"


def listed(targets: Sequence[Target]) -> Iterator[str]:
    for target in targets:
        yield f"{target.name:13}{target.what}: {target.target}"
        yield f"{'':13}{target.how}"


if __name__ == "__main__":
    sys.exit(main())
