"""This repository against another commit of it: frames, steps, pictures and every stage, in interleaved blocks.

    python benchmarks/compare.py --against COMMIT [--config NAME]... [--set KEY.PATH=VALUE]... [--here KEY.PATH=VALUE]...

Each of the two runs in a process of its own, in the present environment; the other commit runs twice, and what lies within the
difference of its two copies is no difference. The exit code is 1 if the crowds differ. `--cold` measures the first start
instead, with an empty kernel cache, and `--warm` a later one: wall and CPU seconds of all processes until one frame has been
drawn.

The sources of a commit are unpacked under `build/benchmarks` and kept, for a commit does not change. A program runs as a child
(child.py), which goes on from block to block; or as a whole, started once for every step of a block, with a kept cache of
kernels or an empty one.
"""

from __future__ import annotations

import argparse
import compileall
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext, redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from crowd_demo.cli.arguments import Parser, count
from crowd_demo.cli.main import exit_code
from crowd_demo.config.loader import ConfigError, parse_overrides
from crowd_demo.host.system import FAILED, OK, USAGE_ERROR, ProgressLine
from crowd_demo.measure.comparison import (
    BlockTimes,
    Comparison,
    TimedBlock,
    VariantResult,
    compare,
    interleave,
)
from crowd_demo.measure.experiment import Result, Slice, mapped, result_of
from crowd_demo.measure.statistics import Interval
from crowd_demo.profile import HISTORY

CHILD = Path(__file__).with_name("child.py")
ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "benchmarks"


class ChildError(Exception):
    """A commit that is not there, or a process that failed; in one line."""


