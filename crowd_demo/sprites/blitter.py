"""The blitter: a list of sprites, drawn in its order by rows of sixteen pixels; and the public sheet of frames.

The screen is cut into slices. A worker draws what touches its slices, in the order of the list, so pixels do not
depend on the number of workers. When the list ascends in `top`, a slice finds its part of the list by bisection.
Pixels are those of pygame's premultiplied blend. Cost: the rows of the sprites in view, sixteen pixels at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import pygame
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Array, Int, Ints, Longs, Words
from crowd_demo.compute.jit import device, kernel, max_threads
from crowd_demo.compute.simd import first_at
from crowd_demo.sprites.pixels import (
    ALPHA,
    HALF_ROW,
    MASKS,
    NO_TINT,
    ROW,
    Frame,
    argb,
    frame_of,
    over_half_row,
    over_pixel,
    over_row,
    prefetch,
    tinted_pixel,
)

SLICES_PER_WORKER = 4  # so that the workers also share a crowd that stands in one part of the screen
AHEAD, MAX_LINES = 8, 24  # cache lines are fetched for the sprite after the next seven: not all fit the nearest cache
MAX_THREADS = 64
PIXELS_PER_THREAD = 1 << 17  # fewer are not worth another thread
FAR = 1 << 29  # pixels: farther away nothing is drawn, and sums of positions fit 32 bits
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
def _draw_rows(target: Words, pitch: int, x: int, y: int, rows: int, source: Words, start: int, stride: int,
               columns: int, tint: Int) -> None:
    """Draw `rows` rows of a sprite, the first from source[start], at (x, y); all of it lies on the screen."""
    for column in range(0, columns, ROW):
        at, there, narrow = np.uintp(y * pitch + x + column), np.uintp(start + column), columns - column <= HALF_ROW
        for _ in range(rows):
            if tint != np.uint32(NO_TINT):
                if narrow:
                    over_half_row(target, at, source, there, tint)
                else:
                    over_row(target, at, source, there, tint)
            elif narrow:
                over_half_row(target, at, source, there)
            else:
                over_row(target, at, source, there)
            at += np.uintp(pitch)
            there += np.uintp(stride)


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
        else:  # the left or right edge of the screen cuts it: pixel by pixel
            for row in range(rows - hidden):
                for column in range(max(0, -x), min(columns, width - x)):
                    at = (y + hidden + row) * pitch + x + column
                    target[at] = over_pixel(target[at], tinted_pixel(source[start + row * stride + column], tint))


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


# --- the public part -------------------------------------------------------------------------------------------------

class SpriteSheet:
    """Frames of a picture: a surface, or the path of a file.

    `frames` are (columns, rows) of equal cells, numbered row by row, or a list of rectangles (left, top, width,
    height). Alpha is premultiplied. `count` is the number of frames. Raises ValueError for frames that are not in the
    picture.
    """

    def __init__(self, picture: pygame.Surface | str | Path,
                 frames: tuple[int, int] | Sequence[ArrayLike] = (1, 1)) -> None:
        loaded = picture if isinstance(picture, pygame.Surface) else pygame.image.load(picture)
        surface = loaded.convert(argb((1, 1))).premul_alpha()
        rectangles = np.asarray(frames, np.int32)
        if rectangles.shape == (2,) and (rectangles > 0).all():
            columns, rows = rectangles.tolist()
            wide, high = surface.get_width() // columns, surface.get_height() // rows
            rectangles = np.array([(column * wide, row * high, wide, high)
                                   for row in range(rows) for column in range(columns)])
        if rectangles.ndim != 2 or rectangles.shape[1] != 4 or not len(rectangles):
            raise ValueError(f"frames: must be (columns, rows) or [(left, top, width, height), ...], not {frames!r:.60}")
        self.count = len(rectangles)
        cells = [surface.subsurface(rectangle) for rectangle in rectangles.tolist()]
        box = np.array([tuple(cell.get_bounding_rect()) for cell in cells], np.int32)
        ends = np.cumsum(box[:, 3].astype(np.int64) * padded(box[:, 2]))
        pixels, first = np.zeros(int(ends[-1]) + 1, np.uint32), np.append(0, ends[:-1])
        self._pixels = Pixels(pixels, first, box, int(rectangles[:, 3].max()))
        for start, cell, (x, y, wide, high) in zip(first.tolist(), cells, box.tolist(), strict=True):
            if wide:
                rows = pixels[start:start + high * padded(wide)].reshape(high, padded(wide))
                rows[:, :wide] = frame_of(cell.subsurface((x, y, wide, high)).copy())

    @cached_property
    def _swapped(self) -> Pixels:
        red, blue = self._pixels.pixels >> np.uint32(16) & np.uint32(255), self._pixels.pixels & np.uint32(255)
        others: Words = self._pixels.pixels & np.uint32(0xFF00FF00)
        return self._pixels._replace(pixels=others | blue << np.uint32(16) | red)

    def pixels_for(self, screen: pygame.Surface) -> Pixels:
        """Return the frames in the order of a surface's channels. Raises ValueError for any other surface."""
        *masks, alpha = screen.get_masks()
        fits = tuple(masks) in (MASKS, MASKS[::-1]) and alpha & 0xFFFFFFFF in (0, ALPHA)
        if screen.get_bitsize() != 32 or not fits:
            raise ValueError("screen: must have 32 bits per pixel, alpha or nothing in the highest byte, red or blue next")
        return self._pixels if tuple(masks) == MASKS else self._swapped


