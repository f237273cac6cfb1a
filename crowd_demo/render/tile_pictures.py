"""Pictures of tiles: every kind with its variants and its shadows, at the size that the zoom asks for.

A tile's picture is numbered (kind, shade, variant). Open ground is shaded where a wall stands to its north (bit 0),
west (bit 1) or north-west (bit 2); a wall shows its front (shade 1) where open ground lies south of it. A wall tile
that stands alone is a tree. Shadows go on from tile to tile: they end where walls do, and go round their corners.
They are part of the pictures, so they cost nothing a frame. A variant is a hash of the tile's row and column; all
variants of a kind have the same edges, so an enlarged picture is interpolated across them as if it were its own
neighbour, and tiles join. A sky has instead of open ground a picture for each row of tiles, and so a colour that
changes from top to bottom. At night lamps light the ways; by day paths, lawns and lakes have round edges.

What goes on from tile to tile: the light of lamps at night, and by day those round edges.

Each is a field: a level at every corner of the tiles, interpolated over a tile, and whether the tile itself is a part
of it. So there are no steps where tiles meet. Fields are part of the tiles' pictures and cost nothing a frame: `Looks`
gives a number to every combination of a picture and fields that a map has.

Lamps hang on walls and in trees beside paved ways, at equal distances from the middle of the map. O(tiles).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, reduce
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pygame
from numpy.lib.stride_tricks import sliding_window_view

from crowd_demo.compute.arrays import Bools, Bytes, Floats, Longs, Marks, Words
from crowd_demo.compute.simd import LANES
from crowd_demo.render.figures.sprites import TilesSheet, load_surface
from crowd_demo.render.inks import channels_of, packed
from crowd_demo.sprites.pixels import frame_of, plain_surface

TOP_LEVEL, OWN_BITS, CORNER_BITS, PICTURE_BITS = 6, 1, 3, 16
PICTURES, FIELD_BITS = (1 << PICTURE_BITS) - 1, OWN_BITS + 4 * CORNER_BITS
WHOLE = 1 | sum(TOP_LEVEL << OWN_BITS + CORNER_BITS * corner for corner in range(4))
LAMP_TILES, LEAST_TILES = 7, 3  # from one lamp to the next, about; shorter pieces of a wall have none
LAMP_REACH = 1.6  # standard deviation of a lamp's light, tiles
MIDDLE = 0.7  # how far the middle of a tile is drawn to what the tile is: 1 makes edges wavy, 0 loses lone tiles
MAX_LOOKS = 1 << 14  # of one ground; tiles beyond have no fields

Field = Longs  # [H, W], of a map of H x W tiles: in FIELD_BITS bits the levels of its corners, and whether it is a part
FLOOR, WALL, WATER, SWAMP, GRASS, MARK, TREE, ROOF = range(8)  # the map's kinds, a destination, a lone wall, a roof
NAMES = "floor", "wall", "pond", "swamp", "grass", "mark", "tree", "roof"
SHADES, VARIANTS = 8, 4
NORTH, WEST, CORNER = 1, 2, 4
NORTH_SHADOW, WEST_SHADOW = (0.45, 0.30), (0.30, 0.16)  # darkest, and how far it reaches as part of a tile
FRONT_PART = 0.6  # share of a wall's tile that its front takes
PLAIN_BELOW_PX = 2  # a smaller tile has its mean colour
KEPT = 3  # sizes
ON_GROUND = len(NAMES) * SHADES * VARIANTS  # pictures; behind them come the rows of a sky
MAX_ROWS = 144  # more rows of tiles share pictures
NIGHT = np.array((0.2, 0.22, 0.3), np.float32)  # of red, green and blue: the ambient light, in which colours stand out
LAMPLIGHT, LAMP = (0.82, 0.56, 0.25), (255, 220, 150)  # what a lamp adds to the ambient light around it; its own colour
LAMP_SIZE = 0.11  # of a lamp, part of a tile
ROUGHNESS, PATH_EDGE, LAKE_EDGE, WOOD_EDGE, SHORE_WIDTH = 0.004, 0.2, 0.08, 0.1, 0.12  # of edges; parts of a tile
SHORE, KERB = np.array((112, 104, 72), np.float32), 0.72  # the colour of a meadow's, and a part of a paved ground's


class Levels(NamedTuple):
    """A field on n tiles: the levels of their corners, 0 to 1, and which of them are a part of the field."""

    corners: Floats  # [4, n, 1, 1]: left and right above, left and right below
    own: Bools  # [n]

    def spread(self, side: int) -> Floats:
        """The levels of their pictures' pixels: float32[n, side, side]."""
        upper_left, upper_right, lower_left, lower_right = self.corners
        across = ((np.arange(side) + 0.5) / side).astype(np.float32)
        above = upper_left + (upper_right - upper_left) * across
        below = lower_left + (lower_right - lower_left) * across
        return above + (below - above) * across[:, None]

    def covered(self, side: int) -> Floats:
        """The same, nearer to 0 or 1 in the middle of the tile: where it is above 0.5 it is covered."""
        along = (1 - np.abs((np.arange(side) + 0.5) / side * 2 - 1)).astype(np.float32)
        to_own = self.own[:, None, None] - self.corners.mean(axis=0)
        return self.spread(side) + (MIDDLE * to_own * along * along[:, None]).astype(np.float32)


