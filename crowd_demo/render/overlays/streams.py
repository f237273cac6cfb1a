"""Streams: where the agents on each square of the ground go, all in all, and how much they agree."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Doubles, Ints, Words
from crowd_demo.render.colours.heading import SHADES, WHEEL, shades_of
from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import SHADOW, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.overlays.squares import squares_in
from crowd_demo.sim.measures import square_text
from crowd_demo.sim.simulation import Simulation

LEAST_PX = 15.0  # side of a square
SMALLEST = 16.0  # units
USUAL = 12  # agents on a square, if they stood evenly: fewer agree by chance
MOST = 40_000  # agents that are looked at
LEAST = 0.35  # of agreement: below it, there is no stream
FIXED = 256  # steps of a unit a second: sums of whole numbers do not depend on the order in memory
INKS = np.array([ink(colour) for colour in SHADES], np.uint32)


def draw_streams(sketch: Sketch, looking: Looking) -> None:
    """Draw an arrow on each square that has a stream, the longer the more its agents agree: |sum of v| / sum of |v|."""
    some, every = _some(looking)
    slots, x, y = looking.seen(some)
    side = _side(sketch, looking.sim, every)
    squares = squares_in(sketch.rect, side)
    square = squares.number_at(x, y)
    agents = looking.used.shot.agents
    vx, vy = np.rint(agents.vx[slots] * FIXED), np.rint(agents.vy[slots] * FIXED)
    speed = np.rint(np.hypot(vx, vy))
    count, speeds, sum_x, sum_y = (np.bincount(square, each, squares.total) for each in (None, speed, vx, vy))
    found = np.flatnonzero((count >= USUAL / 3) & (np.hypot(sum_x, sum_y) > LEAST * speeds))
    column, row = squares.place_of(found)
    half = 0.45 * side / speeds[found]
    way_x, way_y = sum_x[found] * half, sum_y[found] * half
    to_x, to_y = (column + 0.5) * side + way_x, (row + 0.5) * side + way_y
    sketch.arrows(to_x - 2 * way_x, to_y - 2 * way_y, to_x, to_y, inks_of(way_x, way_y), width=2, shadow=SHADOW)
    keys = (Key(colour, text) for colour, text in zip(WHEEL, ("up", "right", "down", "left"), strict=True))
    thinned = f" (1 in {every} agents)" if every > 1 else ""
    sketch.explain(f"where agents go, on {square_text(looking.sim, side)}{thinned}; long: all agree", *keys)


def _some(looking: Looking) -> tuple[Ints, int]:
    """The slots of agents that were drawn, of many always the same ones; and of how many each is one."""
    drawn, ids = looking.used.slots, looking.used.shot.agents.id
    every = 1 << (max(len(drawn) - 1, 0) // MOST).bit_length()
    return drawn[ids[drawn] & (every - 1) == 0] if every > 1 else drawn, every


def _side(sketch: Sketch, sim: Simulation, every: int) -> float:
    """Side of the squares, units, if one agent in so many is looked at."""
    walls, side = sim.terrain.walls, SMALLEST
    area = float(walls.width) * float(walls.height) * every / max(sim.agents.count, 1)  # of an agent
    while side * sketch.zoom < LEAST_PX or side * side < USUAL * area:
        side *= 2
    return side


def inks_of(way_x: Doubles, way_y: Doubles) -> Words:
    """The colours that headings have."""
    return INKS[shades_of(way_x.astype(np.float32), way_y.astype(np.float32))]
