"""Where agents go: the streams of the crowd, and the flow field that leads people to a destination."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bytes, Doubles, Ints, Longs, Words
from crowd_demo.render.camera import Rect
from crowd_demo.render.colours.movement import SHADES, WHEEL, shades_of
from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import BLACK, BLUE, SHADOW, VERMILION, WHITE, ink
from crowd_demo.render.overlays.base import OverlayView
from crowd_demo.render.overlays.sketch import Sketch, cells_in, squares_in
from crowd_demo.sim.measures import square_text
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.flow_fields import ARRIVED, STEP_COLUMN, STEP_ROW, UNREACHABLE
from crowd_demo.sim.terrain.tiles import Walls

SQUARE_PX = 15.0  # least side of a square
SMALLEST = 16.0  # units
USUAL = 12  # agents on a square, if they stood evenly: fewer agree by chance
MOST = 40_000  # agents that are looked at
LEAST = 0.35  # of agreement: below it, there is no stream
FIXED = 256  # steps of a unit a second: sums of whole numbers do not depend on the order in memory
INKS = np.array([ink(colour) for colour in SHADES], np.uint32)

ARROW_PX = 22.0  # least distance from arrow to arrow of a flow field
ACROSS, DOWN = np.array(STEP_COLUMN), np.array(STEP_ROW)
Numbers = NDArray[np.floating]


def draw_streams(sketch: Sketch, view: OverlayView) -> None:
    """Draw an arrow on each square that has a stream, the longer the more its agents agree: |sum of v| / sum of |v|."""
    some, every = _some(view)
    slots, x, y = view.visible(some)
    side = _side(sketch, view.sim, every)
    squares = squares_in(sketch.rect, side)
    square = squares.number_at(x, y)
    agents = view.used.now.agents
    vx, vy = np.rint(agents.vx[slots] * FIXED), np.rint(agents.vy[slots] * FIXED)
    speed = np.rint(np.hypot(vx, vy))
    count, speeds, sum_x, sum_y = (np.bincount(square, each, squares.total) for each in (None, speed, vx, vy))
    found = np.flatnonzero((count >= USUAL / 3) & (np.hypot(sum_x, sum_y) > LEAST * speeds))
    column, row = squares.cell_of(found)
    half = 0.45 * side / speeds[found]
    way_x, way_y = sum_x[found] * half, sum_y[found] * half
    to_x, to_y = (column + 0.5) * side + way_x, (row + 0.5) * side + way_y
    sketch.arrows(to_x - 2 * way_x, to_y - 2 * way_y, to_x, to_y, inks_of(way_x, way_y), width=2, shadow=SHADOW)
    keys = (Key(colour, text) for colour, text in zip(WHEEL, ("up", "right", "down", "left"), strict=True))
    thinned = f" (1 in {every} agents)" if every > 1 else ""
    sketch.explain(f"where agents go, on {square_text(view.sim, side)}{thinned}; long: all agree", *keys)


def _some(view: OverlayView) -> tuple[Ints, int]:
    """The slots of agents that were drawn, of many always the same ones; and of how many each is one."""
    drawn, ids = view.used.slots, view.used.now.agents.id
    every = 1 << (max(len(drawn) - 1, 0) // MOST).bit_length()
    return drawn[ids[drawn] & (every - 1) == 0] if every > 1 else drawn, every


def _side(sketch: Sketch, sim: Simulation, every: int) -> float:
    """Side of the squares, units, if one agent in so many is looked at."""
    walls, side = sim.terrain.walls, SMALLEST
    area = float(walls.width) * float(walls.height) * every / max(sim.agents.count, 1)  # of an agent
    while side * sketch.zoom < SQUARE_PX or side * side < USUAL * area:
        side *= 2
    return side


def inks_of(way_x: Doubles, way_y: Doubles) -> Words:
    """The colours that headings have."""
    return INKS[shades_of(way_x.astype(np.float32), way_y.astype(np.float32))]


# --- flow fields -----------------------------------------------------------------------------------------------------

def draw_flow(sketch: Sketch, view: OverlayView) -> None:
    """Draw an arrow in each tile on the screen, or in every n-th one; a box where people have arrived."""
    flow, walls = view.sim.world.flow_fields, view.sim.terrain.walls
    if not len(flow.made):
        sketch.explain("there are no destinations")
        return
    fields, (at_x, at_y) = flow.fields, view.pointed_at
    goal = int(np.argmin((fields.goal_x - at_x) ** 2 + (fields.goal_y - at_y) ** 2))
    sketch.label(f"destination {goal}", float(fields.goal_x[goal]), float(fields.goal_y[goal]))
    if not flow.made[goal]:
        sketch.explain(f"nobody has needed the field of destination {goal} yet, so it is not made")
        return
    tile = float(walls.tile)
    every = 1 << sketch.doublings(tile, ARROW_PX)
    column, row, step = _free_tiles(sketch.rect, walls, fields.direction[goal], every)
    x, y = (column + 0.5) * tile, (row + 0.5) * tile
    leads, there, lost = step < ARRIVED, step == ARRIVED, step == UNREACHABLE
    _draw_arrows(sketch, x[leads], y[leads], step[leads], 0.36 * every * tile)
    half = tile / 2 - 2
    sketch.boxes(x[there] - half, y[there] - half, x[there] + half, y[there] + half, ink(BLACK, 220), width=2,
                 shadow=ink(WHITE, 110))
    x, y, half = x[lost], y[lost], 0.2 * every * tile
    sketch.lines(x - half, y - half, x + half, y + half, ink(VERMILION, 225))
    sketch.lines(x - half, y + half, x + half, y - half, ink(VERMILION, 225))
    thinned = f"; one tile in {every} x {every}" if every > 1 else ""
    sketch.explain(f"to destination {goal}, the nearest to the cursor{thinned}",
                   Key(BLUE, "next tile"), Key(BLACK, "arrived"), Key(VERMILION, "no way there"))


def _free_tiles(rect: Rect, walls: Walls, direction: Bytes, every: int) -> tuple[Longs, Longs, Longs]:
    """Of the tiles in view, or of every n-th column and row of them, those without a wall: column, row, and the step there."""
    tiles_down, tiles_across = direction.shape
    rows, columns = cells_in(rect, every * float(walls.tile), -(-tiles_across // every), -(-tiles_down // every))
    row, column = (every * each.ravel() for each in np.meshgrid(rows, columns, indexing="ij"))
    free = walls.blocked[row, column] == 0
    row, column = row[free], column[free]
    return column, row, direction[row, column].astype(np.int64)


def _draw_arrows(sketch: Sketch, x: Numbers, y: Numbers, step: Longs, half: float) -> None:
    across, down = ACROSS[step], DOWN[step]
    length = half / np.hypot(across, down)
    sketch.arrows(x - across * length, y - down * length, x + across * length, y + down * length, ink(BLUE),
                  shadow=ink(WHITE, 150))
