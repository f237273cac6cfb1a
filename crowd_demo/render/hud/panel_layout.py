"""The layout of the HUD: sections of panels, panels in the window, and what all of them leave free.

A panel is a column of sections. Those that a small window has no room for are folded to a line, the least important
first. A click on the mark at a section's left folds it or unfolds it; the user's wishes come before ranks. The
techniques that are on decide which sections there are, not the readings: a value that was not read yet is shown as a
dash, and the panel keeps its height.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from itertools import product
from typing import NamedTuple

import pygame

from crowd_demo.render.camera import Docked
from crowd_demo.render.hud.canvas import FAINT, PAD, SMALL, Canvas, Pen, Target, scale_for
from crowd_demo.render.hud.status import PanelSettings

LEFT_WIDTH, RIGHT_WIDTH = 272.0, 262.0  # units, of the panels
INNER = LEFT_WIDTH - 2 * PAD
OUTER = 10  # units around the panels, and around the timeline
NARROW_PX = 1000  # a window's width, below which panels are compact while a tour or a card is shown
TOUR_NEEDS = 410.0  # units between the panels: where there is less, they are compact while a tour is shown
LEAST_FREE = 1 / 3  # of the window's width: where panels leave less, the world is shown behind them
BAR_HEIGHT, BAR_TEXT = 26, 16  # units: the bar of the timeline, and the line of text above it
FOLDED = 15.0  # height of a folded section
ALWAYS = 0  # the rank of what is never folded
EDGES = 2 * PAD - 4
EDGE_PX = 5  # what is seen of the picture on each side of the edge of the frozen view
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
    """Names of the sections to fold: those the user has folded, and those that do not fit, `opened` ones last.

    A section stays unfolded if folding a larger one later leaves room for it.
    """
    wanted = [section for section in sections if section.rank == ALWAYS or (
        section.name in opened if section.closed else section.name not in folded)]
    used = FOLDED * (len(sections) - len(wanted)) + sum(section.height for section in wanted)
    squeezed: list[PanelSection] = []
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


def between(rects: Sequence[pygame.Rect], width: int, margin: int) -> tuple[int, int]:
    """The columns of pixels between the rectangles at both sides of a window of that width."""
    middle = width // 2
    return (max((rect.right for rect in rects if rect.right <= middle), default=0) + margin,
            min((rect.left for rect in rects if rect.left >= middle), default=width) - margin)


def common_px(rect: pygame.Rect, others: Iterable[pygame.Rect]) -> int:
    """Pixels that a rectangle has in common with others, each by itself."""
    return sum(common.width * common.height for common in map(rect.clip, others))


def free_place(wanted: pygame.Rect, window: pygame.Rect, taken: Sequence[pygame.Rect], spared: Sequence[pygame.Rect],
               gap: int) -> pygame.Rect:
    """The place in the window, nearest to the wanted one, that covers nothing; or which covers least of `taken`."""
    inside, all_taken = wanted.clamp(window), [*taken, *spared]
    if inside.collidelist(all_taken) < 0:
        return inside
    lefts = {inside.left, *(x for rect in all_taken for x in (rect.left - gap - inside.width, rect.right + gap))}
    tops = {inside.top, *(y for rect in all_taken for y in (rect.top - gap - inside.height, rect.bottom + gap))}
    places = (pygame.Rect(corner, inside.size) for corner in product(lefts, tops))
    return min((inside, *filter(window.contains, places)), key=lambda place: (
        place.collidelist(spared), common_px(place, taken), abs(place.x - inside.x) + abs(place.y - inside.y)))


def edges_of(picture: pygame.Surface, frame: tuple[float, float, float, float]) -> list[tuple[pygame.Surface, pygame.Rect]]:
    """The parts of the picture along the edges of a frame, to be put over panels that would hide these."""
    outer = pygame.Rect(*map(round, frame)).inflate(2 * EDGE_PX, 2 * EDGE_PX)
    wide = 2 * EDGE_PX
    strips = (pygame.Rect(outer.topleft, (outer.width, wide)), pygame.Rect(outer.left, outer.bottom - wide, outer.width, wide),
              pygame.Rect(outer.topleft, (wide, outer.height)), pygame.Rect(outer.right - wide, outer.top, wide, outer.height))
    seen = [strip.clip(picture.get_rect()) for strip in strips]
    return [(picture.subsurface(strip).copy(), strip) for strip in seen if strip.width and strip.height]


def margin_of(size: tuple[int, int], scale: float) -> int:
    return min(round(OUTER * scale), size[0] // 50)


def has_both(size: tuple[int, int], scale: float) -> bool:
    return size[0] >= round(LEFT_WIDTH * scale) + round(RIGHT_WIDTH * scale) + 3 * margin_of(size, scale)


def room_between(size: tuple[int, int], scale: float) -> int:
    """Pixels between both panels, within their margins."""
    return size[0] - round(LEFT_WIDTH * scale) - round(RIGHT_WIDTH * scale) - 4 * margin_of(size, scale)


def in_the_way(size: tuple[int, int], scale: float, of_tour: bool, of_others: bool = False) -> bool:
    """Do full panels leave too little room for a tour, or for a card or the legends of overlays, if these are shown?"""
    return (of_tour and room_between(size, scale) < TOUR_NEEDS * scale) or ((of_tour or of_others) and size[0] < NARROW_PX)


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
    right = margin + round(RIGHT_WIDTH * scale) if has_both(size, scale) else 0
    if size[0] - left - right < LEAST_FREE * size[0] or in_the_way(size, scale, has_tour):
        left = right = 0
    return Docked(left, 0, right, timeline_px(size, scale) if has_timeline else 0)
