"""Velocities: where each agent will be after some time if nothing changes."""

from __future__ import annotations

from crowd_demo.render.hud.status import Key
from crowd_demo.render.inks import SHADOW, WHITE, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch

AHEAD_S = 0.5
MOST = 800


def draw_velocity(sketch: Sketch, looking: Looking) -> None:
    """Draw an arrow from each agent to there."""
    slots, how_many = looking.some(looking.in_view(), MOST)
    x, y = looking.places(slots)
    agents = looking.used.shot.agents
    to_x, to_y = x + AHEAD_S * agents.vx[slots], y + AHEAD_S * agents.vy[slots]
    sketch.arrows(x, y, to_x, to_y, ink(WHITE), shadow=SHADOW)
    sketch.explain(f"arrows {how_many}", Key(WHITE, f"the way in {AHEAD_S:g} s at the present velocity"))
