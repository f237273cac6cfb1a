"""Draws the maps: `python assets/draw_maps.py [FOLDER]` writes plaza, maze, doorway and station (default: `maps/` beside it).

The same files come out every time, byte for byte. A map is an array of the characters of its file, which
`crowd_demo/config/maps.py` explains; each is drawn in part and mirrored, so that it looks built, not scattered.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FLOOR, WALL, GRASS, WATER = ".", "T", "G", "W"
Map = NDArray[np.str_]  # [rows, columns], one character each
Field = NDArray[np.float64]


def mirrored(quarter: Map) -> Map:
    """The map whose upper left quarter this is."""
    half = np.hstack((quarter, quarter[:, ::-1]))
    return np.vstack((half, half[::-1]))


# --- plaza -----------------------------------------------------------------------------------------------------------

def plaza() -> Map:
    """A town square of 100 x 100: four gates, arcades, a round garden with pools, and a fountain in the middle."""
    v, u = 49.5 - np.mgrid[:50, :50]  # how far a tile's middle is from the two axes of the square
    outer, inner = np.maximum(u, v), np.minimum(u, v)
    square = np.full((50, 50), FLOOR)
    _houses(square, outer, inner)
    _garden(square, np.hypot(u, v), outer, inner)
    _corners(square, np.hypot(u - 26, v - 26), outer, inner)
    _fountain(square, np.hypot(u, v))
    return _with_goals(mirrored(square))


def _houses(square: Map, outer: Field, inner: Field) -> None:
    """Houses around courtyards, arcades before them, streets of twelve tiles between them, and towers at the gates."""
    square[(outer > 37) & (inner > 6)] = WALL
    wing = ((inner > 21) & (inner < 24)) | ((inner > 35) & (inner < 40))
    square[(outer > 40) & (outer < 46) & (inner > 10) & (inner < 46) & ~wing] = GRASS
    square[(outer > 33) & (outer < 34) & (inner > 8) & (np.floor(inner) % 3 == 0)] = WALL
    square[(outer > 45) & (inner > 4) & (inner < 6)] = WALL


def _garden(square: Map, radius: Field, outer: Field, inner: Field) -> None:
    """Eight lawns between the ways along axes and diagonals, with a hedge and three trees each; a pool in four ways."""
    lawn = (radius > 12.5) & (radius < 28) & (inner > 5) & (outer - inner > 4)
    square[lawn] = GRASS
    square[lawn & (radius > 26.7)] = WALL
    for along, across in ((15.5, 8.5), (20.5, 8.5), (20.5, 13.5)):
        square[(outer == along) & (inner == across)] = WALL
    square[(outer > 15) & (outer < 23) & (inner < 2)] = WATER


def _corners(square: Map, radius: Field, outer: Field, inner: Field) -> None:
    """A round bed with a group of trees in each corner, and kiosks beside it."""
    square[radius < 3.6] = GRASS
    square[radius < 1] = WALL
    square[(outer > 29) & (outer < 31) & (inner > 12) & (inner < 16)] = WALL


def _fountain(square: Map, radius: Field) -> None:
    square[radius < 6.5] = WALL
    square[radius < 5.5] = WATER
    square[radius < 1.6] = WALL


def _with_goals(square: Map) -> Map:
    """The four gates, the four corners, and the place before two of the kiosks: 0 to 9."""
    gates = (np.s_[:2, 46:54], np.s_[46:54, 98:], np.s_[98:, 46:54], np.s_[46:54, :2])
    corners = (np.s_[18:21, 18:21], np.s_[18:21, 79:82], np.s_[79:82, 79:82], np.s_[79:82, 18:21])
    kiosks = (np.s_[21:23, 34:38], np.s_[77:79, 62:66])
    for number, place in enumerate((*gates, *corners, *kiosks)):
        square[place] = str(number)
    return square


# --- maze ------------------------------------------------------------------------------------------------------------

CELLS = 16  # a side of a quarter, with those on the axes
PITCH = 3  # two tiles of corridor, one of wall
Cell = tuple[int, int]  # row, column


def maze() -> Map:
    """A labyrinth of 94 x 94, corridors two tiles wide: ways split and meet, none is a dead end; a court within."""
    tiles = np.full((CELLS * PITCH, CELLS * PITCH), WALL)
    for (top, left), (bottom, right) in _passages(random.Random(4)):
        tiles[top * PITCH + 1:bottom * PITCH + 3, left * PITCH + 1:right * PITCH + 3] = FLOOR
    whole = mirrored(tiles[:-1, :-1])  # the cells on the axes are shared
    whole[40:54, 40:54] = FLOOR
    whole[44:50, 44:50] = GRASS
    goals = [(row, column) for row in (1, 46, 91) for column in (1, 46, 91)]
    for number, (row, column) in enumerate(goals):
        whole[row:row + 2, column:column + 2] = str(number)
    return whole


def _passages(dice: random.Random) -> list[tuple[Cell, Cell]]:
    """Pairs of neighbouring cells that are joined, the upper or left one first: a random tree, then no dead ends."""
    joined: dict[Cell, list[Cell]] = {(CELLS - 1, CELLS - 1): []}
    path = [(CELLS - 1, CELLS - 1)]
    while path:
        fresh = [cell for cell in _around(path[-1]) if cell not in joined]
        if fresh:
            _join(joined, path[-1], _pick(dice, fresh))
            path.append(joined[path[-1]][-1])
        else:
            path.pop()
    for cell in sorted(joined):
        if len(joined[cell]) == 1:
            _join(joined, cell, _pick(dice, [other for other in _around(cell) if other not in joined[cell]]))
    return sorted({(min(cell, other), max(cell, other)) for cell in joined for other in joined[cell]})


def _around(cell: Cell) -> list[Cell]:
    row, column = cell
    near = ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1))
    return [(r, c) for r, c in near if 0 <= r < CELLS and 0 <= c < CELLS]


def _pick(dice: random.Random, cells: list[Cell]) -> Cell:
    return cells[int(dice.random() * len(cells))]  # `choice` may change with the version of Python, `random` does not


def _join(joined: dict[Cell, list[Cell]], cell: Cell, other: Cell) -> None:
    joined[cell].append(other)
    joined.setdefault(other, []).append(cell)


# --- doorway ---------------------------------------------------------------------------------------------------------

def doorway() -> Map:
    """Two halls, 96 x 56, joined by two doors: whoever changes halls has to squeeze through one of them."""
    v, u = np.mgrid[:28, :48]
    hall = np.full((28, 48), FLOOR)
    hall[(v < 2) | (u < 2) | (u + v < 11) | (u > 43) | (u - v > 34)] = WALL
    hall[(abs(v - 17.5) < 2 + np.maximum(46 - u, 0)) & (u > 43)] = FLOOR  # half of a door, its jambs slanted
    hall[(v > 1) & (v < 4) & (abs(u - 22.5) < 8)] = GRASS
    hall[np.isin(v, (8, 9, 17, 18)) & np.isin(u % 6, (1, 2)) & (u > 6) & (u < 40)] = WALL
    hall[np.hypot(u - 22.5, v - 27.5) < 5.8] = WALL
    hall[np.hypot(u - 22.5, v - 27.5) < 4.6] = WATER
    whole = mirrored(hall)
    corners = [np.s_[row:row + 3, column:column + 3] for row in (12, 41) for column in (4, 89)]
    ends = [np.s_[26:30, 3:6], np.s_[26:30, 90:93]]
    for number, place in enumerate((*corners, *ends)):
        whole[place] = str(number)
    return whole


# --- station ---------------------------------------------------------------------------------------------------------

def station() -> Map:
    """The hall of a station, 56 x 36: doors on three sides, which are the first destinations, four platforms, a counter."""
    v, u = np.mgrid[:36, :56]
    hall = np.full((36, 56), FLOOR)
    hall[(v < 2) | (v > 33) | (u < 2) | (u > 53)] = WALL
    track = (u - 2) % 12 < 4
    hall[(v < 15) & (v > 1) & track & (u > 1) & (u < 54)] = WATER
    hall[(v == 15) & track] = WALL
    hall[np.isin(v, (20, 21, 28, 29)) & (abs(abs(u - 27.5) - 17) < 1)] = WALL
    hall[(abs(v - 22.5) < 2) & (abs(u - 27.5) < 3)] = WALL
    doors = [np.s_[22:28, 0:4], np.s_[22:28, 52:56], np.s_[32:36, 25:31]]
    platforms = [np.s_[3:9, column:column + 4] for column in (8, 20, 32, 44)]
    for number, place in enumerate((*doors, *platforms, np.s_[24:26, 26:30])):
        hall[place] = str(number)
    return hall


MAPS = {"plaza": plaza, "maze": maze, "doorway": doorway, "station": station}


def draw_all(folder: Path) -> None:
    """Writes every map into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in MAPS.items():
        tiles = draw()
        head = f"type octile\nheight {tiles.shape[0]}\nwidth {tiles.shape[1]}\nmap\n"
        rows = "".join("".join(row) + "\n" for row in tiles)
        (folder / f"{name}.map").write_text(head + rows, encoding="ascii", newline="\n")


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "maps")
