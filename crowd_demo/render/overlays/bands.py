"""The bands of the depth order: agents are sorted by y only within their band, so workers share the bands."""

from __future__ import annotations

import numpy as np

from crowd_demo.render.inks import BLACK, ORANGE, SKY, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch

TINTS = np.array([ink(SKY, 70), ink(ORANGE, 70)], np.uint32)


def draw_bands(sketch: Sketch, looking: Looking) -> None:
    """Tint every other band, as this picture was sorted."""
    scale = looking.used.bands
    if scale is None:
        sketch.explain("agents as light need no order: nothing is sorted at this zoom")
        return
    top, per_unit = float(scale.top), float(scale.per_unit)
    view, band = sketch.rect, np.arange(scale.bands)
    upper, lower = top + band / per_unit, top + (band + 1) / per_unit
    shown = (lower > view.top) & (upper < view.bottom)
    band, upper, lower = band[shown], upper[shown], lower[shown]
    left, right = max(view.left, 0.0), min(view.right, float(looking.sim.terrain.walls.width))
    sketch.areas(left, upper, right, lower, TINTS[band & 1])
    sketch.lines(left, upper, right, upper, ink(BLACK, 150))
    starts = looking.used.band_starts[:scale.bands + 1]
    agents = np.diff(starts)
    sketch.explain(f"{scale.bands} bands of {1 / per_unit:.3g} units, with {agents.min()} to {agents.max()} agents")
