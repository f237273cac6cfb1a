"""Read maps: an octile `.map` grid or a PNG becomes a `MapData`; every mistake is a `MapError` of one line.

A `.map` file is the MovingAI benchmark's format (https://movingai.com/benchmarks/formats.html):

    type octile
    height 3
    width 4
    map
    @@.W
    @0.W
    ...G

`.` is floor, `G` grass, `S` swamp, `W` water, `@ O T` are walls; people walk on all but walls and water. An extension of
the format: a digit or a lowercase letter is floor that belongs to destination 0-9 or 10-35 (a-z); the tiles of a
destination touch each other. The line `type` may be missing. Lines end in LF or CRLF. PNG maps are described in
`images.py`. O(tiles), without kernels.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from crowd_demo.config.files import read_bounded
from crowd_demo.config.map_data import FLOOR, GRASS, SWAMP, WALL, WATER, MapData, MapError, check_size, label_marks

MAX_BYTES = 8 << 20  # of any map file: the largest grid with CRLF has 4.2 MB

Value = TypeVar("Value", np.uint8, np.int16)

MARKS = "0123456789abcdefghijklmnopqrstuvwxyz"
_KIND_OF = {".": FLOOR, "G": GRASS, "S": SWAMP, "W": WATER, "@": WALL, "O": WALL, "T": WALL,
            **dict.fromkeys(MARKS, FLOOR)}


def read_map(path: str | Path) -> MapData:
    """The map in a `.map` or `.png` file. Raises MapError."""
    path = Path(path)
    data = bytes_of(path)
    if path.suffix.lower() == ".png":
        from crowd_demo.config.images import parse_png  # imports pygame, which is slow, and few maps are pictures

        found = parse_png(data, path)
    else:
        found = parse_octile(data, path)
    if not np.isin(found.kinds, (FLOOR, SWAMP, GRASS)).any():
        raise MapError(f"{path}: there is no tile to stand on")
    return found


def parse_octile(data: bytes, path: Path) -> MapData:
    """The grid in the text of a `.map` file."""
    try:
        lines = [line.removesuffix("\r") for line in data.decode("utf-8-sig").split("\n")]
    except UnicodeDecodeError:
        raise MapError(f"{path}: not a map (no text)") from None
    width, height, head = _header(lines, path)
    while len(lines) > head and not lines[-1].strip():
        lines.pop()
    rows = lines[head:]
    if len(rows) != height:
        raise MapError(f"{path}:{len(lines)}: the map has {len(rows)} rows, its header says {height}")
    for line, row in enumerate(rows, head + 1):
        _check_row(row, width, f"{path}:{line}")
    # In UTF-32 each character is one number.
    codes = np.frombuffer("".join(rows).encode("utf-32-le"), np.uint32).reshape(height, width)
    marks = _translate(codes, {mark: number for number, mark in enumerate(MARKS)}, np.full(128, -1, np.int16))
    _check_marks(marks, path)
    return MapData(_translate(codes, _KIND_OF, np.full(128, WALL, np.uint8)), marks, path.stem)


def bytes_of(path: Path) -> bytes:
    try:
        data = read_bounded(path, MAX_BYTES)
    except OSError as error:
        raise MapError(f"{path}: cannot be read ({error.strerror})") from None
    if not data:
        raise MapError(f"{path}: the file is empty")
    if len(data) > MAX_BYTES:
        raise MapError(f"{path}: too large for a map (over {MAX_BYTES >> 20} MB)")
    return data


def _header(lines: list[str], path: Path) -> tuple[int, int, int]:
    """(width, height, number of lines above the grid)."""
    typed = lines[0].split()[:1] != ["height"]
    if typed and lines[0].split() != ["type", "octile"]:
        raise MapError(f"{path}:1: not a map: the first line should be 'type octile'")
    sizes, head = {}, 3 + typed
    for line, word in enumerate(("height", "width"), head - 2):
        words = lines[line - 1].split() if line <= len(lines) else []
        if len(words) != 2 or words[0] != word or not words[1].isdecimal() or len(words[1]) > 9:
            raise MapError(f"{path}:{line}: expected '{word} NUMBER'")
        sizes[word] = int(words[1])
    if len(lines) < head or lines[head - 1].strip() != "map":
        raise MapError(f"{path}:{head}: expected 'map'")
    check_size(sizes["width"], sizes["height"], f"{path}:{head - 2}")
    return sizes["width"], sizes["height"], head


def _check_row(row: str, width: int, where: str) -> None:
    unknown = set(row) - _KIND_OF.keys()
    if unknown:
        column = min(row.index(character) for character in unknown)
        raise MapError(f"{where}: unknown tile {row[column]!r} in column {column + 1} (known: . G S W @ O T 0-9 a-z)")
    if len(row) != width:
        raise MapError(f"{where}: the row has {len(row)} tiles, the header says {width}")


def _check_marks(marks: NDArray[np.int16], path: Path) -> None:
    for number in range(marks.max() + 1):
        marked = marks == number
        if marked.any() and label_marks(_bounds(marked)).max() > 0:
            raise MapError(f"{path}: the tiles of destination '{MARKS[number]}' do not touch each other")


def _bounds(marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The part of the map that holds all marked tiles."""
    rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
    return marked[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]


def _translate(codes: NDArray[np.uint32], table: dict[str, int], values: NDArray[Value]) -> NDArray[Value]:
    """Look up each character; `values` has what characters mean that are not in the table."""
    for character, value in table.items():
        values[ord(character)] = value
    return values[codes]
