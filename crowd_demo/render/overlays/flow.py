"""The flow field of the destination nearest to the cursor: for each tile the next one on the way there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bytes, Longs
from crowd_demo.render.camera import Rect
from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import BLACK, BLUE, VERMILION, WHITE, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.overlays.squares import cells_between
from crowd_demo.sim.terrain.flow_fields import ARRIVED, STEP_COLUMN, STEP_ROW, UNREACHABLE
from crowd_demo.sim.terrain.tiles import Walls

LEAST_PX = 22.0  # from arrow to arrow
Places = NDArray[np.floating]
ACROSS, DOWN = np.array(STEP_COLUMN), np.array(STEP_ROW)


def draw_flow(sketch: Sketch, looking: Looking) -> None:
    """Draw an arrow in each tile on the screen, or in every n-th one; a box where people have arrived."""
    flow, walls = looking.sim.world.flow_fields, looking.sim.terrain.walls
    if not len(flow.made):
        sketch.explain("there are no destinations")
        return
    fields, (at_x, at_y) = flow.fields, looking.pointed_at
    goal = int(np.argmin((fields.goal_x - at_x) ** 2 + (fields.goal_y - at_y) ** 2))
    sketch.label(f"destination {goal}", float(fields.goal_x[goal]), float(fields.goal_y[goal]))
    if not flow.made[goal]:
        sketch.explain(f"nobody has needed the field of destination {goal} yet, so it is not made")
        return
    tile, every = float(walls.tile), 1
    while every * tile * sketch.zoom < LEAST_PX:
        every *= 2
    column, row, step = _free_tiles(sketch.rect, walls, fields.direction[goal], every)
    x, y = (column + 0.5) * tile, (row + 0.5) * tile
    leads, there, lost = step < ARRIVED, step == ARRIVED, step == UNREACHABLE
    _draw_arrows(sketch, x[leads], y[leads], step[leads], 0.36 * every * tile)
    half = tile / 2 - 2
    sketch.boxes(x[there] - half, y[there] - half, x[there] + half, y[there] + half, ink(BLACK, 220), width=2,
                 shadow=ink(WHITE, 110))
    _draw_crosses(sketch, x[lost], y[lost], 0.2 * every * tile)
    thinned = f"; one tile in {every} x {every}" if every > 1 else ""
    sketch.explain(f"to destination {goal}, the nearest to the cursor{thinned}",
                Key(BLUE, "next tile"), Key(BLACK, "arrived"), Key(VERMILION, "no way there"))


def _free_tiles(view: Rect, walls: Walls, direction: Bytes, every: int) -> tuple[Longs, Longs, Longs]:
    """Of the tiles in view, or of every n-th column and row of them, those without a wall: column, row, and the step there."""
    side = every * float(walls.tile)
    rows, columns = (every * cells_between(low, high, side, -(-tiles // every)) for low, high, tiles in (
        (view.top, view.bottom, direction.shape[0]), (view.left, view.right, direction.shape[1])))
    row, column = (each.ravel() for each in np.meshgrid(rows, columns, indexing="ij"))
    free = walls.blocked[row, column] == 0
    row, column = row[free], column[free]
    return column, row, direction[row, column].astype(np.int64)


def _draw_arrows(sketch: Sketch, x: Places, y: Places, step: Longs, half: float) -> None:
    across, down = ACROSS[step], DOWN[step]
    length = half / np.hypot(across, down)
    sketch.arrows(x - across * length, y - down * length, x + across * length, y + down * length, ink(BLUE),
                  shadow=ink(WHITE, 150))


def _draw_crosses(sketch: Sketch, x: Places, y: Places, half: float) -> None:
    sketch.lines(x - half, y - half, x + half, y + half, ink(VERMILION, 225))
    sketch.lines(x - half, y + half, x + half, y - half, ink(VERMILION, 225))
