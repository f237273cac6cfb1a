"""This program against others: libraries that pip installs, and hand-written C++.

Libraries count the neighbours of a flock: the same counts within the same radius, on one core.
x and y are float32[n], the radius is in the same units; counts are int32[n], without the point itself. A library is
imported when its function is called, so that none is needed.

Birds in C++ (`flock_step.cpp`): the program sorts in every step and adds up floats. The flock here has its density and
rules, and every bird is due in every step. Both restart for each block, and their first steps do not count.

People in C++ (`people_step.cpp`): the library takes over a crowd of `20k` or `100k` and has the same state hash after
each step. It does the whole step, prices and flow fields included.
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
from contextlib import redirect_stdout
from functools import cache, partial
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import kernel, launch
from crowd_demo.config.model import Config
from crowd_demo.extras.lab.claims.claim import (
    OWN,
    Arm,
    CallArm,
    Case,
    Claim,
    CrowdArm,
    Figures,
    LabScale,
    TimedCase,
    Values,
    all_of,
    below,
    by_size,
    configured,
    faster,
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

# --- libraries: each function returns one that counts anew at each call ----------------------------------------------

Counter = Callable[[object], Ints]


def cells_a_side(x: Floats, y: Floats, radius: float) -> int:
    """Of a square grid of cells as wide as the radius."""
    return int(max(x.max(), y.max()) / radius) + 1


def numpy_sort(x: Floats, y: Floats, radius: float) -> Counter:
    """Cells by `argsort`, and the candidates of three rows of cells as whole arrays, one of each agent at a time."""
    side = cells_a_side(x, y, radius)

    def count(_: object) -> Ints:
        cell = (y / radius).astype(np.int32) * side + (x / radius).astype(np.int32)
        order = np.argsort(cell, kind="stable")
        cells, xs, ys = cell[order], x[order], y[order]
        found = np.zeros(len(x), np.int32)
        for row in (-side, 0, side):
            low = np.searchsorted(cells, cells + row - (cells % side > 0), "left")
            high = np.searchsorted(cells, cells + row + (cells % side < side - 1), "right")
            for k in range(int((high - low).max(initial=0))):
                other = np.minimum(low + k, len(x) - 1)
                dx, dy = xs[other] - xs, ys[other] - ys
                found += (low + k < high) & (dx * dx + dy * dy <= np.float32(radius * radius))
        counts = np.empty_like(found)
        counts[order] = found - 1
        return counts

    return count


def scipy_tree(x: Floats, y: Floats, radius: float) -> Counter:
    from scipy.spatial import cKDTree

    points = np.stack((x, y), 1).astype(np.float64)
    return lambda _: (cKDTree(points).query_ball_point(points, radius, workers=1, return_length=True) - 1).astype(np.int32)


def taichi_grid(x: Floats, y: Floats, radius: float) -> Counter:
    """Sorts agents into cells and reads three rows of cells for each, on one core. The first call compiles it."""
    os.environ.setdefault("TI_ENABLE_PYBUF", "0")  # or each call looks for text that a kernel has printed
    with redirect_stdout(StringIO()):  # it greets
        import taichi as ti

        ti.init(arch=ti.cpu, cpu_max_num_threads=1, log_level=ti.ERROR, offline_cache=False)
    agents, side = len(x), cells_a_side(x, y, radius)
    px, py = ti.field(ti.f32, agents), ti.field(ti.f32, agents)
    start, order, found = ti.field(ti.i32, side * side + 1), ti.field(ti.i32, agents), ti.field(ti.i32, agents)
    px.from_numpy(x)
    py.from_numpy(y)

    @ti.kernel
    def sort():  # type: ignore[no-untyped-def]  # Taichi reads the source, and wants no annotation
        """A counting sort: afterwards `start` has the end of each cell in `order`."""
        for cell in start:
            start[cell] = 0
        ti.loop_config(serialize=True)
        for agent in range(px.shape[0]):
            start[int(py[agent] / radius) * side + int(px[agent] / radius) + 1] += 1
        ti.loop_config(serialize=True)
        for cell in range(side * side):
            start[cell + 1] += start[cell]
        ti.loop_config(serialize=True)
        for agent in range(px.shape[0]):
            cell = int(py[agent] / radius) * side + int(px[agent] / radius)
            order[start[cell]] = agent
            start[cell] += 1

    @ti.kernel
    def count():  # type: ignore[no-untyped-def]
        for agent in found:
            column, row, near = int(px[agent] / radius), int(py[agent] / radius), 0
            for other_row in range(ti.max(row - 1, 0), ti.min(row + 2, side)):
                first_cell = other_row * side + ti.max(column - 1, 0)
                first = 0
                if first_cell > 0:
                    first = start[first_cell - 1]
                for k in range(first, start[other_row * side + ti.min(column + 1, side - 1)]):
                    dx, dy = px[order[k]] - px[agent], py[order[k]] - py[agent]
                    if dx * dx + dy * dy <= radius * radius:
                        near += 1
            found[agent] = near - 1

    def counted(_: object) -> Ints:
        sort()
        count()
        return found.to_numpy().astype(np.int32)

    return counted


def mesa_space(x: Floats, y: Floats, radius: float) -> Counter:
    """A continuous space, which tests all pairs with NumPy; placing the agents is not timed."""
    from mesa import Agent, Model
    from mesa.space import ContinuousSpace

    model, side = Model(), float(max(x.max(), y.max())) + 1
    space = ContinuousSpace(side, side, torus=False)
    agents = [Agent(model) for _ in x]
    for agent, px, py in zip(agents, x, y, strict=True):
        space.place_agent(agent, (float(px), float(py)))
    return lambda _: np.array([len(space.get_neighbors(agent.pos, radius, include_center=True)) - 1 for agent in agents],
                              np.int32)


def agentpy_space(x: Floats, y: Floats, radius: float) -> Counter:
    """A space with a kd-tree, made anew when agents move; so it is here."""
    import agentpy

    model, side = agentpy.Model(), float(max(x.max(), y.max())) + 1
    agents = agentpy.AgentList(model, len(x), agentpy.Agent)
    positions = [np.array((px, py), np.float64) for px, py in zip(x, y, strict=True)]

    def count(_: object) -> Ints:
        space = agentpy.Space(model, shape=(side, side))
        space.add_agents(agents, positions=positions)
        return np.array([len(list(space.neighbors(agent, radius))) for agent in agents], np.int32)

    return count


def jupedsim_grid(x: Floats, y: Floats, radius: float) -> Counter:
    """Its own grid of neighbours, asked for each agent; making the simulation is not timed."""
    import jupedsim

    side = float(max(x.max(), y.max())) + 1
    simulation = jupedsim.Simulation(model=jupedsim.CollisionFreeSpeedModel(),
                                     geometry=[(-1, -1), (side, -1), (side, side), (-1, side)])
    exit_id = simulation.add_exit_stage([(-0.9, -0.9), (-0.5, -0.9), (-0.5, -0.5), (-0.9, -0.5)])
    journey = simulation.add_journey(jupedsim.JourneyDescription([exit_id]))
    places = [(float(px), float(py)) for px, py in zip(x, y, strict=True)]
    for place in places:
        simulation.add_agent(jupedsim.CollisionFreeSpeedModelAgentParameters(
            position=place, journey_id=journey, stage_id=exit_id, radius=1e-3))
    return lambda _: np.array([sum(1 for _ in simulation.agents_in_range(place, radius)) - 1 for place in places], np.int32)


# --- the neighbours of a flock, on one core --------------------------------------------------------------------------

RADIUS = np.float32(24.00004)  # between the distances 24 and sqrt(576 + 1/256), so that at most and less than are the same
PARTS = 16  # of a unit: positions are whole parts, so squared distances are exact in float32
GRID, OURS = "plain grid in Numba", "this program's whole step"


class Library(NamedTuple):
    """A library that counts neighbours."""

    counter: Callable[[Floats, Floats, float], Counter]
    module: str  # that has to be installed
    most: int = 1_000_000  # points; more would take minutes
    cells: bool = False  # it tests all others in the nine cells around a point


LIBRARIES = {
    "NumPy argsort": Library(numpy_sort, "numpy", cells=True),
    "SciPy cKDTree": Library(scipy_tree, "scipy"),
    "Taichi": Library(taichi_grid, "taichi", cells=True),
    "Mesa": Library(mesa_space, "mesa", 1_000),
    "agentpy": Library(agentpy_space, "agentpy", 1_000),
    "JuPedSim": Library(jupedsim_grid, "jupedsim", 1_000)}


def positions(agents: int) -> tuple[Floats, Floats]:
    """Uniform in a square in which each has `claim.NEIGHBOURS`, float32[agents] each."""
    x, y = np.floor(np.random.default_rng(0).uniform(0, side_of(agents, float(RADIUS)), (2, agents)) * PARTS) / PARTS
    return x.astype(np.float32), y.astype(np.float32)


@kernel
def count_in_grid(worker: int, workers: int, x: Floats, y: Floats, side: int, start: Ints, order: Ints, found: Ints) -> None:
    """A counting sort into cells of the radius, then three rows of cells for each agent."""
    inv = np.float32(1) / RADIUS
    start[:] = 0
    for agent in range(x.shape[0]):
        start[int(y[agent] * inv) * side + int(x[agent] * inv) + 1] += 1
    for cell in range(side * side):
        start[cell + 1] += start[cell]
    for agent in range(x.shape[0]):
        cell = int(y[agent] * inv) * side + int(x[agent] * inv)
        order[start[cell]] = agent
        start[cell] += 1
    for agent in range(x.shape[0]):
        column, row = int(x[agent] * inv), int(y[agent] * inv)
        near = 0
        for other_row in range(max(row - 1, 0), min(row + 2, side)):
            first_cell, last_cell = other_row * side + max(column - 1, 0), other_row * side + min(column + 1, side - 1)
            first = start[first_cell - 1] if first_cell else 0
            for k in range(first, start[last_cell]):
                dx, dy = x[order[k]] - x[agent], y[order[k]] - y[agent]
                near += dx * dx + dy * dy <= RADIUS * RADIUS
        found[agent] = near - 1


def plain_grid(agents: int) -> Arm:
    x, y = positions(agents)
    side = int(side_of(agents, float(RADIUS)) / float(RADIUS)) + 1
    start, order, found = np.zeros(side * side + 1, np.int32), np.zeros(agents, np.int32), np.zeros(agents, np.int32)
    counting = launch(count_in_grid, 1, x, y, side, start, order, found)
    counting.run()
    return CallArm(lambda _: counting.run(), after=lambda _: found, figures=work(x, y, found))


def by_library(library: Library, agents: int) -> Arm:
    """Counts once, untimed. Raises ValueError with whatever the library has to say: other versions may work
    otherwise."""
    x, y = positions(agents)
    try:
        counter = library.counter(x, y, float(RADIUS))
        found = counter(None)
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return CallArm(counter, figures=work(x, y, found, library.cells))


def whole_step(agents: int) -> Arm:
    """A flock of that density: it finds as many neighbours, and also steers and moves everybody."""
    side, one_thread = side_of(20_000, float(RADIUS)), {"threads": 1, "stagger.avoidance": 1}  # the world grows with the crowd
    return CrowdArm(configured("20k-flock", agents, one_thread, world__width=side, world__height=side))


def work(x: Floats, y: Floats, found: Ints, in_cells: bool = True) -> Figures:
    """How many neighbours a point has; and how many others are in the nine cells around it, where these are tested."""
    side, inv = cells_a_side(x, y, float(RADIUS)), np.float32(1) / RADIUS
    cells = np.bincount((y * inv).astype(int) * side + (x * inv).astype(int), minlength=side * side).reshape(side, side)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(cells, 1), (3, 3)).sum((2, 3))
    tested = {"candidates_per_agent": float((cells * (around - 1)).sum()) / len(x)}
    return {**(tested if in_cells else {}), "neighbours_per_agent": float(found.mean())}


PEERS = Claim(
    "peers", "How long do other libraries take to count the same neighbours?",
    "a whole step takes less time than others need to find neighbours", OWN,
    "a whole step is faster than only counting neighbours by each library that is installed (Mesa, agentpy and JuPedSim up to"
    " 1,000 points); all count the same (hash)",
    by_size(1_000, 20_000, 100_000, of_size=lambda size: [
        TimedCase(f"{size:,} points", size, {
            GRID: partial(plain_grid, size), OURS: partial(whole_step, size),
            **{name: partial(by_library, library, size) for name, library in LIBRARIES.items()
               if library.most >= size and find_spec(library.module)}}, steps=1, seconds=3 + size * 4e-5, workers=1, warm_up=1,
                  same=[GRID, *LIBRARIES])]),
    lambda found: all_of(faster(found, OURS, peer) for peer in found.arms if peer not in (GRID, OURS)))


# --- steps of birds and of people against the same steps in C++ with AVX-512, where a compiler is found --------------

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
CPP, HERE = "C++", "this program"


@cache
def program(source: Path = BIRDS) -> Path:
    """The program or library of a C++ source, in a folder that is removed when this process ends.

    Raises ValueError with the reason if there is none on this machine.
    """
    if machine()["simd"] != "avx512f":
        raise ValueError("this processor has no AVX-512")
    compiler = os.environ.get("CXX") or next(filter(shutil.which, COMPILERS), None)
    if not compiler or not shutil.which(compiler):
        raise ValueError("there is no C++ compiler")
    folder = tempfile.mkdtemp(prefix="crowd-demo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = Path(folder) / source.stem
    command = [compiler, *FLAGS[source], str(source), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise ValueError(f"{compiler} cannot compile {source.name}: {(done.stderr.strip().splitlines() or ['no message'])[0]}")
    return target


class CppArm:
    """Its median step, for each step of a block. Raises ValueError where it cannot be compiled, or ends with an
    error."""

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


class WalkingCrowd(CrowdArm):
    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.sim.step(WALKED)


class CppPeople:
    """The same people in C++. Raises ValueError where it cannot be compiled."""

    def __init__(self, sim: Simulation, threads: int) -> None:
        self._library, self._tick = ctypes.CDLL(str(program(PEOPLE))), sim.tick
        self._rows = sim.agents.rows_by_id().copy()
        self._library.people_new.restype = ctypes.c_void_p
        areas = next(stage.areas for stage in sim.stages if isinstance(stage, Admit))
        places, layout, crowding, options = areas.refreshed(), areas.ways.at_present(), sim.crowding, sim.options
        rules, contact = rules_of(sim), rules_of_contact(sim.needs.body, sim.settings.crowd.shoulders)
        sizes = (sim.agents.count, len(places.x), *sim.terrain.blocked.shape, crowding.every, rules.half_cost,
                 options.stagger.avoidance, options.stagger.sight, options.stagger.paths, options.overlap_passes,
                 sim.config.seed, sim.tick, options.reorder.every)
        constants = (sim.terrain.walls.tile, sim.schedule.inv_band, crowding.dearer, crowding.most,
                     sim.grid.floor.inv_cell, np.float32(sim.top_speed * sim.dt))
        shared = [value for record in (rules, sim.ground, contact) for value in record if isinstance(value, np.float32)]
        turns = np.argmax([crowding.outdated(tick) for tick in range(crowding.every)], axis=0)  # to new prices
        given = [np.ascontiguousarray(each) for each in (  # what `people_new` reads
            np.array(sizes, np.int64), np.array([*shared, *constants]), sim.agents.rows_by_id(), sim.terrain.blocked,
            layout.targets, layout.steps, crowding.state, places.x, places.y, places.first, places.tiles,
            places.capacity, places.fixed, turns.astype(np.int32))]
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
    return {CPP: lambda: CppPeople(WalkingCrowd(config).sim, threads), HERE: lambda: WalkingCrowd(config)}


def arms(agents: int, threads: int) -> dict[str, Callable[[], Arm]]:
    side = side_of(20_000)  # of the configuration, which grows with the crowd
    config = configured("20k-flock", agents, {**TECHNIQUES, "threads": threads}, world__width=side, world__height=side,
                        flock__crowding=CROWDING, flock__separate_by="offset", flock__blind=0)
    return {CPP: lambda: CppArm(agents, threads), HERE: lambda: FreshCrowd(config)}


def cpp_cases(scale: LabScale) -> Sequence[Case]:
    def of(what: str, make: Callable[[int, int], dict[str, Callable[[], Arm]]], same: Sequence[str] | None,
           *sizes: int) -> list[Case]:
        return [TimedCase(f"{size:,} {what}, {threads} thread{'s' * (threads > 1)}", size, make(size, threads),
                          steps=STEPS, seconds=2 + size * 8e-5, same=same, workers=threads)
                for size in scale.sizes(*sizes) for threads in dict.fromkeys((1, min(os.cpu_count() or 1, 2)))]

    return of("birds", arms, (), 20_000, 100_000, 1_000_000) + of("people", people_arms, None, 20_000, 100_000)


AGAINST_C = Claim(
    "against-c", "How near to hand-written C++ is a step of birds, and of people?",
    f"a step takes less than {LONGEST} times as long as in C++ with AVX-512 intrinsics", OWN,
    "the interval of the ratio lies below that limit; the same density and rules, of people also the same hash",
    cpp_cases, lambda found: below(LONGEST, speed_up(found, CPP, HERE)), by_size=False)
