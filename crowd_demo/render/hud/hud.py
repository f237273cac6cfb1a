"""The HUD: two panels over the picture, the timeline at the lower edge, what is open, and a tooltip.

The left panel shows what a frame costs and what the crowd does (frame_sections.py, crowd_sections.py); the right one shows
the techniques and their keys (switchboard.py). A panel is rendered to a canvas of its own `REFRESH_HZ` times a second, the
two by turns, so most frames cost two blits. `target_at` says what the cursor is on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pygame

from crowd_demo.config.keys import key_text
from crowd_demo.render.hud.canvas import Canvas, Region, Target
from crowd_demo.render.hud.card import Card, draw_card
from crowd_demo.render.hud.colour_legend import draw_colour_legend
from crowd_demo.render.hud.compact import draw_compact
from crowd_demo.render.hud.crowd_sections import WIDTH, crowd_sections
from crowd_demo.render.hud.docking import has_both, margin_of
from crowd_demo.render.hud.frame_sections import frame_sections
from crowd_demo.render.hud.graph import Graph
from crowd_demo.render.hud.inspection import draw_inspection
from crowd_demo.render.hud.legend import draw_legend
from crowd_demo.render.hud.minimap import Minimap, MinimapView
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.placing import Placed, between, common_px
from crowd_demo.render.hud.sections import draw_panel
from crowd_demo.render.hud.status import Status
from crowd_demo.render.hud.switchboard import WIDTH as RIGHT_WIDTH
from crowd_demo.render.hud.switchboard import Keys, switchboard_sections
from crowd_demo.render.hud.text_panel import text_panel
from crowd_demo.render.hud.theme import SHADE, THEMES, Colour, scale_for
from crowd_demo.render.hud.timeline import TimelineBar, bar_of, height_of
from crowd_demo.render.hud.tips import draw_tip, tip_of
from crowd_demo.render.hud.tour_panel import TourView, draw_tour
from crowd_demo.render.hud.views import TableView, View, draw_view, place_of
from crowd_demo.render.told import Inspection
from crowd_demo.sim.simulation import Simulation

REFRESH_HZ = 8.0
ON_DIALOG = Target("dialog")  # a place there that means nothing in particular
TIMELINE = Target("timeline")
LEGEND_NEEDS, NOTICE_NEEDS, CARD_NEEDS = 300, 150, 390  # units
ON_CARD = {"card": "again", "measure": "measure properly"}  # what is said of keys
INSPECTING = {"inspect_next": "next, with Shift previous", "inspect": "close"}
INSPECTING_BOX = {"inspect_next": "who is in its middle", "inspect": "close"}
CORNERS = ("topright", "topleft", "bottomright", "bottomleft")  # where the inspector's panel may be, the usual one first
COLOUR_LEGEND_ROOM = 520  # units
LOW = 0.6  # of the window's height: what reaches down to there is in the way of what lies at the lower edge


class Kept(NamedTuple):
    """What was rendered, what it depends on, and when that was."""

    drawn_as: object
    at_s: float
    canvas: Canvas


class Hud:
    """Draws over a finished picture; `keys` are those of each action, `colours` those of the agents' states."""

    def __init__(self, keys: Keys, colours: Mapping[str, Colour] | None = None, pen: Pen | None = None) -> None:
        self.keys, self.colours = keys, colours or {}
        self.pen = pen or Pen()
        self.graph = Graph()
        self.scale = 1.0
        self._bar = TimelineBar(self.pen)
        self._panels: list[Canvas] = []
        self._drawn_at: list[float] = []
        self._drawn_as: object = None  # what the panels depend on beside numbers
        self._kept: dict[str, Kept] = {}  # what is rendered again only if it has to look different, by name
        self._taken_px = 0  # at the lower edge, by timeline, tour and legends
        self._minimap, self._minimap_at = Minimap(), (0, 0)
        self._placed: list[Placed] = []
        self._timeline: pygame.Rect | None = None  # where it is
        self._free = pygame.Rect(0, 0, 0, 0)  # between the panels, above legends and timeline
        self._inspected_in = CORNERS[0]  # the corner of the inspector's panel

    def draw(self, on: pygame.Surface, sim: Simulation, status: Status, now_s: float) -> None:
        """Draw what the user wants to see of the HUD, what is open, and the tooltip."""
        size = on.get_size()
        self.scale = scale_for(size, status.looks.scale)
        self._placed, self._timeline, self._taken_px = [], None, 0
        self.pen.theme = THEMES[status.looks.theme]
        if status.looks.hud == "full":
            self._draw_full(on, sim, status, now_s)
        elif status.looks.hud == "compact":
            self._place(on, draw_compact(sim, status, self.pen, self.scale), (self._margin(size), self._margin(size)))
        if status.tour:
            self._draw_tour(on, status.tour)
        if status.minimap:  # before what gives way to it
            self._draw_minimap(on, sim, status.minimap, now_s)
        lasting, lasting_px = len(self._placed), self._taken_px
        if status.looks.hud != "off":
            self._draw_legends(on, status, now_s)
        legends = self._placed[lasting:]
        self._free = self._left_free([placed.rect for placed in self._placed], size)
        if status.inspection:  # it was asked for by itself, and its marks are in the picture
            self._draw_inspection(on, status.inspection, now_s)
        if status.card and status.looks.hud != "off":
            self._draw_card(on, status.card, legends, lasting_px)
        if status.view:
            self._draw_view(on, status.view)
        beneath = status.view is not None and status.hovered is not None and status.hovered.target.kind != "row"
        if status.hovered and not beneath and (tip := tip_of(status.hovered.target, sim, status)):
            canvas, at = draw_tip(tip, status.hovered.at, size, self.pen, self.scale)
            on.blit(canvas.surface, at)

    def draw_notices(self, on: pygame.Surface, notices: Sequence[str]) -> None:
        """Draw the notices above what lies at the lower edge, the newest lowest, whether the rest is shown or not."""
        left, right = self._free_columns(on, NOTICE_NEEDS)
        bottom = on.get_height() - round(14 * self.scale) - self._taken_px
        for notice in reversed(notices):
            surface = text_panel(notice, (right - left) / self.scale, self.pen, self.scale).surface
            bottom -= surface.get_height()
            on.blit(surface, ((left + right - surface.get_width()) // 2, bottom))
            bottom -= round(6 * self.scale)

    def target_at(self, x: float, y: float) -> Target | None:
        """What is at a pixel, as it was drawn last; None where the picture is."""
        found = next((found for placed in reversed(self._placed) if (found := placed.target_at(x, y))), None)
        return found or (TIMELINE if self._timeline and self._timeline.collidepoint(x, y) else None)

    def mapped_at(self, x: float, y: float) -> tuple[float, float]:
        """Where in the world the minimap has a pixel, as it was drawn last; beside it, where it would go on."""
        return self._minimap.world_at(x - self._minimap_at[0], y - self._minimap_at[1])

    def uncovered(self, rect: pygame.Rect) -> pygame.Rect:
        """Where a rectangle of the picture can be seen: there, or as near as the HUD, as it was drawn last, leaves room."""
        covering = [*(placed.rect for placed in self._placed), *filter(None, [self._timeline])]
        return rect if rect.collidelist(covering) < 0 else rect.clamp(self._free)

    @property
    def panels(self) -> tuple[Canvas, ...]:
        """The left and the right one as they were rendered last; empty before the first picture."""
        return tuple(self._panels)

    def sections(self) -> dict[str, bool]:
        """The sections of both panels as they were rendered last, and whether they are folded."""
        return {placed.target.name: placed.target.kind == "unfold" for panel in self._panels for placed in panel.targets
                if placed.target.kind in ("fold", "unfold")}

    # --- the panels --------------------------------------------------------------------------------------------------

    def _draw_full(self, on: pygame.Surface, sim: Simulation, status: Status, now_s: float) -> None:
        width, height = on.get_size()
        margin = self._margin((width, height))
        if status.past:
            self._bar.draw(on, status.past, now_s, self.scale)
            self._timeline = bar_of((width, height), self.scale)
            self._taken_px = height_of((width, height), self.scale)
            height -= self._taken_px
        self._refresh((width, height), sim, status, now_s)
        left, right = self._panels
        self._place(on, left, (margin, margin))
        if has_both((width, height), self.scale):
            self._place(on, right, (width - right.surface.get_width() - margin, margin))

    def _refresh(self, size: tuple[int, int], sim: Simulation, status: Status, now_s: float) -> None:
        """Render the older panel if it is due, or both if they have to look different."""
        period, panels = 1 / REFRESH_HZ, (self._left_panel, self._right_panel)
        drawn_as = size, self.scale, status.looks, status.touched
        if drawn_as != self._drawn_as:
            self._drawn_as = drawn_as
            self._panels = [render(size, sim, status) for render in panels]
            self._drawn_at = [now_s, now_s - period / 2]
        older = self._drawn_at.index(min(self._drawn_at))
        if now_s - self._drawn_at[older] >= period:
            self._panels[older], self._drawn_at[older] = panels[older](size, sim, status), now_s

    def _left_panel(self, size: tuple[int, int], sim: Simulation, status: Status) -> Canvas:
        sections = [*frame_sections(sim.profile, status, self.graph), *crowd_sections(sim, status.readings, self.colours)]
        return draw_panel(sections, WIDTH, self._room(size), status.looks.folded, status.looks.opened, self.pen, self.scale)

    def _right_panel(self, size: tuple[int, int], sim: Simulation, status: Status) -> Canvas:
        sections = switchboard_sections(sim, status, self.keys)
        return draw_panel(sections, RIGHT_WIDTH, self._room(size), status.looks.folded, status.looks.opened, self.pen,
                          self.scale)

    def _room(self, size: tuple[int, int]) -> float:
        return (size[1] - 2 * self._margin(size)) / self.scale

    def _margin(self, size: tuple[int, int]) -> int:
        return margin_of(size, self.scale)

    # --- legends, card and tour --------------------------------------------------------------------------------------

    def _draw_legends(self, on: pygame.Surface, status: Status, now_s: float) -> None:
        """Draw what colours mean above what lies at the lower edge; numbers of overlays change as often as the panels'."""
        left, right = columns = self._free_columns(on, LEGEND_NEEDS)
        if legend := status.legend:
            room = min(COLOUR_LEGEND_ROOM, (right - left) / self.scale)
            self._place_low(on, self._rendered("colours", (legend, columns), lambda: draw_colour_legend(
                legend, room, self.pen, self.scale)), columns)
        if told := status.told:
            names = tuple(each.name for each in told)
            self._place_low(on, self._rendered("overlays", (names, columns), lambda: draw_legend(
                told, (right - left) / self.scale, self.pen, self.scale), now_s, 1 / REFRESH_HZ), columns)

    def _draw_inspection(self, on: pygame.Surface, found: Inspection, now_s: float) -> None:
        """Draw the inspector's panel in that corner between the others where it covers least of what is inspected."""
        hints = self._hints(INSPECTING_BOX if found.is_box else INSPECTING)
        canvas = self._rendered("inspection", found.title, lambda: draw_inspection(
            found, hints, self.pen, self.scale), now_s, 1 / REFRESH_HZ)
        margin = self._margin(on.get_size())
        room = self._left_free([placed.rect for placed in self._placed if placed.at[1] == margin], on.get_size())
        places = {corner: canvas.surface.get_rect(**{corner: getattr(room, corner)}) for corner in CORNERS}

        def covered(corner: str) -> tuple[int, int]:
            common = places[corner].clip(found.seen_at or (0, 0, 0, 0))
            return common.width * common.height, self._covered(places[corner])

        self._inspected_in = min((self._inspected_in, *CORNERS), key=covered)
        x, y = places[self._inspected_in].topleft
        self._place(on, canvas, (max(x, margin), max(y, margin)))

    def _left_free(self, rects: Sequence[pygame.Rect], size: tuple[int, int]) -> pygame.Rect:
        """What rectangles at both sides leave free above what lies at the lower edge."""
        margin = self._margin(size)
        left, right = between(rects, size[0], margin)
        return pygame.Rect(left, margin, right - left, size[1] - self._taken_px - 2 * margin)

    def _free_columns(self, on: pygame.Surface, needed: float) -> tuple[int, int]:
        """Where what lies at both sides leaves room at the lower edge, in pixels; the whole width if that is too little."""
        (width, height), margin = on.get_size(), self._margin(on.get_size())
        low = [placed.rect for placed in self._placed if placed.rect.bottom > height * LOW]
        left, right = between(low, width, margin)
        return (left, right) if right - left > needed * self.scale else (margin, width - margin)

    def _draw_tour(self, on: pygame.Surface, view: TourView) -> None:
        """Draw the tour's panel above the timeline."""
        width = on.get_width()
        self._place_low(on, self._rendered("tour", (view, on.get_size()), lambda: draw_tour(
            view, width, self.pen, self.scale)), (0, width))

    def _draw_minimap(self, on: pygame.Surface, sim: Simulation, shown: MinimapView, now_s: float) -> None:
        """Draw it in the right lower corner: left of a panel that is there, above anything lower."""
        canvas, margin = self._minimap.draw(sim, shown, self.pen, self.scale, now_s), self._margin(on.get_size())
        bottom = self._timeline.top if self._timeline else on.get_height()
        rect = canvas.surface.get_rect(bottomright=(on.get_width() - margin, bottom - margin))
        for placed in self._placed:
            if rect.colliderect(placed.rect) and placed.rect.height > on.get_height() / 2:
                rect.right = placed.rect.left - margin
            elif rect.colliderect(placed.rect):
                rect.bottom = placed.rect.top - margin
        self._minimap_at = rect.topleft
        self._place(on, canvas, rect.topleft)

    def _draw_card(self, on: pygame.Surface, card: Card, legends: Sequence[Placed], lasting_px: int) -> None:
        """Draw the card in the middle of the upper edge, or of the lower one, where it covers less.

        It covers legends, below which `lasting_px` are taken, rather than anything else.
        """
        (width, height), margin = on.get_size(), self._margin(on.get_size())
        left, right = columns = self._free_columns(on, CARD_NEEDS)
        room, hint = (right - left) / self.scale, "   ".join(self._hints(ON_CARD))
        canvas = self._rendered("card", (card, columns), lambda: draw_card(card, room, self.pen, self.scale, hint))
        middle, lasting = (left + right) // 2, [placed.rect for placed in self._placed if placed not in legends]
        low = (canvas.surface.get_rect(midbottom=(middle, height - taken - margin)) for taken in (self._taken_px, lasting_px))
        places = [canvas.surface.get_rect(midtop=(width // 2, margin)), *low]
        self._place(on, canvas, min(places, key=lambda place: (common_px(place, lasting), self._covered(place))).topleft)

    def _covered(self, rect: pygame.Rect) -> int:
        """Pixels of what was placed that a rectangle would cover."""
        return common_px(rect, [placed.rect for placed in self._placed])

    def _hints(self, said: Mapping[str, str]) -> list[str]:
        """The keys of these actions, as far as they have one, and what is said of each."""
        return [f"{key_text(self.keys[action][0])} {what}" for action, what in said.items() if self.keys.get(action)]

    # --- what is open ------------------------------------------------------------------------------------------------

    def _draw_view(self, on: pygame.Surface, view: View) -> None:
        """Draw the dialog that is open in the middle; a table, which may be wide, over all else in the shade."""
        size = on.get_size()
        if isinstance(view, TableView):
            on.blit(self._shade(size), (0, 0))

        def render() -> Canvas:
            canvas = draw_view(view, size, self.pen, self.scale)
            canvas.targets.insert(0, Region(ON_DIALOG, canvas.surface.get_rect()))
            return canvas

        canvas = self._rendered("view", (view, size), render)
        self._place(on, canvas, place_of(view, canvas, size, self.scale))

    def _shade(self, size: tuple[int, int]) -> pygame.Surface:
        """What darkens the picture and the panels below a table."""
        def render() -> Canvas:
            canvas = Canvas((size[0] / self.scale, size[1] / self.scale), self.pen, self.scale, None)
            canvas.surface.fill(self.pen.colour(SHADE))
            return canvas
        return self._rendered("shade", size, render).surface

    # --- rendering and placing ---------------------------------------------------------------------------------------

    def _rendered(self, name: str, drawn_as: object, render: Callable[[], Canvas], now_s: float = 0.0,
                  period_s: float = math.inf) -> Canvas:
        """What was rendered under that name, or a new one if it has to look different or is older than `period_s`."""
        drawn_as, kept = (drawn_as, self.scale, id(self.pen.theme)), self._kept.get(name)
        if kept is None or kept.drawn_as != drawn_as or now_s - kept.at_s >= period_s:
            kept = self._kept[name] = Kept(drawn_as, now_s, render())
        return kept.canvas

    def _place_low(self, on: pygame.Surface, canvas: Canvas, between: tuple[int, int]) -> None:
        """Place it in the middle of those columns of pixels, above what lies at the lower edge."""
        self._taken_px += canvas.surface.get_height() + self._margin(on.get_size())
        self._place(on, canvas, ((sum(between) - canvas.surface.get_width()) // 2, on.get_height() - self._taken_px))

    def _place(self, on: pygame.Surface, canvas: Canvas, at: tuple[int, int]) -> None:
        on.blit(canvas.surface, at)
        self._placed.append(Placed(canvas, at))
