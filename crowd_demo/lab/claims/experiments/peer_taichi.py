"""The neighbours of a flock counted by Taichi: a counting sort into cells, then three rows of cells an agent, on one core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import taichi as ti

from crowd_demo.compute.arrays import Floats, Ints


def counter(x: Floats, y: Floats, side: int, radius: float) -> Callable[[object], Ints]:
    """Compiles at once; each call sorts and counts anew."""
    ti.init(arch=ti.cpu, cpu_max_num_threads=1, log_level=ti.ERROR, offline_cache=False)
    agents = len(x)
    px, py = ti.field(ti.f32, agents), ti.field(ti.f32, agents)
    start, order, found = ti.field(ti.i32, side * side + 1), ti.field(ti.i32, agents), ti.field(ti.i32, agents)
    px.from_numpy(x)
    py.from_numpy(y)

    @ti.kernel
    def count():  # type: ignore[no-untyped-def]  # Taichi reads the source, and wants no annotation
        for cell in start:
            start[cell] = 0
        ti.loop_config(serialize=True)
        for agent in range(agents):
            start[int(py[agent] / radius) * side + int(px[agent] / radius) + 1] += 1
        ti.loop_config(serialize=True)
        for cell in range(side * side):
            start[cell + 1] += start[cell]
        ti.loop_config(serialize=True)
        for agent in range(agents):
            cell = int(py[agent] / radius) * side + int(px[agent] / radius)
            order[start[cell]] = agent
            start[cell] += 1
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
        count()
        return found.to_numpy().astype(np.int32)

    return counted
