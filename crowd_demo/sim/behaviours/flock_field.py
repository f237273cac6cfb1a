"""A smoothed field in place of most pairs of birds (the fifth idea of Ihaa21's SIMD boids): only separation looks at pairs.

Every cell of the grid holds the number of its birds and the sums of their positions and velocities. A bird aligns and
coheres with the sums over the cells around its own, so that costs the same in any crowding; separation stays as it is, by
pairs. With n others in the box of cells around bird i, sight s, and the box's centre c and side b,

    push    align * (mean v - v_i) + cohere * (1 - n' / crowding) * (mean p - c) * 3 s^2 / b^2 + separate * (as in flock.py)
    n'      n * pi s^2 / area of the box

A box is no circle around the bird: its mean is compared with its centre, and the last factor is the ratio of the variances
of circle and box. So this is **approximate**, and the meter *field* measures the error. Sums are integers, so the result is
the same for every order in memory, number of workers and register width. For behaviours without a field of their own, the
structure `field` is the sorted grid.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Longs
from crowd_demo.compute.dispatch import formula, implements
from crowd_demo.compute.jit import Launch, kernel, launch
from crowd_demo.compute.simd import LANES, no_sum, select, wrap32
from crowd_demo.compute.simd_memory import gather
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.behaviours.flock_rules import (
    FIXED,
    Apart,
    FlockRules,
    add_separation,
    counted_fixed,
    fixed,
    no_separation,
    separation_of,
    settle_separation,
    sum_capacity,
)
from crowd_demo.sim.interaction import pairwise
from crowd_demo.sim.interaction.pairwise import Sums
from crowd_demo.sim.neighbours.cell_structures import Sorted
from crowd_demo.sim.neighbours.schedule import UpdateSchedule, update_due
from crowd_demo.sim.neighbours.structure import Domain
from crowd_demo.sim.store.state import Columns

COUNT, X, Y, VX, VY = range(5)


class FieldBird(NamedTuple):
    """What others can observe of a bird, and the pull of the field; px and py are in fixed point, px counted."""

    x: Float
    y: Float
    px: Int
    py: Int
    pull_x: Float
    pull_y: Float


class FieldRules(NamedTuple):
    """Constants of separation, which is by pairs, and the field's alignment and cohesion by slot."""

    apart: Apart
    separation_sq: np.float32
    separate: np.float32
    pull_x: Floats  # [n + 16]
    pull_y: Floats
    sum_capacity: np.int32  # see FlockRules
    one: np.int32  # 1: lanes count in one instruction what would take two if the compiler knew it


class Field(NamedTuple):
    sums: Longs  # [cells, 5]: birds of a cell, and their positions and velocities in fixed point
    pull_x: Floats  # [n + 16]: alignment and cohesion of the bird in each slot
    pull_y: Floats
    cell: np.float32
    sight_sq: np.float32
    align: np.float32
    cohere: np.float32
    inv_crowding: np.float32


# --- the field -------------------------------------------------------------------------------------------------------

