"""The neighbours of a flock by libraries that pip installs: the same counts within the same radius, on one core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import kernel, launch
from crowd_demo.extras.lab.claims.cases import Arm, CallArm, CrowdArm, TimedCase, configured
from crowd_demo.extras.lab.claims.claim import OWN, Answer, Case, Claim, Figures, Found, LabScale, all_of
from crowd_demo.extras.lab.claims.experiments import peer_libraries
from crowd_demo.extras.lab.claims.experiments.peer_libraries import Counter, cells_a_side
from crowd_demo.extras.lab.claims.judging import faster

RADIUS = np.float32(24.00004)  # between the distances 24 and sqrt(576 + 1/256), so that at most and less than are the same
NEIGHBOURS = 12.6
PARTS = 16  # of a unit: positions are whole parts, so squared distances are exact in float32
GRID, OURS = "plain grid in Numba", "this program's whole step"


class Library(NamedTuple):
    """Who counts; the module that has to be installed; for how many points at most, or it would take minutes; and does it
    test all others in the nine cells around a point?
    """

    counter: Callable[[Floats, Floats, float], Counter]
    module: str
    most: int = 1_000_000
    cells: bool = False


LIBRARIES = {
    "NumPy argsort": Library(peer_libraries.numpy_sort, "numpy", cells=True),
    "SciPy cKDTree": Library(peer_libraries.scipy_tree, "scipy"),
    "Taichi": Library(peer_libraries.taichi_grid, "taichi", cells=True),
    "Mesa": Library(peer_libraries.mesa_space, "mesa", 1_000),
    "agentpy": Library(peer_libraries.agentpy_space, "agentpy", 1_000),
    "JuPedSim": Library(peer_libraries.jupedsim_grid, "jupedsim", 1_000)}


def positions(agents: int) -> tuple[Floats, Floats]:
    """Uniform in a square in which each has `NEIGHBOURS`, float32[agents] each."""
    x, y = np.floor(np.random.default_rng(0).uniform(0, side_of(agents), (2, agents)) * PARTS) / PARTS
    return x.astype(np.float32), y.astype(np.float32)


def side_of(agents: int) -> float:
    return sqrt(agents * pi * float(RADIUS) ** 2 / NEIGHBOURS)


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
    side = int(side_of(agents) / float(RADIUS)) + 1
    start, order, found = np.zeros(side * side + 1, np.int32), np.zeros(agents, np.int32), np.zeros(agents, np.int32)
    counting = launch(count_in_grid, 1, x, y, side, start, order, found)
    counting.run()
    return CallArm(lambda _: counting.run(), after=lambda _: found, figures=work(x, y, found))


def by_library(library: Library, agents: int) -> Arm:
    """Counts once, untimed. Raises ValueError with whatever the library has to say: other versions may work otherwise."""
    x, y = positions(agents)
    try:
        counter = library.counter(x, y, float(RADIUS))
        found = counter(None)
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return CallArm(counter, figures=work(x, y, found, library.cells))


def whole_step(agents: int) -> Arm:
    """A flock of that density: it finds as many neighbours, and also steers and moves everybody."""
    side, one_thread = side_of(20_000), {"threads": 1, "stagger.avoidance": 1}  # the world grows with the crowd
    return CrowdArm(configured("20k-flock", agents, one_thread, world__width=side, world__height=side))


def work(x: Floats, y: Floats, found: Ints, in_cells: bool = True) -> Figures:
    """How many neighbours a point has; and how many others are in the nine cells around it, where these are tested."""
    neighbours = {"neighbours_per_agent": float(found.mean())}
    if not in_cells:
        return neighbours
    side, inv = cells_a_side(x, y, float(RADIUS)), np.float32(1) / RADIUS
    cells = np.bincount((y * inv).astype(int) * side + (x * inv).astype(int), minlength=side * side).reshape(side, side)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(cells, 1), (3, 3)).sum((2, 3))
    return {"candidates_per_agent": float((cells * (around - 1)).sum()) / len(x), **neighbours}


def arms(agents: int) -> dict[str, Callable[[], Arm]]:
    installed = {name: library for name, library in LIBRARIES.items() if library.most >= agents and find_spec(library.module)}
    return {GRID: lambda: plain_grid(agents), OURS: lambda: whole_step(agents),
            **{name: (lambda library=library: by_library(library, agents))  # type: ignore[misc]
               for name, library in installed.items()}}


def cases(scale: LabScale) -> Sequence[Case]:
    return [TimedCase(f"{size:,} points", size, arms(size), steps=1, seconds=3 + size * 4e-5, workers=1, warm_up=1,
                      same=[GRID, *LIBRARIES]) for size in scale.sizes(1_000, 20_000, 100_000)]


def decide(found: Found) -> Answer:
    return all_of(faster(found, OURS, peer) for peer in found.arms if peer not in (GRID, OURS))


CLAIM = Claim(
    "peers", "How long do other libraries take to count the same neighbours?",
    "a whole step takes less time than others need to find neighbours", OWN,
    "a whole step is faster than only counting neighbours by each library that is installed (Mesa, agentpy and JuPedSim up to"
    " 1,000 points); all count the same (hash)", cases, decide)
