"""Agents counted in squares of the ground, for colours by density: where those lie that are drawn, how many there are in the
squares around, and which shade that gives. Each worker counts its share on a layer of its own. O(agents looked at + squares).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Float, Floats, Int, Ints, Register
from crowd_demo.compute.dispatch import implements
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd import LANES, any_set, lane_numbers, select, splat, to_int
from crowd_demo.compute.simd_memory import load, store, take
from crowd_demo.render.cull import Found
from crowd_demo.render.numbering import number_of, registers, sixteen

BATCH, STREAMS = 512, 4  # agents that are counted at a time, in so many streams


class Window(NamedTuple):
    """The squares of rows [row0, row1) and columns [column0, column1): those that need a shade."""

    row0: int
    row1: int
    column0: int
    column1: int


class Squares(NamedTuple):
    """`counts` has a row for each worker, and a frame of empty squares around the world."""

    inv_side: np.float32
    columns: int
    rows: int
    counts: Ints  # [workers, padded squares]
    shade: Ints  # [padded squares]
    batch: Ints  # [workers, BATCH]: squares of agents that are being counted


class Densities(NamedTuple):
    """What numbers agents: columns by slot, and the shade of each square."""

    x: Floats
    y: Floats
    squares: Squares


@device
def _place(place: Float, count: int) -> Int:
    """The row or column, of so many, that a place in rows or columns lies in."""
    least, most = splat(np.float32(0), place), splat(np.float32(count - 1), place)
    place = select(place > least, place, least)
    return to_int(select(place < most, place, most))


@device
def _square(row: Int, column: Int, squares: Squares) -> Int:
    return (row + 1) * (squares.columns + 2) + column + 1


@device
def _square_at(x: Float, y: Float, squares: Squares) -> Int:
    row, column = _place(y * squares.inv_side, squares.rows), _place(x * squares.inv_side, squares.columns)
    return _square(row, column, squares)


# --- where agents are ------------------------------------------------------------------------------------------------

@kernel
def find_ends(worker: int, workers: int, x: Floats, y: Floats, slots: Ints, ends: Floats) -> None:
    """The least and the greatest y and x of this worker's share of the slots, lane by lane: `ends[worker]`."""
    first, last = registers(slots.shape[0], worker, workers)
    left, right = splat(np.float32(np.inf), lane_numbers()), splat(np.float32(-np.inf), lane_numbers())
    top, bottom = left, right
    for at in range(first, last, LANES):
        across, down = take(x, sixteen(slots, at)), take(y, sixteen(slots, at))
        left, right = select(across < left, across, left), select(across > right, across, right)
        top, bottom = select(down < top, down, top), select(down > bottom, down, bottom)
    for side, lanes in enumerate((top, bottom, left, right)):
        store(ends[worker, side], 0, lanes)


# --- counts ----------------------------------------------------------------------------------------------------------

@device
def _reach(first: int, last: int, count: int) -> tuple[np.float32, np.float32]:
    """Where the rows [first - 1, last + 1) begin and end, in rows; the outermost ones hold all that lies beyond."""
    return (np.float32(first - 1 if first > 1 else -np.inf), np.float32(last + 1 if last + 1 < count else np.inf))


@kernel
def count_squares(worker: int, workers: int, x: Floats, y: Floats, agents: int, squares: Squares, window: Window) -> None:
    """Count the agents of the window and of the squares around it: squares are found in lanes, then counted one by one."""
    counts, batch, stride = squares.counts[worker], squares.batch[worker], squares.columns + 2
    counts[window.row0 * stride:(window.row1 + 2) * stride] = 0
    top, bottom = _reach(window.row0, window.row1, squares.rows)
    left, right = _reach(window.column0, window.column1, squares.columns)
    nowhere = np.int32(counts.shape[0] - 1)
    first, last = registers(agents, worker, workers)
    for begin in range(first, last, BATCH):
        end, some = min(begin + BATCH, last), False
        for at in range(begin, end, LANES):
            down, across = load(y, at) * squares.inv_side, load(x, at) * squares.inv_side
            inside = (down >= top) & (down < bottom) & (across >= left) & (across < right) & (lane_numbers() < agents - at)
            square = _square_at(load(x, at), load(y, at), squares)
            store(batch, at - begin, select(inside, square, splat(nowhere, square)))
            some |= any_set(inside)
        if some:
            apart = (end - begin) // STREAMS
            for k in range(apart):  # those next to each other in memory often share a square: each would wait for the last
                for stream in range(STREAMS):
                    counts[np.uintp(batch[np.uintp(stream * apart + k)])] += 1


@kernel
def count_found(worker: int, workers: int, x: Floats, y: Floats, found: Found, squares: Squares, window: Window) -> None:
    """The same of the agents that culling has found near the window, which are all that count."""
    counts, stride = squares.counts[worker], squares.columns + 2
    counts[window.row0 * stride:(window.row1 + 2) * stride] = 0
    top, bottom = _reach(window.row0, window.row1, squares.rows)
    left, right = _reach(window.column0, window.column1, squares.columns)
    for k in range(found.first[worker], found.first[worker] + found.size[worker]):
        slot = np.uintp(found.region[np.uintp(k)])
        down, across = y[slot] * squares.inv_side, x[slot] * squares.inv_side
        if (down >= top) & (down < bottom) & (across >= left) & (across < right):
            counts[np.uintp(_square_at(x[slot], y[slot], squares))] += 1


@kernel
def add_squares(worker: int, workers: int, squares: Squares, window: Window) -> None:
    """Add the counts of all workers to those of the first."""
    stride, counts = squares.columns + 2, squares.counts
    first, listed = window.row0 * stride, (window.row1 + 2 - window.row0) * stride
    for other in range(1, workers):
        for square in range(first + listed * worker // workers, first + listed * (worker + 1) // workers):
            counts[0, square] += counts[other, square]


# --- shades ----------------------------------------------------------------------------------------------------------

@device
def _three(counts: Ints, square: int) -> Register:
    return load(counts, square - 1) + load(counts, square) + load(counts, square + 1)


@kernel
def shade_squares(worker: int, workers: int, squares: Squares, window: Window, shades: Ints) -> None:
    """Choose the shade of each square by the agents in nine: `shades[agents]`, or the last one.

    Sixteen squares at a time; those behind the end of a row are shaded like others, and read by nobody or shaded again.
    """
    stride, counts = squares.columns + 2, squares.counts[0]
    rows, most = window.row1 - window.row0, splat(np.int32(shades.shape[0] - 1), lane_numbers())
    for row in range(window.row0 + rows * worker // workers, window.row0 + rows * (worker + 1) // workers):
        for square in range(_square(row, window.column0, squares), _square(row, window.column1, squares), LANES):
            around = _three(counts, square - stride) + _three(counts, square) + _three(counts, square + stride)
            store(squares.shade, square, take(shades, select(around < most, around, most)))


@implements(number_of, Densities)
def number_squares(mode: Densities, slots: Int, register: Register) -> Register:
    return take(mode.squares.shade, _square_at(take(mode.x, slots), take(mode.y, slots), mode.squares))
