"""The flow field of the destination nearest to the cursor: for each tile the next one on the way there."""

from __future__ import annotations

import numpy as np

from crowd_demo.render.inks import BLACK, BLUE, VERMILION, WHITE, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.overlays.squares import cells_between
from crowd_demo.render.told import Key
from crowd_demo.sim.terrain.flow_fields import ARRIVED, STEP_COLUMN, STEP_ROW, UNREACHABLE

LEAST_PX = 22.0  # from arrow to arrow
ACROSS, DOWN = np.array(STEP_COLUMN), np.array(STEP_ROW)


def draw_flow(sketch: Sketch, looking: Looking) -> None:
    """Draw an arrow in each tile on the screen, or in every n-th one; a box where people have arrived."""
    fields, walls = looking.sim.world.flow_fields, looking.sim.terrain.walls
    if not len(fields.made):
        sketch.tell("there are no destinations")
        return
    x, y = looking.pointed_at
    goal = int(np.argmin((fields.fields.goal_x - x) ** 2 + (fields.fields.goal_y - y) ** 2))
    goal_x, goal_y = float(fields.fields.goal_x[goal]), float(fields.fields.goal_y[goal])
    sketch.label(f"destination {goal}", goal_x, goal_y)
    if not fields.made[goal]:
        sketch.tell(f"nobody has needed the field of destination {goal} yet, so it is not made")
        return
    tile, every, view = float(walls.tile), 1, sketch.rect
    while every * tile * sketch.zoom < LEAST_PX:
        every *= 2
    direction = fields.fields.direction[goal]
    rows, columns = (every * cells_between(low, high, every * tile, -(-tiles // every)) for low, high, tiles in (
        (view.top, view.bottom, direction.shape[0]), (view.left, view.right, direction.shape[1])))
    steps = direction[np.ix_(rows, columns)]
    row, column = (each.ravel() for each in np.meshgrid(rows, columns, indexing="ij"))
    step, free = steps.ravel().astype(np.int64), walls.blocked[np.ix_(rows, columns)].ravel() == 0
    leads = free & (step < ARRIVED)
    way = ACROSS[step[leads]], DOWN[step[leads]]
    length = 0.36 * every * tile / np.hypot(*way)
    x, y = (column[leads] + 0.5) * tile, (row[leads] + 0.5) * tile
    sketch.arrows(x - way[0] * length, y - way[1] * length, x + way[0] * length, y + way[1] * length, ink(BLUE),
                  shadow=ink(WHITE, 150))
    there = free & (step == ARRIVED)
    sketch.boxes(column[there] * tile + 2, row[there] * tile + 2, (column[there] + 1) * tile - 2, (row[there] + 1) * tile - 2,
                 ink(BLACK, 220), width=2, shadow=ink(WHITE, 110))
    lost = free & (step == UNREACHABLE)
    x, y, half = (column[lost] + 0.5) * tile, (row[lost] + 0.5) * tile, 0.2 * every * tile
    sketch.lines(np.append(x - half, x - half), np.append(y - half, y + half), np.append(x + half, x + half),
                 np.append(y + half, y - half), ink(VERMILION, 225))
    thinned = f"; one tile in {every} x {every}" if every > 1 else ""
    sketch.tell(f"to destination {goal}, the nearest to the cursor{thinned}",
                Key(BLUE, "next tile"), Key(BLACK, "arrived"), Key(VERMILION, "no way there"))