class Looks:
    """The numbers of combinations, from `first` up; numbers below are those of pictures without fields.

    A number stays that of its combination. Combinations have the first of the variants of a picture alone: where light
    or edges are nobody sees that, and they would be four times as many.
    """

    def __init__(self, first: int, variants: int) -> None:
        self._first, self._variants = first, variants
        self._keys: list[int] = []
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return self._first + len(self._keys)

    def numbers(self, pictures: Marks, fields: tuple[Field, ...]) -> Marks:
        """Number the tiles of a map, int16[H, W]; `pictures` are their numbers without fields."""
        keys = np.zeros(pictures.shape, np.int64)
        for field in reversed(fields):
            keys = keys << FIELD_BITS | field
        keys = np.where(keys > 0, keys << PICTURE_BITS | pictures // self._variants * self._variants, pictures)
        found, where = np.unique(keys, return_inverse=True)
        return np.array([self._number(key) for key in found.tolist()], np.int16)[where.reshape(keys.shape)]

    def picture_of(self, number: int) -> int:
        return number if number < self._first else self._keys[number - self._first] & PICTURES

    def levels(self, numbers: list[int], field: int) -> Levels:
        """A field on the tiles of these numbers: 0 where there is none."""
        first = self._first
        keys = np.array([0 if number < first else self._keys[number - first] for number in numbers], np.int64)
        bits = keys >> PICTURE_BITS + FIELD_BITS * field
        corners = [bits >> OWN_BITS + CORNER_BITS * corner & 7 for corner in range(4)]
        return Levels((np.array(corners) / TOP_LEVEL).astype(np.float32)[..., None, None], (bits & 1).astype(bool))

    def _number(self, key: int) -> int:
        if key >= self._first and key not in self._numbers and len(self._keys) < MAX_LOOKS:
            self._numbers[key] = len(self)
            self._keys.append(key)
        return self._numbers.get(key, key & PICTURES)


def _packed(corners: Bytes, own: Bools) -> Field:
    """`corners` uint8[H + 1, W + 1]: 0 to TOP_LEVEL."""
    at = corners.astype(np.int64)
    packed = own.astype(np.int64)
    for shift, corner in enumerate((at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:])):
        packed |= corner << OWN_BITS + CORNER_BITS * shift
    return packed


# --- coverage --------------------------------------------------------------------------------------------------------

