"""Sprites: master sheets from `assets/`, and atlases of them at the sizes that the zoom asks for.

A sheet is a grid of equal cells of premultiplied pixels. An `Atlas` holds the cells at one scale; sprites are shrunk
with an area filter, each by itself so that no cell mixes with the next, and cropped to their visible pixels. Scales are
2**(1/4) apart and a few atlases are kept. A sprite is made when it is first needed: a new scale costs about 20 us for
each sprite in use. pygame's filter rounds down, so an opaque pixel may get an alpha of 252.

A `DyedSheet` has one drawing for all looks of a shape: a sprite is the drawing without dyes, and so much of each dye as
a second sheet says times that dye's colour in the look. A drawing is shrunk on both sheets, which takes about 20 us, and
dyed in all its looks at once, in 1 us each. Those that are not needed yet are made a few in a picture, so that soon after
the zoom has changed there is none left to make.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bools, Int, Ints, Longs, Words, with_room
from crowd_demo.compute.jit import Launch, device, launch
from crowd_demo.render.inks import packed
from crowd_demo.sprites.blitter import Pixels, padded
from crowd_demo.sprites.pixels import HALF_ROW, argb, frame_of, tinted

STEPS_PER_OCTAVE = 4
KEPT = 4  # atlases
MAX_PIXELS = 1 << 24  # of an atlas; it is emptied before it makes more
MAX_AHEAD = MAX_PIXELS // 4  # of an atlas that makes sprites before they are needed: up to a zoom of 1.6
FEW = 8  # drawings made ahead in a picture: all 1,056 within 132
MAX_SURFACES = 20_000  # of an atlas for pygame: each sprite in each tint is one
GREY = 0.8  # mean of the sheet in grey, which is multiplied by the colours of a colour mode
DYES, FULL_DYE = 4, 232  # how much of a dye is in a pixel that is fully lit; shine goes to 255
FAINTEST = 16  # alpha of the edge of a shadow: without it rows are an eighth shorter, and more of them fit a cache
GREYS = 255, 150, 255, 228  # of the dyes (skin, hair, top, bottom) in a colour mode: in full light just its colour
STATES = "walking", "waiting", "stuck", "queuing"  # of people


class SpritesSheet(TypedDict):
    """A sheet of sprites in the manifest; lengths in pixels."""

    file: str
    cell: list[int]  # width and height
    anchor: list[int]  # x and y
    looks: NotRequired[int]  # of people and birds: how many there are to choose from
    dyes: NotRequired[str]  # the file of how much of each dye is in a pixel
    outfits: NotRequired[list[list[int | list[int]]]]  # of each look: the row of its shape, and DYES colours [r, g, b]


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

    def shrunk_sprites(self, numbers: Ints, size: tuple[int, int], faintest: int = 1) -> tuple[Words, Ints]:
        """Sprites with cells of that size: uint32[n, height, width], and where an alpha is `faintest` or more: int32[n, 4]."""
        width, height = size
        strip, boxes = argb((width, height * len(numbers))), np.zeros((len(numbers), 4), np.int32)
        for k, number in enumerate(numbers.tolist()):
            cell = strip.subsurface((0, k * height, width, height))
            pygame.transform.smoothscale(self.sprite(number), size, cell)
            boxes[k] = tuple(cell.get_bounding_rect(faintest))
        return frame_of(strip).reshape(-1, height, width), boxes

    def grey(self, factor: float | None = None) -> Sheet:
        """This sheet in grey, `factor` times as bright; by default so that a colour it is multiplied by can be read."""
        pixels = frame_of(self.surface)
        alpha, red, green, blue = (pixels >> np.uint32(shift) & np.uint32(255) for shift in (24, 16, 8, 0))
        light = (red * 77 + green * 150 + blue * 29).astype(np.float32) / 256
        light *= factor or GREY * alpha.sum() / max(float(light.sum()), 1.0)
        level = np.minimum(light, alpha).astype(np.uint32)
        return self._replace(surface=surface_of(alpha << np.uint32(24) | level * np.uint32(0x10101)))

    def white(self) -> Sheet:
        return self._replace(surface=surface_of((frame_of(self.surface) >> np.uint32(24)) * np.uint32(0x01010101)))

    def shrunk(self, by: int) -> Sheet:
        """This sheet, `by` times smaller. All of its lengths are multiples of `by`, so no cell mixes with the next."""
        width, height = self.surface.get_size()
        surface = pygame.transform.smoothscale(self.surface, (width // by, height // by))
        return Sheet(surface, (self.cell[0] // by, self.cell[1] // by), (self.anchor[0] // by, self.anchor[1] // by))

    def sums(self) -> Longs:
        """The sums of alpha, red, green and blue of each sprite: int64[4, sprites]."""
        (width, height), columns = self.cell, self.columns
        pixels = frame_of(self.surface)[:self.sprites // columns * height, :columns * width]
        cells = pixels.reshape(-1, height, columns, width)
        return np.stack([(cells >> np.uint32(shift) & np.uint32(255)).sum(axis=(1, 3), dtype=np.int64).ravel()
                         for shift in (24, 16, 8, 0)])

    def means(self, group: Ints) -> Means:
        """The mean colour of each group of sprites, and the mean area of all; `group` has the group of each sprite."""
        return means_of(self.sums(), group)


class DyedSheet(NamedTuple):
    """The sheet of shapes without dyes, a row for each, and how much of its four dyes (in red, green, blue, alpha).

    Sprites are numbered as on a sheet with a row for each look.
    """

    shapes: Sheet
    dyes: Sheet
    shape: Ints  # [looks]: the row of its shape
    colours: Ints  # [looks, DYES, 3]: red, green and blue of its dyes

    @property
    def cell(self) -> tuple[int, int]:
        return self.shapes.cell

    @property
    def anchor(self) -> tuple[int, int]:
        return self.shapes.anchor

    @property
    def sprites(self) -> int:
        return len(self.shape) * self.shapes.columns

    def drawing(self, numbers: Ints) -> Ints:
        """The numbers of the drawings of shapes that sprites are dyed from."""
        look, column = np.divmod(numbers, self.shapes.columns)
        return self.shape[look] * self.shapes.columns + column

    def grey(self) -> DyedSheet:
        """All looks in grey, the same in all of them: colours of a mode do not depend on what people wear."""
        colours = np.broadcast_to(np.array(GREYS, np.int32)[:, None], self.colours.shape)
        return self._replace(shapes=self.shapes.grey(1.0), colours=np.ascontiguousarray(colours))

    def means(self, group: Ints) -> Means:
        """As `Sheet.means`, from sums of all drawings."""
        every = np.arange(self.sprites, dtype=np.int32)
        drawing = self.drawing(every)
        sums = self.shapes.sums()[:, drawing]
        shares = np.roll(self.dyes.sums(), -1, axis=0)[:, drawing]  # alpha has the last dye
        sums[1:] += np.einsum("ds,sdc->cs", shares, self.colours[every // self.shapes.columns]) // FULL_DYE
        return means_of(sums, group)


AnySheet = Sheet | DyedSheet


def means_of(sums: Longs, group: Ints) -> Means:
    """As `Sheet.means`, from the sums of alpha, red, green and blue of each sprite."""
    totals = np.stack([np.bincount(group, channel) for channel in sums])
    colours = np.minimum(255 * totals[1:] / np.maximum(totals[0], 1), 255).round()
    return Means(packed(colours.T), float(sums[0].mean()) / 255)


class Means(NamedTuple):
    colours: Words  # 0xRRGGBB, of each group
    area: float  # covered pixels of the sheet, of a mean sprite


@cache
def load_surface(path: Path) -> pygame.Surface:
    """A picture as 0xAARRGGBB, not premultiplied; scenes share it and do not change it."""
    return pygame.image.load(path).convert(argb((1, 1)))


def load_sheet(folder: Path, about: SpritesSheet) -> Sheet:
    (width, height), (x, y) = about["cell"], about["anchor"]
    return Sheet(load_surface(folder / about["file"]).premul_alpha(), (width, height), (x, y))


def load_dyed(folder: Path, about: SpritesSheet) -> AnySheet:
    """The same with the looks of the entry, if their dyes are apart."""
    shapes = load_sheet(folder, about)
    if "dyes" not in about:
        return shapes
    shape, *dyes = zip(*about["outfits"], strict=True)
    dyed = shapes._replace(surface=load_surface(folder / about["dyes"]))
    colours = np.ascontiguousarray(np.array(dyes, np.int32).swapaxes(0, 1))
    return DyedSheet(shapes, dyed, np.array(shape, np.int32), colours)


def load_manifest(folder: Path) -> Manifest:
    return json.loads((folder / "sprites.json").read_text(encoding="utf-8"))


def state_colours(manifest: Manifest) -> dict[str, tuple[int, int, int]]:
    return {state: (red, green, blue) for state in STATES for red, green, blue in (manifest["colours"][state],)}


@device
def next_missing(sprites: Ints, ready: Bools, first: int) -> int:
    """The first index from `first` on whose sprite does not exist yet, or the number of entries."""
    while first < sprites.shape[0] and ready[np.uintp(sprites[first])]:
        first += 1
    return first


def surface_of(pixels: Words) -> pygame.Surface:
    surface = argb(pixels.shape[::-1])
    if pixels.size:
        frame_of(surface)[:] = pixels
    return surface


class Atlas:
    """All sprites of a sheet at one scale; `ensure` makes each when it is first needed, cropped to its visible pixels."""

    def __init__(self, sheet: AnySheet, scale: float) -> None:
        self.sheet = sheet
        self.size = max(1, round(sheet.cell[0] * scale)), max(1, round(sheet.cell[1] * scale))
        self.anchor = round(sheet.anchor[0] * scale), round(sheet.anchor[1] * scale)
        count = sheet.sprites
        no_pixels, boxes = np.zeros(0, np.uint32), np.zeros((count, 4), np.int32)
        self.view = Pixels(no_pixels, np.zeros(count, np.int64), boxes, self.size[1])
        self._used, self._made = 0, 0  # pixels, and sprites
        self.ready = np.zeros(count, bool)
        self._surfaces: dict[int, pygame.Surface] = {}

    def ensure(self, sprites: Ints) -> None:
        if self._made == len(self.ready) or next_missing(sprites, self.ready, 0) == len(sprites):
            return
        if self._used > MAX_PIXELS:
            self._used, self._made, self.ready[:], self.view.pixels[:] = 0, 0, False, 0
        wanted = np.zeros(len(self.ready), bool)
        wanted[sprites] = True
        self._make(np.flatnonzero(wanted & ~self.ready).astype(np.int32))

    def launches(self) -> Iterator[Launch]:
        yield launch(next_missing, np.zeros(0, np.int32), self.ready, 0)

    def surfaces(self, sprites: Ints, tints: Words) -> list[pygame.Surface]:
        """The pygame surface of each of the given sprites, which exist, in its tint and cropped as the pixels are."""
        wanted = sprites.astype(np.int64) << 32 | tints
        for key in np.unique(wanted).tolist():
            if key not in self._surfaces:
                number, tint = divmod(key, 1 << 32)
                self._surfaces[key] = surface_of(tinted(self.pixels(number), np.uint32(tint)))
        found = list(map(self._surfaces.__getitem__, wanted.tolist()))
        if len(self._surfaces) > MAX_SURFACES:
            self._surfaces.clear()
        return found

    def _make(self, numbers: Ints) -> None:
        assert isinstance(self.sheet, Sheet)
        shrunk, boxes = self.sheet.shrunk_sprites(numbers, self.size)
        self._place(numbers, boxes)
        for number, cell, (x, y, width, height) in zip(numbers.tolist(), shrunk, boxes.tolist(), strict=True):
            self.pixels(number)[:] = cell[y:y + height, x:x + width]

    def _place(self, numbers: Ints, boxes: Ints) -> None:
        """Make room for these sprites, one behind the other."""
        sizes = boxes[:, 3].astype(np.int64) * padded(boxes[:, 2])
        ends = self._used + np.cumsum(sizes)
        self.view.first[numbers], self.view.box[numbers] = ends - sizes, boxes
        self._used, self._made, self.ready[numbers] = int(ends[-1]), self._made + len(numbers), True
        if self._used > len(self.view.pixels):
            of_all = self._used * len(self.ready) // self._made  # memory that is not used costs nothing
            grown = np.zeros(with_room(max(self._used, min(of_all, MAX_AHEAD))), np.uint32)
            grown[:len(self.view.pixels)] = self.view.pixels
            self.view = self.view._replace(pixels=grown)

    def pixels(self, number: int) -> Words:
        """uint32[height, width] of a sprite that exists, cropped to its visible pixels."""
        first, (width, height) = self.view.first[number], self.view.box[number, 2:].tolist()
        return self.view.pixels[first:first + height * padded(width)].reshape(height, padded(width))[:, :width]


@device
def _dyed(pixel: Int, shares: Int, dye: Ints) -> Int:
    """A pixel without dyes, and so much of them; `dye` has 256 times their colours, by FULL_DYE."""
    alpha = pixel >> np.uint32(24)
    out = alpha << np.uint32(24)
    for channel in range(3):
        shift = np.uint32(16 - 8 * channel)
        light = 128
        for part in range(DYES):
            light += np.int32(shares >> np.uint32((16, 8, 0, 24)[part]) & np.uint32(255)) * dye[part, channel]
        lit = (pixel >> shift & np.uint32(255)) + np.uint32(light >> 8)
        out |= min(lit, alpha) << shift
    return np.uint32(out)


@device
def dye_sprites(numbers: Ints, drawings: Ints, dyes: Ints, drawn: Words, shares: Words, sprites: Pixels) -> None:
    """Write the pixels of these sprites, each made of drawn[drawings[k]]; uint32[n, height, width], dyes int32[k, DYES, 3]."""
    for k in range(numbers.shape[0]):
        box, first, cell = sprites.box[numbers[k]], sprites.first[numbers[k]], drawings[k]
        stride = -(-box[2] // HALF_ROW) * HALF_ROW
        for row in range(box[3]):
            for column in range(box[2]):
                at = cell, box[1] + row, box[0] + column
                sprites.pixels[first + row * stride + column] = _dyed(drawn[at], shares[at], dyes[k])


class DyedAtlas(Atlas):
    """Sprites dyed from the drawings at this scale: all looks of a drawing when the first is needed, or shortly before."""

    def __init__(self, sheet: DyedSheet, scale: float) -> None:
        super().__init__(sheet, scale)
        self._sheet = sheet
        self._drawing = sheet.drawing(np.arange(sheet.sprites, dtype=np.int32))  # of each sprite
        self._dyes = ((sheet.colours * 256 + FULL_DYE // 2) // FULL_DYE).astype(np.int32)

    def ensure(self, sprites: Ints) -> None:
        super().ensure(sprites)
        if self._used < MAX_AHEAD and self._made < len(self.ready):
            self._make(np.flatnonzero(~self.ready)[:FEW].astype(np.int32))

    def launches(self) -> Iterator[Launch]:
        yield from super().launches()
        none = np.zeros(0, np.int32)
        yield self._dyeing(none, none, *np.zeros((2, 0, 1, 1), np.uint32))

    def _make(self, numbers: Ints) -> None:
        drawings = np.unique(self._drawing[numbers])
        numbers = np.flatnonzero(np.isin(self._drawing, drawings) & ~self.ready).astype(np.int32)
        source = np.searchsorted(drawings, self._drawing[numbers]).astype(np.int32)
        drawn, boxes = self._sheet.shapes.shrunk_sprites(drawings, self.size, FAINTEST)
        shares, _ = self._sheet.dyes.shrunk_sprites(drawings, self.size)
        self._place(numbers, boxes[source])
        self._dyeing(numbers, source, drawn, shares).run()

    def _dyeing(self, numbers: Ints, source: Ints, drawn: Words, shares: Words) -> Launch:
        look = numbers // self._sheet.shapes.columns
        return launch(dye_sprites, numbers, source, self._dyes[look], drawn, shares, self.view)


class Sprites:
    """The atlases of a sheet; each is made when first needed, and the last few are kept."""

    def __init__(self, sheet: AnySheet) -> None:
        self.sheet = sheet
        self._atlas = lru_cache(KEPT)(
            lambda scale: Atlas(sheet, scale) if isinstance(sheet, Sheet) else DyedAtlas(sheet, scale))

    def at(self, scale: float) -> Atlas:
        """The atlas of the nearest step of scale that is not above `scale`."""
        return self._atlas(2 ** (math.floor(math.log2(scale) * STEPS_PER_OCTAVE + 1e-6) / STEPS_PER_OCTAVE))
