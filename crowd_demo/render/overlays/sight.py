"""Lines of sight: from people to their goals, as they know them since their last look."""

from __future__ import annotations

from typing import cast

from crowd_demo.render.inks import BLACK, SHADOW, WHITE, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch
from crowd_demo.render.told import Key
from crowd_demo.sim.behaviours.people_rules import WAITING, PeopleColumns

MOST = 80  # lines


def draw_sight(sketch: Sketch, looking: Looking) -> None:
    """Draw a full line to a goal in sight, and a dashed one where walls or water are in between."""
    columns = cast(PeopleColumns, looking.sim.agents.columns)
    slots = looking.in_view()
    slots, how_many = looking.some(slots[columns.state[slots] != WAITING], MOST)
    x, y = looking.places(slots)
    clear = columns.sees[slots] != 0
    for shown, colour, dash, shadow in ((clear, WHITE, 0, SHADOW), (~clear, BLACK, 6, 0)):
        of = slots[shown]
        sketch.lines(x[shown], y[shown], columns.goal_x[of], columns.goal_y[of], ink(colour, 235), 2, dash, shadow)
    side = 3 / sketch.zoom
    sketch.boxes(x - side, y - side, x + side, y + side, ink(BLACK), width=2)
    sketch.tell(f"goals {how_many} who walk; {clear.mean() if len(clear) else 0:.0%} in sight",
                Key(WHITE, "in sight"), Key(BLACK, "behind walls or water: the flow field leads", dashed=True))
