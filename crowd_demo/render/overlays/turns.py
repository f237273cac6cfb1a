"""Whose turn it was: the bands or tiles whose agents looked at their neighbours in the last step, and these agents."""

from __future__ import annotations

import numpy as np

from crowd_demo.render.colours.looking import ages
from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import BLACK, ORANGE, SKY, WHITE, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.sim.neighbours.schedule import LONGEST

MOST = 3000  # agents with a mark
MARK_UNITS, MARK_PX, EDGE_PX = 6.0, 1.5, 1.0  # half its side is the larger of the two: it is to be seen around their feet


def draw_turns(sketch: Sketch, looking: Looking) -> None:
    """Fill the areas that were due, and mark agents by when they say that they have looked."""
    sim = looking.sim
    turn, by = sim.world.turn, sim.optimizations.stagger.by
    if not turn.by_id:
        _fill_due(sketch, looking)
    slots = looking.in_view()
    looked = ages(sim, slots) == 0
    marked, how_many = looking.some(slots[looked], MOST)
    x, y = looking.places(marked)
    side = max(MARK_UNITS, MARK_PX / sketch.zoom)
    edge = side + EDGE_PX / sketch.zoom
    sketch.areas(x - edge, y - edge, x + edge, y + edge, ink(BLACK, 200))
    sketch.areas(x - side, y - side, x + side, y + side, ink(WHITE, 255))
    share = looked.mean() if len(slots) else 0.0
    words = {"place": "bands", "tile": "tiles", "id": "ids"}[by]
    sketch.explain(f"by {words}, one step in {turn.period}; {share:.0%} of the agents in view have just looked",
                *(() if turn.by_id else (Key(ORANGE, "due in the last step"), Key(SKY, "in the next one"))),
                Key(WHITE, f"have looked ({how_many})"))


def _fill_due(sketch: Sketch, looking: Looking) -> None:
    turn, walls = looking.sim.world.turn, looking.sim.terrain.walls
    wait = turn.next_look % LONGEST + 1  # steps from the coming one until the place is due again
    side = 1 / float(turn.inv_band)
    row, column = np.divmod(np.arange(len(wait)), turn.columns)
    wide = side if turn.columns > 1 else float(walls.width)
    last, coming = wait == turn.period - 1, wait == turn.period
    in_world = (column * wide < float(walls.width)) & (row * side < float(walls.height))
    for due, colour, alpha in ((coming & in_world, SKY, 60), (last & in_world, ORANGE, 90)):
        left, top = column[due] * wide, row[due] * side
        right, bottom = np.minimum(left + wide, float(walls.width)), np.minimum(top + side, float(walls.height))
        sketch.areas(left, top, right, bottom, ink(colour, alpha))
        sketch.boxes(left, top, right, bottom, ink(colour, 220))
