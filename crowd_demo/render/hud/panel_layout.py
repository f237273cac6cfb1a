"""The layout of the HUD: sections of panels, panels in the window, and what these cover.

A panel is a column of sections. Most are folded to a row with a name and a headline figure; a click on it unfolds them,
and is remembered. Of those that were unfolded a small window shows as many as it has room for, the last ones first. The
techniques that are on decide which sections there are, not the readings: a value that was not read yet is shown as a
dash, and the panel keeps its height.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pygame

from crowd_demo.render.camera import Docked
from crowd_demo.render.hud.canvas import (
    DIM,
    FAINT,
    NORMAL,
    PAD,
    SMALL,
    TEXT,
    Canvas,
    Colour,
    Pen,
    Point,
    scale_for,
)
from crowd_demo.render.hud.status import PanelSettings

LEFT_WIDTH, RIGHT_WIDTH = 248.0, 190.0  # units, of the panels
INNER = LEFT_WIDTH - 2 * PAD
OUTER = 10  # units around the panels, and around the timeline
WIDE = 1043.0  # units: a narrower window shows one side panel at a time
LEAST_FREE = 1 / 3  # of the window's width: where panels leave less, the world is shown behind them
BAR_HEIGHT, GRAPH_HEIGHT, STRIP_HEIGHT = 10, 28, 26  # units: the timeline, under the pointer, and the strip above it
ROW = 19.0  # units: a folded section, a technique
FACT, COLUMN_GAP, CHIP = 15.5, 8.0, 12.5  # units: the height of a fact, between two, a chip with the gap to its name
PLAIN_CHIP = 4  # the shape of a chip without a rim
EDGES = 2 * PAD - 4


# --- sections --------------------------------------------------------------------------------------------------------

class PanelSection(NamedTuple):
    """A part of a panel: a row with its name and a headline figure, and what is drawn below it, at a given top."""

    name: str
    height: float  # below the row, unfolded
    draw: Callable[[Canvas, float], object]
    headline: str | None = ""  # None: there is no row, and the section is never folded
    chip: Colour | None = None  # before the name
    brief: float = 0.0  # height of what is drawn of it while it is folded, by `draw_brief`
    draw_brief: Callable[[Canvas, float], object] = lambda on, top: None

    @property
    def folds(self) -> bool:
        return self.headline is not None and self.height > self.brief

    def taken(self, is_open: bool) -> float:
        return ROW * (self.headline is not None) + (self.height if is_open or not self.folds else self.brief)


def unfolded(sections: Sequence[PanelSection], room: float, opened: Sequence[str]) -> set[str]:
    """Names of the sections to unfold: those of `opened` that there is room for, the last ones first."""
    listed, shown = {section.name: section for section in sections if section.folds}, set[str]()
    room -= sum(section.taken(False) for section in sections)
    for section in (listed[name] for name in reversed(opened) if name in listed):
        if section.height - section.brief <= room:
            room -= section.height - section.brief
            shown.add(section.name)
    return shown


def draw_panel(sections: Sequence[PanelSection], width: float, room: float, opened: Sequence[str], pen: Pen,
               scale: float) -> Canvas:
    """The panel, as high as its sections; what still does not fit into `room` when all are folded is left out."""
    shown = unfolded(sections, room - EDGES, opened)
    heights = [section.taken(section.name in shown) for section in sections]
    while sum(heights) > room - EDGES and len(heights) > 1:
        heights.pop()
    canvas = Canvas((width, sum(heights) + EDGES), pen, scale)
    top = PAD - 2.0
    for section, height in zip(sections, heights, strict=False):
        is_open, body = section.name in shown or not section.folds, top
        if section.headline is not None:
            y = top + ROW / 2
            if section.folds:  # a triangle that points down at what is open, or to the right at a folded section's name
                corners = ((-3, -1.5), (3, -1.5), (0, 2)) if is_open else ((-1.5, -3), (-1.5, 3), (2, 0))
                canvas.polygon(FAINT, [(PAD + 2.0 + right, y + below) for right, below in corners])
                canvas.target((0, top, width, ROW), "fold" if is_open else "unfold", section.name)
            if section.chip:
                draw_chip(canvas, PLAIN_CHIP, section.chip, (PAD + 15, y))
            canvas.left(section.name, PAD + (24 if section.chip else 11), y, colour=DIM)
            if section.headline and (section.chip or not is_open):
                canvas.right(section.headline, width - PAD, y, colour=TEXT if section.chip else DIM,
                             bold=section.chip is not None)
            body += ROW
        (section.draw if is_open else section.draw_brief)(canvas, body)
        top += height
    return canvas


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
                draw_chip(on, *fact.chip, (x + 4, middle))
            size = NORMAL if on.width(fact.name) + on.width(fact.value) + 3 <= x + wide - left else SMALL
            room = x + wide - left - on.width(fact.value, size) - 3
            on.left(on.fitted(fact.name, room, size), left, middle, size, colour)
            on.right(fact.value, x + wide, middle, size, fact.colour)
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

def margin_of(size: tuple[int, int], scale: float) -> int:
    return min(round(OUTER * scale), size[0] // 50)


def is_wide(size: tuple[int, int], scale: float) -> bool:
    """Return whether there is room for both side panels of the full HUD."""
    return size[0] >= WIDE * scale


def bar_of(size: tuple[int, int], scale: float, is_tall: bool = False) -> pygame.Rect:
    """Where the timeline's bar is in a window of that size, in pixels."""
    width, height = size
    margin, tall = margin_of(size, scale), round((GRAPH_HEIGHT if is_tall else BAR_HEIGHT) * scale)
    return pygame.Rect(margin, height - margin - tall, width - 2 * margin, tall)


def docked(size: tuple[int, int], settings: PanelSettings, has_timeline: bool) -> Docked:
    """What side panels of the full HUD, strip and timeline cover; panels that would leave too little count as nothing."""
    if settings.hud == "off":
        return Docked()
    scale = scale_for(size, settings.scale)
    margin, both = margin_of(size, scale), is_wide(size, scale)
    left = (margin + round(LEFT_WIDTH * scale)) * (settings.hud == "full")
    right = (margin + round(RIGHT_WIDTH * scale)) * (settings.hud == "right" or (both and settings.hud == "full"))
    if size[0] - left - right < LEAST_FREE * size[0]:
        left = right = 0
    bar = bar_of(size, scale).height + margin // 2 if has_timeline else 0
    return Docked(left, 0, right, bar + margin + round(STRIP_HEIGHT * scale))
