"""Frames of sprites, trimmed once, and any number of them drawn in one call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import pygame
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Array, Ints, Words
from crowd_demo.compute.jit import max_threads
from crowd_demo.sprites.blitter import DrawList, Pixels, draw_sprites, padded
from crowd_demo.sprites.pixels import ALPHA, MASKS, NO_TINT, Frame, argb, frame_of

PIXELS_PER_THREAD = 1 << 17  # fewer are not worth another thread
FAR = 1 << 29  # pixels: farther away nothing is drawn, and sums of positions fit 32 bits


class SpriteSheet:
    """Frames of a picture: a surface, or the path of a file.

    `frames` are (columns, rows) of equal cells, numbered row by row, or a list of rectangles (left, top, width,
    height). Each frame is trimmed to its visible pixels, whose alpha is premultiplied. `count` is the number of
    frames. Raises ValueError for frames that are not in the picture.
    """

    def __init__(self, picture: pygame.Surface | str | Path,
                 frames: tuple[int, int] | Sequence[ArrayLike] = (1, 1)) -> None:
        loaded = picture if isinstance(picture, pygame.Surface) else pygame.image.load(picture)
        surface = loaded.convert(argb((1, 1))).premul_alpha()
        rectangles = np.asarray(frames, np.int32)
        if rectangles.shape == (2,) and (rectangles > 0).all():
            columns, rows = rectangles.tolist()
            wide, high = surface.get_width() // columns, surface.get_height() // rows
            corners = [(column * wide, row * high) for row in range(rows) for column in range(columns)]
            rectangles = np.array([(*corner, wide, high) for corner in corners], np.int32)
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
        self._in_order = lru_cache(lambda masks: self._pixels if masks == MASKS else self._swapped())

    def _swapped(self) -> Pixels:
        """The pixels with red and blue exchanged."""
        red, blue = self._pixels.pixels >> np.uint32(16) & np.uint32(255), self._pixels.pixels & np.uint32(255)
        others: Words = self._pixels.pixels & np.uint32(0xFF00FF00)
        return self._pixels._replace(pixels=others | blue << np.uint32(16) | red)

    def pixels_for(self, screen: pygame.Surface) -> Pixels:
        """Return the frames in the order of a surface's channels. Raises ValueError for any other surface."""
        *masks, alpha = screen.get_masks()
        fits = tuple(masks) in (MASKS, MASKS[::-1]) and alpha & 0xFFFFFFFF in (0, ALPHA)
        if screen.get_bitsize() != 32 or not fits:
            raise ValueError("screen: must have 32 bits per pixel, alpha or nothing in the highest byte, red or blue next")
        return self._in_order(tuple(masks))


def blit_many(screen: pygame.Surface, sheet: SpriteSheet, x: ArrayLike, y: ArrayLike, frame: ArrayLike = 0,
              order: ArrayLike | None = None, threads: int | Literal["auto"] = "auto") -> None:
    """Draw frame[k] of a sheet with its left upper corner at (x[k], y[k]), for all k from first to last.

    x and y are numbers[n] of any type, rounded down to whole pixels; `frame` is whole numbers[n], or one for all.
    `order` lists what is drawn, back to front: `np.argsort(y)`. The screen is any surface of 32 bits per pixel; its
    clipping rectangle is kept. Pixels are those of pygame's BLEND_PREMULTIPLIED, for any number of threads. O(n +
    visible rows). Raises ValueError that names the first element that is wrong.
    """
    pixels = sheet.pixels_for(screen)
    clip = screen.get_clip()
    left, top = _whole("x", x, clip.left), _whole("y", y, clip.top)
    sprite = np.broadcast_to(np.asarray(frame), left.shape) if np.ndim(frame) == 0 else np.asarray(frame)
    if left.shape != top.shape or sprite.shape != left.shape or sprite.dtype.kind not in "iu":
        raise ValueError(f"y and frame: must be [{len(left)}] like x, frame whole numbers, not {top.shape} and "
                         f"{sprite.dtype}{sprite.shape}")
    if len(wrong := np.flatnonzero((sprite < 0) | (sprite >= sheet.count))):
        raise ValueError(f"frame[{wrong[0]}]: must be from 0 to {sheet.count - 1}, not {sprite[wrong[0]]}")
    listed = slice(None) if order is None else np.asarray(order)
    sprite, left, top = (np.ascontiguousarray(each[listed], np.int32) for each in (sprite, left, top))
    draws = DrawList(sprite, left, top, np.full(len(left), NO_TINT, np.uint32))
    if clip.width and clip.height:
        worth = 1 + len(left) * pixels.height**2 // PIXELS_PER_THREAD
        workers = min(max_threads(), worth) if threads == "auto" else threads
        ordered = bool((draws.top[1:] >= draws.top[:-1]).all())
        draw_sprites(workers, _rows_of(screen.subsurface(clip)), clip.width, pixels, draws, ordered)


def _whole(name: str, values: ArrayLike, corner: int) -> Ints:
    """Return pixels, rounded down, from the corner of the clipping rectangle on."""
    numbers: Array = np.asarray(values)
    if numbers.ndim != 1 or numbers.dtype.kind not in "fiu":
        raise ValueError(f"{name}: must be numbers[n], not {numbers.dtype}{list(numbers.shape)}")
    if len(wrong := np.flatnonzero(~np.isfinite(numbers))):
        raise ValueError(f"{name}[{wrong[0]}]: must be finite, not {numbers[wrong[0]]}")
    return np.floor(np.clip(numbers, -FAR, FAR)).astype(np.int32) - np.int32(corner)


def _rows_of(surface: pygame.Surface) -> Frame:
    """Return the pixels, and between rows whatever lies there: pixels of a larger surface."""
    view = frame_of(surface)
    return np.lib.stride_tricks.as_strided(view, (view.shape[0], view.strides[0] // 4), view.strides)
