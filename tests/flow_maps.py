"""Three maps on which no number of the program was chosen: `python tests/flow_maps.py FOLDER` writes them.

In a world of 5,200 units a tile is 1.6 m wide. Nothing marks a destination, so these are drawn.
"""

import sys
from pathlib import Path

import numpy as np

SIDE = 128


def _hall() -> np.ndarray:
    tiles = np.full((SIDE, SIDE), ".")
    tiles[[0, -1]] = tiles[:, [0, -1]] = "@"
    return tiles


def lake() -> np.ndarray:
    """A lake from shore to shore, with two bridges of two tiles."""
    tiles, row = _hall(), np.arange(SIDE)[:, None]
    shore = 12 + 6 * np.sin(np.arange(SIDE) / 9)
    tiles[(np.abs(row - SIDE / 2) < shore) & (tiles == ".")] = "W"
    for first in (30, 92):
        tiles[1:-1, first:first + 2] = "."
    return tiles


def office() -> np.ndarray:
    """Forty rooms, each with a door of one tile, along four corridors of three tiles and one of four across."""
    tiles = _hall()
    tiles[1:-1, 1:-1] = "@"
    for number in range(4):
        corridor = 15 + 32 * number
        tiles[corridor:corridor + 3, 1:-1] = "."
        for room in range(5):
            left = 2 + 25 * room
            for top, door in ((corridor - 13, corridor - 1), (corridor + 4, corridor + 3)):
                tiles[top:top + 12, left:left + 23] = "."
                tiles[door, left + 5 + 3 * room] = "."
    tiles[1:-1, 62:66] = "."
    return tiles


def market() -> np.ndarray:
    """Stalls of six by three tiles in rows, with lanes of two tiles, and of one between neighbours."""
    tiles = _hall()
    for row in range(6, SIDE - 8, 5):
        for column in range(5 + row % 4, SIDE - 12, 7):
            tiles[row:row + 3, column:column + 6] = "@"
    tiles[60:68, 40:88] = "."
    return tiles


MAPS = {"lake": lake, "office": office, "market": market}


def text_of(name: str) -> str:
    """Return a map as the text of a .map file."""
    return f"type octile\nheight {SIDE}\nwidth {SIDE}\nmap\n" + "".join(f"{''.join(row)}\n" for row in MAPS[name]().tolist())


if __name__ == "__main__":
    for name in MAPS:
        (Path(sys.argv[1]) / f"{name}.map").write_text(text_of(name), "ascii")
