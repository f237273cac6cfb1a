"""The neighbours of a flock by libraries that pip installs: the same counts within the same radius, on one core.

x and y are float32[n], the radius is in the same units; counts are int32[n], without the point itself. A library is
imported when its function is called, so that none is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from importlib.util import find_spec
from io import StringIO
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import kernel, launch
from crowd_demo.extras.lab.claims.claim import (
    OWN,
    Arm,
    CallArm,
    Claim,
    CrowdArm,
    Figures,
    TimedCase,
    all_of,
    by_size,
    configured,
    faster,
    side_of,
)

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
    """Who counts; the module that has to be installed; for how many points at most, or it would take minutes; and does it
    test all others in the nine cells around a point?
    """

    counter: Callable[[Floats, Floats, float], Counter]
    module: str
    most: int = 1_000_000
    cells: bool = False


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
    side, one_thread = side_of(20_000, float(RADIUS)), {"threads": 1, "stagger.avoidance": 1}  # the world grows with the crowd
    return CrowdArm(configured("20k-flock", agents, one_thread, world__width=side, world__height=side))


def work(x: Floats, y: Floats, found: Ints, in_cells: bool = True) -> Figures:
    """How many neighbours a point has; and how many others are in the nine cells around it, where these are tested."""
    side, inv = cells_a_side(x, y, float(RADIUS)), np.float32(1) / RADIUS
    cells = np.bincount((y * inv).astype(int) * side + (x * inv).astype(int), minlength=side * side).reshape(side, side)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(cells, 1), (3, 3)).sum((2, 3))
    tested = {"candidates_per_agent": float((cells * (around - 1)).sum()) / len(x)}
    return {**(tested if in_cells else {}), "neighbours_per_agent": float(found.mean())}


def peer_arms(agents: int) -> dict[str, Callable[[], Arm]]:
    return {GRID: partial(plain_grid, agents), OURS: partial(whole_step, agents),
            **{name: partial(by_library, library, agents) for name, library in LIBRARIES.items()
               if library.most >= agents and find_spec(library.module)}}


PEERS = Claim(
    "peers", "How long do other libraries take to count the same neighbours?",
    "a whole step takes less time than others need to find neighbours", OWN,
    "a whole step is faster than only counting neighbours by each library that is installed (Mesa, agentpy and JuPedSim up to"
    " 1,000 points); all count the same (hash)",
    by_size(1_000, 20_000, 100_000, of_size=lambda size: [
        TimedCase(f"{size:,} points", size, peer_arms(size), steps=1, seconds=3 + size * 4e-5, workers=1, warm_up=1,
                  same=[GRID, *LIBRARIES])]),
    lambda found: all_of(faster(found, OURS, peer) for peer in found.arms if peer not in (GRID, OURS)))
