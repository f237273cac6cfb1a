"""The step of a flock against the same step in C++ with AVX-512 (`flock_step.cpp`), where a compiler is found.

The C++ program sorts in every step and adds up floats; the flock here is one of its density and rules, in which every bird
is due in every step. Both start anew for each block, and their first steps do not count.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from crowd_demo.config.model import Config
from crowd_demo.extras.lab.claims.claim import (
    OWN,
    Answer,
    Arm,
    Case,
    Claim,
    CrowdArm,
    Figures,
    Found,
    LabScale,
    TimedCase,
    Values,
    below,
    configured,
    side_of,
    speed_up,
)
from crowd_demo.measure.comparison import TimedBlock
from crowd_demo.measure.experiment import machine

SOURCE = Path(__file__).with_name("flock_step.cpp")
FLAGS = ("-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-fopenmp", "-DV=3", "-DSUB=1")
COMPILERS = ("g++", "clang++", "c++")
SLEEPING = {"OMP_WAIT_POLICY": "passive"}  # idle threads of OpenMP
CROWDING = 40
NOT_COUNTED = 3  # steps at the start of a block
STEPS = 60  # of a block, in which the flock here is sorted once
TECHNIQUES: Values = {"stagger.avoidance": 1, "reorder.when": "every", "reorder.every": 60}
LONGEST = 1.5  # times as long as C++ that are near it
CPP, OURS = "C++", "this program"


def compiled(folder: Path) -> Path:
    """The C++ program. Raises ValueError with the reason if there is none on this machine."""
    if machine()["simd"] != "avx512f":
        raise ValueError("this processor has no AVX-512")
    compiler = os.environ.get("CXX") or next(filter(shutil.which, COMPILERS), None)
    if not compiler or not shutil.which(compiler):
        raise ValueError("there is no C++ compiler")
    target = folder / "flock_step"
    done = subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(target)], capture_output=True, encoding="utf-8")
    if done.returncode:
        raise ValueError(f"{compiler} cannot compile {SOURCE.name}: {(done.stderr.strip().splitlines() or ['no message'])[0]}")
    return target


@cache
def program() -> Path:
    """The C++ program, in a folder that goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="crowd-demo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return compiled(Path(folder))


class CppArm:
    """Its median step, for each step of a block. Raises ValueError where it cannot be compiled, or ends with an error."""

    def __init__(self, agents: int, threads: int) -> None:
        self._command = [str(program()), str(agents), str(threads)]

    def run(self, steps: int) -> TimedBlock:
        done = subprocess.run([*self._command, str(steps + NOT_COUNTED)], capture_output=True, encoding="utf-8",
                              env={**os.environ, **SLEEPING})
        if done.returncode:
            raise ValueError(f"{SOURCE.name}: ended with code {done.returncode}")
        return TimedBlock(steps, {"call": np.full(steps, json.loads(done.stdout)["ms_med"], np.float32)})

    def result(self) -> str:
        return ""

    def figures(self) -> Figures:
        return {}


class FreshCrowd(CrowdArm):
    """It begins anew in each block, as the C++ program does: a flock that gathers has more neighbours."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self._start = self.sim.snapshot()

    def run(self, steps: int) -> TimedBlock:
        self.sim.restore(self._start)
        self.sim.step(NOT_COUNTED)
        return super().run(steps)


def arms(agents: int, threads: int) -> dict[str, Callable[[], Arm]]:
    side = side_of(20_000)  # of the configuration, which grows with the crowd
    config = configured("20k-flock", agents, {**TECHNIQUES, "threads": threads}, world__width=side, world__height=side,
                        flock__crowding=CROWDING, flock__separate_by="offset", flock__blind=0)
    return {CPP: lambda: CppArm(agents, threads), OURS: lambda: FreshCrowd(config)}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} birds, {threads} thread{'s' * (threads > 1)}", size, arms(size, threads), steps=STEPS,
                      seconds=2 + size * 8e-5, same=(), workers=threads)
            for size in scale.sizes(20_000, 100_000, 1_000_000) for threads in dict.fromkeys((1, min(os.cpu_count() or 1, 2)))]


def decide(found: Found) -> Answer:
    return below(LONGEST, speed_up(found, CPP, OURS))


CLAIM = Claim(
    "against-c", "How near to hand-written C++ is a step of birds?",
    f"a step takes less than {LONGEST} times as long as in C++ with AVX-512 intrinsics", OWN,
    "the interval of the ratio lies below that limit; the same birds, density and rules", cases, decide)
