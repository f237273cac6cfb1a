"""Draws the maps: `python assets/draw_maps.py [FOLDER]` writes all maps (default: into `maps/` beside it).

The same files come out every time, byte for byte. A map is an array of the characters of its file, which
`crowd_demo/config/maps.py` explains; most are drawn in part and mirrored, so that they look built, not scattered.
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
Tiles = NDArray[np.bool_]


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


# --- citadel ---------------------------------------------------------------------------------------------------------

def citadel() -> Map:
    """A garden town of 130 x 130 in a star of ramparts and moat: four bridges, four quarters, and a basin in the middle.

    Made for crowds: ways of eight tiles and more, several of them between any two places.
    """
    y, x = np.mgrid[:130, :130] - 64.5  # how far a tile's middle is from the two axes of the town
    outer, inner = np.maximum(abs(x), abs(y)), np.minimum(abs(x), abs(y))
    town = _fortress(x, y, outer, inner)
    _bastions(town, outer, inner)
    _avenues(town, np.hypot(x, y), outer, inner)
    _basin(town, outer, abs(x) + abs(y))
    _market(town, abs(x + 27), abs(y + 27))
    _park(town, x - 27, y + 27)
    _cloister(town, abs(x - 27), abs(y - 27))
    _rotunda(town, abs(x + 27), abs(y - 27))
    return _with_places(town)


def _within(tiles: Tiles, distance: int) -> Tiles:
    """Return which tiles are no farther than about so many from these."""
    rows, columns = tiles.shape
    padded, found = np.pad(tiles, distance), tiles.copy()
    for down, right in np.ndindex(2 * distance + 1, 2 * distance + 1):
        if np.hypot(down - distance, right - distance) < distance + 0.5:
            found |= padded[down:down + rows, right:right + columns]
    return found


def _plant(town: Map, places: Tiles) -> None:
    """Plant trees in these places, as far as there is but grass around them."""
    town[places & ~_within(town != GRASS, 1)] = WALL


def _fortress(x: Field, y: Field, outer: Field, inner: Field) -> Map:
    """From the outside: meadows, moat, ramparts that are green on top, and free ground; bridges over them, and barracks."""
    inside = (outer < 48) | ((inner < 14) & (outer + inner / 2 < 56)) | ((inner > 35) & (outer - 0.15 * inner < 47))
    town = np.full(x.shape, GRASS)
    for distance, kind in ((11, WATER), (5, WALL), (4, GRASS), (1, WALL), (0, FLOOR)):
        town[_within(inside, distance)] = kind
    for along, across in ((x, y), (y, -x), (-x, -y), (-y, x)):  # the four sides, each as if it were the northern one
        bridge = (abs(along - 25) < 6) & (across < -48)
        town[bridge] = WALL
        town[bridge & (abs(along - 25) < 5)] = FLOOR
        town[(abs(along + 26) < 9) & (abs(across + 46) < 2)] = WALL
        town[(abs(along + 26) < 8) & (abs(across + 46) < 1)] = GRASS
    _plant(town, ((x + 2 * y) % 7 == 0.5) & ~_within(inside, 6))
    _plant(town, ((x + 2 * y) % 5 == 0.5) & _within(inside, 5))
    return town


def _bastions(town: Map, outer: Field, inner: Field) -> None:
    """A wooded platform in the point of each bastion in a corner, with a lawn before it; lawns and trees in the others."""
    point = (outer + inner > 95) & (town == FLOOR)
    town[point] = WALL
    town[point & (outer + inner > 97) & ~_within(town == FLOOR, 1)] = GRASS
    _plant(town, point & (outer % 3 == 0.5) & (inner % 3 == 0.5))
    town[(outer + inner > 89) & (outer < 50) & (town == FLOOR)] = GRASS
    town[(outer > 47) & (inner < 7) & (town == FLOOR)] = GRASS
    town[(outer == 50.5) & (inner % 3 == 1.5) & (inner < 6)] = WALL


def _avenues(town: Map, radius: Field, outer: Field, inner: Field) -> None:
    """Two rows of trees on grass along each half of the axes, and eight lawns around the basin."""
    alley, lawn = (outer > 27) & (outer < 44), (radius > 17) & (radius < 25) & (inner > 5.5) & (outer - inner > 6.5)
    town[lawn | (alley & (abs(inner - 8.5) < 1.5))] = GRASS
    town[alley & (inner == 8.5) & (outer % 6 == 0.5)] = WALL
    town[lawn & (outer % 4 == 2.5) & (inner == 8.5)] = WALL


def _basin(town: Map, outer: Field, diamond: Field) -> None:
    """A star of two squares with walls around, and in it a smaller one: an island with a pond and trees."""
    for size, kind in ((8, WALL), (7, WATER), (4, WALL), (3, GRASS), (1, WATER)):
        town[(outer < size) | (diamond < size * 1.42)] = kind
    town[(outer == 1.5) & (diamond == 3)] = WALL


def _market(town: Map, x: Field, y: Field) -> None:
    """A hall around a court, and stalls around the hall; four wide ways in."""
    outer, inner = np.maximum(x, y), np.minimum(x, y)
    town[(outer > 11) & (outer < 13) & (inner > 2) & ((inner + 0.5) % 6 < 3)] = WALL
    town[(x < 6) & (y < 3)] = WALL
    town[(x < 4) & (y < 1)] = GRASS


def _park(town: Map, x: Field, y: Field) -> None:
    """A round lawn with trees, a lake in it, and an island in the lake."""
    town[np.hypot(x, y) < 14] = GRASS
    town[(np.hypot(x / 9, y / 6) < 1) | (np.hypot((x - 3) / 5.5, (y + 2) / 7) < 1)] = WATER
    town[np.hypot(x - 2.5, y + 0.5) < 2.3] = GRASS
    for column, row in ((2.5, -0.5), (-11.5, -4.5), (-9.5, 6.5), (-4.5, -11.5), (-4.5, 9.5), (2.5, 10.5), (8.5, 8.5),
                        (11.5, 2.5), (-7.5, -8.5)):
        town[(x == column) & (y == row)] = WALL


def _cloister(town: Map, x: Field, y: Field) -> None:
    """A house with bevelled corners around a garden with a cross of ways and a well, on a lawn."""
    outer, inner = np.maximum(x, y), np.minimum(x, y)
    town[(outer < 11) & (outer + inner < 18)] = GRASS
    town[(outer < 9) & (outer + inner < 15)] = WALL
    town[(outer < 6) & (outer + inner < 10)] = GRASS
    town[(outer < 6) & (inner < 1)] = FLOOR
    town[(outer == 3.5) & (inner == 3.5)] = WALL
    town[outer + inner < 4] = WATER


def _rotunda(town: Map, x: Field, y: Field) -> None:
    """A round pool within hedges and lawns that leave four ways to it."""
    radius, inner = np.hypot(x, y), np.minimum(x, y)
    town[(radius < 13) & (inner > 4)] = GRASS
    town[(radius < 10.5) & (radius > 9) & (inner > 4)] = WALL
    town[radius < 7] = FLOOR
    town[radius < 4.2] = WATER
    town[radius < 1] = GRASS


def _with_places(town: Map) -> Map:
    """Four corners, four sides, four bridges and four quarters: 0 to 9 and a to f."""
    corners = (np.s_[20:24, 20:24], np.s_[20:24, 106:110], np.s_[106:110, 106:110], np.s_[106:110, 20:24])
    sides = (np.s_[18:20, 62:68], np.s_[62:68, 110:112], np.s_[110:112, 62:68], np.s_[62:68, 18:20])
    bridges = (np.s_[1:4, 86:93], np.s_[86:93, 126:129], np.s_[126:129, 37:44], np.s_[37:44, 1:4])
    quarters = (np.s_[43:45, 33:42], np.s_[34:41, 103:106], np.s_[88:95, 104:107], np.s_[90:94, 43:46])
    for mark, place in zip("0123456789abcdef", (*corners, *sides, *bridges, *quarters), strict=True):
        town[place] = mark
    return town


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
    """The hall of a station, 58 x 37: doors on three sides, which are the first destinations, four platforms, a counter.

    Doors are so deep that people come and go under their roofs.
    """
    v, u = np.mgrid[:37, :58]
    hall = np.full((37, 58), FLOOR)
    hall[(v < 2) | (v > 33) | (u < 3) | (u > 54)] = WALL
    track = (u - 3) % 12 < 4
    hall[(v < 15) & (v > 1) & track & (u > 2) & (u < 55)] = WATER
    hall[(v == 15) & track] = WALL
    hall[np.isin(v, (20, 21, 28, 29)) & (abs(abs(u - 28.5) - 17) < 1)] = WALL
    hall[(abs(v - 22.5) < 2) & (abs(u - 28.5) < 3)] = WALL
    doors = [np.s_[22:28, 0:5], np.s_[22:28, 53:58], np.s_[32:37, 26:32]]
    platforms = [np.s_[3:9, column:column + 4] for column in (9, 21, 33, 45)]
    for number, place in enumerate((*doors, *platforms, np.s_[24:26, 27:31])):
        hall[place] = str(number)
    return hall


# --- theatre ---------------------------------------------------------------------------------------------------------

def theatre() -> Map:
    """A theatre, 96 x 84: thirty rows of seats in three blocks before a stage, and a foyer below; three exits.

    Destinations: 0 the main exit, from the foyer; 1 and 2 the side exits, left and right of the stage; 3 the foyer; the others
    are the rows, from left to right and from the stage to the back.
    """
    v, u = np.mgrid[:84, :96]
    house = np.full((84, 96), WALL)
    hall = (v > 11) & (v < 64) & (u > 7) & (u < 88)
    foyer = (v > 65) & (v < 80) & (u > 7) & (u < 88)
    house[hall | foyer] = FLOOR
    house[(v > 2) & (v < 9) & (abs(u - 47.5) < 13 + v)] = FLOOR  # the stage, behind its edge
    blocks = slice(12, 34), slice(38, 58), slice(62, 84)
    for block in blocks:
        house[17:58:4, block] = WALL  # the backs of a row of seats, and three tiles before each
    house[64:66, 34:38] = house[64:66, 58:62] = FLOOR  # from the hall into the foyer
    house[(v > 71) & (v < 74) & (abs(abs(u - 47.5) - 24) < 6)] = WALL  # cloakrooms
    for place in (np.s_[80:84, 44:52], np.s_[12:16, 0:8], np.s_[12:16, 88:96]):  # doors
        house[place] = FLOOR
    rows = [np.s_[top:top + 3, block] for top in range(18, 57, 4) for block in blocks]
    _mark(house, "0123", [np.s_[82:84, 44:52], np.s_[12:16, 0:3], np.s_[12:16, 93:96], np.s_[67:79, 10:86]])
    _mark(house, "456789abcdefghijklmnopqrstuvwx", rows)
    return house


def _mark(tiles: Map, marks: str, places: list[tuple[slice, slice]]) -> None:
    """Mark what is free in each place."""
    for mark, place in zip(marks, places, strict=True):
        part = tiles[place]
        part[part != WALL] = mark


# --- concert ---------------------------------------------------------------------------------------------------------

def concert() -> Map:
    """A field for a concert, 96 x 72: a stage above, stalls, and three gates below.

    Destinations: 0, 1 and 2 the gates, from the left; 3 the field before the stage, for 3,000; 4 and 5 the stalls.
    """
    v, u = np.mgrid[:72, :96]
    side = abs(u - 47.5)
    field = np.full((72, 96), GRASS)
    field[(v < 2) | (u < 2) | (u > 93)] = WALL
    field[(v > 2) & (v < 10) & (side < 16)] = WALL
    field[(v > 3) & (v < 9) & (side < 15)] = FLOOR  # of the stage, within its edge
    field[(v == 11) & (side < 24)] = WALL  # the barrier
    field[(v > 36) & (v < 40) & (side < 2)] = WALL  # the tower with the mixing desk
    field[(v > 45) & (v < 62) & (u > 1) & (u < 94)] = FLOOR
    field[(v > 49) & (v < 53) & (abs(side - 22) < 10) & (np.floor(side) % 6 > 1)] = WALL  # stalls
    field[(v > 60) & (v < 63)] = WALL  # the fence
    for left in (14, 44, 74):
        field[61:72, left - 1], field[61:72, left + 8] = WALL, WALL
        field[61:72, left:left + 8] = FLOOR
    _mark(field, "012", [np.s_[69:72, left:left + 8] for left in (14, 44, 74)])
    _mark(field, "3", [np.s_[13:43, 16:80]])
    _mark(field, "45", [np.s_[54:56, 16:36], np.s_[54:56, 60:80]])
    return field


# --- corridor, crossing, hall ----------------------------------------------------------------------------------------

def corridor() -> Map:
    """A corridor, 44 x 10 in 44 x 26, between gardens; its ends are the destinations."""
    v, u = np.mgrid[:26, :44]
    street = np.full((26, 44), GRASS)
    street[(v > 6) & (v < 19)] = WALL
    street[(v > 7) & (v < 18)] = FLOOR
    street[(abs(abs(v - 12.5) - 10) < 1.6) & (abs(u % 14 - 7.5) < 4)] = WATER
    _mark(street, "01", [np.s_[8:18, :3], np.s_[8:18, 41:]])
    return street


def crossing() -> Map:
    """Two corridors, 10 wide, that cross at right angles in 48 x 40; 0 is the right end, 1 the lower one."""
    v, u = np.mgrid[:40, :48]
    streets = np.full((40, 48), GRASS)
    across, down = (v > 15) & (v < 26), (u > 20) & (u < 31)
    streets[(v > 14) & (v < 27) | (u > 19) & (u < 32)] = WALL
    streets[across | down] = FLOOR
    _mark(streets, "01", [np.s_[16:26, 45:], np.s_[37:, 21:31]])
    return streets


def hall() -> Map:
    """A hall of 34 x 36 tiles and a lawn to its right; events can open a door in the wall between them."""
    v, u = np.mgrid[:40, :64]
    house = np.full((40, 64), GRASS)
    house[(v > 0) & (v < 39) & (u > 0) & (u < 38)] = WALL
    house[(v > 1) & (v < 38) & (u > 1) & (u < 36)] = FLOOR
    house[np.isin(v, (8, 9, 30, 31)) & np.isin(u % 10, (6, 7)) & (u < 32)] = WALL
    house[(v > 17) & (v < 22) & (u > 37)] = FLOOR
    house[np.hypot(u - 54, v - 6) < 4.5] = house[np.hypot(u - 54, v - 33) < 4.5] = WATER
    _mark(house, "0", [np.s_[14:26, 56:62]])
    return house


# --- meadow ----------------------------------------------------------------------------------------------------------

PLACES = ((60, 8), (103, 14), (14, 20), (38, 30), (84, 36), (112, 52), (8, 58), (76, 60), (36, 92), (62, 82), (100, 84),
          (14, 104), (76, 110), (110, 112))  # column and row
PATHS = ((0, 1, -5), (0, 3, 4), (2, 3, -3), (0, 4, -4), (1, 4, 4), (1, 5, -4), (4, 5, -3), (2, 6, 4), (3, 6, -4), (4, 7, 3),
         (7, 9, -3), (5, 10, 4), (7, 10, -4), (6, 11, -4), (8, 11, 3), (8, 9, -3), (9, 12, 4), (10, 12, -4), (10, 13, 3),
         (12, 13, -4), (3, 4, 5))  # two places, and by how many tiles the way between them bends


def meadow() -> Map:
    """A meadow of 120 x 120 between woods: a lake with an island, a brook, and paths between fourteen places."""
    y, x = np.mgrid[:120, :120] + 0.0
    path = np.minimum.reduce([_off_bend(x, y, PLACES[a], PLACES[b], bend) for a, b, bend in PATHS])
    place = np.minimum.reduce([np.hypot(x - column, y - row) for column, row in PLACES])
    angle = np.arctan2(y - 62, x - 42)
    shore = np.hypot((x - 42) / 21, (y - 62) / 15) / (1 + 0.13 * np.sin(3 * angle + 0.6) + 0.07 * np.sin(5 * angle + 2))
    brook = np.abs(x - 53 - 2.5 * np.sin(y / 5.5) - (50 - y) * 0.3) + 99 * (y > 62)
    island = np.hypot(x - 37, y - 63) < 4.2
    land = np.full((120, 120), GRASS)
    land[((shore < 1) & ~island) | (brook < 1.7)] = WATER
    land[(path < 1.3) & (shore > 1.06) | (place < 3.2)] = FLOOR
    edge = np.maximum(abs(x - 59.5), abs(y - 59.5)) / 59.5
    trees = np.sin(x / 7.1 + 1.7) + np.sin(y / 6.3 + 0.4) + np.sin((x + y) / 9.7) + 1.9 * edge**4
    wood = (trees > 1.5) & (np.minimum(path, place - 5) > 3.5) & (shore > 1.3) & (brook > 4.5)
    land[_within(~_within(~wood, 2), 2)] = WALL  # no pieces that are smaller
    open_land = (path > 2.4) & (place > 6) & (shore > 1.12) & (trees > -1.2)
    across, down = x // 4, y // 4  # at most one tree in each square of 4 x 4, at any of nine places
    here = (x % 4 == (7 * across + 3 * down) % 3) & (y % 4 == (5 * across + 11 * down + across * down) % 3)
    _plant(land, open_land & here & ((13 * across + 17 * down + across * down) % 7 < 4) | island & (x % 3 == 0) & (y % 3 == 0))
    for mark, (column, row) in zip("0123456789abcd", PLACES, strict=True):
        land[row - 1:row + 2, column - 1:column + 2] = mark
    return land


def _off_bend(x: Field, y: Field, start: tuple[int, int], end: tuple[int, int], bend: float) -> Field:
    """How far each tile is from a way that bends, and then bends back."""
    along = np.linspace(0, 1, 90)
    right, down = end[0] - start[0], end[1] - start[1]
    aside = bend * np.sin(2 * np.pi * along) / np.hypot(right, down)
    found = np.full(x.shape, np.inf)
    for share, off in zip(along, aside, strict=True):
        column, row = start[0] + share * right - off * down, start[1] + share * down + off * right
        found = np.minimum(found, np.hypot(x - column, y - row))
    return found


# --- metropolis ------------------------------------------------------------------------------------------------------

DISTRICTS = ((448, 220, 15, 13, 0.0), (330, 150, 20, 14, 0.42), (560, 126, 18, 15, -0.35), (556, 236, 22, 14, 0.2),
             (286, 256, 19, 15, -0.22), (190, 190, 24, 16, 0.12), (170, 290, 24, 16, 0.5), (336, 312, 18, 14, 0.3),
             (540, 322, 20, 16, -0.15), (650, 140, 24, 16, -0.5), (680, 300, 22, 18, 0.35), (400, 84, 22, 16, 0.1),
             (250, 76, 24, 17, 0.6), (536, 48, 24, 16, 0.3), (112, 130, 26, 18, 0.3), (770, 210, 26, 18, 0.0),
             (752, 108, 26, 18, 0.25), (766, 312, 26, 18, -0.3), (70, 230, 26, 18, -0.1), (636, 372, 22, 16, 0.1),
             (272, 366, 20, 16, 0.2), (150, 374, 24, 18, -0.2), (640, 56, 24, 18, -0.2), (530, 400, 18, 15, 0.4),
             (52, 44, 18, 14, 0.5), (48, 404, 18, 14, -0.4), (806, 40, 18, 14, 0.3), (790, 412, 18, 14, 0.2))
# of each the column and row of its square, the length and depth of its blocks with a street, and their angle
VILLAGES = (24, 14), (25, 21), (26, 16), (27, 19)  # districts out of town, and where their road leads
BRIDGES = 26, 78, 130, 172, 208, 236, 272, 316, 358, 402  # rows
TERMINI, STADIUM, PARKS = ((300, 112), (706, 250), (452, 372)), (628, 208), ((232, 236, 42, 26), (712, 164, 26, 18))


def metropolis() -> Map:
    """A city of 848 x 504 on a river by the sea: an island, bridges, docks, a pier, a stadium, stations and parks.

    Its districts, and four villages around, have streets of their own about a square. Destinations are these squares,
    0 to 9 and a to r; then the stations s to u, the stadium v, the parks w and x, the island y, and the end of the pier z.
    """
    v, u = np.mgrid[:504, :848] + 0.5
    far = np.array([np.hypot(u - column, v - row) for column, row, *_ in DISTRICTS])
    near, second = np.partition(far, 1, axis=0)[:2]
    x, y = u - 418, v - 222
    angle, ring = np.arctan2(y, x), np.hypot(x / 1.25, y)
    inside = np.hypot(x / 1.76, y / 1.02) + 9 * np.sin(5 * angle) + 5 * np.sin(11 * angle + 1) < 232
    inside |= (far[[village for village, _ in VILLAGES]] < 29).any(axis=0)
    inside &= (v > 4) & (u > 4)
    belt, between = np.minimum(abs(ring - 64), abs(ring - 150)), second - near
    town = np.full(u.shape, WALL)
    town[inside & ((between < 10) | (belt < 7) | (near < 14) | _streets(u, v, far.argmin(axis=0)))] = FLOOR
    town[inside & (town == WALL) & ~_within(town == FLOOR, 3)] = GRASS  # courts
    town[inside & (town == FLOOR) & ((belt < 1.5) | (between < 1.5)) & (near > 18)] = GRASS
    _plant(town, (belt < 1.5) & ((np.floor(u) + 2 * np.floor(v)) % 7 == 0))
    for village, district in VILLAGES:
        town[_off_road(u, v, DISTRICTS[village], DISTRICTS[district]) < 3.5] = FLOOR
    for column, row, width, height in PARKS:
        _lake_park(town, u - column, v - row, width, height)
    _waters(town, u, v, inside)
    for column, row in TERMINI:
        _terminus(town, u - column, v - row)
    _arena(town, u - STADIUM[0], v - STADIUM[1])
    return _with_squares(town)


def _off_road(u: Field, v: Field, start: tuple[float, ...], end: tuple[float, ...]) -> Field:
    """How far each tile is from a straight road."""
    x, y, right, down = u - start[0], v - start[1], end[0] - start[0], end[1] - start[1]
    along = np.clip((x * right + y * down) / (right * right + down * down), 0, 1)
    return np.hypot(x - along * right, y - along * down)


def _streets(u: Field, v: Field, owner: NDArray[np.intp]) -> Tiles:
    """Return the streets of all districts: two sets of parallels at a right angle."""
    length, depth, angle = np.array(DISTRICTS).T[2:, owner]
    along, across = u * np.cos(angle) + v * np.sin(angle), v * np.cos(angle) - u * np.sin(angle)
    streets: Tiles = (along % length < 6) | (across % depth < 5)
    return streets


def _lake_park(town: Map, x: Field, y: Field, width: float, height: float) -> None:
    """An oval of lawn with trees in rings, ways that cross, and a lake with an island."""
    oval = np.hypot(x / width, y / height)
    town[oval < 1.12] = FLOOR
    town[oval < 1] = GRASS
    town[(oval < 1) & ((abs(x + y) < 3) | (abs(x - y) < 3) | (abs(oval - 0.72) < 0.05))] = FLOOR
    _plant(town, (oval < 1) & (np.floor(x) % 5 == 0) & (np.floor(y) % 4 == 0))
    town[np.hypot((x - 0.1 * width) / (0.52 * width), y / (0.42 * height)) < 1] = WATER
    town[np.hypot(x - 0.3 * width, y + 1) < 3] = GRASS


def _waters(town: Map, u: Field, v: Field, inside: Tiles) -> None:
    """The sea with docks and a pier, the river with its island, quays along them, and bridges."""
    middle = 454 + 46 * np.sin(v / 80 + 1.2) - 0.1 * v
    island = np.hypot((u - middle) / 11, (v - 222) / 37)
    bank = abs(u - middle) - 13 - 16 * np.exp(-(((v - 222) / 44) ** 2))
    coast = 448 + 13 * np.sin(u / 70) + 7 * np.sin(u / 29 + 2) - v
    harbour = abs(u - 286) < 64
    town[inside & ((bank < 7) | (coast < 8) | (harbour & (coast < 38)))] = FLOOR
    town[(coast < 0) | (harbour & (coast < 28) & ((u - 222) % 22 < 13)) | ((bank < 0) & (island > 1))] = WATER
    town[(island < 0.75) & (abs(v - 222) > 5) & (v % 13 > 4)] = WALL
    town[(coast > -46) & (coast < 2) & (abs(u - 376) < 5)] = FLOOR
    town[np.hypot(u - 376, coast + 50) < 11] = FLOOR
    for row in BRIDGES:
        bridge = (bank < 1) & (island > 0.9) & (abs(v - row) < 5.6)
        town[bridge] = WALL
        town[bridge & (abs(v - row) < 5)] = FLOOR


def _terminus(town: Map, x: Field, y: Field) -> None:
    """A hall open to a square, and five platforms between tracks under a roof."""
    town[(abs(x) < 34) & (abs(y) < 24)] = FLOOR
    hall, tracks = (abs(x) < 30) & (abs(y) < 20), (abs(x + 8) < 22) & (abs(y) < 19)
    town[hall & ~((abs(x) < 29) & (abs(y) < 19))] = WALL
    town[tracks & (np.floor(y + 19) % 8 < 3)] = WATER
    town[hall & (((abs(abs(y) - 12) < 3) | (abs(y) < 4)) & (x > 0) | (abs(x - 20) < 5))] = FLOOR


def _arena(town: Map, x: Field, y: Field) -> None:
    """A stadium: a pitch, rings of seats with eight aisles, a wall with eight gates, and a square around."""
    oval, angle = np.hypot(x / 1.35, y), np.arctan2(y * 1.35, x)
    aisle = abs(angle * 4 / np.pi - np.round(angle * 4 / np.pi)) < 0.16
    town[oval < 37] = FLOOR
    town[(oval < 31) & ~aisle & ((oval > 29.5) | (oval > 15) & (np.floor(oval) % 3 == 0))] = WALL
    town[oval < 14] = GRASS


def _with_squares(town: Map) -> Map:
    """Open the squares, with four beds around each, and mark the destinations."""
    y, x = np.mgrid[-13.5:14, -13.5:14]
    for column, row, *_ in DISTRICTS:
        square = town[row - 14:row + 14, column - 14:column + 14]
        square[np.hypot(x, y) < 13] = FLOOR
        square[np.hypot(abs(x) - 7, abs(y) - 7) < 2] = GRASS
        _plant(square, (abs(abs(x) - 7) < 0.6) & (abs(abs(y) - 7) < 0.6))
    squares = [(column, row) for column, row, *_ in DISTRICTS]
    stations = [(column + 20, row) for column, row in TERMINI]
    parks = [(column, row + height * 4 // 5) for column, row, _, height in PARKS]
    places = *squares, *stations, STADIUM, *parks, (398, 222), (376, 490)
    for mark, (column, row) in zip("0123456789abcdefghijklmnopqrstuvwxyz", places, strict=True):
        _mark(town, mark, [np.s_[row - 3:row + 3, column - 3:column + 3]])
    return town


MAPS = {"plaza": plaza, "citadel": citadel, "maze": maze, "doorway": doorway, "station": station, "theatre": theatre,
        "concert": concert, "corridor": corridor, "crossing": crossing, "hall": hall, "meadow": meadow,
        "metropolis": metropolis}


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
