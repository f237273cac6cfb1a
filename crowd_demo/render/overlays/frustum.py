"""The frozen frustum: the part of the world that culling still keeps after the camera has moved on."""

from __future__ import annotations

from crowd_demo.render.hud.status import Key
from crowd_demo.render.hud.theme import WARM
from crowd_demo.render.inks import BLACK, ORANGE, ink
from crowd_demo.render.overlays.base import Looking
from crowd_demo.render.overlays.sketch import Sketch


def draw_frustum(sketch: Sketch, looking: Looking) -> None:
    """Draw the outline of that rectangle, with its name above it."""
    frozen = looking.frozen
    if frozen:
        sketch.boxes(*frozen, ink(BLACK), width=6)
        sketch.boxes(*frozen, ink(ORANGE), width=2)
        sketch.label("frozen frustum", (frozen.left + frozen.right) / 2, frozen.top - 16 / sketch.zoom, WARM)
        sketch.explain("drawn is what touches it: whole tiles, and agents that reach into it", Key(ORANGE, "the frozen view"))
