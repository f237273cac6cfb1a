"""A heat map of density: how many agents there are in each square of the ground."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Longs
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.heat import Heat, draw_heat
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.overlays.squares import squares_in
from crowd_demo.sim.measures import square_text
from crowd_demo.sim.terrain.tiles import Walls

LEAST_PX = 14.0  # side of a square
SMALLEST = 16.0  # units


def draw_density(sketch: Sketch, looking: Looking) -> None:
    """Count the agents in squares of the world; walls and water stay bare."""
    walls = looking.sim.terrain.walls
    is_open = not walls.blocked.any()
    side = side_of(sketch.zoom, SMALLEST if is_open else float(walls.tile))
    squares = squares_in(sketch.rect, side)
    _, x, y = looking.seen()
    counts = np.bincount(squares.number_at(x, y), minlength=squares.total)
    found = np.flatnonzero(counts)
    column, row = squares.place_of(found)
    part, amounts = side, counts[found]
    if not is_open:
        row, column, which = on_free_tiles(row, column, side, walls)
        part, amounts = min(side, float(walls.tile)), amounts[which]
    heat = Heat(column * part, row * part, (column + 1) * part, (row + 1) * part, amounts.astype(np.float64))
    draw_heat(sketch, heat, f"agents in {square_text(looking.sim, side)}", looking.scales)


def side_of(zoom: float, tile: float) -> float:
    """The side of a square: a tile's, halved or doubled, so that each is part of one tile or is made of whole ones."""
    side = tile
    while side >= 2 * SMALLEST:
        side /= 2
    while side * zoom < LEAST_PX:
        side *= 2
    return side


def on_free_tiles(row: Longs, column: Longs, side: float, walls: Walls) -> tuple[Longs, Longs, Longs]:
    """The parts of squares on free tiles, each a square or a tile of a larger one: row, column, and of which square."""
    tile, which = float(walls.tile), np.arange(len(row))
    if side > tile:
        each = round(side / tile)
        down, across = np.divmod(np.arange(each * each), each)
        row, column = (row[:, None] * each + down).ravel(), (column[:, None] * each + across).ravel()
        which = np.repeat(which, each * each)
    parts_a_tile = max(round(tile / side), 1)
    down, across = row // parts_a_tile, column // parts_a_tile
    height, width = walls.blocked.shape
    inside = (down >= 0) & (across >= 0) & (down < height) & (across < width)
    free = np.flatnonzero(inside)
    free = free[walls.blocked[down[free], across[free]] == 0]
    return row[free], column[free], which[free]
