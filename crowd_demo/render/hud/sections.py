"""A panel is a column of sections. Those that a small window has no room for are folded to a line, the least important first.

A `Section` is a height, a rank, and a function that draws it at a given top. A click on the mark at its left folds it or
unfolds it; the user's wishes come before ranks. The techniques that are on decide which sections there are, not the
readings: a value that has not been read yet is shown as a dash, and the panel keeps its height.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import FAINT, PAD, SMALL

FOLDED = 15.0  # height of a folded section
ALWAYS = 0  # the rank of what is never folded
EDGES = 2 * PAD - 4


class Section(NamedTuple):
    """A part of a panel; the higher the rank, the sooner it is folded. One of rank `ALWAYS` has no title."""

    name: str
    height: float
    rank: int
    draw: Callable[[Canvas, float], None]


def folded_sections(sections: Sequence[Section], room: float, folded: Set[str], opened: Sequence[str]) -> set[str]:
    """Names of the sections to fold: those the user has folded, and as many as do not fit, but first those not `opened`.

    What a larger one that is folded later leaves room for stays unfolded.
    """
    wanted = [section for section in sections if section.name not in folded or section.rank == ALWAYS]
    used = FOLDED * (len(sections) - len(wanted)) + sum(section.height for section in wanted)
    squeezed: list[Section] = []
    for section in sorted(wanted, key=lambda each: (each.name not in opened, each.rank), reverse=True):
        if used <= room or section.rank == ALWAYS:
            break
        used -= section.height - FOLDED
        squeezed.append(section)
    for section in squeezed[::-1]:
        if used + section.height - FOLDED <= room:
            used += section.height - FOLDED
            squeezed.remove(section)
    return {section.name for section in sections if section not in wanted or section in squeezed}


def draw_panel(sections: Sequence[Section], width: float, room: float, folded: Set[str], opened: Sequence[str], pen: Pen,
               scale: float) -> Canvas:
    """The panel, as high as its sections; what still does not fit into `room` when all are folded is left out."""
    hidden = folded_sections(sections, room - EDGES, folded, opened)
    heights = [FOLDED if section.name in hidden else section.height for section in sections]
    while sum(heights) > room - EDGES and len(heights) > 1:
        heights.pop()
    canvas = Canvas((width, sum(heights) + EDGES), pen, scale)
    top = PAD - 2.0
    for section, height in zip(sections, heights, strict=False):
        if section.rank != ALWAYS:
            _draw_mark(canvas, section.name, top, section.name in hidden)
        if section.name in hidden:
            canvas.left(section.name, PAD, top + FOLDED / 2, SMALL, FAINT)
            canvas.target((0, top, width, FOLDED), "unfold", section.name)
        else:
            section.draw(canvas, top)
        top += height
    return canvas


def _draw_mark(canvas: Canvas, name: str, top: float, folded: bool) -> None:
    """A triangle that points down at what is open, or to the right at a folded section's name."""
    x, y = 6.5, top + 8
    across, down = ((x - 1.5, y - 3), (x - 1.5, y + 3), (x + 2, y)), ((x - 3, y - 1.5), (x + 3, y - 1.5), (x, y + 2))
    canvas.polygon(FAINT, across if folded else down)
    canvas.target((0, top, PAD, FOLDED), "unfold" if folded else "fold", name)
