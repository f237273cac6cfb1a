"""The inspector's panel: what is told of an agent, and where it and those around it lie in memory."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import ACCENT, DIM, EDGE, FAINT, GROUND, LARGE, PAD, SMALL, TEXT
from crowd_demo.render.inks import GREEN, GREY, ORANGE
from crowd_demo.render.told import Inspection, MemoryStrip

WIDTH, LINE, TITLE, STRIP, FOOT = 292.0, 14.0, 26.0, 30.0, 18.0
LABELS = 101.0


def draw_inspection(found: Inspection, keys: Sequence[str], pen: Pen, scale: float) -> Canvas:
    """Draw the panel; `keys` go on to another agent and close it."""
    ruler = Canvas((1, 1), pen, scale, None)
    rows = [(what, ruler.wrapped(value, WIDTH - 2 * PAD - (LABELS if what else 0), SMALL)) for what, value in found.rows]
    high = TITLE + sum(len(lines) for _, lines in rows) * LINE + (STRIP if found.strip else 0) + FOOT + 6
    on = Canvas((WIDTH, high), pen, scale)
    on.left(found.title, PAD, 16, LARGE, ACCENT)
    on.right("x", WIDTH - PAD, 16, LARGE, DIM)
    on.target((WIDTH - 30, 0, 30, TITLE), "action", "inspect")
    top = TITLE + 2
    for what, lines in rows:
        on.left(what, PAD, top + LINE / 2, SMALL, DIM)
        for line in lines:
            on.left(line, PAD + (LABELS if what else 0), top + LINE / 2, SMALL, TEXT)
            top += LINE
    if found.strip:
        _draw_strip(on, found.strip, top + 4)
    on.left(on.fitted("   ".join(keys), WIDTH - 2 * PAD, SMALL), PAD, high - FOOT / 2 - 3, SMALL, FAINT)
    return on


def _draw_strip(on: Canvas, strip: MemoryStrip, top: float) -> None:
    """All of memory from left to right: candidates above, neighbours below, the agent across both."""
    wide = WIDTH - 2 * PAD
    on.left("memory, from the first slot to the last", PAD, top + 4, SMALL, FAINT)
    on.rect(GROUND, (PAD, top + 11, wide, 12))
    on.rect(EDGE, (PAD, top + 11, wide, 12), width=1)
    for shares, colour, down in ((strip.candidates, GREY, 11.0), (strip.neighbours, GREEN, 17.0)):
        for place in {int(share * wide) for share in shares}:
            on.rect(colour, (PAD + place, top + down, 1.5, 6))
    on.rect(ORANGE, (PAD + strip.own * wide - 1, top + 9, 2.5, 16))