class Install(NamedTuple):
    """How to run the program of one commit: with the sources in `folder`, where it also runs."""

    name: str
    folder: Path
    command: Sequence[str] = (sys.executable,)

    @property
    def environment(self) -> dict[str, str]:
        """All variables of its processes."""
        return {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": ""}


HERE = Install("here", ROOT)


def at_commit(commit: str) -> Install:
    """Another commit of this repository. Raises ChildError."""
    git = ["git", "-C", str(ROOT)]
    short = output_of([*git, "rev-parse", "--short", "--verify", f"{commit}^{{commit}}"], "git").strip().decode()
    folder = KEPT / short
    if not (folder / "sources").is_dir():
        with tarfile.open(fileobj=io.BytesIO(output_of([*git, "archive", short], "git"))) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
            archive.extractall(folder / "unpacked")
        (folder / "unpacked").rename(folder / "sources")  # whole or not there
    return Install(short, folder / "sources")


def output_of(command: Sequence[str], name: str, **how: Any) -> bytes:
    """Return the output of a command, with arguments of `subprocess.run`. Raises ChildError with the last error line."""
    done = subprocess.run(command, capture_output=True, **how)
    if done.returncode:
        raise ChildError(f"{name}: {last_line(done.stderr.decode(errors='replace'))}")
    return done.stdout


def last_line(text: str) -> str:
    """The last line of what a process has said."""
    return (text.strip().splitlines() or ["no message"])[-1]


class ChildVariant:
    """Start the child; it is ready when this returns. Raises ChildError.

    `config` is a shipped name or an absolute path, `overrides` are values by key path. The first steps compile the kernels.
    """

    def __init__(self, install: Install, config: str, overrides: Mapping[str, object], picture: bool) -> None:
        self.install = install
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  (closed with the child)
        self._process = subprocess.Popen(
            [*install.command, str(CHILD), config, json.dumps(overrides), *["picture"] * picture], encoding="utf-8",
            env=install.environment, cwd=install.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        try:
            self._answer()
        except ChildError:
            self.close()
            raise

    def run(self, steps: int) -> BlockTimes:
        """Raises ChildError."""
        found = self._ask(str(steps))
        frame, stages = ({name: np.array(ms, np.float32) for name, ms in found[kind].items()}
                         for kind in ("frame", "stages"))
        return BlockTimes(TimedBlock(steps, frame), TimedBlock(steps, stages))

    def end(self) -> tuple[str, str]:
        """(state hash, threading layer). Raises ChildError."""
        found = self._ask("end")
        return found["state_hash"], found["layer"]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _ask(self, line: str) -> Any:
        assert self._process.stdin
        with suppress(BrokenPipeError):  # `_answer` says why
            print(line, file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            last = last_line(self._errors.read())
            raise ChildError(f"{self.install.name}: ended with code {self._process.returncode}: {last}")
        return json.loads(line)


class StartVariant:
    """Runs `crowd-demo --headless --frames 1`, which waits for every kernel. Only where there is `os.wait4`."""

    def __init__(self, install: Install, config: str, overrides: Mapping[str, object], cache: str = "") -> None:
        """The kernels are kept in the folder `cache`; without one each start begins with an empty cache."""
        self.install, self._cache = install, cache
        changes = [text for path, value in overrides.items() for text in ("--set", f"{path}={value}")]
        self._command = [*install.command, "-m", "crowd_demo", "--config", config, *changes, "--headless", "--frames", "1"]
        with redirect_stdout(io.StringIO()):  # bytecode is made before, as for a program that was started once
            compileall.compile_dir(install.folder / "crowd_demo", quiet=2)

    def run(self, steps: int) -> dict[str, TimedBlock]:
        """Milliseconds of each start: `wall`, and `cpu` of all processes. Raises ChildError."""
        starts = np.array([self._start() for _ in range(steps)], np.float32)
        return {kind: TimedBlock(steps, {kind: starts[:, column]}) for column, kind in enumerate(("wall", "cpu"))}

    def _start(self) -> tuple[float, float]:
        if sys.platform == "win32":
            raise ChildError("only where there is os.wait4")
        with (tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
              nullcontext(self._cache) if self._cache else tempfile.TemporaryDirectory() as cache):
            begun = time.perf_counter()
            process = subprocess.Popen(self._command, env={**self.install.environment, "CROWD_DEMO_CACHE": cache},
                                       cwd=self.install.folder, stdout=subprocess.DEVNULL, stderr=errors)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                raise ChildError(f"{self.install.name}: {last_line(errors.read())}")
            return (time.perf_counter() - begun) * 1e3, (used.ru_utime + used.ru_stime) * 1e3


WARM_UP = 64  # frames: each kernel runs once, also that of a sort every 60 steps
Pair = tuple[Install, Install]  # the base, and the other
Overrides = tuple[Mapping[str, object], Mapping[str, object]]  # of each of the two
Blocks = dict[str, list[TimedBlock]]


class Compared(NamedTuple):
    """The results of all variants; `base` and `repeat` name two of them."""

    base: str
    repeat: str
    blocks: int
    results: dict[str, VariantResult]

    @property
    def noise(self) -> Interval:
        """The ratio of the repeat to the base."""
        return self.results[self.repeat].step.ratio

    def differing(self) -> list[str]:
        """The variants whose state is not that of the base."""
        wanted = self.results[self.base].state_hash
        return [name for name, result in self.results.items() if result.state_hash != wanted]


Found = dict[str, Compared]  # by what was compared


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 fine, 1 the crowds differ, 2 a mistake of the user."""
    return exit_code(lambda: _main(argv))


def _main(argv: Sequence[str] | None) -> int:
    made = Parser(prog="benchmarks/compare.py", allow_abbrev=False, description=str(__doc__).partition("\n")[0])
    made.add_argument("--against", metavar="COMMIT", required=True, help="the commit to compare with")
    made.add_argument("--config", metavar="NAME|PATH", action="append", dest="configs", help="one or several (20k)")
    made.add_argument("--set", metavar="KEY.PATH=VALUE", action="append", default=[], dest="overrides", help="as crowd-demo's")
    made.add_argument("--here", metavar="KEY.PATH=VALUE", action="append", default=[], dest="own_overrides",
                      help="the same of this repository alone, for what the other commit does not know")
    made.add_argument("--blocks", metavar="N", type=count, default=12, help="blocks of each (default: %(default)s)")
    made.add_argument("--frames", metavar="N", type=count, default=40, help="frames of a block (default: %(default)s)")
    made.add_argument("--no-picture", action="store_true", help="steps only")
    made.add_argument("--cold", action="store_true", help="the first start instead")
    made.add_argument("--warm", action="store_true", help="a start with all kernels in the cache instead")
    args = made.parse_args(argv)
    configs = [str(Path(name).resolve()) if Path(name).is_file() else name for name in args.configs or ["20k"]]
    try:
        shared, own = _by_path(args.overrides, "--set"), _by_path(args.own_overrides, "--here")
        if args.frames >= HISTORY:
            raise ChildError(f"--frames: a block has at most {HISTORY - 1}, not {args.frames}")
        installs = at_commit(args.against), HERE
        measure = measured_starts if args.cold or args.warm else measured
        found = {config: measure(args, installs, config, (shared, {**shared, **own})) for config in configs}
    except (ConfigError, ChildError) as error:
        print(error, file=sys.stderr)
        return USAGE_ERROR
    return FAILED if any(each.differing() for kinds in found.values() for each in kinds.values()) else OK


def _by_path(overrides: Sequence[str], option: str) -> dict[str, object]:
    return {".".join(map(str, each.path)): each.value for each in parse_overrides(overrides, option)}


def measured(args: argparse.Namespace, installs: Pair, config: str, overrides: Overrides) -> Found:
    """Frames and stages, once printed. Raises ChildError."""
    base, other = installs
    repeat = f"{base.name} again"
    with ExitStack() as running:
        variants = {name: running.enter_context(closing(ChildVariant(install, config, overrides[which], not args.no_picture)))
                for name, install, which in ((base.name, base, 0), (repeat, base, 0), (other.name, other, 1))}
        timed = watched(interleave(variants, [args.frames] * args.blocks, WARM_UP), config)
        ends = {name: variant.end() for name, variant in variants.items()}
    found = compared(timed, {name: state_hash for name, (state_hash, _) in ends.items()}, base.name, repeat)
    layers = ", ".join(f"{name} {layer}" for name, (_, layer) in ends.items())
    print(f"{config}: {args.blocks} blocks of {args.frames} frames each; threads: {layers}")
    print(*table(found, other.name), "", sep="\n")
    return found


def compared(timed: Mapping[str, Sequence[BlockTimes]], hashes: Mapping[str, str], base: str, repeat: str) -> Found:
    """By `frame` and by `stages`."""
    frames: Blocks = {name: [each.frame for each in of_variant] for name, of_variant in timed.items()}
    stages: Blocks = {name: [each.stages for each in of_variant] for name, of_variant in timed.items()}
    return {kind: Compared(base, repeat, len(blocks[base]), compare(blocks, hashes, base, repeat))
            for kind, blocks in (("frame", frames), ("stages", stages))}


def measured_starts(args: argparse.Namespace, installs: Pair, config: str, overrides: Overrides) -> Found:
    """First or later starts, once printed. Raises ChildError."""
    base, other = installs
    with ExitStack() as kept:
        variants = {install.name: StartVariant(install, config, own,
                                               kept.enter_context(TemporaryDirectory()) if args.warm else "")
                    for install, own in zip(installs, overrides, strict=True)}
        starts = watched(interleave(variants, [1] * args.blocks, int(args.warm)), config)  # the first compiles what is kept
    by_kind = {kind: {name: [each[kind] for each in of_variant] for name, of_variant in starts.items()}
               for kind in ("wall", "cpu")}
    found = {kind: Compared(base.name, base.name, len(starts[base.name]),
                              compare(blocks, dict.fromkeys(variants, ""), base.name, base.name))
             for kind, blocks in by_kind.items()}
    rows = (row(f"{kind} s", results[base.name].step, results[other.name].step, 1e-3)
            for kind, (_, _, _, results) in found.items())
    print(f"{config}: {args.blocks} starts each, to one frame", head(base.name, other.name), *rows, "", sep="\n")
    return found


def watched(turns: Generator[Slice, None, Result], what: str) -> Result:
    """Run all turns; standard error says how much is done."""
    with ProgressLine(what) as line:
        return result_of(mapped(turns, line.show))


# --- text ------------------------------------------------------------------------------------------------------------

def table(found: Found, other: str) -> Iterator[str]:
    """Lines: the frame and its parts, the stages that either has, the noise, and whether the crowds are the same."""
    frame, stages = found["frame"], found["stages"]
    before, now = frame.results[frame.base], frame.results[other]
    yield head(frame.base, other)
    if len(now.stages) > 1:
        yield row("frame ms", before.step, now.step)
    yield from (row(f"{name} ms", before.stages[name], now.stages[name]) for name in now.stages)
    old, new = stages.results[stages.base].stages, stages.results[other].stages
    yield from (row(f"  {name} ms", old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new)))
    yield f"noise: {frame.base} against itself {interval(frame.noise)}"
    wanted = frame.results[frame.base].state_hash
    differing = ", ".join(f"{name} {frame.results[name].state_hash}" for name in frame.differing())
    yield f"THE CROWDS DIFFER: {frame.base} {wanted}, {differing}" if differing else f"one state hash: {wanted}"


def head(base: str, other: str) -> str:
    return f"{'':14}{base:>9} {other:>9}    ratio, 95 %"


def row(name: str, before: Comparison | None, now: Comparison | None, scale: float = 1.0) -> str:
    cells = [f"{found.b.value * scale:9.3f}" if found else f"{'-':>9}" for found in (before, now)]
    end = "" if not (before and now) else (  # the ratio to the base, and what follows from it
        f"  {now.ratio.value:.3f}  too few blocks" if not now.ratio.known else
        f"  {interval(now.ratio)}" + f"  {now.verdict}" * now.noise.known)
    return " ".join([f"{name:13}", *cells, end]).rstrip()


def interval(of: Interval) -> str:
    return f"{of.value:.3f}  {of.low:.3f}-{of.high:.3f}"


if __name__ == "__main__":
    sys.exit(main())
