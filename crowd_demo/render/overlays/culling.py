"""Culling: the cells whose agents were taken without a look, those whose agents were tested, and what was left out."""

from __future__ import annotations

import numpy as np

from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import BLACK, ORANGE, SKY, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.cells import LEAST_PX
from crowd_demo.render.overlays.sketch import Sketch


def draw_culling(sketch: Sketch, looking: Looking) -> None:
    """Fill them; all of it is in view only from outside, while the frustum is frozen."""
    used, counters, count = looking.used, looking.sim.profile.counters, looking.sim.agents.count
    if used.cells is None:
        sketch.boxes(used.shot.bounds.left, used.shot.bounds.top, used.shot.bounds.right, used.shot.bounds.bottom,
                     ink(BLACK), width=2)
        sketch.explain(f"all {count:,} agents were tested, {counters['drawn']:,.0f} kept", Key(BLACK, "bounds of the test"))
        return
    cells, grid = used.cells, looking.sim.world.grid
    side = grid.cell
    left, top, right, bottom = (number * side for number in (cells.column0, cells.row0, cells.column1, cells.row1))
    inner = [number * side for number in (cells.inner_column0, cells.inner_row0, cells.inner_column1, cells.inner_row1)]
    wide, high = grid.columns * side, grid.rows * side
    culled = ink(BLACK, 110)
    sketch.areas([0, 0, 0, right], [0, bottom, top, top], [wide, wide, left, wide], [top, high, bottom, bottom], culled)
    sketch.areas([left, left, left, inner[2]], [top, inner[3], inner[1], inner[1]], [right, right, inner[0], right],
                 [inner[1], bottom, inner[3], inner[3]], ink(ORANGE, 110))
    sketch.areas(inner[0], inner[1], inner[2], inner[3], ink(SKY, 60))
    if side * sketch.zoom >= LEAST_PX:
        x, y = np.arange(cells.column0, cells.column1 + 1) * side, np.arange(cells.row0, cells.row1 + 1) * side
        sketch.lines(x, top, x, bottom, ink(BLACK, 90))
        sketch.lines(left, y, right, y, ink(BLACK, 90))
    tested = counters["tested"]
    hint = "" if looking.frozen else "; freeze the view and zoom out to see it from outside"
    sketch.explain(f"{tested:,.0f} of {count:,} agents tested{hint}", Key(SKY, "taken without a test"), Key(ORANGE, "tested"),
                Key(BLACK, "left out"))