def coverage(tiles: Bools, land: Bools | None = None) -> Field:
    """Which part of the tiles at a corner, or of those that are `land`, is of a kind; beyond the map it is as at its edge.

    0 for a tile of that kind among its like: its picture is that of its kind.
    """
    land = np.ones_like(tiles) if land is None else land
    share, whole = (_at_corners(np.pad(kind, 1, mode="edge")) for kind in (tiles & land, land))
    packed = _packed(np.rint(share / np.maximum(whole, 1) * TOP_LEVEL).astype(np.uint8), tiles)
    return np.where((packed == WHOLE) | ~land, 0, packed)


def _at_corners(padded: Bools) -> Bytes:
    """How many of the four tiles at each corner are of a kind: uint8[H + 1, W + 1]."""
    ones = padded.astype(np.uint8)
    return ones[:-1, :-1] + ones[:-1, 1:] + ones[1:, :-1] + ones[1:, 1:]


# --- lamps -----------------------------------------------------------------------------------------------------------

def lamps(walls: Bools, trees: Bools, paved: Bools) -> Bools:
    """Where lamps hang, bool[H, W]: on walls and in trees next to what is paved."""
    around = np.pad(paved, 1)
    found = trees & sliding_window_view(np.pad(paved, 2), (5, 5)).any(axis=(2, 3))
    for beside in (around[:-2, 1:-1], around[2:, 1:-1]):
        found |= _spaced(walls & beside)
    for beside in (around[1:-1, :-2], around[1:-1, 2:]):
        found |= _spaced((walls & beside).T).T
    return found


