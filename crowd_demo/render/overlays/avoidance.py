"""Avoidance: whom people yield to, by the formula that the present technique *avoidance* uses."""

from __future__ import annotations

import numpy as np

from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import BLACK, ORANGE, SKY, WHITE, ink
from crowd_demo.render.overlays.base import NOT_BUILT, Looking
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.sim.inspection import around, pushes_call

MOST = 12  # people whose neighbours are shown
LEAST = 0.15  # of the strongest push on somebody: weaker ones are left out
PUSH_UNITS = 30.0  # length of an arrow that stands for a push of 1


def draw_avoidance(sketch: Sketch, looking: Looking) -> None:
    """Draw a line from each of a few people to those who push them most, and an arrow of the push that they keep."""
    sim = looking.sim
    slots, how_many = looking.some(looking.in_view(), MOST)
    near = [around(sim, int(slot)) for slot in slots]
    if not all(near):
        sketch.explain(NOT_BUILT)
        return
    candidates = [each.candidates for each in near if each]
    finding, pushes = pushes_call(sim, slots, candidates)
    finding.run()
    strength = np.hypot(pushes[:, 0], pushes[:, 1])
    whose = np.repeat(np.arange(len(slots)), [len(each) for each in candidates])
    strongest = np.zeros(len(slots))
    np.maximum.at(strongest, whose, strength)
    kept = np.flatnonzero((strength > 0) & (strength >= LEAST * strongest[whose]))
    others = np.concatenate([np.zeros(0, np.int32), *candidates])[kept]
    (x, y), (to_x, to_y) = looking.places(slots), looking.places(others)
    sketch.lines(x[whose[kept]], y[whose[kept]], to_x, to_y, ink(BLACK, 170), 4)
    sketch.lines(x[whose[kept]], y[whose[kept]], to_x, to_y, ink(ORANGE), 2)
    columns = sim.agents.columns
    far_x, far_y = (place + PUSH_UNITS * push[slots] for place, push in ((x, columns.push_x), (y, columns.push_y)))
    sketch.arrows(x, y, far_x, far_y, ink(BLACK, 170), 4)
    sketch.arrows(x, y, far_x, far_y, ink(SKY), 2)
    sketch.circles(x, y, 8 / sketch.zoom, ink(WHITE), 2)
    sketch.explain(f"avoidance {sim.optimizations.get('avoidance')}, {how_many}", Key(ORANGE, "whom they yield to now"),
                Key(SKY, "the push since their last look"))
