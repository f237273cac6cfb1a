"""The HUD: a line and nine keys, or two columns of panels; what belongs below the picture, what is open, and a tooltip.

Compact, it shows agents, FPS and ms in a line at the left, and the techniques of the digit keys at the right. In full
the left column shows what a frame costs and what the crowd does (frame_sections.py, sections.py), the right one all
techniques; a narrow window shows one of them at a time. Below the right one is what was requested by itself: an agent,
charts, the minimap. From the lower edge are stacked the timeline, a strip (time, jobs, one message or legend, keys),
and a tour.

Each panel is rendered to a canvas of its own: the left one `REFRESH_HZ` times per second, the right one when a
technique changes. So most frames cost two blits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pygame

from crowd_demo.config.keys import key_text
from crowd_demo.render.hud.canvas import (
    SHADE,
    THEMES,
    USUAL_HEIGHT,
    USUAL_SCALE,
    Canvas,
    Colour,
    Keys,
    Pen,
    Renderings,
    Target,
    scale_for,
)
from crowd_demo.render.hud.card import ON_CARD, draw_answer, draw_caption, draw_card
from crowd_demo.render.hud.frame_sections import Graph, draw_line, frame_sections
from crowd_demo.render.hud.navigation import (
    BRUSH_SLIDER,
    MAP_HZ,
    Minimap,
    draw_brush,
    draw_flow,
    draw_rings,
    draw_timeline,
    draw_tool_bar,
    mark_at,
    rendered,
)
from crowd_demo.render.hud.panel_layout import (
    EDGES,
    LEFT_WIDTH,
    RIGHT_WIDTH,
    ROW,
    STRIP_HEIGHT,
    PanelSection,
    bar_of,
    draw_panel,
    is_wide,
    margin_of,
)
from crowd_demo.render.hud.sections import (
    HEAD,
    NUMBER_ROW,
    NUMBERS,
    crowd_sections,
    draw_numbers,
    rows_in_view,
    scenario_sections,
    switchboard_sections,
)
from crowd_demo.render.hud.status import Halves, Past, Status, time_text
from crowd_demo.render.hud.text_panels import (
    LINE,
    TOUR_WIDEST,
    draw_chart,
    draw_clock,
    draw_colour_legend,
    draw_half,
    draw_hints,
    draw_inspection,
    draw_job,
    draw_legend,
    draw_notice,
    draw_tip,
    draw_tour,
    tip_of,
)
from crowd_demo.render.hud.views import draw_list, place_of
from crowd_demo.sim.simulation import Simulation

REFRESH_HZ = 8.0
TIMELINE = Target("timeline")
TOUR_LARGEST = 1.6  # times the usual size, however large the panels are
LOW_NEEDS = 140  # units: where the columns leave less for what is low, that lies over them
LEGEND_SHARE = 0.3  # of the window's height: a higher legend of overlays scrolls
BOARD_NEEDS = 9 * ROW + EDGES  # units of the techniques beside what is below them
CARD_KEYS = {"card": "why", "measure": "measure properly"}  # what is said of keys
INSPECTING = {"inspect_next": "next (Shift: previous)", "inspect_follow": "follow", "inspect": "close"}
INSPECTING_BOX = {"inspect_next": "who is in its middle", "inspect": "close"}
HINTS = {"hud": "", "help": "help", "menu": "menu", "scenarios": "crowds", "tour": "tours"}  # of keys in the strip
NEXT_MODE = {"compact": "all", "full": "hide", "right": "hide"}  # what the key of the HUD does there
HINTS_S = 8.0  # without a move of the mouse
COLOUR_LEGEND_ROOM = 520  # units


class Hud:
    """Draws over a finished picture; `keys` are those of each action, `colours` those of the agents' states."""

    def __init__(self, keys: Keys, colours: Mapping[str, Colour] | None = None, pen: Pen | None = None) -> None:
        self.keys, self.colours = keys, colours or {}
        self.pen = pen or Pen()
        self.graph, self.minimap = Graph(), Minimap()
        self.scale = 1.0
        self.panels: tuple[Canvas, ...] = ()  # the left and the right one as they were rendered last
        self.is_wide = True  # is there room for both columns?
        self._renderings = Renderings()  # of what is rendered again only if it has to look different
        self._on, self._gap = pygame.Surface((1, 1)), 0  # this frame's
        self._free = pygame.Rect(0, 0, 1, 1)  # what nothing was placed in yet
        self._placed: list[Canvas] = []
        self._message: Canvas | None = None  # which is drawn last
        self._timeline: pygame.Rect | None = None  # where it is
        self._past: Past | None = None  # which it showed last
        self._pointer: tuple[tuple[float, float] | None, float] = (-1.0, -1.0), 0.0  # where it is, and since when
        self._first_number = 0  # the first row that is shown of the section of parameters
        self._legend_first = 0  # the line of the overlays' legend that is the first to be shown

    def draw(self, on: pygame.Surface, sim: Simulation, status: Status, now_s: float) -> None:
        """Draw what the user wants to see of the HUD, what is open, and the tooltip."""
        self.scale = scale_for(on.get_size(), status.panels.scale)
        self._on, self._gap, self._placed = on, margin_of(on.get_size(), self.scale), []
        self._free = on.get_rect().inflate(-2 * self._gap, -2 * self._gap)
        self.is_wide = is_wide(on.get_size(), self.scale)
        self.pen.theme = THEMES[status.panels.theme]
        if status.pointer != self._pointer[0]:
            self._pointer = status.pointer, now_s
        if status.view and not status.view.at:
            self._on = pygame.Surface(on.get_size())  # panels leave, but go on below what is open
        draw_rings(on, status.rings, self.pen, self.scale)
        if status.brush:
            draw_brush(on, status.brush, self.pen, self.scale)
        if status.flow:
            draw_flow(on, status.flow, self.pen, self.scale)
        before, self._timeline, self._past = self._timeline, None, status.past
        if status.past:  # the timeline is thin, or has the times of frames where the pointer is on it
            is_tall = before is not None and status.pointer is not None and status.pointer[1] >= before.top
            self._timeline = bar_of(on.get_size(), self.scale, is_tall)
            size, past = self._timeline.size, status.past
            tall = self._renderings.get("timeline", (size, id(self.pen.theme)), lambda: rendered(
                size, past, self.pen), now_s, 1 / MAP_HZ) if is_tall else None
            draw_timeline(self._on, self._timeline, past, self.pen, self.scale, tall)
            self._free.height = self._timeline.top - self._gap // 2 - self._free.top
        strip = pygame.Rect(self._free.left, self._free.bottom, self._free.width, 0)
        if status.panels.hud != "off" or status.notices or status.jobs:
            strip.height = round(STRIP_HEIGHT * self.scale)
            strip.bottom = self._free.bottom
            self._free.height -= strip.height + self._gap // 2
        room = self._draw_right(sim, status, now_s)
        self._draw_strip(status, strip, now_s)
        between = self._draw_panels(sim, status, room, now_s)
        self._draw_tour(status)
        if status.halves:
            self._draw_halves(status.halves, now_s)
        if status.panels.hud != "off":
            self._draw_tools_and_card(status, between)
        if answer := status.answer:  # in the middle of what the panels leave
            canvas = self._rendered("answer", answer, lambda: draw_answer(answer, self.pen, self.scale))
            self._place(canvas, canvas.surface.get_rect(center=self._free.center).clamp(on.get_rect()).topleft)
        if caption := status.caption:
            surface = self._rendered("caption", (caption[:-1], on.get_size()), lambda: draw_caption(
                caption, on.get_size(), self.pen, self.scale)).surface
            surface.set_alpha(round(255 * caption.alpha))
            self._on.blit(surface, surface.get_rect(bottom=on.get_height()))
        self._on = on
        if view := status.view:  # in the middle, in the shade, or where it was asked for
            size = on.get_size()
            if not view.at:
                on.blit(self._rendered("shade", size, self._shade).surface, (0, 0))
            canvas = self._rendered("view", (view, size), lambda: draw_list(view, size, self.pen, self.scale))
            self._place(canvas, place_of(view, canvas, size, self.scale))
        beneath = status.view is not None and status.hovered is not None and status.hovered.target.kind != "row"
        if status.hovered and not beneath and (tip := tip_of(status.hovered.target, sim, status)):
            keep = [placed.area for placed in self._placed
                    if ON_CARD in [region.target for region in placed.targets]]
            canvas, at = draw_tip(tip, status.hovered.at, on.get_size(), self.pen, self.scale, keep)
            on.blit(canvas.surface, at)

    def draw_message(self) -> None:
        """Draw the message over the picture that was drawn last, unless something that is open lies there."""
        if self._message and self._message.area.collidelist([placed.area for placed in self._placed]) < 0:
            self._on.blit(self._message.surface, self._message.at)

    def target_at(self, x: float, y: float) -> Target | None:
        """The target at a pixel of the last picture; None outside of the HUD."""
        found = next((found for placed in reversed(self._placed) if (found := placed.target_at(x, y))), None)
        if found or not (self._timeline and y >= self._timeline.top):
            return found
        mark = mark_at(self._past, x, self._timeline, self.scale) if self._past else None
        return Target("timeline", f"{time_text(mark.at / self._past.hz)}  {mark.text}") if self._past and mark else TIMELINE

    def share_along(self, target: Target, x: float, y: float) -> float | None:
        """How far along a target a pixel is, from its left end to its right one, or upwards; None if it is not shown."""
        rect = next((region.rect.move(placed.at) for placed in self._placed for region in placed.targets
                     if region.target == target), None)
        if rect is None:
            return None
        share = (rect.bottom - y) / rect.height if target == BRUSH_SLIDER else (x - rect.left) / rect.width
        return min(max(share, 0.0), 1.0)

    def scroll_legend(self, lines: int, most: int) -> None:
        """Scroll the overlays' legend by so many lines, at most so far down."""
        self._legend_first = min(max(self._legend_first + lines, 0), most)

    def scroll_numbers(self, lines: int) -> None:
        self._first_number = max(self._first_number + lines, 0)

    def uncovered(self, rect: pygame.Rect) -> pygame.Rect:
        """Move a rectangle between the columns, as they were drawn last, if it is covered."""
        return rect.clamp(self._free) if rect.collidelist(self.covered()) >= 0 else rect

    def covered(self) -> list[pygame.Rect]:
        """Return where panels were drawn last; the window may be smaller now."""
        return [placed.area for placed in self._placed]

    def sections(self) -> dict[str, bool]:
        """The sections of both panels as they were rendered last, and whether they are folded."""
        return {placed.target.name: placed.target.kind == "unfold" for panel in self.panels for placed in panel.targets
                if placed.target.kind in ("fold", "unfold")}

    # --- the columns -------------------------------------------------------------------------------------------------

    def _draw_strip(self, status: Status, strip: pygame.Rect, now_s: float) -> None:
        """Place time, jobs, and one message or legend from the left on, in rows upwards, and keys at the right.

        What is higher than a row stays beside what is at the right edge.
        """
        is_off, width, message = status.panels.hud == "off", self._free.width, status.notices[-1:]
        pills = [draw_job(job, self.pen, self.scale) for job in status.jobs]
        pills += [draw_notice(text, width / self.scale, self.pen, self.scale) for text in message]
        if not is_off:
            text = time_text(status.time_s)
            if status.past and status.past.recorded is not None:
                text += f"   recording {status.past.recorded / 1e6:,.2f} MB"
            pills.insert(0, self._rendered("clock", (text, status.paused), lambda: draw_clock(
                text, status.paused, self.pen, self.scale)))
            pills += [] if message else self._legend(status, width / self.scale, now_s)
        (left, bottom), top, self._message = strip.bottomleft, strip.top, None
        for canvas in pills:
            size = canvas.surface.get_size()
            edge = strip.right if size[1] <= strip.height and bottom == strip.bottom else self._free.right
            if left + size[0] > edge and left > strip.left:
                left, bottom = strip.left, top - self._gap // 2
            canvas.at = left, bottom - size[1]
            left, top = left + size[0] + self._gap, min(top, bottom - size[1])
            if message and canvas is pills[-1]:
                self._message = canvas
            else:
                self._place(canvas, canvas.at)
        if not is_off and now_s - self._pointer[1] < HINTS_S and bottom == strip.bottom:
            is_first = status.panels.hud == "full" and not self.is_wide
            said = HINTS | {"hud": "techniques" if is_first else NEXT_MODE[status.panels.hud]}
            keys = [(action, self.keys[action][0], what) for action, what in said.items() if self.keys.get(action)]
            room = (strip.right - left) / self.scale
            hints = self._rendered("hints", (keys, room), lambda: draw_hints(keys, room, self.pen, self.scale))
            if hints.targets:
                self._place(hints, (strip.right - hints.surface.get_width(), bottom - hints.surface.get_height()))
        if strip.height:
            self._free.height = top - self._gap // 2 - self._free.top

    def _legend(self, status: Status, room: float, now_s: float) -> list[Canvas]:
        """The legend of overlays, whose numbers change as often as the panels', or else what colours mean."""
        if items := status.legend_items:
            most = int(LEGEND_SHARE * self._on.get_height() / self.scale / LINE)
            looks = tuple(each.name for each in items), self._legend_first, room
            return [self._rendered("overlays", looks, lambda: draw_legend(
                items, room, self.pen, self.scale, most, self._legend_first), now_s, 1 / REFRESH_HZ)]
        if legend := status.legend:
            return [self._rendered("colours", (legend, room), lambda: draw_colour_legend(
                legend, min(COLOUR_LEGEND_ROOM, room), self.pen, self.scale))]
        return []

    def _draw_right(self, sim: Simulation, status: Status, now_s: float) -> int:
        """Place what was asked for by itself at the right edge, from below; return the pixels above it, 0 for all.

        What finds no room there, beside the techniques, is in a column further left.
        """
        least = round(BOARD_NEEDS * self.scale) if self._has(1, status) else 0
        edge, top, room = self._free.right, self._free.bottom, 0
        right = edge
        for canvas in self._asked_for(sim, status, now_s):
            size = canvas.surface.get_size()
            if top - size[1] < self._free.top + least and (least or top < self._free.bottom):
                room, least = room or top - self._free.top, 0
                right, top = edge - round(RIGHT_WIDTH * self.scale) - self._gap, self._free.bottom
            top -= size[1] + self._gap
            at = right - size[0], max(top + self._gap, self._free.top)
            self._place(canvas, at)
            self._free.width = min(self._free.width, at[0] - self._gap - self._free.left)
        return room or (top < self._free.bottom) * (top - self._free.top)

    def _has(self, side: int, status: Status) -> bool:
        """Return whether the left panel, side 0, or the right one is shown."""
        return status.panels.hud in (("full", "compact"), ("right", "compact"))[side] or (
            self.is_wide and status.panels.hud in ("full", "right"))

    def _asked_for(self, sim: Simulation, status: Status, now_s: float) -> Iterator[Canvas]:
        if status.minimap:
            yield self.minimap.draw(sim, status.minimap, self.pen, self.scale, now_s)
        if inspected := status.inspection:
            hints = self._hints(INSPECTING_BOX if inspected.is_box else INSPECTING)
            yield self._rendered("inspection", inspected.title, lambda: draw_inspection(
                inspected, hints, self.pen, self.scale), now_s, 1 / REFRESH_HZ)
        for item in status.legend_items:
            if item.chart:
                render = partial(draw_chart, item.chart, self.pen, self.scale)
                yield self._rendered(f"chart {item.name}", None, render, now_s, 1 / REFRESH_HZ)

    def _draw_panels(self, sim: Simulation, status: Status, room: int, now_s: float) -> tuple[int, int, int]:
        """Place the left panel, and the right one in its room; return left, top and right of what lies between them."""
        left, top = self._free.topleft
        if status.panels.hud == "off":
            return left, top, self._free.right
        rooms = self._free.height, room or self._free.height
        looks = (rooms, self._on.get_size(), status.panels, status.touched, status.paused, status.numbers,
                 self._first_number)
        techniques = sim.situation, sim.optimizations.changes, dict(status.pending)
        self.panels = tuple(self._rendered(f"panel {side}", (looks, techniques), partial(
            self._panel, side, sim, status, rooms[side]), now_s, math.inf if side else 1 / REFRESH_HZ) for side in (0, 1))
        is_compact, right = status.panels.hud == "compact", self._free.right
        if self._has(0, status):
            self._place(self.panels[0], (left, top))
            panel = self.panels[0].area
            left, top = (left, panel.bottom + self._gap) if is_compact else (panel.right + self._gap, top)
        if self._has(1, status):
            edge = self._on.get_width() - self._gap - self.panels[1].surface.get_width()
            self._place(self.panels[1], (edge, self._free.top))
            right = min(right, edge - self._gap)
        if not (is_compact and self.is_wide):
            self._free.left, self._free.width = left, max(right - left, 1)
        return left, top, right

    def _panel(self, side: int, sim: Simulation, status: Status, room_px: int) -> Canvas:
        if status.panels.hud == "compact" and side == 0:
            return draw_line(sim, status, self.pen, self.scale)
        room = room_px / self.scale
        if side:
            sections = switchboard_sections(sim, status, self.keys)
        else:  # those that are always shown, then those that are folded at first
            sections = sorted([*frame_sections(sim.profile, status, self.graph), *scenario_sections(sim, self.keys),
                               *crowd_sections(sim, status.readings, self.colours)],
                              key=lambda each: each.headline is not None and each.chip is None)
            shown = rows_in_view(len(status.numbers), self._first_number, room, sections)
            self._first_number = shown.start
            sections.append(PanelSection(NUMBERS, HEAD + NUMBER_ROW * len(shown), partial(
                draw_numbers, rows=status.numbers, shown=shown)))
        return draw_panel(sections, (LEFT_WIDTH, RIGHT_WIDTH)[side], room, status.panels.opened, self.pen, self.scale)

    # --- between them ------------------------------------------------------------------------------------------------

    def _draw_tour(self, status: Status) -> None:
        if not (tour := status.tour):
            return
        presses = {"compact": 1, "off": 2}.get(status.panels.hud, 0)
        if tour.of_panels and presses and (keys := self.keys.get("hud")):
            tour = tour._replace(hint=f"{key_text(keys[0])}{', pressed twice,' * (presses > 1)} shows the panels.")
        share = self._on.get_height() / USUAL_HEIGHT  # a tour is read from afar: it grows with the height, not its root
        scale = min(max(self.scale, min(self.scale * math.sqrt(share), self._free.width / TOUR_WIDEST)),
                    TOUR_LARGEST * USUAL_SCALE * share)
        canvas = self._rendered("tour", (tour, self._free.width, scale), lambda: draw_tour(
            tour, self._free.width, self.pen, scale))
        place = canvas.surface.get_rect(midbottom=self._free.midbottom)
        self._place(canvas, place.topleft)
        self._free.height -= place.height + self._gap

    def _draw_halves(self, halves: Halves, now_s: float) -> None:
        """Draw the labels of a split window low on both sides of its line, or above each other where there is little room."""
        low = self._free
        if low.width < LOW_NEEDS * self.scale:  # from edge to edge, then
            low = pygame.Rect(self._gap, low.top, self._on.get_width() - 2 * self._gap, low.height)
        room = low.width / self.scale
        left, right = (self._rendered(f"half {is_right}", (half._replace(step_ms=0, frame_ms=0), room), partial(
            draw_half, half, is_right, room, self.pen, self.scale), now_s, 1 / REFRESH_HZ)
            for is_right, half in ((False, halves.left), (True, halves.right)))
        one = left.surface.get_rect(bottomright=(halves.line_px - self._gap, low.bottom)).clamp(low)
        other = right.surface.get_rect(bottomleft=(halves.line_px + self._gap, low.bottom)).clamp(low)
        if one.right + self._gap > other.left:
            one.bottom = other.top - self._gap // 2
        for canvas, rect in ((left, one), (right, other)):
            self._place(canvas, rect.topleft)
        self._free.height = min(one.top, other.top) - self._gap - self._free.top

    def _draw_tools_and_card(self, status: Status, between: tuple[int, int, int]) -> None:
        """Draw the tool bar and the card beside each other, between left, top and right."""
        (left, top, right), bottom = between, max(self._free.bottom, between[1] + 1)
        if shown := status.tools:
            canvas = self._rendered("tools", (shown, bottom - top), lambda: draw_tool_bar(
                shown, (bottom - top) / self.scale, self.pen, self.scale))
            self._place(canvas, (left, top))
            left += canvas.surface.get_width() + self._gap
        if card := status.card:
            room = max(right - left, 1) / self.scale, (bottom - top) / self.scale
            hint = "   ".join(self._hints(CARD_KEYS if card.row is None else {"card": "times" if card.left else "hide"}))
            self._place(self._rendered("card", (card, room), lambda: draw_card(
                card, room[0], self.pen, self.scale, hint, room[1])), (left, top))

    def _hints(self, said: Mapping[str, str]) -> list[str]:
        return [f"{key_text(self.keys[action][0])} {what}" for action, what in said.items() if self.keys.get(action)]

    # --- what is open ------------------------------------------------------------------------------------------------

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
        canvas.at = at
        self._on.blit(canvas.surface, at)
        self._placed.append(canvas)
