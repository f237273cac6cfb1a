"""Steps of birds and of people against the same steps in C++ with AVX-512, where a compiler is found.

Birds (`flock_step.cpp`): the C++ program sorts in every step and adds up floats. The flock here has its density and rules,
and every bird is due in every step. Both restart for each block, and their first steps do not count.

People (`people_step.cpp`): the C++ library takes over a crowd of `20k` or `100k` and has the same state hash after each
step. It does the whole step, prices and flow fields included.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

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
from crowd_demo.sim.behaviours.contact import rules_of_contact
from crowd_demo.sim.behaviours.destinations import Admit
from crowd_demo.sim.behaviours.people_rules import rules_of
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.snapshot import state_hash

BIRDS, PEOPLE = (Path(__file__).with_name(f"{name}_step.cpp") for name in ("flock", "people"))
FLAGS = {BIRDS: ("-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-fopenmp", "-DV=3", "-DSUB=1"),
         PEOPLE: ("-O3", "-march=native", "-mprefer-vector-width=512", "-std=c++20", "-ffp-contract=off",
                  "-fno-math-errno", "-fwrapv", "-pthread", "-shared", "-fPIC")}
COMPILERS = ("g++", "clang++", "c++")
SLEEPING = {"OMP_WAIT_POLICY": "passive"}  # idle threads of OpenMP
CROWDING = 40
NOT_COUNTED = 3  # steps at the start of a block
STEPS = 60  # of a block, in which the flock here is sorted once
TECHNIQUES: Values = {"stagger.avoidance": 1, "reorder.when": "every", "reorder.every": 60}
STAGES = "index", "reorder", "interaction", "sight", "paths", "admit", "move", "contact"  # of people
WALKED = 300  # steps of people before the first block, in which streams form
LONGEST = 1.5  # times as long as C++ that are near it
CPP, OURS = "C++", "this program"


def compiled(folder: Path, source: Path = BIRDS) -> Path:
    """The program or library of a C++ source. Raises ValueError with the reason if there is none on this machine."""
    if machine()["simd"] != "avx512f":
        raise ValueError("this processor has no AVX-512")
    compiler = os.environ.get("CXX") or next(filter(shutil.which, COMPILERS), None)
    if not compiler or not shutil.which(compiler):
        raise ValueError("there is no C++ compiler")
    target = folder / source.stem
    command = [compiler, *FLAGS[source], str(source), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise ValueError(f"{compiler} cannot compile {source.name}: {(done.stderr.strip().splitlines() or ['no message'])[0]}")
    return target


@cache
def program(source: Path = BIRDS) -> Path:
    """The same, in a folder that is removed when this process ends."""
    folder = tempfile.mkdtemp(prefix="crowd-demo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return compiled(Path(folder), source)


class CppArm:
    """Its median step, for each step of a block. Raises ValueError where it cannot be compiled, or ends with an error."""

    def __init__(self, agents: int, threads: int) -> None:
        self._command = [str(program()), str(agents), str(threads)]

    def run(self, steps: int) -> TimedBlock:
        done = subprocess.run([*self._command, str(steps + NOT_COUNTED)], capture_output=True, encoding="utf-8",
                              env={**os.environ, **SLEEPING})
        if done.returncode:
            raise ValueError(f"{BIRDS.name}: ended with code {done.returncode}")
        return TimedBlock(steps, {"call": np.full(steps, json.loads(done.stdout)["ms_med"], np.float32)})

    def result(self) -> str:
        return ""

    def figures(self) -> Figures:
        return {}


class FreshCrowd(CrowdArm):
    """It restarts for each block, as the C++ program does, because a flock gathers and gets more neighbours."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self._start = self.sim.snapshot()

    def run(self, steps: int) -> TimedBlock:
        self.sim.restore(self._start)
        self.sim.step(NOT_COUNTED)
        return super().run(steps)


