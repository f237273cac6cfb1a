"""The table of what this program should reach, measured: each line with its target, what was found, and the verdict.

    python benchmarks/table.py [NAME]... [--list] [--quick] [--json PATH]

`--quick` takes fewer blocks and leaves out what is large. A line that cannot be measured here says why. The exit code is 1 if
a target was missed. Steps against C, by size and by thread are claims of `crowd-demo lab`; `compare.py` measures against
another commit.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from compare import WARM_UP
from first_window import first_start, missing_tools, status_mb
from installs import InstallError, here, last_line
from variants import ChildError, ChildVariant

from crowd_demo.cli.arguments import Parser, mistaken, unwritable
from crowd_demo.cli.main import exit_code
from crowd_demo.compute.arrays import Doubles
from crowd_demo.host.shutdown import FAILED, OK
from crowd_demo.measure.comparison import BlockTimes, collect, interleave
from crowd_demo.measure.experiment import header
from crowd_demo.measure.statistics import UNKNOWN, Interval, finite, interval_json, median_interval, ratio_interval

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
    details: Mapping[str, object] = {}

    @property
    def verdict(self) -> str:
        if math.isnan(self.value):
            return "unknown"
        return "met" if (self.value >= self.bound if self.at_least else self.value <= self.bound) else "missed"

    def to_json(self) -> dict[str, object]:
        return {"what": self.what, "value": finite(self.value), "bound": self.bound, "at_least": self.at_least,
                "verdict": self.verdict, "interval": interval_json(self.interval), **self.details}


class Target(NamedTuple):
    """A line of the table; with True it is measured in less time."""

    name: str
    what: str
    target: str
    how: str
    measure: Callable[[bool], Iterable[Found]]  # raises SkippedError, ChildError and InstallError


def on_linux() -> None:
    """Raises SkippedError elsewhere."""
    if not sys.platform.startswith("linux"):
        raise SkippedError("only where there is /proc")


def asked(what: str, config: str, *overrides: str, frames: int = 60, cache: str = "") -> dict[str, Any]:
    """Ask app_child.py, with its kernels in the folder `cache`, or where they usually are. Raises ChildError."""
    install = here(installed=False)
    environment = {**install.environment, **({"CROWD_DEMO_CACHE": cache} if cache else {})}
    done = subprocess.run([*install.command, str(CHILD), what, config, str(frames), *overrides], env=environment,
                          cwd=install.folder, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise ChildError(f"{config}: ended with code {done.returncode}: {last_line(done.stderr)}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def in_turns(config: str, blocks: Sequence[int], overrides: Mapping[str, object] | None = None, picture: bool = False,
             before: int = 0) -> list[list[BlockTimes]]:
    """The blocks of two processes with the same crowd, of which the first has made so many steps `before`."""
    install = here(installed=False)
    with (ChildVariant(install, config, overrides or {}, picture) as one,
          ChildVariant(install, config, overrides or {}, picture) as other):
        for _ in range(before // STEPS_AT_ONCE):
            one.run(STEPS_AT_ONCE)
        variants = {"one": one, "other": other}
        return list(collect(variants, interleave(variants, blocks, WARM_UP)).values())


def blocks_of(quick: bool) -> int:
    """Return the number of blocks: a confidence interval needs at least six."""
    return 6 if quick else 12


# --- what looking costs ----------------------------------------------------------------------------------------------

MODES, ZOOMS = "1m-flock", {"": (), " at zoom 1": ("camera.zoom=1",), " at zoom 0.18": ("camera.zoom=0.18",)}


def looking(quick: bool) -> Iterator[Found]:
    plain, *modes = ((name, np.array(ms)) for name, ms in asked("colours", MODES, frames=48 if quick else 96).items())
    for name, ms in modes:
        ratio = ratio_interval(ms, plain[1])
        yield Found(f"{MODES}, {name}: times the plain picture", ratio.value, 1.3, interval=ratio,
                    details={"ms": float(np.median(ms))})
    for where, zoom in ZOOMS.items():
        plain, *overlays = ((name, np.array(ms)) for name, ms in asked(
            "overlays", "20k", *zoom, frames=64 if quick else 160).items())
        for name, ms in overlays:
            more = median_interval(ms - plain[1])
            yield Found(f"20k, {name}{where}: ms more a frame", more.value, 2.0, interval=more,
                        details={"plain_ms": float(np.median(plain[1]))})


# --- frames beside a sort, and crowds that drift together or lose their order ----------------------------------------

SORTED = {"optimizations.reorder.when": "every", "optimizations.reorder.every": 60}
STEPS_AT_ONCE = 500
AGEING = "20k-flock", "1m-flock", "1m-flock-push", "births-250k"  # `clump` and `murmuration` draw together on purpose


def sorts(quick: bool) -> Iterator[Found]:
    for config in ("20k-flock", "1m-flock")[:1 if quick else None]:
        timed = in_turns(config, [60] * blocks_of(quick), SORTED, picture=True)  # each block has a sort
        (plain, with_sort), (again, _) = map(frame_times, timed)
        yield Found(f"{config}: p99 / median without a sort, against itself", unevenness(plain) / unevenness(again), 1.2,
                    details={"p99_over_median": unevenness(plain)})
        usual, sorting = (float(np.median(frames)) for frames in (plain, with_sort))
        yield Found(f"{config}: a frame with a sort", sorting / usual, 1.5,
                    details={"median_ms": usual, "with_sort_ms": sorting, "sorts": len(with_sort)})


def frame_times(blocks: Sequence[BlockTimes]) -> tuple[Doubles, Doubles]:
    """Milliseconds of the frames without a sort, and of those with one."""
    whole = np.concatenate([sum(each.frame.times_ms.values(), np.zeros(each.frame.steps)) for each in blocks])
    sorting = np.concatenate([each.stages.times_ms["reorder"] for each in blocks])
    sorted_now = sorting > 10 * np.median(sorting) + 0.02  # a stage that only looks takes microseconds
    return whole[~sorted_now], whole[sorted_now]


def unevenness(frames: Doubles) -> float:
    return float(np.percentile(frames, 99) / np.median(frames))


def ageing(quick: bool) -> Iterator[Found]:
    for config in AGEING[:1 if quick else None]:
        timed = in_turns(config, [12] * blocks_of(quick), before=3000)
        old, young = (np.array([float(np.mean(each.frame.times_ms["step"])) for each in blocks]) for blocks in timed)
        ratio = ratio_interval(old, young)
        yield Found(config, ratio.value, 1.2, interval=ratio,
                    details={"young_ms": float(np.median(young)), "old_ms": float(np.median(old))})


# --- arrays and memory -----------------------------------------------------------------------------------------------

def arrays(quick: bool) -> Iterator[Found]:
    for config in ("20k", "20k-flock", "crates", "100k", "1m-flock")[:3 if quick else None]:
        found = asked("arrays", config, "scene.overlays=[]")
        yield Found(config, found["made"], 0, details={"places": found["places"]})


def memory(quick: bool) -> Iterator[Found]:
    on_linux()
    for config, bound in {"20k": 200, "1m-flock": 350}.items():
        resident_mb(config)  # compiles what is missing
        found = resident_mb(config)
        yield Found(f"{config}, MB", found[-1], bound, details={"peak_mb": max(found)})


def resident_mb(config: str) -> list[float]:
    """Return samples of resident memory in MB while the program ran, without the last. Raises ChildError."""
    install = here(installed=False)
    command = [*install.command, "-m", "crowd_demo", "--config", config, "--headless", "--frames", "150",
               "--set", "time.rewind_mb=0"]
    with subprocess.Popen(command, env=install.environment, cwd=install.folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        found = []
        while process.poll() is None:
            found.append(status_mb(process.pid, "status", "VmRSS"))
            time.sleep(0.05)
    if process.returncode or len(found) < 3:
        raise ChildError(f"{config}: ended with code {process.returncode}")
    return [each for each in found if each][:-1]


# --- the window ------------------------------------------------------------------------------------------------------

PATTERNS = {"at one point": ("spawn.pattern=point",),
            "in one cell": ("spawn.pattern=clump", "spawn.share=1", "spawn.box=0.006")}


def one_cell(quick: bool) -> Iterator[Found]:
    for crowd, config in {"birds": "20k-flock", "people": "20k"}.items():
        for where, overrides in PATTERNS.items():
            frames = asked("frames", config, *overrides)["frame_ms"][1:]
            yield Found(f"{crowd} {where}: FPS", 1e3 * len(frames) / sum(frames), 10, at_least=True,
                        details={"frame_ms": frames})
            waited = asked("keys", config, *overrides)["waited_ms"]
            yield Found(f"{crowd} {where}: a key waits (95 %), ms", float(np.percentile(waited, 95)), 100,
                        details={"waited_ms": waited})


def no_stage(quick: bool) -> Iterator[Found]:
    yield Found("20k-flock, ms", asked("frames", "20k-flock", frames=200 if quick else 600)["no_stage_ms"], 0.25)


def first_window(quick: bool) -> Iterator[Found]:
    on_linux()
    if missing := missing_tools():
        raise SkippedError(f"the window needs {' and '.join(missing)}")
    seen = [first_start(here(installed=False), "20k") for _ in range(1 if quick else 3)]
    yield Found("20k, progress bar, s", median(each.bar_s for each in seen), 1.5)
    yield Found("20k, first moving picture, s", median(each.moving_s for each in seen), 12,
                details={"seconds": [each.moving_s for each in seen]})
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
            asked("frames", config, frames=1, cache=cache)
            for choice in choices[:1 if quick else None]:
                seconds = with_copy(cache, "first-use", config, choice)["seconds"]
                kernels = with_copy(cache, "compile", config, choice)["kernels"]
                cpu = sum(each for _, each in kernels)
                yield Found(f"{config} {choice}, s ({len(kernels)} kernels, {cpu:.1f} CPU s)", seconds, 4.0,
                            details={"kernels": kernels})


def with_copy(cache: str, what: str, config: str, choice: str) -> dict[str, Any]:
    """Ask with a copy of that cache, which stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(cache, Path(folder) / "cache")
        return asked(what, config, choice, frames=STEADY, cache=str(copy))