def blit_many(screen: pygame.Surface, sheet: SpriteSheet, x: ArrayLike, y: ArrayLike, frame: ArrayLike = 0,
              order: ArrayLike | None = None, threads: int | Literal["auto"] = "auto") -> None:
    """Draw frame[k] of a sheet with its left upper corner at (x[k], y[k]), for all k from first to last.

    x and y are numbers[n] of any type, rounded down to whole pixels; `frame` is whole numbers[n], or one for all.
    `order` is back to front: `np.argsort(y)`. The screen is any surface of 32 bits per pixel, with its clipping
    rectangle. Pixels are those of pygame's BLEND_PREMULTIPLIED, for any number of threads. Raises ValueError that
    names the first element that is wrong.
    """
    pixels = sheet.pixels_for(screen)
    clip = screen.get_clip()
    left, top = _whole("x", x, clip.left), _whole("y", y, clip.top)
    sprite = np.broadcast_to(np.asarray(frame), left.shape) if np.ndim(frame) == 0 else np.asarray(frame)
    if left.shape != top.shape or sprite.shape != left.shape or sprite.dtype.kind not in "iu":
        raise ValueError(f"y and frame: must be [{len(left)}] like x, frame whole numbers, not {top.shape} and "
                         f"{sprite.dtype}{sprite.shape}")
    sprite = _indices("frame", sprite, sheet.count)
    if threads != "auto" and not (isinstance(threads, int | np.integer) and 1 <= threads <= MAX_THREADS):
        raise ValueError(f"threads: must be 'auto' or a whole number from 1 to {MAX_THREADS}, not {threads!r:.60}")
    listed = slice(None) if order is None else _indices("order", order, len(left))
    sprite, left, top = (np.ascontiguousarray(each[listed], np.int32) for each in (sprite, left, top))
    draws = DrawList(sprite, left, top, np.full(len(left), NO_TINT, np.uint32))
    if clip.width and clip.height:
        worth = 1 + len(left) * pixels.height**2 // PIXELS_PER_THREAD
        workers = min(max_threads(), worth) if threads == "auto" else threads
        ordered = bool((draws.top[1:] >= draws.top[:-1]).all())
        view = frame_of(screen.subsurface(clip))
        pitch = view.strides[0] // 4  # pixels, with those of the screen beside the clipping rectangle
        rows = np.lib.stride_tricks.as_strided(view, (view.shape[0], pitch), view.strides)
        draw_sprites(workers, rows, clip.width, pixels, draws, ordered)


def _indices(name: str, values: ArrayLike, count: int) -> Array:
    """Return whole numbers[n]. Raises ValueError for the first that is not from 0 to count - 1."""
    numbers: Array = np.asarray(values)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ValueError(f"{name}: must be whole numbers[n], not {numbers.dtype}{list(numbers.shape)}")
    if len(wrong := np.flatnonzero((numbers < 0) | (numbers >= count))):
        raise ValueError(f"{name}[{wrong[0]}]: must be from 0 to {count - 1}, not {numbers[wrong[0]]}")
    return numbers


def _whole(name: str, values: ArrayLike, corner: int) -> Ints:
    """Return pixels, rounded down, from the corner of the clipping rectangle on."""
    numbers: Array = np.asarray(values)
    if numbers.ndim != 1 or numbers.dtype.kind not in "fiu":
        raise ValueError(f"{name}: must be numbers[n], not {numbers.dtype}{list(numbers.shape)}")
    if len(wrong := np.flatnonzero(~np.isfinite(numbers))):
        raise ValueError(f"{name}[{wrong[0]}]: must be finite, not {numbers[wrong[0]]}")
    return np.floor(np.clip(numbers, -FAR, FAR)).astype(np.int32) - np.int32(corner)
