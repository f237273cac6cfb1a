"""Sprites: master sheets from `assets/`, and atlases of them at the sizes that the zoom asks for.

A sheet is a grid of equal cells of premultiplied pixels. An `Atlas` holds the cells at one scale; sprites are shrunk
with an area filter, cell by cell so that neighbours cannot bleed, and cropped to their visible pixels. Scales lie
2**(1/4) apart and a few atlases are kept. A sprite is made when it is first asked for: a new scale costs about 20 us
a sprite in use. pygame's filter truncates, so an opaque pixel may come out with an alpha of 252.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pygame
from numpy.typing import NDArray

from crowd_demo.render.pixels import MASKS, ROW, frame_of

STEPS_PER_OCTAVE = 4
KEPT = 4
ALPHA = 0xFF000000


class Sheet(NamedTuple):
    """`surface` holds sprites of `cell` pixels, numbered row by row; pixel `anchor` of a cell is where the agent is."""

    surface: pygame.Surface
    cell: tuple[int, int]
    anchor: tuple[int, int]

    @property
    def columns(self) -> int:
        return self.surface.get_width() // self.cell[0]

    @property
    def sprites(self) -> int:
        return self.columns * (self.surface.get_height() // self.cell[1])

    def sprite(self, number: int) -> pygame.Surface:
        row, column = divmod(number, self.columns)
        return self.surface.subsurface((column * self.cell[0], row * self.cell[1]), self.cell)


class Pixels(NamedTuple):
    """What the blitter reads: sprite s is `pixels[s, :height, :width]`, `box[s]` its place in the cell."""

    pixels: Any  # uint32[sprites, height, width padded to 16]
    box: Any  # int32[sprites, 4]: dx, dy, width, height


def load_surface(path: Path) -> pygame.Surface:
    """A picture as 0xAARRGGBB, not premultiplied."""
    return pygame.image.load(path).convert(argb((1, 1)))


def load_sheet(path: Path, cell: tuple[int, int], anchor: tuple[int, int]) -> Sheet:
    return Sheet(load_surface(path).premul_alpha(), cell, anchor)


def load_manifest(folder: Path) -> Any:
    """`sprites.json`: what each sheet holds."""
    return json.loads((folder / "sprites.json").read_text(encoding="utf-8"))


def argb(size: tuple[int, int]) -> pygame.Surface:
    return pygame.Surface(size, pygame.SRCALPHA, 32, (*MASKS, ALPHA))


class Atlas:
    """All sprites of a sheet at one scale, each made when `ensure` first meets it."""

    def __init__(self, sheet: Sheet, scale: float) -> None:
        self.sheet = sheet
        self.size = max(1, round(sheet.cell[0] * scale)), max(1, round(sheet.cell[1] * scale))
        self.anchor = round(sheet.anchor[0] * scale), round(sheet.anchor[1] * scale)
        padded = -(-self.size[0] // ROW) * ROW
        shape = sheet.sprites, self.size[1], padded
        self.view = Pixels(np.zeros(shape, np.uint32), np.zeros((sheet.sprites, 4), np.int32))
        self.ready = np.zeros(sheet.sprites, bool)
        self._surfaces: list[pygame.Surface | None] = [None] * sheet.sprites

    def ensure(self, sprites: NDArray[np.int32]) -> None:
        """Make those of the given sprites that do not exist yet."""
        if not self.ready.all():
            asked = np.bincount(sprites, minlength=self.sheet.sprites) > 0
            for number in np.flatnonzero(asked & ~self.ready).tolist():
                self._make(number)

    def surfaces(self, sprites: NDArray[np.int32]) -> list[pygame.Surface]:
        """The pygame surface of each of the given sprites (which exist), cropped like the pixels are."""
        for number in np.flatnonzero(np.bincount(sprites, minlength=self.sheet.sprites)).tolist():
            if self._surfaces[number] is None:
                self._surfaces[number] = self._surface(number)
        return list(map(self._surfaces.__getitem__, sprites.tolist()))  # type: ignore[arg-type]

    def _make(self, number: int) -> None:
        sprite = pygame.transform.smoothscale(self.sheet.sprite(number), self.size)
        x, y, width, height = box = sprite.get_bounding_rect()
        self.view.pixels[number, :height, :width] = frame_of(sprite)[y:y + height, x:x + width]
        self.view.box[number] = tuple(box)
        self.ready[number] = True

    def _surface(self, number: int) -> pygame.Surface:
        width, height = self.view.box[number, 2:].tolist()
        surface = argb((width, height))
        if width:
            frame_of(surface)[:] = self.view.pixels[number, :height, :width]
        return surface


class Sprites:
    """The atlases of a sheet; the one for a scale is made when first needed, and the last few are kept."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self._atlases: OrderedDict[int, Atlas] = OrderedDict()

    def at(self, scale: float) -> Atlas:
        """The atlas of the nearest step that is not above `scale`."""
        step = math.floor(math.log2(scale) * STEPS_PER_OCTAVE + 1e-6)
        if step not in self._atlases:
            self._atlases[step] = Atlas(self.sheet, 2 ** (step / STEPS_PER_OCTAVE))
            if len(self._atlases) > KEPT:
                self._atlases.popitem(last=False)
        self._atlases.move_to_end(step)
        return self._atlases[step]
