"""How the picture is made: what culling takes, tests and leaves out, the frozen frustum, and the bands of the depth order."""

from __future__ import annotations

import numpy as np

from crowd_demo.render.hud.status import Key
from crowd_demo.render.hud.theme import WARM
from crowd_demo.render.inks import BLACK, ORANGE, SKY, ink
from crowd_demo.render.overlays.base import OverlayView
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.overlays.structure import LEAST_PX

TINTS = np.array([ink(SKY, 70), ink(ORANGE, 70)], np.uint32)  # of every other band


def draw_culling(sketch: Sketch, view: OverlayView) -> None:
    """Fill them; all of it is in view only from outside, while the frustum is frozen."""
    used, counters, count = view.used, view.sim.profile.counters, view.sim.agents.count
    if used.cells is None:
        sketch.boxes(used.now.bounds.left, used.now.bounds.top, used.now.bounds.right, used.now.bounds.bottom,
                     ink(BLACK), width=2)
        sketch.explain(f"all {count:,} agents were tested, {counters['drawn']:,.0f} kept", Key(BLACK, "bounds of the test"))
        return
    cells, inner_cells, grid = used.cells.all, used.cells.inner, view.sim.world.grid
    side = grid.cell
    left, top, right, bottom = (number * side for number in (cells.column0, cells.row0, cells.column1, cells.row1))
    inner = [number * side for number in (inner_cells.column0, inner_cells.row0, inner_cells.column1, inner_cells.row1)]
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
    hint = "" if view.frozen else "; freeze the view and zoom out to see it from outside"
    sketch.explain(f"{tested:,.0f} of {count:,} agents tested{hint}", Key(SKY, "taken without a test"), Key(ORANGE, "tested"),
                   Key(BLACK, "left out"))


def draw_frustum(sketch: Sketch, view: OverlayView) -> None:
    """Draw the outline of that rectangle, with its name above it."""
    frozen = view.frozen
    if frozen:
        sketch.boxes(*frozen, ink(BLACK), width=6)
        sketch.boxes(*frozen, ink(ORANGE), width=2)
        sketch.label("frozen frustum", (frozen.left + frozen.right) / 2, frozen.top - 16 / sketch.zoom, WARM)
        sketch.explain("drawn is what touches it: whole tiles, and agents that reach into it", Key(ORANGE, "the frozen view"))


def draw_bands(sketch: Sketch, view: OverlayView) -> None:
    """Tint every other band, as this picture was sorted."""
    scale = view.used.bands
    if scale is None:
        sketch.explain("agents as light need no order: nothing is sorted at this zoom")
        return
    top, per_unit = float(scale.top), float(scale.per_unit)
    rect, band = sketch.rect, np.arange(scale.bands)
    upper, lower = top + band / per_unit, top + (band + 1) / per_unit
    shown = (lower > rect.top) & (upper < rect.bottom)
    band, upper, lower = band[shown], upper[shown], lower[shown]
    left, right = max(rect.left, 0.0), min(rect.right, float(view.sim.terrain.walls.width))
    sketch.areas(left, upper, right, lower, TINTS[band & 1])
    sketch.lines(left, upper, right, upper, ink(BLACK, 150))
    starts = view.used.band_starts[:scale.bands + 1]
    agents = np.diff(starts)
    sketch.explain(f"{scale.bands} bands of {1 / per_unit:.3g} units, with {agents.min()} to {agents.max()} agents")
