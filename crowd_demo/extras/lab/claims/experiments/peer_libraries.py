"""How libraries that pip installs count the neighbours of points: each function returns one that does it anew at each call.

x and y are float32[n], the radius is in the same units; counts are int32[n], without the point itself. A library is imported
when its function is called, so that none is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from types import ModuleType as Module
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints

if TYPE_CHECKING:
    from taichi import Field

Kernel = Callable[[], None]
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
    sort = _taichi_sort(ti, px, py, start, order, side, radius)
    count = _taichi_count(ti, px, py, start, order, found, side, radius)

    def counted(_: object) -> Ints:
        sort()
        count()
        return found.to_numpy().astype(np.int32)

    return counted


def _taichi_sort(ti: Module, px: Field, py: Field, start: Field, order: Field, side: int, radius: float) -> Kernel:
    """A counting sort: afterwards `start` has the end of each cell in `order`."""
    @ti.kernel
    def sort():  # type: ignore[no-untyped-def]  # Taichi reads the source, and wants no annotation
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

    return sort


def _taichi_count(ti: Module, px: Field, py: Field, start: Field, order: Field, found: Field, side: int,
                  radius: float) -> Kernel:
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

    return count


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
