"""What goes on from tile to tile: the light of lamps at night, and in a landscape the round edges of paths and lakes.

Each is a field: a level at every corner of the tiles, interpolated over a tile, and whether the tile itself is a part of
it. So there are no steps where tiles meet. Fields are part of the tiles' pictures and cost nothing a frame: `Looks` gives
a number to every combination of a picture and fields that a map has.

Lamps hang on walls and in trees beside paved ways, at equal distances from the middle of the map. O(tiles).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Bools, Bytes, Doubles, Floats, Longs, Marks

TOP_LEVEL, OWN_BITS, CORNER_BITS, PICTURE_BITS = 6, 1, 3, 16
PICTURES, FIELD_BITS = (1 << PICTURE_BITS) - 1, OWN_BITS + 4 * CORNER_BITS
WHOLE = 1 | sum(TOP_LEVEL << OWN_BITS + CORNER_BITS * corner for corner in range(4))
LAMP_TILES, LEAST_TILES = 7, 3  # from one lamp to the next, about; shorter pieces of a wall have none
LAMP_REACH = 1.6  # standard deviation of a lamp's light, tiles
MIDDLE = 0.7  # how far the middle of a tile is drawn to what the tile is: 1 makes edges wavy, 0 loses lone tiles
MAX_LOOKS = 1 << 14  # of one ground; tiles beyond have no fields

Field = Longs  # [H, W], of a map of H x W tiles: in FIELD_BITS bits the levels of its corners, and whether it is a part


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

    A number stays that of its combination. Combinations have the first of the variants of a picture alone: where light or
    edges are nobody sees that, and they would be four times as many.
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
        """The number of the same picture without fields."""
        return number if number < self._first else self._keys[number - self._first] & PICTURES

    def levels(self, numbers: list[int], field: int) -> Levels:
        """A field on the tiles of these numbers: 0 where there is none."""
        first = self._first
        keys = np.array([0 if number < first else self._keys[number - first] for number in numbers], np.int64)
        bits = keys >> PICTURE_BITS + FIELD_BITS * field
        corners = [bits >> OWN_BITS + CORNER_BITS * corner & 7 for corner in range(4)]
        return Levels((np.array(corners) / TOP_LEVEL).astype(np.float32)[..., None, None], (bits & 1).astype(bool))

    def _number(self, key: int) -> int:
        if key < self._first:
            return key
        if key not in self._numbers:
            if len(self._keys) == MAX_LOOKS:
                return key & PICTURES
            self._numbers[key] = len(self)
            self._keys.append(key)
        return self._numbers[key]


def _packed(corners: Bytes, own: Bools) -> Field:
    """`corners` uint8[H + 1, W + 1]: 0 to TOP_LEVEL."""
    at = corners.astype(np.int64)
    packed = own.astype(np.int64)
    for shift, corner in enumerate((at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:])):
        packed |= corner << OWN_BITS + CORNER_BITS * shift
    return packed


# --- coverage --------------------------------------------------------------------------------------------------------

def coverage(tiles: Bools) -> Field:
    """How many of the tiles at a corner are of a kind; beyond the map it is as at its edge.

    0 for a tile of that kind among its like: its picture is that of its kind.
    """
    padded = np.pad(tiles, 1, mode="edge").astype(np.uint8)
    around = padded[:-1, :-1] + padded[:-1, 1:] + padded[1:, :-1] + padded[1:, 1:]
    packed = _packed(np.array((0, 2, 3, 4, 6), np.uint8)[around], tiles)
    return np.where(packed == WHOLE, 0, packed)


# --- lamps -----------------------------------------------------------------------------------------------------------

def lamps(walls: Bools, trees: Bools, paved: Bools) -> Bools:
    """Where lamps hang, bool[H, W]: on walls and in trees next to what is paved."""
    around = np.pad(paved, 1)
    found = trees & (_around(paved, 2) > 0)
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
    light = np.zeros(tuple(side + 1 for side in lit.shape))
    for down in (0, 1):
        for right in (0, 1):
            light[down:down + lit.shape[0], right:right + lit.shape[1]] += lit / 4
    for axis in (0, 1):
        light = _blurred(light, axis)
    return _packed(np.minimum(np.rint(np.sqrt(light) * TOP_LEVEL), TOP_LEVEL).astype(np.uint8), lit)


def _blurred(light: Doubles, axis: int) -> Doubles:
    """Spread light along an axis: exp(-d^2 / (2 reach^2)) of it reaches d tiles far."""
    reach = round(3 * LAMP_REACH)
    padded = np.pad(light, [(reach, reach) if along == axis else (0, 0) for along in (0, 1)])
    found = np.zeros_like(light)
    for step in range(2 * reach + 1):
        part = padded[step:step + light.shape[0]] if axis == 0 else padded[:, step:step + light.shape[1]]
        found += part * np.exp(-0.5 * ((step - reach) / LAMP_REACH) ** 2)
    return found


def _around(tiles: Bools, reach: int) -> Bytes:
    """How many of the nearest (2 * reach + 1)^2 tiles are of a kind."""
    rows, columns = tiles.shape
    padded, found = np.pad(tiles, reach), np.zeros(tiles.shape, np.uint8)
    for down, right in np.ndindex(2 * reach + 1, 2 * reach + 1):
        found += padded[down:down + rows, right:right + columns]
    return found