def handed_over(sim: Simulation) -> list[npt.NDArray[np.generic]]:
    """Return the arrays that `people_new` reads: sizes, constants, columns by id, walls, prices, destinations."""
    areas = next(stage.areas for stage in sim.stages if isinstance(stage, Admit))
    places, layout, crowding, options = areas.refreshed(), areas.ways.at_present(), sim.crowding, sim.options
    rules, contact = rules_of(sim), rules_of_contact(sim.needs.body, sim.settings.crowd.shoulders)
    sizes = (sim.agents.count, len(places.x), *sim.terrain.blocked.shape, crowding.every, rules.half_cost,
             options.stagger.avoidance, options.stagger.sight, options.stagger.paths, options.overlap_passes,
             sim.config.seed, sim.tick, options.reorder.every)
    constants = (sim.terrain.walls.tile, sim.schedule.inv_band, crowding.dearer, crowding.most, sim.grid.floor.inv_cell,
                 np.float32(sim.top_speed * sim.dt))
    shared = [value for record in (rules, sim.ground, contact) for value in record if isinstance(value, np.float32)]
    turns = np.argmax([crowding.outdated(tick) for tick in range(crowding.every)], axis=0)  # to new prices
    return [np.array(sizes, np.int64), np.array([*shared, *constants]), sim.agents.rows_by_id(), sim.terrain.blocked,
            layout.targets, layout.steps, crowding.state, places.x, places.y, places.first, places.tiles,
            places.capacity, places.fixed, turns.astype(np.int32)]


class WalkingCrowd(CrowdArm):
    """People after their first steps."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.sim.step(WALKED)


class CppPeople:
    """The same people in C++. Raises ValueError where it cannot be compiled."""

    def __init__(self, sim: Simulation, threads: int) -> None:
        self._library, self._tick = ctypes.CDLL(str(program(PEOPLE))), sim.tick
        self._rows = sim.agents.rows_by_id().copy()
        self._library.people_new.restype = ctypes.c_void_p
        given = [np.ascontiguousarray(each) for each in handed_over(sim)]
        pointers = (ctypes.c_void_p * len(given))(*(each.ctypes.data for each in given))
        self._people = ctypes.c_void_p(self._library.people_new(pointers, threads))
        weakref.finalize(self, self._library.people_free, self._people)

    def run(self, steps: int) -> TimedBlock:
        times_ms = np.zeros((len(STAGES), steps), np.float32)
        self._library.people_step(self._people, steps, ctypes.c_void_p(times_ms.ctypes.data))
        self._tick += steps
        return TimedBlock(steps, dict(zip(STAGES, times_ms, strict=True)))

    def result(self) -> str:
        self._library.people_read(self._people, ctypes.c_void_p(self._rows.ctypes.data))
        return state_hash(self._tick, self._rows.shape[1], self._rows)

    def figures(self) -> Figures:
        return {}


def people_arms(agents: int, threads: int) -> dict[str, Callable[[], Arm]]:
    config = configured("20k" if agents < 100_000 else "100k", agents, {"threads": threads, "device": "cpu"})
    return {CPP: lambda: CppPeople(WalkingCrowd(config).sim, threads), OURS: lambda: WalkingCrowd(config)}


def arms(agents: int, threads: int) -> dict[str, Callable[[], Arm]]:
    side = side_of(20_000)  # of the configuration, which grows with the crowd
    config = configured("20k-flock", agents, {**TECHNIQUES, "threads": threads}, world__width=side, world__height=side,
                        flock__crowding=CROWDING, flock__separate_by="offset", flock__blind=0)
    return {CPP: lambda: CppArm(agents, threads), OURS: lambda: FreshCrowd(config)}


def cases(scale: LabScale) -> Sequence[Case]:
    def of(what: str, make: Callable[[int, int], dict[str, Callable[[], Arm]]], same: Sequence[str] | None,
           *sizes: int) -> list[Case]:
        return [TimedCase(f"{size:,} {what}, {threads} thread{'s' * (threads > 1)}", size, make(size, threads),
                          steps=STEPS, seconds=2 + size * 8e-5, same=same, workers=threads)
                for size in scale.sizes(*sizes) for threads in dict.fromkeys((1, min(os.cpu_count() or 1, 2)))]

    return of("birds", arms, (), 20_000, 100_000, 1_000_000) + of("people", people_arms, None, 20_000, 100_000)


def decide(found: Found) -> Answer:
    return below(LONGEST, speed_up(found, CPP, OURS))


CLAIM = Claim(
    "against-c", "How near to hand-written C++ is a step of birds, and of people?",
    f"a step takes less than {LONGEST} times as long as in C++ with AVX-512 intrinsics", OWN,
    "the interval of the ratio lies below that limit; the same density and rules, of people also the same hash",
    cases, decide, by_size=False)
