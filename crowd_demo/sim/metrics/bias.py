"""The bias of a limit: the mean direction towards the neighbours that it keeps, which is 0 for an unbiased choice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Floats, Ints, Rules
from crowd_demo.compute.jit import Launch, device, launch
from crowd_demo.sim.interaction.nearest import NeighbourLimits, choose
from crowd_demo.sim.metrics.avoidance_error import affordable
from crowd_demo.sim.neighbours.candidates import Cells, holder_of
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.store.columns import Columns


class Bias(NamedTuple):
    """Mean direction towards the neighbours, over the agents that have some: (0, 0) when they are in all directions alike."""

    kept: tuple[float, float]
    all: tuple[float, float]
    agents: int


@device
def _add_direction(columns: Columns, slot: int, slots: Ints, size: int, total: Doubles) -> None:
    x, y = 0.0, 0.0
    for k in range(size):
        dx, dy = float(columns.x[slots[k]] - columns.x[slot]), float(columns.y[slots[k]] - columns.y[slot])
        length = np.sqrt(dx * dx + dy * dy)
        if length > 0:
            x, y = x + dx / length, y + dy / length
    total[0] += x / max(size, 1)
    total[1] += y / max(size, 1)


@device
def add_directions(cells: Cells, columns: Columns, rules: Rules, sample: int, limits: NeighbourLimits,
                   unlimited: NeighbourLimits, slots: Ints, distances: Floats, totals: Doubles) -> None:
    """Write totals, float64[3, 2]: sums of the mean directions to the kept and to all; agents, and others scanned.

    `slots` and `distances` have room for all agents.
    """
    agents = cells.start[cells.columns * cells.rows]
    for number in range(sample):
        k = agents * number // sample
        cell = holder_of(k, cells.start, cells.columns * cells.rows)
        row, column, slot = cell // cells.columns, cell % cells.columns, cells.order[k]
        for kind in range(2):  # one call to compile instead of two
            kept = unlimited if kind else limits
            size, _, scanned, _ = choose(cells, columns, rules, row, column, slot, kept, slots, distances)
            _add_direction(columns, slot, slots, size, totals[kind])
        totals[2, 0] += size > 0
        totals[2, 1] += scanned


def bias_launch(sim: Simulation, sample: int) -> tuple[Launch, Doubles]:
    """Return the launch of `add_directions`, and the float64[3, 2] that it fills."""
    agents, limits, totals = sim.agents, sim.interaction.limits(sim.world), np.zeros((3, 2))
    unlimited = limits._replace(nearest=False, scanned=agents.count, neighbours=agents.count)
    kept = unlimited if sim.world.neighbour_limit == "none" else limits
    slots, distances = agents.back[0], agents.back[1].view(np.float32)  # nobody needs these buffers before the next sort
    return launch(add_directions, sim.world.grid.view(), agents.columns, sim.world.rules, min(sample, agents.count), kept,
                  unlimited, slots, distances, totals), totals


def bias(sim: Simulation) -> Bias:
    """Return the bias for a sample of agents spread evenly over the world, at their present positions; builds the grid."""
    sim.refresh_grid()

    def directions(sample: int) -> Doubles:
        launch, totals = bias_launch(sim, sample)
        launch.run()
        return totals

    totals = directions(affordable(lambda few: int(directions(few)[2, 1])))
    to_kept, to_all = (totals[:2] / max(totals[2, 0], 1)).tolist()
    return Bias(tuple(to_kept), tuple(to_all), int(totals[2, 0]))
