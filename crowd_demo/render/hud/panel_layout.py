"""The layout of the HUD: sections of panels, panels in the window, and what these cover.

A panel is a column of sections. Those that a small window has no room for are folded to a line, the least important
first. A click on the mark at a section's left folds it or unfolds it; the user's wishes come before ranks. The
techniques that are on decide which sections there are, not the readings: a value that was not read yet is shown as a
dash, and the panel keeps its height.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

import pygame

from crowd_demo.render.camera import Docked
from crowd_demo.render.hud.canvas import FAINT, PAD, SMALL, TEXT, Canvas, Colour, Pen, Point, Target, scale_for
from crowd_demo.render.hud.status import PanelSettings

LEFT_WIDTH, RIGHT_WIDTH = 272.0, 262.0  # units, of the panels
INNER = LEFT_WIDTH - 2 * PAD
OUTER = 10  # units around the panels, and around the timeline
BETWEEN_NEEDS = 410.0  # units between the panels: where there is less, they are compact while a tour or a card is shown
LEAST_FREE = 1 / 3  # of the window's width: where panels leave less, the world is shown behind them
BAR_HEIGHT, BAR_TEXT = 26, 16  # units: the bar of the timeline, and the line of text above it
FOLDED = 15.0  # height of a folded section
FACT, COLUMN_GAP, CHIP = 13.0, 12.0, 14.0  # units: the height of a fact, between two of them, a chip with the gap to its name
PLAIN_CHIP = 4  # the shape of a chip without a rim
ALWAYS = 0  # the rank of what is never folded
EDGES = 2 * PAD - 4
ON_PANEL = Target("panel")  # a point there that means nothing in particular


# --- sections --------------------------------------------------------------------------------------------------------

class PanelSection(NamedTuple):
    """A part of a panel: drawn at a given top. The higher the rank, the sooner it is folded; `ALWAYS` has no title."""

    name: str
    height: float
    rank: int
    draw: Callable[[Canvas, float], object]
    closed: bool = False  # folded until somebody opens it


def folded_sections(sections: Sequence[PanelSection], room: float, folded: Set[str], opened: Sequence[str]) -> set[str]:
    """Names of the sections to fold: those the user has folded, and those that do not fit, `opened` ones last."""
    used, shown = FOLDED * len(sections), set[str]()
    for section in sorted(sections, key=lambda each: (each.rank != ALWAYS and each.name not in opened, each.rank)):
        is_wanted = section.name in opened if section.closed else section.name not in folded
        if section.rank == ALWAYS or (is_wanted and used + section.height - FOLDED <= room):
            used += section.height - FOLDED
            shown.add(section.name)
    return {section.name for section in sections} - shown


def draw_panel(sections: Sequence[PanelSection], width: float, room: float, folded: Set[str], opened: Sequence[str], pen: Pen,
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


# --- facts -----------------------------------------------------------------------------------------------------------

class Fact(NamedTuple):
    """A name and a value on one row, and what the mouse finds there; `chip` is the shape and the colour before the name."""

    name: str  # empty: the place is left free
    value: str
    colour: Colour = TEXT
    kind: str = "fact"
    chip: tuple[int, Colour] | None = None


def facts_height(count: int, columns: int = 2) -> float:
    return FACT * -(-count // columns)


def draw_facts(on: Canvas, top: float, facts: Sequence[Fact], columns: int = 2, colour: Colour = FAINT) -> float:
    """Draw facts in columns, row by row, their names in a colour; return where they end."""
    wide = (INNER + COLUMN_GAP) / columns - COLUMN_GAP
    for number, fact in enumerate(facts):
        if fact.name:
            x, middle = PAD + number % columns * (wide + COLUMN_GAP), top + FACT * (number // columns + 0.5)
            left = x + CHIP if fact.chip else x
            if fact.chip:
                draw_chip(on, *fact.chip, (x + 5, middle))
            room = x + wide - left - on.width(fact.value, SMALL) - 4
            on.left(on.fitted(fact.name, room, SMALL), left, middle, SMALL, colour)
            on.right(fact.value, x + wide, middle, SMALL, fact.colour)
            on.target((x, middle - FACT / 2, wide, FACT), fact.kind, fact.name)
    return top + facts_height(len(facts), columns)


def draw_chip(on: Canvas, shape: int, colour: Colour, middle: Point) -> None:
    """Draw a disc, a square, a triangle or a diamond with a rim, 9 units wide; or a plain square."""
    x, y = middle
    for ink, half, wide in ((TEXT, 5, 6), (colour, 4, 4)):
        if shape == PLAIN_CHIP:
            on.rect(colour, (x - 4, y - 4, 8, 8), radius=2)
        elif shape % 4 == 0:
            on.circle(ink, middle, half)
        elif shape % 4 == 1:
            on.rect(ink, (x - half, y - half, 2 * half, 2 * half))
        elif shape % 4 == 3:
            on.polygon(ink, ((x, y - wide), (x - wide, y), (x, y + wide), (x + wide, y)))
        else:
            on.polygon(ink, ((x, y - wide), (x - wide, y + half), (x + wide, y + half)))


# --- in the window ---------------------------------------------------------------------------------------------------

class PlacedCanvas(NamedTuple):
    """A canvas, and the pixel of the window where its upper left corner is."""

    canvas: Canvas
    at: tuple[int, int]

    @property
    def rect(self) -> pygame.Rect:
        return self.canvas.surface.get_rect(topleft=self.at)

    def target_at(self, x: float, y: float) -> Target | None:
        """The target at a pixel of the window; None outside of the canvas."""
        x, y = x - self.at[0], y - self.at[1]
        if not self.canvas.surface.get_rect().collidepoint(x, y):
            return None
        return next((region.target for region in reversed(self.canvas.targets) if region.rect.collidepoint(x, y)), ON_PANEL)


def margin_of(size: tuple[int, int], scale: float) -> int:
    return min(round(OUTER * scale), size[0] // 50)


def has_both(size: tuple[int, int], scale: float) -> bool:
    return size[0] >= round(LEFT_WIDTH * scale) + round(RIGHT_WIDTH * scale) + 3 * margin_of(size, scale)


def in_the_way(size: tuple[int, int], scale: float) -> bool:
    """Return whether full panels leave too little room between them for a tour, a card or the legends of overlays."""
    return size[0] - 4 * margin_of(size, scale) < (LEFT_WIDTH + RIGHT_WIDTH + BETWEEN_NEEDS) * scale


def bar_of(size: tuple[int, int], scale: float) -> pygame.Rect:
    """Where the timeline's bar is in a window of that size, in pixels."""
    width, height = size
    margin, tall = margin_of(size, scale), round(BAR_HEIGHT * scale)
    return pygame.Rect(margin, height - margin - tall, width - 2 * margin, tall)


def timeline_px(size: tuple[int, int], scale: float) -> int:
    """Pixels at the lower edge that the timeline takes, with the text above its bar."""
    return size[1] - bar_of(size, scale).top + round(BAR_TEXT * scale)


def docked(size: tuple[int, int], settings: PanelSettings, has_timeline: bool, has_tour: bool = False) -> Docked:
    """What the panels and the timeline of the full HUD cover; nothing where they would leave too little."""
    if settings.hud != "full":
        return Docked()
    scale = scale_for(size, settings.scale)
    margin = margin_of(size, scale)
    left = margin + round(LEFT_WIDTH * scale)
    right = margin + round(RIGHT_WIDTH * scale)
    if size[0] - left - right < LEAST_FREE * size[0] or (has_tour and in_the_way(size, scale)):
        left = right = 0
    return Docked(left, 0, right, timeline_px(size, scale) if has_timeline else 0)
