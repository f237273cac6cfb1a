"""Hit areas: what counts as an agent's body, and as far as it perceives others."""

from __future__ import annotations

import numpy as np

from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import ORANGE, SHADOW, WHITE, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.sim.measures import length_text
from crowd_demo.sim.neighbours.boxes import extents

MOST, FEW = 300, 20  # agents with a body, and with a range of perception, which are larger


def draw_bodies(sketch: Sketch, looking: Looking) -> None:
    """Draw the squares of agents that have a size, or else the circle that they keep clear of walls."""
    sim = looking.sim
    needs, half = sim.world.needs, extents(sim.agents.columns)
    in_view = looking.in_view()
    slots, how_many = looking.some(in_view, MOST)
    x, y = looking.places(slots)
    if len(half):
        side = half[slots].astype(np.float64)
        sketch.boxes(x - side, y - side, x + side, y + side, ink(ORANGE), shadow=SHADOW)
        sketch.explain(f"squares {how_many}", Key(ORANGE, "the square that others may not enter"))
        return
    keys = []
    if needs.body > 0:
        sketch.circles(x, y, needs.body, ink(ORANGE), width=2, shadow=SHADOW)
        keys.append(Key(ORANGE, f"{length_text(sim, needs.body)} kept clear of walls ({how_many})"))
    few, how_few = looking.some(in_view, FEW)  # not of those few, whose hashes already are alike
    x, y = looking.places(few)
    sketch.circles(x, y, needs.radius, ink(WHITE), dash=5, shadow=SHADOW)
    sketch.explain("", *keys, Key(WHITE, f"neighbours are within {length_text(sim, needs.radius)} ({how_few})", dashed=True))