def _spaced(edges: Bools) -> Bools:
    """Some tiles of each run of a row, at equal distances."""
    step = np.diff(edges.astype(np.int8), axis=1, prepend=0, append=0)
    (rows, first), (_, end) = np.nonzero(step == 1), np.nonzero(step == -1)
    length, found = end - first, np.zeros_like(edges)
    count = np.where(length < LEAST_TILES, 0, np.maximum((length + LAMP_TILES // 2) // LAMP_TILES, 1))
    for number in range(int(count.max(initial=0))):
        more = count > number
        found[rows[more], first[more] + (2 * number + 1) * length[more] // (2 * count[more])] = True
    return found


def lamp_light(lit: Bools) -> Field:
    """The square root of the light of lamps, which adds up: levels are finer where it is dark."""
    light, reach = _at_corners(np.pad(lit, 1)) / 4, round(3 * LAMP_REACH)
    for _ in range(2):  # exp(-d^2 / (2 reach^2)) of it reaches d tiles far, down the columns and then along the rows
        padded = np.pad(light, ((reach, reach), (0, 0)))
        light = reduce(np.add, (padded[step:step + len(light)] * np.exp(-0.5 * ((step - reach) / LAMP_REACH) ** 2)
                                for step in range(2 * reach + 1))).T
    return _packed(np.minimum(np.rint(np.sqrt(light) * TOP_LEVEL), TOP_LEVEL).astype(np.uint8), lit)


# --- the tiles -------------------------------------------------------------------------------------------------------

GROUNDS: dict[str, dict[str, str]] = {  # what else than the kind of that name tiles look like
    "night": {"floor": "stone"},
    "meadow": {"floor": "earth", "wall": "wood", "wall_front": "wood_front", "tree": "oak"}}

Picture = Floats  # [side, side, 3], 0 to 255
Pictures = Floats  # [n, side, side, 3]
Making = Callable[[Iterable[int], int], Iterator[tuple[int, Picture]]]  # from numbers and a side


class TileSet:
    """The pictures at full size, from `tiles.webp`.

    Open floor looks like `ground`: a kind or a sky of the manifest, or one of GROUNDS. `rows` are the map's rows of
    tiles.
    """

    def __init__(self, folder: Path, manifest: TilesSheet, ground: str, rows: int = 1) -> None:
        self.side, self._variants = manifest["cell"], manifest["variants"]
        self._sheet = frame_of(load_surface(folder / manifest["file"]))
        self._rows = {name: row for row, name in enumerate(manifest["kinds"])}
        self._sky = np.array(manifest["skies"].get(ground, ()))
        self._sky_rows = min(rows, MAX_ROWS) if len(self._sky) else 0
        self._names = GROUNDS.get(ground, {"floor": "floor" if len(self._sky) else ground})
        self._ground = ground
        self._looks = Looks(ON_GROUND + self._sky_rows, VARIANTS)
        self.at = lru_cache(KEPT)(lambda side: Scaled(self.pictures, len(self._looks), side))  # pixels

    def numbers(self, kinds: Bytes, marks: Marks) -> Marks:
        """The number of each tile's picture, int16[H, W]."""
        numbers = tile_numbers(kinds, marks, self._ground != "meadow")
        if self._sky_rows:
            rows = np.arange(len(kinds)) * self._sky_rows // len(kinds) + ON_GROUND
            return np.where(kinds == FLOOR, rows[:, None], numbers).astype(np.int16)
        if fields := self._fields(kinds, numbers):
            known = len(self._looks)
            numbers = self._looks.numbers(numbers, fields)
            if len(self._looks) > known:
                self.at.cache_clear()
        return numbers

    def _fields(self, kinds: Bytes, numbers: Marks) -> tuple[Field, ...]:
        """The light of lamps at night; by day paths or lawns, water, and the woods of a meadow."""
        if self._ground == "night":
            trees = numbers // (SHADES * VARIANTS) == TREE
            return (lamp_light(lamps((kinds == WALL) & ~trees, trees, kinds == FLOOR)),)
        if self._ground != "meadow":  # walls stand on what is around them
            land = (kinds == FLOOR) | (kinds == GRASS) | (kinds == WATER)
            return coverage(kinds == GRASS, land), coverage(kinds == WATER, land)
        woods = (kinds == WALL) & (numbers // (SHADES * VARIANTS) == WALL)
        return tuple(map(coverage, (kinds == FLOOR, kinds == WATER, woods)))

    def pictures(self, numbers: Iterable[int], side: int) -> Iterator[tuple[int, Picture]]:
        """Yield each number with its picture, in an order in which those that differ in light alone share work."""
        base_of = {number: self._looks.picture_of(number) for number in numbers}
        for top, group in groupby(sorted(base_of, key=lambda number: _top_of(base_of[number])),
                                  lambda number: _top_of(base_of[number])):
            if top >= ON_GROUND:
                down = (top - ON_GROUND + (np.arange(side) + 0.5) / side) / self._sky_rows * (len(self._sky) - 1)
                colours = np.stack([np.interp(down, np.arange(len(self._sky)), part) for part in self._sky.T], axis=-1)
                yield top, np.broadcast_to(colours.astype(np.float32)[:, None], (side, side, 3))
                continue
            kind, variant = divmod(top, VARIANTS)
            picture = _resized(self._part(NAMES[kind], variant), side, side)
            for base, alike in groupby(sorted(group, key=base_of.__getitem__), base_of.__getitem__):
                yield from self._with_fields(list(alike), picture, kind, variant, base // VARIANTS % SHADES)

    def _with_fields(self, numbers: list[int], top: Picture, kind: int, variant: int,
                     shade: int) -> Iterable[tuple[int, Picture]]:
        """The pictures of these numbers, which differ in their fields alone."""
        side, looks = len(top), self._looks
        lit = top if kind == WALL else top * _light(shade, side)[..., None]
        if kind == WALL and shade:
            front = _resized(self._part("wall_front", variant), side, round(side * FRONT_PART), top_joins=False)
            lit = np.concatenate((top[:side - len(front)], front))
        if self._ground == "night":
            return zip(numbers, self._at_night(numbers, lit, kind, shade), strict=True)
        mixed = [number for number in numbers if looks.picture_of(number) != number and kind not in (MARK, TREE)]
        found = [(number, lit) for number in numbers if number not in mixed]
        if mixed:  # paths or lawns, and lakes with round edges
            names = ("grass", "floor", "pond") if self._ground == "meadow" else ("floor", "grass", "pond")
            ground, cover, water = (_resized(self._part(name, variant), side, side) for name in names)
            rough = (ground.mean(axis=2) - ground.mean()) * ROUGHNESS
            path, lake = (looks.levels(mixed, field).covered(side) + rough for field in range(2))
            land = ground + (cover - ground) * _step(path, PATH_EDGE)
            shore = SHORE if self._ground == "meadow" else ground * KERB
            land += (shore - land) * _step(lake + SHORE_WIDTH, SHORE_WIDTH)
            land = land + (water - land) * _step(lake, LAKE_EDGE)
            wood = _step(looks.levels(mixed, 2).covered(side), WOOD_EDGE)
            shown = land + (lit - land) * wood if kind == WALL else land * _light(shade, side)[..., None]
            found += zip(mixed, shown, strict=True)
        return found

    def mean_colours(self, numbers: Marks) -> Bytes:
        """The mean colour of each of these pictures: uint8[..., 3]."""
        found, where = np.unique(numbers, return_inverse=True)
        pictures = dict(self.pictures(found.tolist(), 1))
        colours = np.array([pictures[number][0, 0] for number in found.tolist()]).round().astype(np.uint8)
        return colours[where.reshape(numbers.shape)]

    def _at_night(self, numbers: list[int], picture: Picture, kind: int, shade: int) -> Pictures:
        """Have lamps light the ground and fronts of walls, [n, side, side, 3]."""
        side, lamplight = len(picture), self._looks.levels(numbers, 0)
        light = lamplight.spread(side)[..., None] ** 2
        if kind == WALL:
            light[:, :side - round(side * FRONT_PART) * bool(shade)] = 0
        found = np.minimum(picture * (NIGHT + light * np.array(LAMPLIGHT, np.float32)), 255)
        glow = lamplight.own[:, None, None, None] * _glow(side, kind == WALL and shade > 0)
        return found + (np.array(LAMP, np.float32) - found) * glow

    def _part(self, name: str, variant: int) -> Picture:
        x, y = variant % self._variants * self.side, self._rows[self._names.get(name, name)] * self.side
        return channels_of(self._sheet[y:y + self.side, x:x + self.side]).astype(np.float32)


class Scaled:
    """Pictures of one size, uint32[count, side, side], top byte 0; `ensure` makes each when it is first needed."""

    def __init__(self, pictures: Making, count: int, side: int) -> None:
        self._pictures = pictures
        self._made: set[int] = set()
        self._surfaces: dict[int, pygame.Surface] = {}
        beyond = LANES  # kernels read sixteen pixels at a time
        self.pixels = np.zeros(count * side * side + beyond, np.uint32)[:-beyond].reshape(count, side, side)

    def ensure(self, numbers: list[int]) -> None:
        missing = [number for number in numbers if number not in self._made]
        for number, picture in self._pictures(missing, self.pixels.shape[1]):
            self.pixels[number] = packed(picture.round())
        self._made.update(missing)

    def surfaces(self, numbers: list[int]) -> list[pygame.Surface]:
        for number in set(numbers) - self._surfaces.keys():
            self._surfaces[number] = _surface(self.pixels[number])
        return list(map(self._surfaces.__getitem__, numbers))


def _top_of(number: int) -> int:
    """What a picture shows without light: kind and variant in one number, or the row of a sky."""
    return number if number >= ON_GROUND else number // (SHADES * VARIANTS) * VARIANTS + number % VARIANTS


@lru_cache(SHADES)
def _light(shade: int, side: int) -> Floats:
    """How much of the light reaches each pixel of open ground: float32[side, side]."""
    position = (np.arange(side) + 0.5) / side
    from_north, from_west = ((np.exp(-position / reach) - np.exp(-1 / reach)) / (1 - np.exp(-1 / reach))
                             for _, reach in (NORTH_SHADOW, WEST_SHADOW))  # from 1 at a wall to 0 at the other edge
    north = np.repeat(NORTH_SHADOW[0] * from_north[:, None], side, axis=1)
    west = np.repeat(WEST_SHADOW[0] * from_west[None, :], side, axis=0)
    if shade == CORNER:  # between the shadow on the tile to the west and that on the tile to the north
        turn = position[None, :] / (position[:, None] + position[None, :])
        darkest = NORTH_SHADOW[0] * (1 - turn) + WEST_SHADOW[0] * turn
        return (1 - darkest * from_north[:, None] * from_west[None, :]).astype(np.float32)
    if shade == NORTH:  # the wall begins here: its shadow too, at the edge
        north *= 1 - from_west[None, :]
    if shade == WEST:
        west *= 1 - from_north[:, None]
    return ((1 - north * bool(shade & NORTH)) * (1 - west * bool(shade & WEST))).astype(np.float32)


@lru_cache(2 * KEPT)
def _glow(side: int, on_front: bool) -> Floats:
    """How much of each pixel a lamp covers, float32[side, side, 1]; it never gets smaller than a pixel."""
    size = np.hypot(LAMP_SIZE, 0.3 / side)
    at = (np.arange(side) + 0.5) / side
    across, down = (np.exp(-0.5 * ((at - middle) / size) ** 2) for middle in (0.5, 0.72 if on_front else 0.5))
    return (down[:, None, None] * across[:, None] * (LAMP_SIZE / size) ** 0.5).astype(np.float32)


def _step(field: Floats, width: float) -> Floats:
    """From 0 to 1 where a field goes through 0.5: float32[side, side, 1]."""
    return np.clip((field - 0.5) / width + 0.5, 0, 1)[..., None].astype(np.float32)


def _surface(pixels: Words) -> pygame.Surface:
    surface = plain_surface(pixels.shape[::-1])
    frame_of(surface)[:] = pixels
    return surface


def _resized(picture: Picture, width: int, height: int, top_joins: bool = True) -> Picture:
    """The picture at another size: its mean if that is tiny, shrunk with an area filter, or enlarged by interpolation.

    Its left edge goes on from the right one, and its upper one from the lower one if `top_joins`.
    """
    if width <= PLAIN_BELOW_PX:
        return np.broadcast_to(picture.mean(axis=(0, 1)), (height, width, 3)).astype(np.float32)
    if width > len(picture):
        rows = _enlarged(picture, height, top_joins)
        return _enlarged(rows.transpose(1, 0, 2), width, True).transpose(1, 0, 2)
    scaled = pygame.transform.smoothscale(_surface(packed(picture.round())), (width, height))
    return channels_of(frame_of(scaled)).astype(np.float32)


def _enlarged(rows: Picture, count: int, joins: bool) -> Picture:
    """Return `count` rows, interpolated; the first row follows the last one if they join, else the last one is repeated."""
    at = (np.arange(count) + 0.5) * len(rows) / count - 0.5
    first = np.floor(at).astype(int)
    part = (at - first)[:, None, None].astype(np.float32)
    above, below = (row % len(rows) if joins else row.clip(0, len(rows) - 1) for row in (first, first + 1))
    return rows[above] * (1 - part) + rows[below] * part


def tile_numbers(kinds: Bytes, marks: Marks, trees_shade: bool = True) -> Marks:
    """The number of each tile's picture, int16[H, W]. If trees shade no other tiles, their pictures have their shadow."""
    wall = kinds == WALL
    tree = wall & (sliding_window_view(np.pad(wall, 1), (3, 3)).sum(axis=(2, 3)) == 1)
    padded = np.pad(wall if trees_shade else wall & ~tree, 1, mode="edge")
    north, south, west, corner = padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[:-2, :-2]
    shade = np.where(tree, 0, np.where(wall, ~south * NORTH, north * NORTH + west * WEST + corner * CORNER))
    kind = np.where(tree, TREE, np.where(~wall & (marks >= 0), MARK, kinds))
    rows, columns = np.indices(kinds.shape, dtype=np.uint32)
    variant = (columns * np.uint32(0x9E3779B1) ^ rows * np.uint32(0x85EBCA77)) * np.uint32(0xC2B2AE3D) >> np.uint32(30)
    return ((kind * SHADES + shade) * VARIANTS + variant).astype(np.int16)
