"""The HUD: two columns of panels docked at the sides, what belongs below the picture, what is open, and a tooltip.

The left column shows what a frame costs and what the crowd does (frame_sections.py, sections.py), the right one the techniques
and their keys, and below these what was asked for by itself: an agent, charts, the minimap. Timeline, tour and legends are
stacked from the lower edge, between the columns. Each takes its part of the rectangle that is left free.

A panel is rendered to a canvas of its own `REFRESH_HZ` times a second, the two by turns, so most frames cost two blits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pygame

from crowd_demo.config.keys import key_text
from crowd_demo.render.hud.canvas import SHADE, THEMES, Canvas, Colour, Keys, Pen, Renderings, Target, scale_for
from crowd_demo.render.hud.card import draw_card
from crowd_demo.render.hud.chart import draw_chart
from crowd_demo.render.hud.frame_sections import Graph, frame_sections, header_section
from crowd_demo.render.hud.navigation import Minimap, TimelineBar, mark_at
from crowd_demo.render.hud.number_rows import RowsInView, number_section
from crowd_demo.render.hud.panel_layout import (
    LEFT_WIDTH,
    RIGHT_WIDTH,
    PanelSection,
    PlacedCanvas,
    bar_of,
    draw_panel,
    has_both,
    in_the_way,
    margin_of,
    timeline_px,
)
from crowd_demo.render.hud.sections import crowd_sections, scenario_sections, switchboard_sections, touched_section
from crowd_demo.render.hud.status import Half, Halves, Past, Status, time_text
from crowd_demo.render.hud.text_panels import (
    LINE,
    draw_colour_legend,
    draw_half,
    draw_inspection,
    draw_legend,
    draw_notice,
    draw_tip,
    draw_tour,
    notice_width,
    tip_of,
    tour_scale,
)
from crowd_demo.render.hud.tool_bar import ToolBar, draw_brush, draw_flow, draw_rings
from crowd_demo.render.hud.views import ListView, draw_list, place_of
from crowd_demo.sim.simulation import Simulation

REFRESH_HZ = 8.0
TIMELINE = Target("timeline")
LOW_NEEDS = 140  # units: where the columns leave less for what is low, that lies over them
ONE_LINE = 720  # units: a notice that is no longer is wrapped only where the window is narrower
LEGEND_SHARE = 0.3  # of the window's height: a higher legend of overlays scrolls
BOARD_NEEDS, BOARD_STEP = 136, 48  # units of the techniques beside what is below them; their height changes by such steps
ON_CARD = {"card": "again", "measure": "measure properly"}  # what is said of keys
INSPECTING = {"inspect_next": "next (Shift: previous)", "inspect_follow": "follow", "inspect": "close"}
INSPECTING_BOX = {"inspect_next": "who is in its middle", "inspect": "close"}
COLOUR_LEGEND_ROOM = 520  # units


class Hud:
    """Draws over a finished picture; `keys` are those of each action, `colours` those of the agents' states."""

    def __init__(self, keys: Keys, colours: Mapping[str, Colour] | None = None, pen: Pen | None = None) -> None:
        self.keys, self.colours = keys, colours or {}
        self.pen = pen or Pen()
        self.graph, self.minimap, self.tool_bar = Graph(), Minimap(), ToolBar()
        self.scale = 1.0
        self.panels: tuple[Canvas, ...] = ()  # the left and the right one as they were rendered last
        self._bar = TimelineBar(self.pen)
        self._drawn_at: list[float] = []  # when each panel was
        self._drawn_as: object = None  # what the panels depend on beside numbers
        self._renderings = Renderings()  # of what is rendered again only if it has to look different
        self._on, self._gap = pygame.Surface((1, 1)), 0  # this frame's
        self._free = pygame.Rect(0, 0, 1, 1)  # what nothing was placed in yet
        self._placed: list[PlacedCanvas] = []
        self._held = False  # are the panels compact only because they would be in the way of a tour?
        self._over_all = False  # are they shown nevertheless, until the tour is over?
        self._timeline: pygame.Rect | None = None  # where it is
        self._past: Past | None = None  # which it showed last
        self._numbers = RowsInView(0, 0, 0)  # of the section of numbers
        self._legend_first = 0  # the line of the overlays' legend that is the first to be shown

    def draw(self, on: pygame.Surface, sim: Simulation, status: Status, now_s: float) -> None:
        """Draw what the user wants to see of the HUD, what is open, and the tooltip."""
        self.scale = scale_for(on.get_size(), status.panels.scale)
        self._on, self._gap, self._placed = on, margin_of(on.get_size(), self.scale), []
        self._free = on.get_rect().inflate(-2 * self._gap, -2 * self._gap)
        self.pen.theme = THEMES[status.panels.theme]
        draw_rings(on, status.rings, self.pen, self.scale)
        if status.flow:
            draw_flow(on, status.flow, self.pen, self.scale)
        if status.brush:
            draw_brush(on, status.brush, self.pen, self.scale)
        is_full, is_off = self._is_full(status), status.panels.hud == "off"
        self._draw_timeline(status, now_s)
        if self._over_all:
            self._draw_tour(status)
        room = self._draw_right(sim, status, is_full, now_s)
        corner = self._draw_left(sim, status, is_full, room, now_s)
        if not self._over_all:
            self._draw_tour(status)
        if not is_off:
            self._draw_legends(status, now_s)
        if status.halves:
            self._draw_halves(status.halves, now_s)
        if not is_off:
            self._draw_tools_and_card(status, corner)
        if status.view:
            self._draw_view(status.view)
        beneath = status.view is not None and status.hovered is not None and status.hovered.target.kind != "row"
        if status.hovered and not beneath and (tip := tip_of(status.hovered.target, sim, status)):
            canvas, at = draw_tip(tip, status.hovered.at, on.get_size(), self.pen, self.scale)
            on.blit(canvas.surface, at)

    def draw_notices(self, on: pygame.Surface, notices: Sequence[str]) -> None:
        """Draw the notices above what lies at the lower edge, the newest lowest, whether the rest is shown or not.

        A long one is wrapped between the panels; a short one is drawn over them rather than wrapped.
        """
        bottom = self._free.bottom
        for notice in reversed(notices):
            wide = notice_width(notice, self.pen, self.scale)
            low = self._low(wide if wide <= ONE_LINE else LOW_NEEDS)
            surface = draw_notice(notice, low.width / self.scale, self.pen, self.scale).surface
            place = surface.get_rect(midbottom=(low.centerx, bottom))
            on.blit(surface, place)
            bottom = place.top - self._gap // 2

    def target_at(self, x: float, y: float) -> Target | None:
        """The target at a pixel of the last picture; None outside of the HUD."""
        found = next((found for placed in reversed(self._placed) if (found := placed.target_at(x, y))), None)
        if found or not (self._timeline and self._timeline.collidepoint(x, y)):
            return found
        mark = mark_at(self._past, x, self._timeline, self.scale) if self._past else None
        return Target("timeline", f"{time_text(mark.tick / self._past.hz)}  {mark.text}") if self._past and mark else TIMELINE

    def share_along(self, target: Target, x: float) -> float | None:
        """How far along a target, from its left end to its right one, a column of pixels is; None if it is not shown."""
        for placed in self._placed:
            for region in placed.canvas.targets:
                if region.target == target:
                    return min(max((x - placed.at[0] - region.rect.left) / region.rect.width, 0.0), 1.0)
        return None

    def show_held(self) -> bool:
        """If a tour has made the panels compact, show them in full until it is over, and return True."""
        self._over_all |= self._held
        return self._held

    def scroll_legend(self, lines: int, most: int) -> None:
        """Scroll the overlays' legend by so many lines, at most so far down."""
        self._legend_first = min(max(self._legend_first + lines, 0), most)

    def scroll_numbers(self, lines: int) -> None:
        """Scroll the section of numbers by so many rows."""
        view = self._numbers
        self._numbers = view._replace(first=min(max(view.first + lines, 0), max(view.total - view.shown, 0)))

    def uncovered(self, rect: pygame.Rect) -> pygame.Rect:
        """Move a rectangle between the columns, as they were drawn last, if it is covered."""
        covered = rect.collidelist([placed.rect for placed in self._placed]) >= 0
        return rect.clamp(self._free) if covered else rect

    def sections(self) -> dict[str, bool]:
        """The sections of both panels as they were rendered last, and whether they are folded."""
        return {placed.target.name: placed.target.kind == "unfold" for panel in self.panels for placed in panel.targets
                if placed.target.kind in ("fold", "unfold")}

    # --- the columns -------------------------------------------------------------------------------------------------

    def _is_full(self, status: Status) -> bool:
        """Return whether the panels are shown in full: not where a tour, a card or legends need the room."""
        in_way = in_the_way(self._on.get_size(), self.scale)
        of_tour, others = status.tour is not None, status.card is not None or bool(status.legend_items)
        self._over_all &= in_way and of_tour and status.panels.hud == "full"
        self._held = in_way and of_tour and status.panels.hud == "full" and not self._over_all
        has_room = has_both(self._on.get_size(), self.scale) and not (in_way and (of_tour or others))
        return status.panels.hud == "full" and (self._over_all or has_room)

    def _draw_timeline(self, status: Status, now_s: float) -> None:
        self._timeline = None
        if status.panels.hud == "full" and status.past:
            size = self._on.get_size()
            self._bar.draw(self._on, status.past, now_s, self.scale)
            self._timeline, self._past = bar_of(size, self.scale), status.past
            self._free.height = size[1] - timeline_px(size, self.scale) - 2 * self._gap

    def _draw_right(self, sim: Simulation, status: Status, is_full: bool, now_s: float) -> int:
        """Place what was asked for by itself at the right edge, from below; return the pixels above it.

        What finds no room there, beside the techniques, is in a column further left.
        """
        least = 0 if not is_full or in_the_way(self._on.get_size(), self.scale) else round(BOARD_NEEDS * self.scale)
        right, top, room = self._free.right, self._free.bottom, 0
        for canvas in self._asked_for(sim, status, now_s):
            size = canvas.surface.get_size()
            if top - size[1] < self._free.top + least and top < self._free.bottom:
                room, least = room or top - self._free.top, 0
                right, top = self._free.right - round(RIGHT_WIDTH * self.scale) - self._gap, self._free.bottom
            top -= size[1] + self._gap
            at = right - size[0], max(top + self._gap, self._free.top)
            if canvas.targets and canvas.targets[0].target.kind == "minimap":
                self.minimap.at = at
            self._place(canvas, at)
        left = min((placed.at[0] for placed in self._placed if placed.rect.right > self._on.get_width() // 2), default=0)
        if left and not self._over_all:
            self._free.width = left - self._gap - self._free.left
        return room or top - self._free.top

    def _asked_for(self, sim: Simulation, status: Status, now_s: float) -> list[Canvas]:
        """The minimap, what is inspected, and charts of overlays."""
        found = []
        if status.minimap:
            found.append(self.minimap.draw(sim, status.minimap, self.pen, self.scale, now_s))
        if inspected := status.inspection:
            hints = self._hints(INSPECTING_BOX if inspected.is_box else INSPECTING)
            found.append(self._rendered("inspection", inspected.title, lambda: draw_inspection(
                inspected, hints, self.pen, self.scale), now_s, 1 / REFRESH_HZ))
        for item in status.legend_items:
            if item.chart:
                render = partial(draw_chart, item.chart, self.pen, self.scale)
                found.append(self._rendered(f"chart {item.name}", None, render, now_s, 1 / REFRESH_HZ))
        return found

    def _draw_left(self, sim: Simulation, status: Status, is_full: bool, room: int, now_s: float) -> tuple[int, int]:
        """Place the left panel, and the right one in its room; return where what comes next to it is."""
        if status.panels.hud == "off":
            return self._free.topleft
        corner, edge = self._free.topleft, self._on.get_width() - self._gap
        if not is_full:
            looks = status.panels, status.touched, status.paused
            self._place(self._rendered("compact", looks, lambda: draw_panel(
                [header_section(sim.profile, status, False), *touched_section(sim, status, self.keys)], LEFT_WIDTH,
                math.inf, frozenset(), (), self.pen, self.scale), now_s, 1 / REFRESH_HZ), corner)
            return corner[0], self._placed[-1].rect.bottom + self._gap
        if room < self._free.height:
            room = max(room - room % round(BOARD_STEP * self.scale), min(room, round(BOARD_NEEDS * self.scale)))
        self._refresh(sim, status, room, now_s)
        left, right = self.panels
        self._place(left, corner)
        beside = self._placed[-1].rect.right + self._gap
        self._place(right, (edge - right.surface.get_width(), corner[1]))
        if not self._over_all:
            edge = min(self._placed[-1].at[0] - self._gap, self._free.right)
            self._free.left, self._free.width = beside, max(edge - beside, 1)
        return beside, corner[1]

    def _refresh(self, sim: Simulation, status: Status, right_room: int, now_s: float) -> None:
        """Render the older panel if it is due, or both if they have to look different."""
        period, rooms = 1 / REFRESH_HZ, (self._free.height, right_room)
        drawn_as = (self._on.get_size(), rooms, self.scale, status.panels, status.touched, status.numbers, self._numbers.first)
        if drawn_as != self._drawn_as:
            self._drawn_as = drawn_as
            self.panels = tuple(self._panel(side, sim, status, rooms[side]) for side in (0, 1))
            self._drawn_at = [now_s, now_s - period / 2]
        older = self._drawn_at.index(min(self._drawn_at))
        if now_s - self._drawn_at[older] >= period:
            renewed = self._panel(older, sim, status, rooms[older])
            self.panels = (self.panels[0], renewed) if older else (renewed, self.panels[1])
            self._drawn_at[older] = now_s

    def _panel(self, side: int, sim: Simulation, status: Status, room_px: int) -> Canvas:
        """The left panel, side 0, or the right one."""
        room = room_px / self.scale
        sections = switchboard_sections(sim, status, self.keys) if side else self._left_sections(sim, status, room)
        width, looks = (LEFT_WIDTH, RIGHT_WIDTH)[side], status.panels
        return draw_panel(sections, width, room, looks.folded, looks.opened, self.pen, self.scale)

    def _left_sections(self, sim: Simulation, status: Status, room: float) -> list[PanelSection]:
        header, *times = frame_sections(sim.profile, status, self.graph)
        crowd = crowd_sections(sim, status.readings, self.colours)
        sections = [header, *scenario_sections(sim, self.keys), *times, *crowd]
        self._numbers = RowsInView.of(len(status.numbers), self._numbers.first, room, sections)
        return [*sections, number_section(status.numbers, self._numbers)]

    # --- between them ------------------------------------------------------------------------------------------------

    def _draw_tour(self, status: Status) -> None:
        """Draw a tour's box between the columns, or below them where `show_held` has asked for that."""
        if not (tour := status.tour):
            return
        presses = self._held or {"full": 0, "compact": 2, "off": 1}[status.panels.hud]
        if tour.of_panels and presses and (keys := self.keys.get("hud")):
            tour = tour._replace(hint=f"{key_text(keys[0])}{', pressed twice,' * (presses > 1)} shows the panels.")
        scale = tour_scale(self._free.width, self._on.get_height(), self.scale)
        canvas = self._rendered("tour", (tour, self._free.width, scale), lambda: draw_tour(
            tour, self._free.width, self.pen, scale))
        self._place_low(canvas, self._free)

    def _draw_legends(self, status: Status, now_s: float) -> None:
        """Draw what colours mean; numbers of overlays change as often as the panels'."""
        low = self._low(LOW_NEEDS)
        room = low.width / self.scale
        if legend := status.legend:
            self._place_low(self._rendered("colours", (legend, room), lambda: draw_colour_legend(
                legend, min(COLOUR_LEGEND_ROOM, room), self.pen, self.scale)), low)
        if items := status.legend_items:
            most = int(LEGEND_SHARE * self._on.get_height() / self.scale / LINE)
            looks = tuple(each.name for each in items), self._legend_first, room
            self._place_low(self._rendered("overlays", looks, lambda: draw_legend(
                items, room, self.pen, self.scale, most, self._legend_first), now_s, 1 / REFRESH_HZ), low)

    def _draw_halves(self, halves: Halves, now_s: float) -> None:
        """Draw the labels of a split window low on both sides of its line, or above each other where there is little room."""
        low = self._low(LOW_NEEDS)
        left, right = (self._half(half, half is halves.right, low.width / self.scale, now_s)
                       for half in (halves.left, halves.right))
        bottom = self._free.bottom
        one = left.surface.get_rect(bottomright=(halves.line_px - self._gap, bottom)).clamp(low)
        other = right.surface.get_rect(bottomleft=(halves.line_px + self._gap, bottom)).clamp(low)
        if one.right + self._gap > other.left:
            one.bottom = other.top - self._gap // 2
        for canvas, rect in ((left, one), (right, other)):
            self._place(canvas, rect.topleft)
        self._free.height = min(one.top, other.top) - self._gap - self._free.top

    def _half(self, half: Half, is_right: bool, room: float, now_s: float) -> Canvas:
        looks = half._replace(step_ms=0, frame_ms=0), room
        render = partial(draw_half, half, is_right, room, self.pen, self.scale)
        return self._rendered(f"half {is_right}", looks, render, now_s, 1 / REFRESH_HZ)

    def _draw_tools_and_card(self, status: Status, corner: tuple[int, int]) -> None:
        """Draw the tool bar and the card beside each other, from that corner on."""
        (left, top), right, bottom = corner, max(self._free.right, corner[0] + 1), max(self._free.bottom, corner[1] + 1)
        if shown := status.tools:
            canvas = self._rendered("tools", (shown, bottom - top), lambda: self.tool_bar.draw(
                shown, (bottom - top) / self.scale, self.pen, self.scale))
            self.tool_bar.at = left, top
            self._place(canvas, (left, top))
            left += canvas.surface.get_width() + self._gap
        if card := status.card:
            room, hint = ((right - left) / self.scale, (bottom - top) / self.scale), "   ".join(self._hints(ON_CARD))
            self._place(self._rendered("card", (card, room), lambda: draw_card(
                card, room[0], self.pen, self.scale, hint, room[1])), (left, top))

    def _low(self, needed: float) -> pygame.Rect:
        """What is free between the columns, or from edge to edge where that is narrower than `needed` units."""
        if self._free.width >= needed * self.scale:
            return self._free
        return pygame.Rect(self._gap, self._free.top, self._on.get_width() - 2 * self._gap, self._free.height)

    def _place_low(self, canvas: Canvas, between: pygame.Rect) -> None:
        """Place a canvas in the middle of those columns of pixels, above what lies at the lower edge."""
        place = canvas.surface.get_rect(midbottom=(between.centerx, self._free.bottom))
        self._place(canvas, place.topleft)
        self._free.height -= place.height + self._gap

    def _hints(self, said: Mapping[str, str]) -> list[str]:
        return [f"{key_text(self.keys[action][0])} {what}" for action, what in said.items() if self.keys.get(action)]

    # --- what is open ------------------------------------------------------------------------------------------------

    def _draw_view(self, view: ListView) -> None:
        """Draw the dialog that is open: in the middle, in the shade, or where it was asked for."""
        size = self._on.get_size()
        if not view.at:
            self._on.blit(self._rendered("shade", size, self._shade).surface, (0, 0))
        canvas = self._rendered("view", (view, size), lambda: draw_list(view, size, self.pen, self.scale))
        self._place(canvas, place_of(view, canvas, size, self.scale))

    def _shade(self) -> Canvas:
        width, height = self._on.get_size()
        canvas = Canvas((width / self.scale, height / self.scale), self.pen, self.scale, None)
        canvas.surface.fill(self.pen.colour(SHADE))
        return canvas

    # --- rendering and placing ---------------------------------------------------------------------------------------

    def _rendered(self, name: str, drawn_as: object, render: Callable[[], Canvas], now_s: float = 0.0,
                  period_s: float = math.inf) -> Canvas:
        """The last rendering of that name, or a new one if it has to look different or is older than `period_s`."""
        return self._renderings.get(name, (drawn_as, self.scale, id(self.pen.theme)), render, now_s, period_s)

    def _place(self, canvas: Canvas, at: tuple[int, int]) -> None:
        self._on.blit(canvas.surface, at)
        self._placed.append(PlacedCanvas(canvas, at))
