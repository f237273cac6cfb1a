"""The kernel of the ground: copies tiles' pictures to the screen, and fills what lies around them.

Column c covers the pixels from xs[c] to xs[c + 1], where the next one begins, so a picture may be copied a whole register at
a time: the next tile covers the surplus. Workers share the rows of tiles and the lines above and below them, so no two
of them write the same line of pixels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Ints, Marks, Words
from crowd_demo.compute.jit import device, kernel
from crowd_demo.compute.simd import LANES
from crowd_demo.render.camera import Rect
from crowd_demo.render.cull import CellRange
from crowd_demo.render.pixels import HALF_ROW, Frame, copy_half_row, copy_row

OUTSIDE = 18, 20, 26
OUTSIDE_PIXEL = OUTSIDE[0] << 16 | OUTSIDE[1] << 8 | OUTSIDE[2]


class Paving(NamedTuple):
    """What the kernel draws: the picture number of each tile, the pictures, and where columns and rows begin."""

    number: Marks  # [H, W]
    pictures: Words  # [numbers, side, side]
    xs: Ints  # [W + 1] pixels
    ys: Ints  # [H + 1] pixels


class Area(NamedTuple):
    """The pixels [left, right) x [top, bottom)."""

    left: int
    top: int
    right: int
    bottom: int


class Wanted(NamedTuple):
    """Whether each tile is tested, and the rectangle that it has to meet then; world units."""

    tests: bool
    rect: Rect
    tile: float  # its side


@device
def _meets(low: float, high: float, number: int, tile: float) -> bool:
    return (number + 1) * tile > low and number * tile < high


@device
def _copy_tile(target: Words, width: int, height: int, source: Words, start: int, side: int, x: int, x_end: int, y: int,
               y_end: int, end: int) -> None:
    """Copy a tile's picture to [x, x_end) x [y, y_end), as far as that is on the screen.

    Sixteen pixels at a time: up to `end` it may write too much, for the next tiles come later.
    """
    first, last = max(x, 0), min(x_end, width)
    whole = first + max(min((last - first + LANES - 1) // LANES, (end - first) // LANES), 0) * LANES
    for row in range(max(y, 0), min(y_end, height)):
        at, there = row * width, start + (row - y) * side - x
        for column in range(first, whole, LANES):
            copy_row(target, np.uintp(at + column), source, np.uintp(there + column))
        for column in range(whole, last):
            target[np.uintp(at + column)] = source[np.uintp(there + column)]


@device
def _copy_small(target: Words, width: int, height: int, source: Words, paving: Paving, row: int, first: int,
                last: int) -> None:
    """Copy the pictures of tiles [first, last) of a row, none of which is wider than a register.

    Eight or sixteen pixels at a time: the next tile covers the surplus, and after the last one there must be room.
    """
    side, y = paving.pictures.shape[1], paving.ys[row]
    top, lines = max(y, 0), max(0, min(paving.ys[row + 1], height) - max(y, 0))
    narrow = side <= HALF_ROW
    for column in range(np.uintp(first), np.uintp(last)):
        at = np.uintp(top * width + paving.xs[column])
        start = np.uintp((np.int64(paving.number[np.uintp(row), column]) * side + top - y) * side)
        for _ in range(lines):
            if narrow:
                copy_half_row(target, at, source, start)
            else:
                copy_row(target, at, source, start)
            at += np.uintp(width)
            start += np.uintp(side)


@device
def _small_tiles(paving: Paving, tiles: CellRange, end: int) -> tuple[int, int]:
    """The columns of tiles of which sixteen pixels may be copied: none of them at or beyond the column of pixels `end`."""
    first, last = tiles.column0, tiles.column1
    while first < last and paving.xs[first] < 0:
        first += 1
    while last > first and paving.xs[last - 1] + LANES > end:
        last -= 1
    return first, last


@device
def _copy_tiles(target: Words, width: int, height: int, source: Words, paving: Paving, wanted: Wanted, row: int, first: int,
                last: int, end: int) -> None:
    """Copy the pictures of those of tiles [first, last) of a row that are wanted."""
    side = paving.pictures.shape[1]
    for column in range(first, last):
        if not wanted.tests or (_meets(wanted.rect.left, wanted.rect.right, column, wanted.tile)
                                and _meets(wanted.rect.top, wanted.rect.bottom, row, wanted.tile)):
            _copy_tile(target, width, height, source, np.int64(paving.number[row, column]) * side * side, side,
                       paving.xs[column], paving.xs[column + 1], paving.ys[row], paving.ys[row + 1], end)


@device
def _fill(target: Words, width: int, left: int, right: int, top: int, bottom: int, step: int) -> None:
    """Fill [left, right) of every `step`-th line from `top` to `bottom` with the colour of the outside."""
    for line in range(top, bottom, step):
        for at in range(np.uintp(line * width + left), np.uintp(line * width + right)):
            target[at] = np.uint32(OUTSIDE_PIXEL)


@kernel
def pave(worker: int, workers: int, frame: Frame, paving: Paving, tiles: CellRange, wanted: Wanted, area: Area) -> None:
    """Draw the tiles that are wanted, which cover `area`, from left to right, for a tile may write too much."""
    target, source = frame.reshape(-1), paving.pictures.reshape(-1)
    height, width = frame.shape
    end = area.right
    _fill(target, width, 0, width, worker, area.top, workers)
    _fill(target, width, 0, width, area.bottom + worker, height, workers)
    first = last = tiles.column0
    if paving.pictures.shape[1] <= LANES and not wanted.tests:
        first, last = _small_tiles(paving, tiles, end)
    for row in range(tiles.row0 + worker, tiles.row1, workers):
        top, bottom = max(paving.ys[row], area.top), min(paving.ys[row + 1], area.bottom)
        _fill(target, width, 0, area.left, top, bottom, 1)
        _fill(target, width, area.right, width, top, bottom, 1)
        _copy_tiles(target, width, height, source, paving, wanted, row, tiles.column0, first, end)
        _copy_small(target, width, height, source, paving, row, first, last)
        _copy_tiles(target, width, height, source, paving, wanted, row, last, tiles.column1, end)
