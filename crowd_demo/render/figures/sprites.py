"""Sprites: master sheets from `assets/`, and atlases of them at the sizes that the zoom asks for.

A sheet is a grid of equal cells of premultiplied pixels. An `Atlas` holds the cells at one scale; sprites are shrunk
with an area filter, each by itself so that no cell mixes with the next, and cropped to their visible pixels. Scales are
2**(1/4) apart and a few atlases are kept. A sprite is made when it is first needed: a new scale costs about 20 us for
each sprite in use. pygame's filter rounds down, so an opaque pixel may get an alpha of 252.
"""

from __future__ import annotations

import json
import math
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bools, Ints, Longs, Words
from crowd_demo.compute.jit import device
from crowd_demo.render.inks import packed
from crowd_demo.render.pixels import HALF_ROW, MASKS, frame_of, tinted

STEPS_PER_OCTAVE = 4
KEPT = 4  # atlases
MOST_SURFACES = 20_000  # of an atlas for pygame: each sprite in each tint is one
GREY = 0.8  # mean of the sheet in grey, which is multiplied by the colours of a colour mode
ALPHA = 0xFF000000
STATES = "walking", "waiting", "stuck", "queuing"  # of people


class SpritesSheet(TypedDict):
    """A sheet of sprites in the manifest; lengths in pixels."""

    file: str
    cell: list[int]  # width and height
    anchor: list[int]  # x and y
    looks: NotRequired[int]  # of people and birds: how many there are to choose from


class TilesSheet(TypedDict):
    """The sheet of tiles: a row for each kind, a column for each variant."""

    file: str
    cell: int
    variants: int
    kinds: list[str]
    skies: dict[str, list[list[int]]]  # colours from the top of the world to its bottom


