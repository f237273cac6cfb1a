"""Kernels for very many workers, the threads of a graphics card.

Worker w takes the items w, w + workers, w + 2 workers and so on, so that neighbouring threads read neighbouring memory. Where
workers write to the same place they add atomically, whole numbers only, so no order of them changes a sum. The formulas are
those of every other kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Floats, Ints, Longs, Rules, Whole
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd_memory import add_at, raise_to
from crowd_demo.grid.cells import Cells, Floor, cell_of, sort_bucket
from crowd_demo.sim.behaviours.steering import advance
from crowd_demo.sim.interaction.nearest import KeptNeighbours, NeighbourLimits, choose, solve
from crowd_demo.sim.interaction.pairwise import finish, no_sums, observe
from crowd_demo.sim.interaction.strips import CANDIDATES, DUE, NEIGHBOURS, accumulate_alone
from crowd_demo.sim.neighbours.schedule import UpdateSchedule, next_update_of, update_due
from crowd_demo.sim.store.state import Columns
from crowd_demo.sim.terrain.ground import Ground, longer

GROUP = 64  # numbers that one worker adds up
COUNTERS = 8  # of a row
ROWS = 256  # of counters, so that few workers add to the same one at a time


# --- the grid --------------------------------------------------------------------------------------------------------

class GpuGrid(NamedTuple):
    """The agents of each cell: order[start[c]:start[c + 1]] are the slots of cell c."""

    cell: Ints  # [n]: cell of each slot
    rank: Ints  # [n]: how many agents of its cell were counted before it
    start: Ints  # [cells + 1]: agents of each cell, then where it begins; the last is how many there are
    order: Ints  # [n]


@kernel
def clear(worker: int, workers: int, values: Whole | Floats) -> None:
    for k in range(worker, values.shape[0], workers):
        values[k] = 0


@kernel
def count_off(worker: int, workers: int, values: Ints) -> None:
    for k in range(worker, values.shape[0], workers):
        values[k] = k


@kernel
def count_cells(worker: int, workers: int, x: Floats, y: Floats, agents: int, floor: Floor, grid: GpuGrid) -> None:
    for slot in range(worker, agents, workers):
        cell = cell_of(x[slot], y[slot], floor)
        grid.cell[slot] = cell
        grid.rank[slot] = add_at(grid.start, cell, 1)


@kernel
def add_groups(worker: int, workers: int, values: Ints, length: int, sums: Ints, groups: int) -> None:
    for group in range(worker, groups, workers):
        total = 0
        for k in range(group * GROUP, min((group + 1) * GROUP, length)):
            total += values[k]
        sums[group] = total


@kernel
def begin_groups(worker: int, workers: int, values: Ints, length: int, sums: Ints, groups: int) -> None:
    """Replace each value by the sum of all before it, which `sums` has for the first of each group; values[length]: of all."""
    for group in range(worker, groups, workers):
        at = sums[group]
        for k in range(group * GROUP, min((group + 1) * GROUP, length)):
            count = values[k]
            values[k] = at
            at += count
        if group == groups - 1:
            values[length] = at


@kernel
def place_agents(worker: int, workers: int, agents: int, grid: GpuGrid) -> None:
    for slot in range(worker, agents, workers):
        grid.order[grid.start[grid.cell[slot]] + grid.rank[slot]] = slot


@kernel
def sort_cells(worker: int, workers: int, cells: int, grid: GpuGrid, ids: Ints) -> None:
    """Sort the agents of each cell by id, so that the order of memory does not depend on that of the threads."""
    for cell in range(worker, cells, workers):
        sort_bucket(grid.order, grid.start[cell], grid.start[cell + 1], ids)


@kernel
def gather_rows(worker: int, workers: int, source: Ints, order: Ints, count: int, target: Ints) -> None:
    """target[:, k] = source[:, order[k]] for k < count."""
    for k in range(worker, count, workers):
        slot = order[k]
        for row in range(source.shape[0]):
            target[row, k] = source[row, slot]


# --- the interaction, and moving -------------------------------------------------------------------------------------

@kernel
def interact_each(worker: int, workers: int, cells: Cells, columns: Columns, agents: int, floor: Floor, rules: Rules,
                  schedule: UpdateSchedule, counters: Longs) -> None:
    """Write the pushes of the agents that are due."""
    due, candidates, neighbours = 0, 0, 0
    for k in range(worker, agents, workers):
        slot = np.uintp(cells.order[k])
        if not update_due(schedule, columns.next_update[slot]):
            continue
        me, cell = observe(rules, columns, slot), cell_of(columns.x[slot], columns.y[slot], floor)
        row = cell // cells.columns
        sums, tested = accumulate_alone(cells, columns, rules, row, cell - row * cells.columns, me,
                                        no_sums(rules, columns.x[slot]))
        columns.avoidance_x[slot], columns.avoidance_y[slot], met = finish(rules, me, sums)
        columns.next_update[slot] = next_update_of(schedule, columns, slot)
        due, candidates, neighbours = due + 1, candidates + tested, neighbours + met
    add_up(counters, worker, due, candidates, neighbours)


@kernel
def interact_limited_each(worker: int, workers: int, cells: Cells, columns: Columns, agents: int, floor: Floor, rules: Rules,
                          schedule: UpdateSchedule, limits: NeighbourLimits, kept: KeptNeighbours, counters: Longs) -> None:
    """Write the pushes of the agents that are due, from the neighbours that they keep."""
    due, candidates, neighbours = 0, 0, 0
    slots, distances = kept.slot[worker], kept.distance[worker]
    for k in range(worker, agents, workers):
        slot = cells.order[k]
        if not update_due(schedule, columns.next_update[slot]):
            continue
        cell = cell_of(columns.x[slot], columns.y[slot], floor)
        row = cell // cells.columns
        size, _, scanned, _ = choose(cells, columns, rules, row, cell - row * cells.columns, slot, limits, slots, distances)
        columns.avoidance_x[slot], columns.avoidance_y[slot], met = solve(rules, columns, slot, slots, size)
        columns.next_update[slot] = next_update_of(schedule, columns, slot)
        due, candidates, neighbours = due + 1, candidates + scanned, neighbours + met
    add_up(counters, worker, due, candidates, neighbours)


@device
def add_up(counters: Longs, worker: int, due: int, candidates: int, neighbours: int) -> None:
    first = worker % ROWS * COUNTERS
    add_at(counters, first + DUE, due)
    add_at(counters, first + CANDIDATES, candidates)
    add_at(counters, first + NEIGHBOURS, neighbours)


@kernel
def move_each(worker: int, workers: int, columns: Columns, agents: int, rules: Rules, ground: Ground,
              farthest_sq: Floats) -> None:
    """Move the agents; note the square of the longest move."""
    far_sq = farthest_sq[0]
    for slot in range(worker, agents, workers):
        x, y = columns.x[slot], columns.y[slot]
        columns.x[slot], columns.y[slot] = advance(rules, ground, columns, slot, x, y, agents)
        far_sq = longer(far_sq, columns.x[slot] - x, columns.y[slot] - y)
    if far_sq > farthest_sq[0]:
        raise_to(farthest_sq, 0, far_sq)
