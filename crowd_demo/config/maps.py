"""Read maps: an octile `.map` grid or a PNG becomes a `MapData`; every mistake is a `MapError` of one line.

A `.map` file is the MovingAI benchmark's format (https://movingai.com/benchmarks/formats.html):

    type octile
    height 3
    width 4
    map
    @@.W
    @0.W
    ...G

`.` is floor, `G` grass, `S` swamp, `W` water, `@ O T` are walls; people walk on all but walls and water. An extension
of the format: a digit or a lowercase letter is floor that belongs to destination 0-9 or 10-35 (a-z); the tiles of a
destination touch each other. The line `type` may be missing. Lines end in LF or CRLF.

What a saved scenario says beyond that: `type open` are the tiles of a world without a map, as many as `world` has.
Below the grid a line `ground` and another grid tell what is under the walls, where that is not floor alone; a line
`destinations` and another grid (`.`, 0-9, a-z, A-Z, + and -) where destinations are, if not on floor alone;
`destinations drawn`, if the map marks none and the seed has drawn them. A line `starts` and a grid of `.` and `s`
tell where people are born, if not on all ground.

In a PNG a pixel is a tile, and its three channels, 0-255, decide which. If one exceeds both others by 64 or more, red
is a destination (red pixels that touch form one, numbered in reading order), green is grass, blue is water. Any other
pixel counts as grey: a wall if the mean of its channels is below 128, else floor. Pixels less than half opaque are
floor.

Maps in metres (geometry.py) have a tile's side that one chooses, exits, and tiles where people start.

O(tiles), without kernels. pygame is imported for PNGs alone, and opens no display.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from crowd_demo.config.memory import quiet_libraries, read_bounded
from crowd_demo.registry.entries import load
from crowd_demo.registry.texts import reason

if TYPE_CHECKING:
    import pygame

FLOOR, WALL, WATER, SWAMP, GRASS = range(5)
MAX_SIDE = 2048  # tiles; a flow field of the largest map takes 4 MB
MAX_DESTINATIONS = 64
MAX_BYTES = 8 << 20  # of any map file: the largest grid with CRLF has 4.2 MB
COLOURED = 64  # how far a channel exceeds the others before it counts as a colour
DARK = 128  # mean of the channels below which a grey is a wall
OPEN_TILE = 64.0  # units a tile where there is no map, about
OPEN_STEPS = 256  # the side of such a tile is a whole number of 1/256 unit, as TILE_STEPS of sim/terrain/tiles.py says

Metric = TypeVar("Metric", float, NDArray[np.float64])

MARKS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LAYER_MARKS = MARKS + MARKS[10:].upper() + "+-"  # as many as there may be destinations
_LETTERS = ".@WSG"  # of the kinds of tiles, in the order of their numbers
_KIND_OF = {letter: kind for kind, letter in enumerate(_LETTERS)} | dict.fromkeys("OT", WALL) | dict.fromkeys(MARKS, FLOOR)
_NUMBER_OF = {".": -1, **{mark: number for number, mark in enumerate(_LAYER_MARKS)}}
_MARK_OF = dict.fromkeys(_KIND_OF, -1) | {mark: _NUMBER_OF[mark] for mark in MARKS}
_DESTINATIONS = _NUMBER_OF, ". 0-9 a-z A-Z + -"
_LAYERS = {"ground": ({letter: _KIND_OF[letter] for letter in ".GSW"}, ". G S W"), "destinations": _DESTINATIONS,
           "destinations drawn": _DESTINATIONS, "starts": ({".": 0, "s": 1}, ". s")}
_HEADER = re.compile(
    r"(?:type (?P<type>octile|open)\n)?height (?P<height>[0-9]{1,9})\nwidth (?P<width>[0-9]{1,9})\nmap$", re.MULTILINE)
GEOMETRY = ".wkt", ".json", ".geojson", ".dxf"  # suffixes of maps in metres
TRAJECTORIES = ".txt", ".csv", ".sqlite"  # and of files of trajectories, whose walkable area is a map
_IN_METRES = {**dict.fromkeys(GEOMETRY, "crowd_demo.extras.importing.geometry:read_geometry"),
              **dict.fromkeys(TRAJECTORIES, "crowd_demo.extras.importing.trajectory_files:map_of_paths")}


class MapError(ValueError):
    """A map that cannot be used; the message is one line and begins with the file, and the line where there is one."""


class Metres(NamedTuple):
    tile: float = 13.0  # side of a tile, world units
    metre: float = 26.0  # world units
    y_axis: str = "auto"  # up, down, or auto: as the file says, else up
    unit: str = "auto"  # of trajectories: m, cm, mm, or auto: as the file says, else m
    columns: str = ""  # of trajectories, their names from the left: `frame,id,x,y`; empty: as the file says

    @property
    def units(self) -> float:
        """Side of a tile, in whole 1/256 world units."""
        return max(round(self.tile * OPEN_STEPS), 1) / OPEN_STEPS

    @property
    def side(self) -> float:
        """Side of a tile, metres."""
        return self.units / self.metre


class Origin(NamedTuple):
    """Where a map's left upper corner is in metres, and whether their y grows upwards."""

    x: float
    y: float
    up: bool

    def offsets(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far points, [n, 2] in metres, are right of the corner and below it."""
        found = points - (self.x, self.y)
        found[:, 1] *= -1 if self.up else 1
        return found

    def metres(self, right: Metric, down: Metric) -> tuple[Metric, Metric]:
        """The point so many metres right of the corner and below it, or float64[n] of points."""
        return self.x + right, self.y - down if self.up else self.y + down


class MapData(NamedTuple):
    """A map as read. Row 0 is the top, column 0 the left."""

    kinds: NDArray[np.uint8]  # [H, W]: FLOOR, WALL, WATER, SWAMP or GRASS
    marks: NDArray[np.int16]  # [H, W]: number of the destination that a tile belongs to, or -1
    name: str
    under: NDArray[np.uint8] | None = None  # [H, W]: what is left when walls are torn down; None: floor
    drawn: bool = False  # the destinations were drawn at random
    is_open: bool = False  # the tiles of a world without a map
    starts: NDArray[np.bool_] | None = None  # [H, W]: where people are born; None: all over the ground
    origin: Origin | None = None  # of a map in metres
    exits: int = 0  # so many destinations, the first ones, are named exits
    notes: tuple[str, ...] = ()  # what could not be drawn
    walkable: Sequence[Sequence[NDArray[np.float64]]] = ()  # polygons of a map in metres: an outline and its holes

    @property
    def ground(self) -> NDArray[np.uint8]:
        """[H, W]: the tiles without walls."""
        return np.where(self.kinds == WALL, np.uint8(FLOOR), self.kinds) if self.under is None else self.under


def open_tile(width: float, height: float) -> float:
    """Return the side of a tile where there is no map.

    That is about 64 units, such that the longer side is a whole number of tiles (up to 1/256 unit a tile).
    """
    longer = max(width, height)
    return math.ceil(longer / max(round(longer / OPEN_TILE), 1) * OPEN_STEPS) / OPEN_STEPS


def open_shape(width: float, height: float) -> tuple[int, int]:
    """Return how many rows and columns of tiles cover a world without a map; the last ones may reach beyond its edge."""
    tile = open_tile(width, height)
    return math.ceil(height / tile), math.ceil(width / tile)


def check_size(width: int, height: int, where: str) -> None:
    """Raise MapError for a map that is empty or too large; its message begins with `where`."""
    if min(width, height) < 1:
        raise MapError(f"{where}: the map is empty ({width} x {height} tiles)")
    if max(width, height) > MAX_SIDE:
        raise MapError(f"{where}: {width} x {height} tiles are too many (at most {MAX_SIDE} x {MAX_SIDE})")


IN_METRES = Metres()


def read_map(path: str | Path, metres: Metres = IN_METRES) -> MapData:
    """The map in a file; one in metres is drawn on tiles as `metres` says. Raises MapError."""
    path = Path(path)
    suffix = path.suffix.lower()
    found: MapData
    if suffix in _IN_METRES:
        found = load(_IN_METRES[suffix])(path, metres)
    else:
        data = bytes_of(path)
        found = parse_png(data, path) if suffix == ".png" else parse_octile(data, path)
    if not can_be_stood_on(found.kinds if found.under is None else found.under):
        raise MapError(f"{path}: no tile is free")
    return found


def can_be_stood_on(kinds: NDArray[np.uint8]) -> bool:
    """Return whether any tile is neither wall nor water."""
    return bool(np.isin(kinds, (FLOOR, SWAMP, GRASS)).any())


# --- grids -----------------------------------------------------------------------------------------------------------

def parse_octile(data: bytes, path: Path) -> MapData:
    """The grid in the text of a `.map` file."""
    lines = [line.rstrip("\r\x1a \t") for line in text_of(data, path).split("\n")]  # DOS ended its texts with \x1a
    header = _HEADER.match("\n".join(" ".join(line.split()) for line in lines[:4]))
    if not header:
        raise MapError(f"{path}:1: not a map: the first lines must be type octile, height NUMBER, width NUMBER and map")
    height, width, head = int(header["height"]), int(header["width"]), header[0].count("\n") + 1
    check_size(width, height, f"{path}:{head - 2}")
    while len(lines) > head and not lines[-1].strip():
        lines.pop()
    below = head + height
    if len(lines) < below or (len(lines) > below and " ".join(lines[below].split()) not in _LAYERS):
        raise MapError(f"{path}:{len(lines)}: the map has {len(lines) - head} rows, its header says {height}")
    known = ". G S W @ O T 0-9 a-z"
    kinds, marks = (_grid(lines, head, (height, width), table, known, path) for table in (_KIND_OF, _MARK_OF))
    found = MapData(kinds.astype(np.uint8), marks, path.stem, is_open=header["type"] == "open")
    for start in range(below, len(lines), height + 1):
        found = _with_layer(found, lines, start, path)
    for number in range(found.marks.max() + 1):
        marked = found.marks == number
        if marked.any() and label_areas(marked_part(marked)).max() > 0:
            raise MapError(f"{path}: the tiles of destination '{_LAYER_MARKS[number]}' do not touch each other")
    return found


def octile_of(data: MapData) -> str:
    rows, columns = data.kinds.shape
    letters, marks, marked = np.array(list(_LETTERS)), np.array(list(f"{_LAYER_MARKS}.")), data.marks >= 0
    grid = letters[data.kinds]
    in_grid = not data.drawn and data.marks.max() < len(MARKS) and bool((data.kinds[marked] == FLOOR).all())
    if in_grid:
        grid[marked] = marks[data.marks[marked]]
    head = f"type {'open' if data.is_open else 'octile'}", f"height {rows}", f"width {columns}", "map"
    lines = [*head, *map("".join, grid)]
    if not (can_be_stood_on(data.kinds) and np.array_equal(data.ground, data._replace(under=None).ground)):
        lines += ["ground", *map("".join, letters[data.ground])]
    if marked.any() and not in_grid:
        lines += ["destinations" + " drawn" * data.drawn, *map("".join, marks[data.marks])]
    if data.starts is not None:
        lines += ["starts", *map("".join, np.where(data.starts, "s", "."))]
    return "\n".join((*lines, ""))


def _grid(lines: list[str], first: int, shape: tuple[int, int], values: dict[str, int], told: str,
          path: Path) -> NDArray[np.int16]:
    """Return int16[height, width]: what the characters of a grid stand for; its first line has that number, counted from 0."""
    rows = lines[first:first + shape[0]]
    for line, row in enumerate(rows, first + 1):
        if unknown := set(row) - values.keys():
            column = min(map(row.index, unknown))
            raise MapError(f"{path}:{line}: unknown tile {row[column]!r} in column {column + 1} (known: {told})")
        if len(row) != shape[1]:
            raise MapError(f"{path}:{line}: the row has {len(row)} tiles, the header says {shape[1]}")
    by_code = np.zeros(128, np.int16)
    by_code[list(map(ord, values))] = list(values.values())
    return by_code[np.frombuffer("".join(rows).encode(), np.uint8).reshape(shape)]


def _with_layer(found: MapData, lines: list[str], start: int, path: Path) -> MapData:
    """Return the map with the layer whose heading is in that line, counted from 0."""
    height, heading = len(found.kinds), " ".join(lines[start].split())
    if heading not in _LAYERS:
        raise MapError(f"{path}:{start + 1}: expected 'ground', 'destinations', 'destinations drawn' or 'starts'")
    if len(lines) < start + 1 + height:
        raise MapError(f"{path}:{len(lines)}: '{heading}' has {len(lines) - start - 1} rows, the map has {height}")
    values = _grid(lines, start + 1, found.kinds.shape, *_LAYERS[heading], path)
    if heading == "ground":
        if (unlike := (found.kinds != WALL) & (found.kinds != values)).any():
            raise MapError(f"{path}:{start + 2 + int(unlike.any(axis=1).argmax())}: ground that is not the map's")
        return found._replace(under=values.astype(np.uint8))
    if heading == "starts":
        return found._replace(starts=values.astype(np.bool_) if values.any() else None)
    if (found.marks >= 0).any():
        raise MapError(f"{path}:{start + 1}: the destinations are marked in the map already")
    return found._replace(marks=values, drawn=heading != "destinations")


def bytes_of(path: Path) -> bytes:
    try:
        data = read_bounded(path, MAX_BYTES)
    except OSError as error:
        raise MapError(f"{path}: cannot be read ({reason(error)})") from None
    if not data:
        raise MapError(f"{path}: the file is empty")
    if len(data) > MAX_BYTES:
        raise MapError(f"{path}: too large for a map (over {MAX_BYTES >> 20} MB)")
    return data


def text_of(data: bytes, path: Path) -> str:
    """The text of a file in UTF-8. Raises MapError."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise MapError(f"{path}:{line}: not UTF-8 text") from None


def marked_part(marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The part of the map that holds all marked tiles, of which there is at least one."""
    rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
    return marked[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]


# --- pictures --------------------------------------------------------------------------------------------------------

def parse_png(data: bytes, path: Path) -> MapData:
    """The map in the bytes of a PNG. Raises MapError; imports pygame, but opens no display."""
    size = png_size(data)
    if not size:
        raise MapError(f"{path}: not a PNG picture")
    check_size(*size, str(path))
    import pygame

    try:
        image = unpacked(data)
    except pygame.error as error:
        raise MapError(f"{path}: cannot be read as a PNG ({error})") from None
    width, height = image.get_size()
    rgba = np.frombuffer(pygame.image.tobytes(image, "RGBA"), np.uint8).reshape(height, width, 4)
    red, green, blue, alpha = np.moveaxis(rgba.astype(np.int16), 2, 0)
    transparent = alpha < 128
    is_red = ~transparent & (red - np.maximum(green, blue) >= COLOURED)
    kinds = np.where(red + green + blue < 3 * DARK, WALL, FLOOR).astype(np.uint8)
    kinds[green - np.maximum(red, blue) >= COLOURED] = GRASS
    kinds[blue - np.maximum(red, green) >= COLOURED] = WATER
    kinds[transparent | is_red] = FLOOR
    areas = label_areas(is_red)
    if areas.max() >= MAX_DESTINATIONS:
        raise MapError(f"{path}: more than {MAX_DESTINATIONS} red areas (each is a destination)")
    return MapData(kinds, areas.astype(np.int16), path.stem)


def png_size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG, as its header says, or None. Look before `unpacked`: a small file can hold a huge picture."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def unpacked(data: bytes) -> pygame.Surface:
    """The picture in the bytes of a PNG. Raises pygame.error."""
    import pygame

    with quiet_libraries():  # libpng prints its own lines
        return pygame.image.load(io.BytesIO(data), ".png")


# --- areas that touch ------------------------------------------------------------------------------------------------

def label_areas(marked: NDArray[np.bool_], corners: bool = True) -> NDArray[np.int32]:
    """Number the areas of touching tiles from 0 in reading order; -1 elsewhere, int32[H, W].

    With `corners` tiles also touch by a corner (8 neighbours), else by their sides alone (4).

    Works on runs, the stretches of marked tiles in a row, of which an area has fewer than tiles: O(tiles) to find them,
    O(runs log(runs)) to join them.
    """
    # where runs begin and end in reading order, as numbers row * (W + 1) + column; the tile at `end` is outside
    change = np.diff(marked.view(np.int8), axis=1, prepend=np.int8(0), append=np.int8(0))
    begin, end = np.flatnonzero(change == 1).astype(np.int32), np.flatnonzero(change == -1).astype(np.int32)
    # the numbers of each two runs that touch
    row = np.int32(marked.shape[1] + 1)
    low = np.searchsorted(end, begin + row, "left" if corners else "right").astype(np.int32)
    count = np.searchsorted(begin, end + row, "right" if corners else "left").astype(np.int32) - low
    above: NDArray[np.int32] = np.repeat(np.arange(begin.size, dtype=np.int32), count)
    below: NDArray[np.int32] = np.repeat(low + count - np.cumsum(count, dtype=np.int32), count)
    below += np.arange(below.size, dtype=np.int32)
    # For each run the least number of a run of its area: all first runs found so far take the least one that they
    # touch; then everybody follows the chains to their end. Repeated until no two touch: a few rounds (Liu and Tarjan
    # 2019, "Simple concurrent labeling algorithms").
    first = np.arange(begin.size, dtype=np.int32)
    while above.size:
        np.minimum.at(first, np.maximum(above, below), np.minimum(above, below))
        while not np.array_equal(first, farther := first[first]):
            first = farther
        above, below = first[above], first[below]
        apart = above != below
        above, below = above[apart], below[apart]
    _, area = np.unique(first, return_inverse=True)  # an area is named after its first run, and runs are in reading order
    labels = np.full(marked.shape, -1, np.int32)
    labels[marked] = np.repeat(area.astype(np.int32), end - begin)
    return labels
