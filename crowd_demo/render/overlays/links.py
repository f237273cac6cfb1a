"""Links: the springs between agents, by how far they are stretched."""

from __future__ import annotations

import numpy as np

from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import SCALE, SHADOW, scale_inks
from crowd_demo.render.overlays.base import NOT_BUILT, Looking
from crowd_demo.render.overlays.sketch import Sketch

MOST = 6000
FULL = 1.0  # of its length at rest: a spring that is stretched so far has the last colour of the scale


def draw_links(sketch: Sketch, looking: Looking) -> None:
    """Draw the links that are on the screen."""
    links = looking.sim.links
    if not links.fresh:
        sketch.explain(NOT_BUILT)
        return
    a, b = links.pairs()
    (ax, ay), (bx, by) = looking.places(a), looking.places(b)
    view = sketch.rect
    shown = np.flatnonzero((np.maximum(ax, bx) >= view.left) & (np.minimum(ax, bx) <= view.right)
                           & (np.maximum(ay, by) >= view.top) & (np.minimum(ay, by) <= view.bottom))
    every = -(-len(shown) // MOST)
    shown = shown[::every or 1]
    rest = looking.sim.config.links.rest
    stretch = np.abs(np.hypot(ax - bx, ay - by)[shown] / max(rest, 1e-9) - 1)
    sketch.lines(ax[shown], ay[shown], bx[shown], by[shown], scale_inks(stretch / FULL, 255, 255), width=2, shadow=SHADOW)
    sketch.explain(f"{len(a):,} links" + (f"; 1 in {every} is drawn" if every > 1 else ""), Key(SCALE[0], "at rest"),
                Key(SCALE[-1], "twice as long, or longer"))
