"""The flock's step against the same step in C with AVX-512, folded sums (V3): `crowd-demo lab against-c` in a child process.

    python benchmarks/limit.py [--agents N]... [--threads N]... [--blocks N]

`20k-flock` with the density and rules of the C program: a square world of side sqrt(agents pi 24**2 / 12.6), `flock.crowding`
40, separation by offset, no blind angle. Every bird in every step, sorted every 60 steps, where the C program sorts in every
step and adds up floats. Idle OpenMP threads sleep in both. Blocks are interleaved; the C program starts anew in each, and its
first three steps do not count. The ratio is that of the least step of all blocks; beside it the median of the ratios of the
least steps, block by block.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from installs import HERE, ROOT, InstallError, from_sources
from variants import ChildError, ChildVariant

from crowd_demo.cli.arguments import Parser, count, unwritable
from crowd_demo.cli.main import exit_code
from crowd_demo.extras.lab.claims.experiments import against_c
from crowd_demo.extras.lab.claims.experiments.against_c import CROWDING, NOT_COUNTED, SLEEPING, SOURCE, side_of
from crowd_demo.host.shutdown import OK, USAGE_ERROR
from crowd_demo.measure.comparison import Variant, collect, interleave
from crowd_demo.measure.experiment import header, interval_json
from crowd_demo.measure.statistics import Interval, ratio_interval

WARM_UP = 64
BIRD_STEPS = 2_400_000  # of a block; at least LEAST_STEPS
LEAST_STEPS = 20
MAX_STEPS = 120


class SkippedError(Exception):
    """Why there is nothing to compare with on this machine."""


class Times(NamedTuple):
    """Milliseconds a step in one block."""

    least: float
    median: float


class Found(NamedTuple):
    """What was measured with so many birds and threads; milliseconds a step, and ratios of ours to those of C."""

    agents: int
    threads: int
    c: Times
    ours: Times
    ratio: float  # of the least steps
    paired: Interval


class LimitVariant:
    """The C program. Raises ChildError when it fails."""

    def __init__(self, program: Path, agents: int, threads: int) -> None:
        self.program, self.agents, self.threads = program, agents, threads

    def run(self, steps: int) -> Times:
        command = [str(self.program), str(self.agents), str(self.threads), str(steps + NOT_COUNTED)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", env={**os.environ, **SLEEPING})
        if done.returncode:
            raise ChildError(f"{SOURCE.name}: ended with code {done.returncode}")
        found = json.loads(done.stdout)
        return Times(found["ms_min"], found["ms_med"])


class OurVariant(NamedTuple):
    """The program of this repository."""

    child: ChildVariant

    def run(self, steps: int) -> Times:
        """Raises ChildError."""
        step_ms = self.child.run(steps).frame.times_ms["step"]
        return Times(float(step_ms.min()), float(np.median(step_ms)))


def settings(agents: int, threads: int) -> dict[str, object]:
    """What makes `20k-flock` the flock of the C program."""
    side = side_of(agents)
    return {"agents": agents, "world.width": side, "world.height": side, "flock.crowding": CROWDING,
            "flock.separate_by": "offset", "flock.blind": 0,
            "optimizations.stagger.avoidance": 1, "optimizations.reorder.when": "every", "optimizations.reorder.every": 60,
            "optimizations.threads": threads}


def steps_of(agents: int) -> int:
    """Steps of a block."""
    return min(max(BIRD_STEPS // agents, LEAST_STEPS), MAX_STEPS)


def compiled(folder: Path) -> Path:
    """The C program. Raises SkippedError."""
    try:
        return against_c.compiled(folder)
    except ValueError as why:
        raise SkippedError(str(why)) from None


def measured(program: Path, agents: int, threads: int, blocks: int) -> Found:
    """Raises ChildError."""
    install = from_sources(HERE, ROOT)
    install = replace(install, environment={**install.environment, **SLEEPING})
    with ChildVariant(install, "20k-flock", settings(agents, threads), picture=False) as child:
        variants: dict[str, Variant[Times]] = {"c": LimitVariant(program, agents, threads), "ours": OurVariant(child)}
        times = collect(variants, interleave(variants, [steps_of(agents)] * blocks, WARM_UP))
    return concluded(agents, threads, times["c"], times["ours"])


def concluded(agents: int, threads: int, c: Sequence[Times], ours: Sequence[Times]) -> Found:
    """From the times of each block."""
    least_c, least_ours = (np.array([block.least for block in blocks]) for blocks in (c, ours))
    return Found(agents, threads, _over_all(c), _over_all(ours), float(least_ours.min() / least_c.min()),
                 ratio_interval(least_ours, least_c))


def _over_all(blocks: Sequence[Times]) -> Times:
    return Times(min(block.least for block in blocks), float(np.median([block.median for block in blocks])))


def row(found: Found) -> str:
    agents, threads, c, ours, ratio, paired = found
    interval = f"{paired.low:.2f}-{paired.high:.2f}" if paired.known else "too few blocks"
    return (f"{agents:>9,} {threads:>7} {c.least:9.3f} {c.median:8.3f} {ours.least:9.3f} {ours.median:8.3f} {ratio:7.2f} "
            f"{paired.value:7.2f}  {interval}")


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 fine, also where it is skipped, 2 a mistake of the user."""
    return exit_code(lambda: _main(_parser().parse_args(argv)))


def _parser() -> Parser:
    made = Parser(prog="benchmarks/limit.py", allow_abbrev=False, description=str(__doc__).partition("\n")[0])
    made.add_argument("--agents", metavar="N", type=count, action="append", help="birds (20000, 100000 and 1000000)")
    made.add_argument("--threads", metavar="N", type=count, action="append", help="threads (1 and 2)")
    made.add_argument("--blocks", metavar="N", type=count, default=12, help="blocks of each (default: %(default)s)")
    made.add_argument("--json", metavar="PATH", type=Path, help="write all that was measured")
    return made


def _main(args: argparse.Namespace) -> int:
    for line in unwritable("--json", args.json) if args.json else ():
        print(line, file=sys.stderr)
        return USAGE_ERROR
    found = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = compiled(Path(folder))
            print("    birds threads  C: least   median ours: least  median   ratio  paired  95 %")
            for agents in args.agents or (20_000, 100_000, 1_000_000):
                for threads in args.threads or (1, 2):
                    found.append(measured(program, agents, threads, args.blocks))
                    print(row(found[-1]), flush=True)
        except SkippedError as skip:
            print(f"limit: skipped: {skip}")
        except (ChildError, InstallError) as error:
            print(error, file=sys.stderr)
            return USAGE_ERROR
    if args.json:
        from crowd_demo.host.report import write_report

        write_report({**header("limit"), "results": [
            {**each._asdict(), "c": each.c._asdict(), "ours": each.ours._asdict(), "paired": interval_json(each.paired)}
            for each in found]}, args.json)
    return OK


if __name__ == "__main__":
    sys.exit(main())
