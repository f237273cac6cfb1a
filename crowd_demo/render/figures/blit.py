"""Blitting: a draw list (sprite, left, top, tint), from back to front, onto the picture; and cross-fading two pictures.

`draw_fblits` uses pygame. `draw_sprites` is compiled and writes rows of sixteen pixels straight into the surface. Both
give the same pixels. The screen is cut into slices; a worker draws what touches its slices, in the order of the list,
so the picture does not depend on the number of workers. When the list is ordered by `top`, a slice finds its part of
the list by bisection. Cost: the rows of the sprites in view, sixteen pixels at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Int, Ints, Words
from crowd_demo.compute.jit import device, kernel, launch
from crowd_demo.render.drawing import SLICES_PER_WORKER, FrameInput, first_at
from crowd_demo.render.figures.sprites import Atlas, Pixels
from crowd_demo.render.pixels import (
    HALF_ROW,
    NO_TINT,
    ROW,
    Frame,
    frame_of,
    over_half_row,
    over_half_row_tinted,
    over_pixel,
    over_row,
    over_row_tinted,
    prefetch,
    tinted_pixel,
)

ODD, EVEN = 0xFF00FF, 0x00FF00  # channels
AHEAD, MAX_LINES = 8, 24  # so many sprites ahead cache lines are fetched, for all looks do not fit the nearest cache


class DrawList(NamedTuple):
    """The sprite, the pixel of its cell's left upper corner, and the colour by which it is multiplied; [n] each."""

    sprite: Ints
    left: Ints
    top: Ints
    tint: Words  # 0xAARRGGBB


def draw_list(target: pygame.Surface, atlas: Atlas, draws: DrawList, now: FrameInput, ordered: bool = False) -> None:
    """Draw the list with the blitter of the input's options. `ordered`: it ascends in `top`."""
    atlas.ensure(draws.sprite)
    if now.options.blitter == "pygame":
        draw_fblits(target, atlas, draws)
    else:
        launch(draw_sprites, now.workers, frame_of(target), atlas.view, draws, ordered).run()


def draw_fblits(surface: pygame.Surface, atlas: Atlas, draws: DrawList) -> None:
    boxes = atlas.view.box[draws.sprite]
    corners = zip((draws.left + boxes[:, 0]).tolist(), (draws.top + boxes[:, 1]).tolist(), strict=True)
    surface.fblits(list(zip(atlas.surfaces(draws.sprite, draws.tint), corners, strict=True)), pygame.BLEND_PREMULTIPLIED)


@device
def _draw_rows(target: Words, width: int, x: int, y: int, rows: int, source: Words, start: int, stride: int,
               columns: int, tint: Int) -> None:
    """Draw `rows` rows of a sprite, the first from source[start], at (x, y); all of it lies on the screen."""
    for column in range(0, columns, ROW):
        at, there, narrow = np.uintp(y * width + x + column), np.uintp(start + column), columns - column <= HALF_ROW
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
            at += np.uintp(width)
            there += np.uintp(stride)


@device
def _draw_cut_rows(target: Words, width: int, x: int, y: int, rows: int, source: Words, start: int, stride: int,
                   columns: int, tint: Int) -> None:
    """Draw a sprite that the left or right edge of the screen cuts, pixel by pixel."""
    for row in range(rows):
        for column in range(max(0, -x), min(columns, width - x)):
            at = (y + row) * width + x + column
            target[at] = over_pixel(target[at], tinted_pixel(source[start + row * stride + column], tint))


@device
def _draw_slice(frame: Frame, top: int, bottom: int, sprites: Pixels, draws: DrawList, first: int, last: int) -> None:
    target, source, width = frame.reshape(-1), sprites.pixels, frame.shape[1]
    lines = min(MAX_LINES, sprites.height * sprites.height // 40 + 1)  # about those of a mean sprite
    for k in range(first, last):
        start = np.uintp(sprites.first[np.uintp(draws.sprite[min(k + AHEAD, last - 1)])])
        for line in range(lines):
            prefetch(source, start + np.uintp(line * ROW))
        sprite = np.uintp(draws.sprite[k])
        x, y = draws.left[k] + sprites.box[sprite, 0], draws.top[k] + sprites.box[sprite, 1]
        columns, rows = sprites.box[sprite, 2], min(sprites.box[sprite, 3], bottom - y)
        hidden, stride, tint = max(0, top - y), -(-columns // HALF_ROW) * HALF_ROW, draws.tint[k]
        start = np.int64(sprites.first[sprite]) + hidden * stride
        if x >= 0 and x + stride <= width:
            _draw_rows(target, width, x, y + hidden, rows - hidden, source, start, stride, columns, tint)
        else:
            _draw_cut_rows(target, width, x, y + hidden, rows - hidden, source, start, stride, columns, tint)


@kernel
def draw_sprites(worker: int, workers: int, frame: Frame, sprites: Pixels, draws: DrawList, ordered: bool) -> None:
    """Draw the list on every `workers`-th slice. `ordered`: it ascends in `top`."""
    height, slices = frame.shape[0], SLICES_PER_WORKER * workers
    for part in range(worker, slices, workers):
        top, bottom = height * part // slices, height * (part + 1) // slices
        first = first_at(draws.top, top - sprites.height + 1) if ordered else 0
        last = first_at(draws.top, bottom) if ordered else draws.top.shape[0]
        _draw_slice(frame, top, bottom, sprites, draws, first, last)


# --- cross-fading -------------------------------------------------------------------------------------------------------

@device
def _mixed(a: Int, b: Int, share: Int) -> Int:
    """Mix two channels at a time, 16 bits apart, so that no carry reaches the next channel."""
    odd = (a & np.uint32(ODD)) * share + (b & np.uint32(ODD)) * (np.uint32(256) - share) + np.uint32(0x800080)
    even = (a >> np.uint32(8) & np.uint32(255)) * share + (b >> np.uint32(8) & np.uint32(255)) * (np.uint32(256) - share)
    return (odd >> np.uint32(8) & np.uint32(ODD)) | (even + np.uint32(128) & np.uint32(EVEN))


@kernel
def fade(worker: int, workers: int, frame: Frame, other: Frame, share: int) -> None:
    """Make the picture `share`/256 of itself and the rest of the other: `(a * share + b * (256 - share) + 128) >> 8`."""
    height, width = frame.shape
    part = np.uint32(share)
    for row in range(height * worker // workers, height * (worker + 1) // workers):
        for column in range(width):
            frame[row, column] = _mixed(frame[row, column], other[row, column], part)


def fade_plain(frame: Frame, other: Frame, share: int) -> None:
    out = np.zeros_like(frame)
    for shift in (np.uint32(0), np.uint32(8), np.uint32(16)):
        a, b = (picture >> shift & np.uint32(255) for picture in (frame, other))
        out |= (a * np.uint32(share) + b * np.uint32(256 - share) + np.uint32(128) >> np.uint32(8)) << shift
    frame[:] = out
