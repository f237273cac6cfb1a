"""Which part of the window the HUD leaves free, so that a whole world can be shown there."""

from __future__ import annotations

from crowd_demo.render.camera import Docked
from crowd_demo.render.hud.crowd_sections import WIDTH as LEFT_WIDTH
from crowd_demo.render.hud.status import Looks
from crowd_demo.render.hud.switchboard import WIDTH as RIGHT_WIDTH
from crowd_demo.render.hud.theme import scale_for
from crowd_demo.render.hud.timeline import height_of

OUTER = 10  # units around the panels
LEAST_FREE = 1 / 3  # of the width: where panels leave less, the world is shown behind them


def margin_of(size: tuple[int, int], scale: float) -> int:
    """Pixels around the panels."""
    return min(round(OUTER * scale), size[0] // 50)


def has_both(size: tuple[int, int], scale: float) -> bool:
    """Is there room for the right panel too?"""
    return size[0] >= round(LEFT_WIDTH * scale) + round(RIGHT_WIDTH * scale) + 3 * margin_of(size, scale)


def docked(size: tuple[int, int], looks: Looks, has_timeline: bool) -> Docked:
    """What the panels and the timeline of the full HUD cover; nothing where they would leave too little."""
    if looks.hud != "full":
        return Docked()
    scale = scale_for(size, looks.scale)
    margin = margin_of(size, scale)
    left = margin + round(LEFT_WIDTH * scale)
    right = margin + round(RIGHT_WIDTH * scale) if has_both(size, scale) else 0
    if size[0] - left - right < LEAST_FREE * size[0]:
        left = right = 0
    return Docked(left, 0, right, height_of(size, scale) if has_timeline else 0)