@kernel
def sum_cells(worker: int, workers: int, cells: Cells, columns: Columns, sums: Longs) -> None:
    """Add up the birds of each cell, and their positions and velocities in fixed point: sums int64[cells, 5]."""
    count = cells.rows * cells.columns
    for cell in range(count * worker // workers, count * (worker + 1) // workers):
        x, y, vx, vy = 0, 0, 0, 0
        for k in range(cells.start[cell], cells.start[cell + 1]):
            slot = np.uintp(cells.order[k])
            x, y = x + fixed(columns.x[slot]), y + fixed(columns.y[slot])
            vx, vy = vx + fixed(columns.vx[slot]), vy + fixed(columns.vy[slot])
        sums[cell, COUNT] = cells.start[cell + 1] - cells.start[cell]
        sums[cell, X], sums[cell, Y], sums[cell, VX], sums[cell, VY] = x, y, vx, vy


@formula
def _pull_axis(total_p: int, total_v: int, own_p: int, own_v: int, others: int, low: int, high: int, cohere: Float,
               field: Field) -> np.float32:
    """Return alignment and cohesion along one axis; the box reaches over the cells [low, high)."""
    inverse = (1 / FIXED) / np.float32(others)
    centre = np.int64(np.float32(low + high) * (FIXED / 2) * field.cell)
    side = np.float32(high - low) * field.cell
    mean = np.float32(total_p - own_p - others * centre) * inverse * (3 * field.sight_sq / (side * side))
    schedule = np.float32(total_v - own_v) * inverse - np.float32(own_v) * (1 / FIXED)
    return field.align * schedule + cohere * mean


@formula
def _pull(cells: Cells, columns: Columns, row: int, column: int, slot: Int, field: Field) -> None:
    top, bottom = max(row - cells.reach, 0), min(row + cells.reach + 1, cells.rows)
    left, right = max(column - cells.reach, 0), min(column + cells.reach + 1, cells.columns)
    count, x, y, vx, vy = 0, 0, 0, 0, 0
    for near in range(top, bottom):
        for cell in range(near * cells.columns + left, near * cells.columns + right):
            count += field.sums[cell, COUNT]
            x, y = x + field.sums[cell, X], y + field.sums[cell, Y]
            vx, vy = vx + field.sums[cell, VX], vy + field.sums[cell, VY]
    field.pull_x[slot], field.pull_y[slot] = 0, 0
    if count > 1:
        area = np.float32((bottom - top) * (right - left)) * field.cell * field.cell
        crowd = np.float32(count - 1) * (pi * field.sight_sq / area)
        uncrowded: Float = 1 - crowd * field.inv_crowding
        cohere = field.cohere * max(uncrowded, -1)
        field.pull_x[slot] = _pull_axis(x, vx, fixed(columns.x[slot]), fixed(columns.vx[slot]), count - 1, left, right, cohere,
                                        field)
        field.pull_y[slot] = _pull_axis(y, vy, fixed(columns.y[slot]), fixed(columns.vy[slot]), count - 1, top, bottom, cohere,
                                        field)


@kernel
def pull_birds(worker: int, workers: int, cells: Cells, columns: Columns, schedule: UpdateSchedule, field: Field) -> None:
    """Write alignment and cohesion of every bird that is due."""
    for row in range(worker, cells.rows, workers):
        for column in range(cells.columns):
            cell = row * cells.columns + column
            for k in range(cells.start[cell], cells.start[cell + 1]):
                slot = np.uintp(cells.order[k])
                if update_due(schedule, columns.next_update[slot]):
                    _pull(cells, columns, row, column, slot, field)


# --- the interaction: separation by pairs ----------------------------------------------------------------------------

@implements(pairwise.observe, FieldRules)
def observe(rules: FieldRules, columns: Columns, slots: Int) -> FieldBird:
    x, y = gather(columns.x, slots), gather(columns.y, slots)
    return FieldBird(x, y, counted_fixed(x), fixed(y), gather(rules.pull_x, slots), gather(rules.pull_y, slots))


@implements(pairwise.no_sums, FieldRules)
def no_sums(rules: FieldRules, like: Float) -> Sums:
    none = no_sum(like)
    return none, no_separation(rules.apart, like)


@implements(pairwise.accumulate, FieldRules)
def accumulate(rules: FieldRules, me: FieldBird, other: FieldBird, sums: Sums) -> Sums:
    dx, dy = other.x - me.x, other.y - me.y
    distance_sq = dx * dx + dy * dy
    near = distance_sq < rules.separation_sq
    met, apart = sums
    return met + select(near, rules.one, 0), add_separation(rules.apart, near, dx, dy, distance_sq, other.px, other.py, apart)


implements(pairwise.sum_capacity, FieldRules)(sum_capacity)


@implements(pairwise.settle, FieldRules)
def settle(rules: FieldRules, me: FieldBird, sums: Sums) -> Sums:
    return sums[0], settle_separation(rules.apart, me.px, sums[1])


@implements(pairwise.finish, FieldRules)
def finish(rules: FieldRules, me: FieldBird, sums: Sums) -> tuple[Float, Float, Int]:
    count, apart = sums
    apart_x, apart_y = separation_of(rules.apart, me.px, me.py, apart)
    met = wrap32(count) - select(rules.separation_sq > 0, 1, 0)  # without the agent itself
    return me.pull_x + rules.separate * apart_x, me.pull_y + rules.separate * apart_y, wrap32(met)


# --- the structure ---------------------------------------------------------------------------------------------------

class FieldGrid(Sorted):
    """The sorted grid, and the field over its cells."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.sums = np.zeros((domain.grid.cells, 5), np.int64)
        self.pull_x, self.pull_y = np.zeros((2, domain.agents.capacity + LANES), np.float32)

    def query(self, simd: bool, rules: object, schedule: UpdateSchedule) -> tuple[Launch, ...]:
        assert isinstance(rules, FlockRules)
        workers, cells, columns = self.domain.workers, self.domain.grid.view(), self.domain.agents.columns
        field = Field(self.sums, self.pull_x, self.pull_y, np.float32(self.domain.grid.cell), rules.sight_sq, rules.align,
                      rules.cohere, rules.inv_crowding)
        return (launch(sum_cells, workers, cells, columns, self.sums),
                launch(pull_birds, workers, cells, columns, schedule, field))

    def rules(self, rules: object) -> FieldRules:
        assert isinstance(rules, FlockRules)
        return FieldRules(rules.apart, rules.separation_sq, rules.separate, self.pull_x, self.pull_y, rules.sum_capacity,
                          np.int32(1))
