"""The neighbours of a flock by libraries that pip installs: the same counts within the same radius, on one core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from math import pi, sqrt

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import kernel, launch
from crowd_demo.lab.claims.cases import Arm, Call, Crowd, TimedCase, configured
from crowd_demo.lab.claims.claim import OWN, Answer, Case, Claim, Found, Scale, all_of
from crowd_demo.lab.claims.judging import faster

RADIUS, NEIGHBOURS = np.float32(24), 12.6
GRID, OURS = "grid in Numba", "this program's whole step"


def positions(agents: int) -> tuple[Floats, Floats, int]:
    """Uniform, on whole sixteenths, so that everybody's distances are exact; and the cells of a side."""
    side = sqrt(agents * pi * float(RADIUS) ** 2 / NEIGHBOURS)
    x, y = (np.random.default_rng(0).uniform(0, side, (2, agents)) * 16).astype(np.int64).astype(np.float32) / np.float32(16)
    return x, y, int(side / RADIUS) + 1


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


def numba_grid(agents: int) -> Arm:
    x, y, side = positions(agents)
    start, order, found = np.zeros(side * side + 1, np.int32), np.zeros(agents, np.int32), np.zeros(agents, np.int32)
    counting = launch(count_in_grid, 1, x, y, side, start, order, found)
    return Call(lambda _: counting.run(), after=lambda _: found, figures=work(agents))


def whole_step(agents: int) -> Arm:
    """A flock of that density: it finds the same number of neighbours, and also steers and moves everybody."""
    side = sqrt(20_000 * pi * float(RADIUS) ** 2 / NEIGHBOURS)  # of the configuration, which grows with the crowd
    return Crowd(configured("20k-flock", agents, {"threads": 1, "stagger.avoidance": 1}, world__width=side,
                            world__height=side))


def scipy_tree(agents: int) -> Arm:
    from scipy.spatial import cKDTree

    x, y, _ = positions(agents)
    points = np.stack((x, y), 1).astype(np.float64)

    def count(_: object) -> Ints:
        return cKDTree(points).query_ball_point(points, float(RADIUS), workers=1, return_length=True) - 1

    return Call(count, after=lambda counts: counts.astype(np.int32), figures=work(agents))


def numpy_sort(agents: int) -> Arm:
    """Cells by `argsort`, and each of nine neighbouring cells as whole arrays."""
    x, y, side = positions(agents)

    def count(_: object) -> Ints:
        cell = (y / RADIUS).astype(np.int32) * side + (x / RADIUS).astype(np.int32)
        order = np.argsort(cell, kind="stable")
        sorted_cells, sorted_x, sorted_y = cell[order], x[order], y[order]
        found = np.zeros(len(x), np.int32)
        for rows in (-1, 0, 1):
            low = np.searchsorted(sorted_cells, sorted_cells + rows * side - (sorted_cells % side > 0), "left")
            high = np.searchsorted(sorted_cells, sorted_cells + rows * side + (sorted_cells % side < side - 1), "right")
            for k in range(int((high - low).max(initial=0))):
                has = low + k < high
                other = np.minimum(low + k, len(x) - 1)
                dx, dy = sorted_x[other] - sorted_x, sorted_y[other] - sorted_y
                found += has & (dx * dx + dy * dy <= RADIUS * RADIUS)
        counts = np.empty_like(found)
        counts[order] = found - 1
        return counts

    return Call(count, figures=work(agents))


def taichi_grid(agents: int) -> Arm:
    from crowd_demo.lab.claims.experiments.peers_taichi import counter

    x, y, side = positions(agents)
    return Call(counter(x, y, side, float(RADIUS)), figures=work(agents))


def work(agents: int) -> dict[str, float]:
    return {"agents": agents, "candidates_per_agent": 9 / pi * NEIGHBOURS}


PEERS: dict[str, tuple[str, Callable[[int], Arm]]] = {  # what has to be installed
    GRID: ("numba", numba_grid), OURS: ("numba", whole_step), "NumPy argsort": ("numpy", numpy_sort),
    "SciPy cKDTree": ("scipy", scipy_tree), "Taichi": ("taichi", taichi_grid)}


def cases(scale: Scale) -> Sequence[Case]:
    def arms(size: int) -> dict[str, Callable[[], Arm]]:
        return {name: (lambda make=make: make(size)) for name, (needed, make) in PEERS.items()  # type: ignore[misc]
                if find_spec(needed)}

    return [TimedCase(f"{size:,} points", size, arms(size), steps=1, seconds=2 + size * 6e-5, workers=1, warm_up=1,
                      same=[name for name in PEERS if name != OURS]) for size in scale.sizes(20_000, 100_000)]


def decide(found: Found) -> Answer:
    return all_of(faster(found, OURS, peer) for peer in found.arms if peer not in (GRID, OURS))


CLAIM = Claim(
    "peers", "How long do other libraries take to count the same neighbours?",
    "a grid in compiled code beats general libraries", OWN,
    "a whole step is faster than only counting neighbours by each library that is installed; all count the same (hash)", cases,
    decide)
