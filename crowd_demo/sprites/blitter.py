"""The blitter: a list of sprites, drawn in its order by rows of sixteen pixels.

The screen is cut into slices. A worker draws what touches its slices, in the order of the list, so pixels do not
depend on the number of workers. When the list ascends in `top`, a slice finds its part of the list by bisection.
Pixels are those of pygame's premultiplied blend. Cost: the rows of the sprites in view, sixteen pixels at a time.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from crowd_demo.compute.arrays import Int, Ints, Longs, Words
from crowd_demo.compute.jit import device, kernel
from crowd_demo.sprites.pixels import (
    HALF_ROW,
    NO_TINT,
    ROW,
    Frame,
    over_half_row,
    over_half_row_tinted,
    over_pixel,
    over_row,
    over_row_tinted,
    prefetch,
    tinted_pixel,
)

SLICES_PER_WORKER = 4  # so that the workers also share a crowd that stands in one part of the screen
AHEAD, MAX_LINES = 8, 24  # cache lines are fetched for the sprite after the next seven: not all fit the nearest cache
Width = TypeVar("Width", int, Ints)


class DrawList(NamedTuple):
    """The sprite, the pixel of its cell's left upper corner, and the colour by which it is multiplied; [n] each."""

    sprite: Ints
    left: Ints
    top: Ints
    tint: Words  # 0xAARRGGBB


class Pixels(NamedTuple):
    """What the blitter reads: sprites cropped to their visible pixels, each from its `first` pixel on.

    They lie close together, in rows that are padded to eight pixels, so that many of them fit into a core's cache.
    """

    pixels: Words
    first: Longs  # [sprites]
    box: Ints  # [sprites, 4]: dx, dy, width, height: position and size in the cell
    height: int  # of a cell


def padded(width: Width) -> Width:
    """Pixels of a row in memory, or of each row: a multiple of eight."""
    return -(-width // HALF_ROW) * HALF_ROW


@device
def first_at(tops: Ints, value: int) -> int:
    """The first k with tops[k] >= value, in ascending tops."""
    low, high = 0, tops.shape[0]
    while low < high:
        middle = (low + high) // 2
        if tops[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@device
def _draw_rows(target: Words, pitch: int, x: int, y: int, rows: int, source: Words, start: int, stride: int,
               columns: int, tint: Int) -> None:
    """Draw `rows` rows of a sprite, the first from source[start], at (x, y); all of it lies on the screen."""
    for column in range(0, columns, ROW):
        at, there, narrow = np.uintp(y * pitch + x + column), np.uintp(start + column), columns - column <= HALF_ROW
        for _ in range(rows):
            if tint != np.uint32(NO_TINT):
                if narrow:
                    over_half_row_tinted(target, at, source, there, tint)
                else:
                    over_row_tinted(target, at, source, there, tint)
            elif narrow:
                over_half_row(target, at, source, there)
            else:
                over_row(target, at, source, there)
            at += np.uintp(pitch)
            there += np.uintp(stride)


@device
def _draw_cut_rows(target: Words, pitch: int, width: int, x: int, y: int, rows: int, source: Words, start: int,
                   stride: int, columns: int, tint: Int) -> None:
    """Draw a sprite that the left or right edge of the screen cuts, pixel by pixel."""
    for row in range(rows):
        for column in range(max(0, -x), min(columns, width - x)):
            at = (y + row) * pitch + x + column
            target[at] = over_pixel(target[at], tinted_pixel(source[start + row * stride + column], tint))


@device
def _draw_slice(frame: Frame, width: int, top: int, bottom: int, sprites: Pixels, draws: DrawList, first: int,
                last: int) -> None:
    target, source, pitch = frame.reshape(-1), sprites.pixels, frame.shape[1]
    lines = min(MAX_LINES, sprites.height * sprites.height // 40 + 1)  # about those of a mean sprite
    for k in range(first, last):
        if draws.top[k] >= bottom or draws.top[k] + sprites.height <= top:
            continue
        start = np.uintp(sprites.first[np.uintp(draws.sprite[min(k + AHEAD, last - 1)])])
        for line in range(lines):
            prefetch(source, start + np.uintp(line * ROW))
        sprite = np.uintp(draws.sprite[k])
        x, y = draws.left[k] + sprites.box[sprite, 0], draws.top[k] + sprites.box[sprite, 1]
        columns, rows = sprites.box[sprite, 2], min(sprites.box[sprite, 3], bottom - y)
        hidden, stride, tint = max(0, top - y), -(-columns // HALF_ROW) * HALF_ROW, draws.tint[k]
        start = np.int64(sprites.first[sprite]) + hidden * stride
        if x >= 0 and x + stride <= width:
            _draw_rows(target, pitch, x, y + hidden, rows - hidden, source, start, stride, columns, tint)
        else:
            _draw_cut_rows(target, pitch, width, x, y + hidden, rows - hidden, source, start, stride, columns, tint)


@kernel
def draw_sprites(worker: int, workers: int, frame: Frame, width: int, sprites: Pixels, draws: DrawList,
                 ordered: bool) -> None:
    """Draw the list on every `workers`-th slice of the first `width` columns. `ordered`: it ascends in `top`."""
    height, slices = frame.shape[0], SLICES_PER_WORKER * workers
    for part in range(worker, slices, workers):
        top, bottom = height * part // slices, height * (part + 1) // slices
        first = first_at(draws.top, top - sprites.height + 1) if ordered else 0
        last = first_at(draws.top, bottom) if ordered else draws.top.shape[0]
        _draw_slice(frame, width, top, bottom, sprites, draws, first, last)