TARGETS = (
    Target("looking", "what colour modes and overlays cost", "a picture 1.3 times, a frame 2 ms more",
           "the whole program without a window; each mode and overlay in turns with none", looking),
    Target("sorts", "frames without and with a sort", "p99 / median at most 1.2 of a run against itself; with a sort 1.5",
           "two processes with the same crowd in turns, sorted every 60 steps", sorts),
    Target("ageing", "flocks after 3,000 steps against their start", "mean step at most 1.2",
           "an old crowd and a young one in turns", ageing),
    Target("arrays", "arrays of more than 1 kB that are made in 200 steady frames", "none",
           "NumPy's memory handler in both threads, HUD drawn, no overlays; without keyframes and the report's record",
           arrays),
    Target("one-cell", "all 20,000 agents in one cell", "10 FPS, a key waits at most 100 ms",
           "the whole program without a window; from a press of F1 at a random moment until the help is shown", one_cell),
    Target("memory", "resident memory, headless, nothing recorded", "20k: 200 MB, a million: 350 MB",
           "VmRSS of `crowd-demo --headless --frames 150 --set time.rewind_mb=0` near its end, kernels cached", memory),
    Target("no-stage", "what a frame spends in no stage: Python, and handing over to the worker's thread", "0.25 ms",
           "median of the whole program without a window", no_stage),
    Target("first-window", "a start with an empty cache of kernels, in a window",
           "progress bar 1.5 s, moving picture 12 s, 500 MB",
           "a window of Xvfb until two pictures of the crowd differ, then for memory until other choices have been compiled",
           first_window),
    Target("first-use", "a technique's value that is chosen for the first time, all else compiled", "4 s each",
           "the whole program without a display server: seconds from the choice until the crowd has it; CPU seconds of the"
           " kernels that are missing, compiled one after the other", first_use))


