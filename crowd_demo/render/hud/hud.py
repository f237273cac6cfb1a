"""The HUD: two panels over the picture, the timeline at the lower edge, and notices above it.

The left panel shows what a frame costs and what the crowd does, in sections (left_panel.py); the right one shows the
techniques and their keys (switchboard.py). A panel is rendered to a sheet of its own `REFRESH_HZ` times a second, the two by
turns, so most frames cost two blits. Sections that do not fit into a small window are left out, the least important first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pygame

from crowd_demo.render.hud.left_panel import WIDTH, CrowdSections, FrameSections, Section
from crowd_demo.render.hud.status import Status
from crowd_demo.render.hud.switchboard import Keys, draw_switchboard
from crowd_demo.render.hud.theme import PAD, Colour, Pen, panel
from crowd_demo.render.hud.timeline import TimelineBar, height_of
from crowd_demo.sim.simulation import Simulation

REFRESH_HZ = 8.0
STATE_COLOURS: Mapping[str, Colour] = {"walking": (0, 114, 178), "waiting": (204, 121, 167), "stuck": (213, 94, 0)}


def visible_sections(sections: Sequence[Section], height: int) -> list[Section]:
    """The sections that fit into that height, chosen by rank, in the order of the list."""
    kept: list[Section] = []
    for section in sorted(sections, key=lambda section: section.rank):
        if sum(other.height for other in kept) + section.height <= height:
            kept.append(section)
    return [section for section in sections if section in kept]


class Hud:
    """Draws over a finished picture; `keys` are those of each action, `colours` those of the agents' states."""

    def __init__(self, keys: Keys, colours: Mapping[str, Colour] = STATE_COLOURS, pen: Pen | None = None) -> None:
        self.keys = keys
        self.pen = pen or Pen()
        self.frame_sections = FrameSections(self.pen)
        self.crowd_sections = CrowdSections(self.pen, colours)
        self._bar = TimelineBar(self.pen)
        self._sheets: list[pygame.Surface] = []
        self._drawn_at: list[float] = []
        self._size = (0, 0)

    def draw(self, on: pygame.Surface, sim: Simulation, status: Status, now_s: float) -> None:
        """Draw the timeline and both panels; the right one only where there is room for it beside the left one."""
        width, height = on.get_size()
        if status.past:
            height -= height_of((width, height))
            self._bar.draw(on, status.past, now_s)
        self._refresh((width, height), sim, status, now_s)
        margin = min(12, on.get_width() // 50)
        left, right = self._sheets
        on.blit(left, (margin, margin))
        if on.get_width() >= left.get_width() + right.get_width() + 3 * margin:
            on.blit(right, (on.get_width() - right.get_width() - margin, margin))

    @property
    def panels(self) -> tuple[pygame.Surface, ...]:
        """The left and the right one as they were rendered last; empty before the first picture."""
        return tuple(self._sheets)

    def _refresh(self, size: tuple[int, int], sim: Simulation, status: Status, now_s: float) -> None:
        """Render the older panel if it is due, or both if there are none of that size yet."""
        period, panels = 1 / REFRESH_HZ, (self._left_panel, self._right_panel)
        if size != self._size:
            self._size = size
            self._sheets = [render(size, sim, status) for render in panels]
            self._drawn_at = [now_s, now_s - period / 2]
        older = self._drawn_at.index(min(self._drawn_at))
        if now_s - self._drawn_at[older] >= period:
            self._sheets[older], self._drawn_at[older] = panels[older](size, sim, status), now_s

    def _left_panel(self, size: tuple[int, int], sim: Simulation, status: Status) -> pygame.Surface:
        every = [*self.frame_sections.sections(sim.profile, status), *self.crowd_sections.sections(sim, status.readings)]
        sections = visible_sections(every, size[1] - 24 - 2 * PAD + 4)
        sheet = panel((WIDTH, sum(section.height for section in sections) + 2 * PAD - 4))
        top = PAD - 2
        for section in sections:
            section.draw(sheet, top)
            top += section.height
        return sheet

    def _right_panel(self, size: tuple[int, int], sim: Simulation, status: Status) -> pygame.Surface:
        return draw_switchboard(size[1] - 24, sim, status, self.keys, self.pen)


def draw_notices(on: pygame.Surface, notices: Sequence[str], pen: Pen, above: int = 0) -> None:
    """Draw the notices `above` the lower edge, the newest lowest; they are shown whether the HUD is or not."""
    bottom = on.get_height() - 14 - above
    for notice in reversed(notices):
        text = pen.fitted(notice, on.get_width() - 60)
        sheet = panel((pen.width(text) + 28, 26))
        pen.left(sheet, text, 14, 13)
        on.blit(sheet, ((on.get_width() - sheet.get_width()) // 2, bottom - 26))
        bottom -= 32
