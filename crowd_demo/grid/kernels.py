"""Kernels over pairs of points within a radius, in cell order.

Points have been copied to arrays in cell order, so the candidates of sixteen consecutive points of a row of cells are
a few runs. `add_up_lanes` tests a register of points against each candidate, as the simulation does: each point adds
up over its neighbours in cell order, in any number of threads and for any width. `list_neighbours` tests one point
against sixteen candidates. A pair is tested by the same operations everywhere, so it is symmetric: (other - me) +
shift, with the width of a periodic world as the shift where the pair lies across a border.
"""

# Generic functions have no body of their own.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Int, Ints, Longs, Mask, Reals, Values
from crowd_demo.compute.dispatch import formula, generic, implements
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd import LANES, count_set, floor, lane_numbers, select, splat
from crowd_demo.compute.simd_memory import Contiguous, gather, load, take_block
from crowd_demo.grid.cells import Cells, Floor, SortSpace, cell_of, put_met, sort_share
from crowd_demo.grid.rules import (
    PairRule,
    add_values,
    contribution,
    no_sums,
    number_of_values,
    put_sums,
    read_columns,
)

CHUNK = 256  # points that a worker takes at a time
ALL, LATER, ANY = range(3)  # which neighbours are listed: all others, those of a higher index, or any point


class Sides(NamedTuple):
    """How far points are moved at the sides of the world to meet those at the opposite one."""

    width: Float  # infinite where the world is not periodic
    height: Float
    images_x: int  # 1 where the world is periodic along x
    images_y: int


class Periodic(Sides):
    """Sides of a world of which at least one is periodic."""


class Indexed(NamedTuple):
    """The points in cells."""

    x: Reals  # [n + 16]: in cell order
    y: Reals
    radius_sq: Float
    cells: Cells
    floor: Floor
    sides: Sides
    key: Ints  # the cell of each point, when it was put there


@generic
def offset(sides: Sides, other: Float, me: Float, shift: Float) -> Float:
    """Return the way from one coordinate to the other one, which is moved by `shift`."""


@implements(offset, Sides)
def _within_the_world(sides: Sides, other: Float, me: Float, shift: Float) -> Float:
    return other - me


@implements(offset, Periodic)
def _across_the_border(sides: Sides, other: Float, me: Float, shift: Float) -> Float:
    return other - me + shift


@formula
def shift_of(image: int, side: Float) -> Float:
    return select(image < 0, -side, select(image > 0, side, 0))


@formula
def is_near(dx: Float, dy: Float, radius_sq: Float) -> Mask:
    return dx * dx + dy * dy <= radius_sq


@device
def cells_near(first: Int, last: Int, reach: int, image: int, cells: int) -> tuple[int, int]:
    """Return (first, end) of the cells along a side of an image of the world that are within reach of cells first to last.

    The last cell of a periodic side may be cut off, so an image is moved by one cell less than there are.
    """
    moved = image * (cells - 1)
    return max(first - reach - moved, 0), min(last + reach - moved, cells - 1) + 1


