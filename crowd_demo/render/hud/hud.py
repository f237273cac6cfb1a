"""The HUD: two panels over the picture, the timeline at the lower edge, what is open, and a tooltip.

The left panel shows what a frame costs and what the crowd does (frame_sections.py, sections.py); the right one
shows the techniques and their keys (sections.py). A panel is rendered to a canvas of its own `REFRESH_HZ` times a
second, the two by turns, so most frames cost two blits. `target_at` says what the cursor is on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pygame

from crowd_demo.config.keys import key_text
from crowd_demo.render.hud.canvas import SHADE, THEMES, Canvas, Colour, Pen, Region, Renderings, Target, scale_for
from crowd_demo.render.hud.card import Card, draw_card
from crowd_demo.render.hud.chart import draw_chart
from crowd_demo.render.hud.frame_sections import Graph, frame_sections
from crowd_demo.render.hud.help import Keys
from crowd_demo.render.hud.navigation import Minimap, TimelineBar, mark_at
from crowd_demo.render.hud.number_rows import RowsInView, number_section
from crowd_demo.render.hud.panel_layout import (
    LEFT_WIDTH,
    RIGHT_WIDTH,
    PanelSection,
    PlacedCanvas,
    bar_of,
    between,
    common_px,
    draw_panel,
    edges_of,
    free_place,
    has_both,
    in_the_way,
    margin_of,
    timeline_px,
)
from crowd_demo.render.hud.scenario_section import scenario_sections
from crowd_demo.render.hud.sections import crowd_sections, switchboard_sections
from crowd_demo.render.hud.status import Half, Halves, Inspection, MinimapView, Past, Status, ToolBarView, time_text
from crowd_demo.render.hud.text_panels import (
    LINE,
    draw_colour_legend,
    draw_compact,
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
from crowd_demo.render.hud.tool_bar import ToolBar, draw_brush, draw_rings
from crowd_demo.render.hud.views import QuestionView, TableView, View, draw_view, place_of
from crowd_demo.sim.simulation import Simulation

REFRESH_HZ = 8.0
ON_DIALOG = Target("dialog")  # a point there that means nothing in particular
TIMELINE = Target("timeline")
LEGEND_NEEDS, NOTICE_NEEDS, CARD_NEEDS = 140, 150, 390  # units
ONE_LINE = 720  # units: a notice that is no longer is wrapped only where the window is narrower
LEGEND_SHARE = 0.3  # of the window's height: a higher legend of overlays scrolls
ON_CARD = {"card": "again", "measure": "measure properly"}  # what is said of keys
INSPECTING = {"inspect_next": "next, with Shift previous", "inspect": "close"}
INSPECTING_BOX = {"inspect_next": "who is in its middle", "inspect": "close"}
CORNERS = ("topright", "topleft", "bottomright", "bottomleft")  # where the inspector's panel may be, the usual one first
COLOUR_LEGEND_ROOM = 520  # units
LOW = 0.6  # of the window's height: what reaches down to there is in the way of what lies at the lower edge


class Hud:
    """Draws over a finished picture; `keys` are those of each action, `colours` those of the agents' states."""

    def __init__(self, keys: Keys, colours: Mapping[str, Colour] | None = None, pen: Pen | None = None) -> None:
        self.keys, self.colours = keys, colours or {}
        self.pen = pen or Pen()
        self.graph = Graph()
        self.scale = 1.0
        self.panels: tuple[Canvas, ...] = ()  # the left and the right one as they were rendered last
        self._bar = TimelineBar(self.pen)
        self._drawn_at: list[float] = []  # when each panel was
        self._drawn_as: object = None  # what the panels depend on beside numbers
        self._renderings = Renderings()  # of what is rendered again only if it has to look different
        self._on, self._size, self._margin = pygame.Surface((1, 1)), (1, 1), 0  # this frame's
        self._taken_px = 0  # at the lower edge, by timeline, tour and legends
        self._edges: list[pygame.Rect] = []  # strips along the edge of the frozen view, over all but a tour
        self._card: pygame.Rect | None = None  # where it is
        self._held = False  # are the panels compact only because they would be in the way of a tour?
        self._over_all = False  # are they shown nevertheless, until the tour is over?
        self.minimap = Minimap()
        self.tool_bar = ToolBar()
        self._placed: list[PlacedCanvas] = []
        self._timeline: pygame.Rect | None = None  # where it is
        self._past: Past | None = None  # which it showed last
        self._inspected_in = CORNERS[0]  # the corner of the inspector's panel
        self._numbers = RowsInView(0, 0, 0)  # of the section of numbers
        self._legend_first = 0  # the line of the overlays' legend that is the first to be shown

    def draw(self, on: pygame.Surface, sim: Simulation, status: Status, now_s: float) -> None:
        """Draw what the user wants to see of the HUD, what is open, and the tooltip."""
        size = on.get_size()
        self.scale = scale_for(size, status.panels.scale)
        self._on, self._size, self._margin = on, size, margin_of(size, self.scale)
        self._placed, self._timeline, self._taken_px, self._card = [], None, 0, None
        self.pen.theme = THEMES[status.panels.theme]
        if status.rings:
            draw_rings(on, status.rings, self.pen, self.scale)
        if status.brush:
            draw_brush(on, status.brush, self.pen, self.scale)
        edges = edges_of(on, status.frozen_at) if status.frozen_at else []
        self._edges = [strip for _, strip in edges]
        of_tour = self._draw_panels(sim, status, now_s)
        if status.minimap:  # before what gives way to it
            self._draw_minimap(sim, status.minimap, now_s)
        if status.tools and status.panels.hud != "off":
            self._draw_tool_bar(status.tools)
        self._draw_charts(status, now_s)
        lasting, lasting_px = len(self._placed), self._taken_px
        if status.panels.hud != "off":
            self._draw_legends(status, now_s)
        legends = self._placed[lasting:]
        if edges:
            on.blits(edges)
            if of_tour:
                on.blit(of_tour.canvas.surface, of_tour.at)
        free = self._left_free([placed.rect for placed in self._placed])
        if status.inspection:  # it was asked for by itself, and its marks are in the picture
            self._draw_inspection(status.inspection, now_s)
        if status.card and status.panels.hud != "off":
            self._draw_card(status.card, legends, lasting_px)
        if status.halves:
            self._draw_halves(status.halves, free.width, now_s)
        if status.view:
            self._draw_view(status.view)
        beneath = status.view is not None and status.hovered is not None and status.hovered.target.kind != "row"
        if status.hovered and not beneath and (tip := tip_of(status.hovered.target, sim, status)):
            canvas, at = draw_tip(tip, status.hovered.at, size, self.pen, self.scale)
            on.blit(canvas.surface, at)

    def draw_notices(self, on: pygame.Surface, notices: Sequence[str]) -> None:
        """Draw the notices above what lies at the lower edge, the newest lowest, whether the rest is shown or not.

        A long one is wrapped between the panels; a short one is drawn over them rather than wrapped. None covers a card.
        """
        bottom, gap = on.get_height() - round(14 * self.scale) - self._taken_px, round(6 * self.scale)
        taken = [*(placed.rect for placed in self._placed), *filter(None, [self._timeline])]
        for notice in reversed(notices):
            wide = notice_width(notice, self.pen, self.scale)
            left, right = self._free_columns(wide if wide <= ONE_LINE else NOTICE_NEEDS)
            surface = draw_notice(notice, (right - left) / self.scale, self.pen, self.scale).surface
            place = surface.get_rect(midbottom=((left + right) // 2, bottom))
            if self._card and place.colliderect(self._card):
                place = free_place(place, on.get_rect(), taken, [self._card], gap)
            on.blit(surface, place)
            taken.append(place)
            bottom = place.top - gap

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
        """Move a rectangle out of the HUD, as it was drawn last, if it is covered."""
        covering = [*(placed.rect for placed in self._placed), *filter(None, [self._timeline])]
        return rect if rect.collidelist(covering) < 0 else free_place(rect, self._on.get_rect(), covering, (), 0)

    def sections(self) -> dict[str, bool]:
        """The sections of both panels as they were rendered last, and whether they are folded."""
        return {placed.target.name: placed.target.kind == "unfold" for panel in self.panels for placed in panel.targets
                if placed.target.kind in ("fold", "unfold")}

    # --- the panels --------------------------------------------------------------------------------------------------

    def _draw_panels(self, sim: Simulation, status: Status, now_s: float) -> PlacedCanvas | None:
        """Draw the timeline, the panels, compact ones while full ones are in the way, and a tour's box; return that.

        A tour's box lies between full panels. Where `show_held` has asked for them, they end above it.
        """
        hud, columns = status.panels.hud, (self._margin, self._size[0] - self._margin)
        if hud == "full" and status.past:
            self._bar.draw(self._on, status.past, now_s, self.scale)
            self._timeline, self._past = bar_of(self._size, self.scale), status.past
            self._taken_px = timeline_px(self._size, self.scale)
        of_tour, others = status.tour is not None, status.card is not None or bool(status.legend_items)
        in_way = in_the_way(self._size, self.scale, of_tour, others)
        self._over_all &= in_way and of_tour
        self._held = in_way and of_tour and hud == "full" and not self._over_all
        box = self._draw_tour(status, columns) if self._over_all and hud == "full" else None
        if hud == "full" and (box or not in_way):
            self._draw_full(sim, status, now_s)
            columns = between([placed.rect for placed in self._placed], self._size[0], self._margin)
        elif hud != "off":
            self._place(draw_compact(sim, status, self.pen, self.scale), (self._margin, self._margin))
        return box or self._draw_tour(status, columns)

    def _draw_full(self, sim: Simulation, status: Status, now_s: float) -> None:
        self._refresh(sim, status, now_s)
        left, right = self.panels
        self._place(left, (self._margin, self._margin))
        if has_both(self._size, self.scale):
            self._place(right, (self._size[0] - right.surface.get_width() - self._margin, self._margin))

    def _refresh(self, sim: Simulation, status: Status, now_s: float) -> None:
        """Render the older panel if it is due, or both if they have to look different."""
        period = 1 / REFRESH_HZ
        drawn_as = (self._size, self._taken_px, self.scale, status.panels, status.touched, status.numbers,
                    self._numbers.first)
        if drawn_as != self._drawn_as:
            self._drawn_as = drawn_as
            self.panels = self._panel(LEFT_WIDTH, sim, status), self._panel(RIGHT_WIDTH, sim, status)
            self._drawn_at = [now_s, now_s - period / 2]
        older = self._drawn_at.index(min(self._drawn_at))
        if now_s - self._drawn_at[older] >= period:
            renewed = self._panel((LEFT_WIDTH, RIGHT_WIDTH)[older], sim, status)
            self.panels = (self.panels[0], renewed) if older else (renewed, self.panels[1])
            self._drawn_at[older] = now_s

    def _panel(self, width: float, sim: Simulation, status: Status) -> Canvas:
        room = (self._size[1] - self._taken_px - 2 * self._margin) / self.scale
        sections = switchboard_sections(sim, status, self.keys) if width == RIGHT_WIDTH else self._left_sections(
            sim, status, room)
        return draw_panel(sections, width, room, status.panels.folded, status.panels.opened, self.pen, self.scale)

    def _left_sections(self, sim: Simulation, status: Status, room: float) -> list[PanelSection]:
        header, *times = frame_sections(sim.profile, status, self.graph)
        crowd = crowd_sections(sim, status.readings, self.colours)
        sections = [header, *scenario_sections(sim, self.keys), *times, *crowd]
        self._numbers = RowsInView.of(len(status.numbers), self._numbers.first, room, sections)
        return [*sections, number_section(status.numbers, self._numbers)]

    # --- legends, card and tour --------------------------------------------------------------------------------------

    def _draw_tour(self, status: Status, columns: tuple[int, int]) -> PlacedCanvas | None:
        if not status.tour:
            return None
        tour, room = status.tour, columns[1] - columns[0]
        presses = self._held or {"full": 0, "compact": 2, "off": 1}[status.panels.hud]
        if tour.of_panels and presses and (keys := self.keys.get("hud")):
            tour = tour._replace(hint=f"{key_text(keys[0])}{', pressed twice,' * (presses > 1)} shows the panels.")
        scale = tour_scale(room, self._size[1], self.scale)
        canvas = self._rendered("tour", (tour, room, scale), lambda: draw_tour(tour, room, self.pen, scale))
        self._place_low(canvas, columns)
        return self._placed[-1]

    def _draw_legends(self, status: Status, now_s: float) -> None:
        """Draw what colours mean above what lies at the lower edge; numbers of overlays change as often as the panels'."""
        columns = self._free_columns(LEGEND_NEEDS)
        if legend := status.legend:
            self._place_legend("colours", (legend,), columns, lambda room: draw_colour_legend(
                legend, min(COLOUR_LEGEND_ROOM, room), self.pen, self.scale))
        if items := status.legend_items:
            names, first = tuple(each.name for each in items), self._legend_first
            most = int(LEGEND_SHARE * self._size[1] / self.scale / LINE)
            self._place_legend("overlays", (names, first), columns, lambda room: draw_legend(
                items, room, self.pen, self.scale, most, first), now_s, 1 / REFRESH_HZ)

    def _draw_charts(self, status: Status, now_s: float) -> None:
        """Draw the charts of overlays below each other, in the upper right corner of what the panels leave free."""
        room, top = self._left_free([placed.rect for placed in self._placed]), self._margin
        for item in status.legend_items:
            if item.chart:
                render = partial(draw_chart, item.chart, self.pen, self.scale)
                canvas = self._rendered(f"chart {item.name}", room.size, render, now_s, 1 / REFRESH_HZ)
                self._place(canvas, (room.right - canvas.surface.get_width(), top))
                top += canvas.surface.get_height() + self._margin

    def _draw_inspection(self, found: Inspection, now_s: float) -> None:
        """Draw the inspector's panel in that corner between the others where it covers least of what is inspected."""
        hints = self._hints(INSPECTING_BOX if found.is_box else INSPECTING)
        canvas = self._rendered("inspection", found.title, lambda: draw_inspection(
            found, hints, self.pen, self.scale), now_s, 1 / REFRESH_HZ)
        room = self._left_free([placed.rect for placed in self._placed if placed.at[1] == self._margin])
        rects = {corner: canvas.surface.get_rect(**{corner: getattr(room, corner)}) for corner in CORNERS}

        def covered(corner: str) -> tuple[int, int]:
            common = rects[corner].clip(found.seen_at or (0, 0, 0, 0))
            return common.width * common.height, self._covered(rects[corner])

        self._inspected_in = min((self._inspected_in, *CORNERS), key=covered)
        x, y = rects[self._inspected_in].topleft
        self._place(canvas, (max(x, self._margin), max(y, self._margin)))

    def _left_free(self, rects: Sequence[pygame.Rect]) -> pygame.Rect:
        """What rectangles at both sides leave free above what lies at the lower edge."""
        left, right = between(rects, self._size[0], self._margin)
        return pygame.Rect(left, self._margin, right - left, self._size[1] - self._taken_px - 2 * self._margin)

    def _free_columns(self, needed: float) -> tuple[int, int]:
        """Where what lies at both sides leaves room at the lower edge, in pixels; the whole width if that is too little."""
        width, height = self._size
        low = [placed.rect for placed in self._placed if placed.rect.bottom > height * LOW]
        left, right = between(low, width, self._margin)
        return (left, right) if right - left > needed * self.scale else (self._margin, width - self._margin)

    def _draw_minimap(self, sim: Simulation, shown: MinimapView, now_s: float) -> None:
        """Draw the minimap in the right lower corner: left of a panel that is there, above anything lower."""
        canvas, margin, (width, height) = self.minimap.draw(sim, shown, self.pen, self.scale, now_s), self._margin, self._size
        bottom = self._timeline.top if self._timeline else height
        rect = canvas.surface.get_rect(bottomright=(width - margin, bottom - margin))
        for placed in self._placed:
            if rect.colliderect(placed.rect) and placed.rect.height > height / 2:
                rect.right = placed.rect.left - margin
            elif rect.colliderect(placed.rect):
                rect.bottom = placed.rect.top - margin
        self.minimap.at = rect.topleft
        self._place(canvas, rect.topleft)

    def _draw_tool_bar(self, shown: ToolBarView) -> None:
        """Draw the tool bar right of the left panel, or as near to there as it covers nothing."""
        margin, (width, height) = self._margin, self._size
        taken = [placed.rect for placed in self._placed]
        left = max((rect.right for rect in taken if rect.left <= margin and rect.top <= margin), default=0)
        window = pygame.Rect(0, 0, width, height - self._taken_px).inflate(-2 * margin, -2 * margin)
        canvas = self._rendered("tools", (shown, window.height), lambda: self.tool_bar.draw(
            shown, window.height / self.scale, self.pen, self.scale))
        wanted = canvas.surface.get_rect(topleft=(left + margin, margin))
        find = partial(free_place, wanted, window, taken, (), margin)
        place = self._renderings.get("place of tools", (wanted.topleft, wanted.size, window.size, *map(tuple, taken)), find)
        self.tool_bar.at = place.topleft
        self._place(canvas, place.topleft)

    def _draw_card(self, card: Card, legends: Sequence[PlacedCanvas], lasting_px: int) -> None:
        """Draw the card at the top in the middle, at the top on the right, or at the bottom: where it covers least.

        It covers legends, below which `lasting_px` are taken, rather than anything else.
        """
        width, height = self._size
        left, right = columns = self._free_columns(CARD_NEEDS)
        room, hint = (right - left) / self.scale, "   ".join(self._hints(ON_CARD))
        tall = (height - lasting_px - 2 * self._margin) / self.scale
        canvas = self._rendered("card", (card, columns, tall), lambda: draw_card(
            card, room, self.pen, self.scale, hint, tall))
        middle, lasting = (left + right) // 2, [placed.rect for placed in self._placed if placed not in legends]
        low = (canvas.surface.get_rect(midbottom=(middle, height - taken - self._margin))
               for taken in (self._taken_px, lasting_px))
        rects = [canvas.surface.get_rect(midtop=(width // 2, self._margin)),
                 canvas.surface.get_rect(topright=(width - self._margin, self._margin)), *low]
        self._card = min(rects, key=lambda rect: (common_px(rect, lasting), self._covered(rect)))
        self._place(canvas, self._card.topleft)

    def _draw_halves(self, halves: Halves, room: int, now_s: float) -> None:
        """Draw the labels of a split window beside its line, in so many pixels, or as near to it as they cover nothing."""
        gap = self._margin // 2
        low = timeline_px(self._size, self.scale) if self._timeline else 0
        window = pygame.Rect(gap, gap, self._size[0] - 2 * gap, self._size[1] - low - 2 * gap)
        left, right = canvases = [self._half(half, half is halves.right, room / self.scale, now_s)
                                  for half in (halves.left, halves.right)]
        wanted = [left.surface.get_rect(topright=(halves.line_px - self._margin, window.centery)),
                  right.surface.get_rect(topleft=(halves.line_px + self._margin, window.centery))]
        if wanted[0].width + wanted[1].width > room:
            wanted[0].bottom, wanted[1].top = window.centery - gap, window.centery + gap
        taken, places = [placed.rect for placed in self._placed], list[pygame.Rect]()
        for name, canvas, rect in zip(("left", "right"), canvases, wanted, strict=True):
            find = partial(free_place, rect, window, taken, places[:], gap)
            places.append(self._renderings.get(f"place {name}", find.args, find))
            self._place(canvas, places[-1].topleft)

    def _half(self, half: Half, is_right: bool, room: float, now_s: float) -> Canvas:
        looks = half._replace(step_ms=0, frame_ms=0), room
        render = partial(draw_half, half, is_right, room, self.pen, self.scale)
        return self._rendered(f"half {is_right}", looks, render, now_s, 1 / REFRESH_HZ)

    def _covered(self, rect: pygame.Rect) -> int:
        """Pixels of what was placed that a rectangle would cover."""
        return common_px(rect, [placed.rect for placed in self._placed])

    def _hints(self, said: Mapping[str, str]) -> list[str]:
        return [f"{key_text(self.keys[action][0])} {what}" for action, what in said.items() if self.keys.get(action)]

    # --- what is open ------------------------------------------------------------------------------------------------

    def _draw_view(self, view: View) -> None:
        """Draw the dialog that is open in the middle; a table, which may be wide, in the shade; a question beside a card."""
        if isinstance(view, TableView):
            self._on.blit(self._rendered("shade", self._size, self._shade).surface, (0, 0))

        def render() -> Canvas:
            canvas = draw_view(view, self._size, self.pen, self.scale)
            canvas.targets.insert(0, Region(ON_DIALOG, canvas.surface.get_rect()))
            return canvas

        canvas = self._rendered("view", (view, self._size), render)
        place = canvas.surface.get_rect(topleft=place_of(view, canvas, self._size, self.scale))
        if isinstance(view, QuestionView) and self._card:
            place = free_place(place, self._on.get_rect(), (), [self._card], self._margin)
        self._place(canvas, place.topleft)

    def _shade(self) -> Canvas:
        canvas = Canvas((self._size[0] / self.scale, self._size[1] / self.scale), self.pen, self.scale, None)
        canvas.surface.fill(self.pen.colour(SHADE))
        return canvas

    # --- rendering and placing ---------------------------------------------------------------------------------------

    def _rendered(self, name: str, drawn_as: object, render: Callable[[], Canvas], now_s: float = 0.0,
                  period_s: float = math.inf) -> Canvas:
        """The last rendering of that name, or a new one if it has to look different or is older than `period_s`."""
        return self._renderings.get(name, (drawn_as, self.scale, id(self.pen.theme)), render, now_s, period_s)

    def _place_low(self, canvas: Canvas, between: tuple[int, int]) -> None:
        """Place a canvas in the middle of those columns of pixels, above what lies at the lower edge."""
        self._taken_px += canvas.surface.get_height() + self._margin
        self._place(canvas, ((sum(between) - canvas.surface.get_width()) // 2, self._size[1] - self._taken_px))

    def _place_legend(self, name: str, drawn_as: object, between: tuple[int, int], draw: Callable[[float], Canvas],
                      now_s: float = 0.0, period_s: float = math.inf) -> None:
        """Place what `draw` makes of a room in units low in the middle, as `_place_low` does.

        Where an edge of the frozen view would be drawn across it, place it as near to there as there is room, or narrower.
        """
        taken, margin = [placed.rect for placed in self._placed], self._margin
        window = pygame.Rect(0, 0, self._size[0], self._size[1] - self._taken_px).inflate(-2 * margin, -2 * margin)
        beside = self._left_free([rect for rect in taken if rect.top <= margin]).width / self.scale
        for kind, room in (("wide", (between[1] - between[0]) / self.scale), ("narrow", max(beside, LEGEND_NEEDS))):
            canvas = self._rendered(f"{name}, {kind}", (drawn_as, room), partial(draw, room), now_s, period_s)
            wanted = canvas.surface.get_rect(midbottom=(sum(between) // 2, window.bottom))
            if wanted.collidelist(self._edges) < 0:
                self._place_low(canvas, between)
                return
            find = partial(free_place, wanted, window, taken, self._edges, margin)
            place = self._renderings.get(f"place of {name}, {kind}", find.args, find)
            if place.collidelist([*taken, *self._edges]) < 0:
                break
        self._place(canvas, place.topleft)

    def _place(self, canvas: Canvas, at: tuple[int, int]) -> None:
        self._on.blit(canvas.surface, at)
        self._placed.append(PlacedCanvas(canvas, at))