class Manifest(TypedDict):
    """`sprites.json`: what is on which sheet, and the colours [r, g, b] of the states of people."""

    people: SpritesSheet
    icons: SpritesSheet
    birds: SpritesSheet
    hunt: SpritesSheet
    tiles: TilesSheet
    colours: dict[str, list[int]]


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

    def grey(self) -> Sheet:
        """This sheet in grey: bright enough to be multiplied by a colour, dark enough to show shapes."""
        pixels = frame_of(self.surface)
        alpha, red, green, blue = (pixels >> np.uint32(shift) & np.uint32(255) for shift in (24, 16, 8, 0))
        light = (red * 77 + green * 150 + blue * 29).astype(np.float32) / 256
        light *= GREY * alpha.sum() / max(float(light.sum()), 1.0)
        level = np.minimum(light, alpha).astype(np.uint32)
        return self._replace(surface=surface_of(alpha << np.uint32(24) | level * np.uint32(0x10101)))

    def white(self) -> Sheet:
        return self._replace(surface=surface_of((frame_of(self.surface) >> np.uint32(24)) * np.uint32(0x01010101)))

    def shrunk(self, by: int) -> Sheet:
        """This sheet, `by` times smaller. All of its lengths are multiples of `by`, so no cell mixes with the next."""
        width, height = self.surface.get_size()
        surface = pygame.transform.smoothscale(self.surface, (width // by, height // by))
        return Sheet(surface, (self.cell[0] // by, self.cell[1] // by), (self.anchor[0] // by, self.anchor[1] // by))

    def means(self, group: Ints) -> Means:
        """The mean colour of each group of sprites, and the mean area of all; `group` has the group of each sprite."""
        (width, height), columns = self.cell, self.columns
        pixels = frame_of(self.surface)[:self.sprites // columns * height, :columns * width]
        cells = pixels.reshape(-1, height, columns, width)
        sums = np.stack([(cells >> np.uint32(shift) & np.uint32(255)).sum(axis=(1, 3), dtype=np.int64).ravel()
                         for shift in (24, 16, 8, 0)])
        totals = np.stack([np.bincount(group, channel) for channel in sums])
        colours = (255 * totals[1:] / np.maximum(totals[0], 1)).round()
        return Means(packed(colours.T), float(sums[0].mean()) / 255)


class Means(NamedTuple):
    """Sprites on average."""

    colours: Words  # 0xRRGGBB, of each group
    area: float  # covered pixels of the sheet, of a mean sprite


class Pixels(NamedTuple):
    """What the blitter reads: sprites cropped to their visible pixels, each from its `first` pixel on.

    They lie close together, in rows that are padded to eight pixels, so that many of them fit into a core's cache.
    """

    pixels: Words
    first: Longs  # [sprites]
    box: Ints  # [sprites, 4]: dx, dy, width, height: position and size in the cell
    height: int  # of a cell


@cache
def load_surface(path: Path) -> pygame.Surface:
    """A picture as 0xAARRGGBB, not premultiplied; scenes share it and do not change it."""
    return pygame.image.load(path).convert(argb((1, 1)))


def load_sheet(folder: Path, about: SpritesSheet) -> Sheet:
    """The sheet that an entry of the manifest describes."""
    (width, height), (x, y) = about["cell"], about["anchor"]
    return Sheet(load_surface(folder / about["file"]).premul_alpha(), (width, height), (x, y))


def load_manifest(folder: Path) -> Manifest:
    return json.loads((folder / "sprites.json").read_text(encoding="utf-8"))


def state_colours(manifest: Manifest) -> dict[str, tuple[int, int, int]]:
    """The colour of each state that people can be in."""
    return {state: (red, green, blue) for state in STATES for red, green, blue in (manifest["colours"][state],)}


@device
def next_missing(sprites: Ints, ready: Bools, first: int) -> int:
    """The first index from `first` on whose sprite does not exist yet, or the number of entries."""
    while first < sprites.shape[0] and ready[np.uintp(sprites[first])]:
        first += 1
    return first


def argb(size: tuple[int, int]) -> pygame.Surface:
    """A transparent surface of 0xAARRGGBB."""
    return pygame.Surface(size, pygame.SRCALPHA, 32, (*MASKS, ALPHA))


def surface_of(pixels: Words) -> pygame.Surface:
    surface = argb(pixels.shape[::-1])
    if pixels.size:
        frame_of(surface)[:] = pixels
    return surface


class Atlas:
    """All sprites of a sheet at one scale; `ensure` makes each when it is first needed."""

    def __init__(self, sheet: Sheet, scale: float) -> None:
        self.sheet = sheet
        self.size = max(1, round(sheet.cell[0] * scale)), max(1, round(sheet.cell[1] * scale))
        self.anchor = round(sheet.anchor[0] * scale), round(sheet.anchor[1] * scale)
        count, (width, height) = sheet.sprites, self.size
        self.view = Pixels(np.zeros(count * height * _padded(width), np.uint32), np.zeros(count, np.int64),
                           np.zeros((count, 4), np.int32), height)
        self._used = 0  # pixels
        self.ready = np.zeros(sheet.sprites, bool)
        self._surfaces: dict[int, pygame.Surface] = {}

    def ensure(self, sprites: Ints) -> None:
        at = 0
        while (at := next_missing(sprites, self.ready, at)) < len(sprites):
            self._make(int(sprites[at]))

    def surfaces(self, sprites: Ints, tints: Words) -> list[pygame.Surface]:
        """The pygame surface of each of the given sprites, which exist, in its tint and cropped as the pixels are."""
        wanted = sprites.astype(np.int64) << 32 | tints
        for key in np.unique(wanted).tolist():
            if key not in self._surfaces:
                number, tint = divmod(key, 1 << 32)
                self._surfaces[key] = surface_of(tinted(self.pixels(number), tint))
        found = list(map(self._surfaces.__getitem__, wanted.tolist()))
        if len(self._surfaces) > MOST_SURFACES:
            self._surfaces.clear()
        return found

    def _make(self, number: int) -> None:
        sprite = pygame.transform.smoothscale(self.sheet.sprite(number), self.size)
        x, y, width, height = box = sprite.get_bounding_rect()
        self.view.first[number], self.view.box[number] = self._used, tuple(box)
        self.pixels(number)[:] = frame_of(sprite)[y:y + height, x:x + width]
        self._used += height * _padded(width)
        self.ready[number] = True

    def pixels(self, number: int) -> Words:
        """uint32[height, width] of a sprite that exists, cropped to its visible pixels."""
        first, (width, height) = self.view.first[number], self.view.box[number, 2:].tolist()
        return self.view.pixels[first:first + height * _padded(width)].reshape(height, _padded(width))[:, :width]


def _padded(width: int) -> int:
    """Pixels of a row in memory: a multiple of eight."""
    return -(-width // HALF_ROW) * HALF_ROW


class Sprites:
    """The atlases of a sheet; each is made when first needed, and the last few are kept."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self._atlas = lru_cache(KEPT)(lambda step: Atlas(sheet, 2 ** (step / STEPS_PER_OCTAVE)))

    def at(self, scale: float) -> Atlas:
        """The atlas of the nearest step of scale that is not above `scale`."""
        return self._atlas(math.floor(math.log2(scale) * STEPS_PER_OCTAVE + 1e-6))