@kernel
def take_column(worker: int, workers: int, order: Ints, count: int, column: Reals, out: Reals) -> None:
    """Copy this worker's share of a column in an order."""
    for k in range(count * worker // workers, count * (worker + 1) // workers):
        out[np.uintp(k)] = column[np.uintp(order[np.uintp(k)])]


@kernel
def sort_points(worker: int, workers: int, points: Indexed, space: SortSpace, x: Reals, y: Reals, count: int,
                box: tuple[Float, Float, Float, Float], queue: Longs) -> None:
    """Sort points by cell and copy them in that order. Set queue[1] if one is outside (left, top, right, bottom)."""
    first, end = sort_share(worker, space, count)
    left, top, right, bottom = box
    outside = 0
    for k in range(np.uintp(first), np.uintp(end)):
        slot = np.uintp(space.order[k])
        points.x[k], points.y[k] = x[slot], y[slot]
        outside |= 1 - ((left <= x[slot]) & (x[slot] <= right) & (top <= y[slot]) & (y[slot] <= bottom))
    if outside:
        queue[1] = 1


@device
def add_up(points: Indexed, rule: PairRule, columns: Values, out: Reals, at: Int, slots: Int, own: Int, k: int,
           last: int, wanted: Mask) -> None:
    """Add up for order[k:last + 1], points of one row of cells: one, or at most sixteen."""
    cells, sides = points.cells, points.sides
    begin, end = cell_at(points, k), cell_at(points, last)
    row = begin // cells.columns
    left, right = begin - row * cells.columns, end - row * cells.columns
    x, y, mine = gather(points.x, at), gather(points.y, at), read_columns(columns, at)
    sums = no_sums(contribution(rule, x, y, mine, mine), x, out)
    for image_y in range(-sides.images_y, sides.images_y + 1):
        first_row, end_row = cells_near(row, row, cells.reach, image_y, cells.rows)
        for near in range(first_row, end_row):
            for image_x in range(-sides.images_x, sides.images_x + 1):
                first_column, end_column = cells_near(left, right, cells.reach, image_x, cells.columns)
                if first_column < end_column:
                    shift_x, shift_y = shift_of(image_x, sides.width), shift_of(image_y, sides.height)
                    first = cells.start[np.uintp(near * cells.columns + first_column)]
                    for c in range(np.uintp(first), np.uintp(cells.start[np.uintp(near * cells.columns + end_column)])):
                        dx = offset(sides, points.x[c], x, shift_x)
                        dy = offset(sides, points.y[c], y, shift_y)
                        met: Mask = is_near(dx, dy, points.radius_sq) & (own != np.int32(c))
                        sums = add_values(sums, met, contribution(rule, dx, dy, mine, read_columns(columns, c)))
    put_sums(out, slots, wanted, sums)


@device
def cell_at(points: Indexed, k: int) -> Int:
    return np.int64(points.key[np.uintp(points.cells.order[np.uintp(k)])])


@device
def values_at(points: Indexed, rule: PairRule, columns: Values, at: Int) -> int:
    """Return how many values a rule returns, for one point or for sixteen; 0 for a value without a tuple."""
    x, mine = gather(points.x, at), read_columns(columns, at)
    return number_of_values(contribution(rule, x, x, mine, mine))


@kernel
def add_up_lanes(worker: int, workers: int, points: Indexed, rule: PairRule, columns: Values, count: int, queue: Longs,
                 out: Reals) -> None:
    """Write the sums of a rule for the chunks that this worker takes, sixteen points at a time.

    queue[1] gets the number of values that the rule returns; 0 for a value without a tuple.
    """
    cells = points.cells
    queue[1] = values_at(points, rule, columns, Contiguous(0))
    begin = take_block(queue, CHUNK)
    while begin < count:
        k, stop = begin, min(begin + CHUNK, count)
        while k < stop:
            row = cell_at(points, k) // cells.columns
            end = min(k + LANES, stop, np.int64(cells.start[np.uintp((row + 1) * cells.columns)]))
            add_up(points, rule, columns, out, Contiguous(k), load(cells.order, k), lane_numbers() + k, k, end - 1,
                   lane_numbers() < end - k)
            k = end
        begin = take_block(queue, CHUNK)


@kernel
def add_up_one_by_one(worker: int, workers: int, points: Indexed, rule: PairRule, columns: Values, count: int,
                      queue: Longs, out: Reals) -> None:
    """The same, one point at a time."""
    queue[1] = values_at(points, rule, columns, 0)
    begin = take_block(queue, CHUNK)
    while begin < count:
        for k in range(begin, min(begin + CHUNK, count)):
            at = np.uintp(k)
            add_up(points, rule, columns, out, at, np.int64(points.cells.order[at]), np.int32(k), k, k, True)
        begin = take_block(queue, CHUNK)


@kernel
def list_neighbours(worker: int, workers: int, points: Indexed, x: Reals, y: Reals, slots: Ints, which: int,
                    queue: Longs, start: Longs, index: Ints, owner: Ints) -> None:
    """List the points near (x[k], y[k]) for each slot: the indices for slot s go to index[start[s]:start[s + 1]].

    Where `index` is empty they are only counted: start[s + 1] is their number. LATER ones are listed in the order of
    k instead of that of slots, and `owner` gets the slot for each.
    """
    cells, sides, order = points.cells, points.sides, points.cells.order
    count, counting, owned = slots.shape[0], index.shape[0] == 0, owner.shape[0] > 0
    begin = take_block(queue, CHUNK)
    while begin < count:
        for k in range(np.uintp(begin), np.uintp(min(begin + CHUNK, count))):
            slot = np.int64(slots[k])
            place = k if which == LATER else np.uintp(slot)
            lowest, myself = slot if which == LATER else -1, slot if which == ALL else -1
            at = np.int64(0) if counting else np.int64(start[place])
            cell = np.int64(cell_of(x[k], y[k], points.floor))
            row = cell // cells.columns
            column = cell - row * cells.columns
            for image_y in range(-sides.images_y, sides.images_y + 1):
                first_row, end_row = cells_near(row, row, cells.reach, image_y, cells.rows)
                for near in range(first_row, end_row):
                    for image_x in range(-sides.images_x, sides.images_x + 1):
                        first_column, end_column = cells_near(column, column, cells.reach, image_x, cells.columns)
                        if first_column >= end_column:
                            continue
                        shift_x, shift_y = shift_of(image_x, sides.width), shift_of(image_y, sides.height)
                        first = cells.start[np.uintp(near * cells.columns + first_column)]
                        end = np.int64(cells.start[np.uintp(near * cells.columns + end_column)])
                        for c in range(np.uintp(first), np.uintp(end), LANES):
                            other = load(order, c)
                            dx = offset(sides, load(points.x, c), x[k], shift_x)
                            dy = offset(sides, load(points.y, c), y[k], shift_y)
                            met = is_near(dx, dy, points.radius_sq) & (lane_numbers() < end - np.int64(c))
                            met = met & (other > lowest) & (other != myself)
                            if counting:
                                at += count_set(met)
                                continue
                            if owned:
                                put_met(owner, at, met, splat(np.int32(slot), other))
                            at += put_met(index, at, met, other)
            if counting:
                start[place + 1] = at
        begin = take_block(queue, CHUNK)


@kernel
def wrap_column(worker: int, workers: int, column: Reals, count: int, begin: Float, side: Float, out: Reals) -> None:
    for k in range(count * worker // workers, count * (worker + 1) // workers):
        out[k] = wrapped(column[k], begin, side)


@formula
def wrapped(value: Float, begin: Float, side: Float) -> Float:
    inside = value - floor((value - begin) / side) * side
    return select(inside >= begin + side, begin, inside)


@formula
def nearer_image(value: Float, way: Float, side: Float) -> Float:
    """Return a value, or where it is on the image of the world to which the way is shorter."""
    return select(way * 2 > side, value - side, select(way * 2 < -side, value + side, value))


@kernel
def follow_points(worker: int, workers: int, points: Indexed, places: tuple[Reals, Reals, Reals, Reals], count: int,
                  farthest_sq: Float, queue: Longs) -> None:
    """Copy positions in cell order. Set queue[1] if a point has moved farther than a distance since they were sorted.

    `places` are x and y of the points now, and in cell order when they were sorted.
    """
    x, y, built_x, built_y = places
    far = 0
    for k in range(count * worker // workers, count * (worker + 1) // workers):
        slot = np.uintp(points.cells.order[k])
        new_x, new_y = x[slot], y[slot]
        if points.sides.images_x:
            new_x = nearer_image(new_x, new_x - built_x[k], points.sides.width)
        if points.sides.images_y:
            new_y = nearer_image(new_y, new_y - built_y[k], points.sides.height)
        points.x[k], points.y[k] = new_x, new_y
        far |= 1 - is_near(new_x - built_x[k], new_y - built_y[k], farthest_sq)
    if far:
        queue[1] = 1


@kernel
def take_nearest(worker: int, workers: int, points: Indexed, places: Reals, start: Longs, index: Ints, found: Ints,
                 distance_sq: Reals) -> None:
    """Write the nearest neighbours of this worker's share of the points, nearest first, ties by index.

    `places` are x and y by index.
    """
    count, wanted, sides, x, y = found.shape[0], found.shape[1], points.sides, places[0], places[1]
    for me in range(count * worker // workers, count * (worker + 1) // workers):
        for at in range(start[me], start[me + 1]):
            other = index[at]
            dx, dy = x[other] - x[me], y[other] - y[me]
            dx, dy = nearer_image(dx, dx, sides.width), nearer_image(dy, dy, sides.height)
            square, place = dx * dx + dy * dy, wanted
            if square > points.radius_sq:
                continue
            while place > 0 and (square < distance_sq[me, place - 1] or (
                    square == distance_sq[me, place - 1] and other < found[me, place - 1])):
                if place < wanted:
                    distance_sq[me, place], found[me, place] = distance_sq[me, place - 1], found[me, place - 1]
                place -= 1
            if place < wanted:
                distance_sq[me, place], found[me, place] = square, other