# --- the command -----------------------------------------------------------------------------------------------------

def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 fine, 1 a target was missed, 2 a mistake of the user."""
    return exit_code(lambda: _main(_parser().parse_args(argv)))


def _parser() -> Parser:
    made = Parser(prog="benchmarks/table.py", allow_abbrev=False, description=str(__doc__).partition("\n")[0])
    made.add_argument("names", metavar="NAME", nargs="*", help="lines to measure (all)")
    made.add_argument("--list", action="store_true", help="say what there is, and measure nothing")
    made.add_argument("--quick", action="store_true", help="fewer blocks, and nothing large")
    made.add_argument("--json", metavar="PATH", type=Path, help="write all that was measured")
    return made


def _main(args: argparse.Namespace) -> int:
    known = {target.name: target for target in TARGETS}
    if unknown := [name for name in args.names if name not in known]:
        return mistaken(f"{unknown[0]}: no such line; there are {', '.join(known)}")
    if lines := [*unwritable("--json", args.json)] if args.json else []:
        return mistaken(*lines)
    chosen = [known[name] for name in args.names or known]
    if args.list:
        print(*listed(chosen), sep="\n")
        return OK
    print(head())
    results = {target.name: measured(target, args.quick) for target in chosen}
    if args.json:
        from crowd_demo.host.report import write_report

        write_report(to_json(args.quick, results), args.json)
    return FAILED if any(found.verdict == "missed" for founds in results.values() if not isinstance(founds, str)
                          for found in founds) else OK


def measured(target: Target, quick: bool) -> list[Found] | str:
    """What was found, once printed, or why it could not be measured."""
    founds: list[Found] = []
    try:
        for found in target.measure(quick):
            founds.append(found)
            print(row(target.name, found), flush=True)
    except (SkippedError, ChildError, InstallError) as error:
        print(f"{target.name:13}{'skipped' if isinstance(error, SkippedError) else 'failed'}: {error}", flush=True)
        return founds or str(error)
    return founds


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


def to_json(quick: bool, results: dict[str, list[Found] | str]) -> dict[str, object]:
    return {**header("table"), "quick": quick, "lines": {
        name: {"skipped": founds} if isinstance(founds, str) else {"found": [found.to_json() for found in founds]}
        for name, founds in results.items()}}


if __name__ == "__main__":
    sys.exit(main())
