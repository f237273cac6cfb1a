"""The HUD: what the frame costs and what the crowd does (left), the techniques and their keys (right), notices (below).

All of it derives from the profile, the meters, the registry of techniques and the key bindings. A panel is rendered to a sheet
of its own `REFRESH_HZ` times a second, the two in turn, so a frame costs two blits and seldom a panel. What does not fit into
a small window is left out, the least important first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pygame

from crowd_demo.registry.entries import Value
from crowd_demo.render.hud.graph import StageColours, draw_graph
from crowd_demo.render.hud.left_panel import INNER, WIDTH, CrowdSections, Section
from crowd_demo.render.hud.switchboard import Keys, draw_switchboard
from crowd_demo.render.hud.theme import DIM, FAINT, HUGE, LARGE, NORMAL, PAD, SMALL, TEXT, WARM, Colour, Pen, panel
from crowd_demo.sim.metrics.readings import Readings

if TYPE_CHECKING:
    from crowd_demo.profile import Profile
    from crowd_demo.sim.simulation import Simulation

REFRESH_HZ = 8.0
SMOOTHED = 30  # frames in the mean of a stage
RECENT = 300  # frames in the percentiles
GRAPH_HEIGHT, LINE = 60, 15
STATE_COLOURS: Mapping[str, Colour] = {"walking": (0, 114, 178), "waiting": (204, 121, 167), "stuck": (213, 94, 0)}


class Status(NamedTuple):
    """What the program adds to what the simulation knows."""

    paused: bool = False
    speed: float = 1.0
    pending: Mapping[str, Value] = {}  # values that wait for their kernels, by path
    notices: Sequence[str] = ()
    readings: Readings = Readings()
    touched: str = ""  # path of the technique whose number the keys change


def visible_sections(sections: Sequence[Section], height: int) -> list[Section]:
    """Those that fit, by rank, in the order of the list."""
    kept: list[Section] = []
    for section in sorted(sections, key=lambda section: section.rank):
        if sum(other.height for other in kept) + section.height <= height:
            kept.append(section)
    return [section for section in sections if section in kept]


class Hud:
    """Draws over a finished picture; `keys` are those of each action, `colours` those of the states."""

    def __init__(self, keys: Keys, colours: Mapping[str, Colour] = STATE_COLOURS, pen: Pen | None = None) -> None:
        self.keys = keys
        self.pen = pen or Pen()
        self.crowd_sections = CrowdSections(self.pen, colours)
        self.stage_colours = StageColours()
        self._sheets: list[pygame.Surface] = []
        self._drawn_at: list[float] = []
        self._size = (0, 0)

    def draw(self, on: pygame.Surface, sim: Simulation, status: Status, now_s: float) -> None:
        self._refresh(on.get_size(), sim, status, now_s)
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
        """Render the older panel anew if it is old; both only where there are none of that size yet."""
        period, panels = 1 / REFRESH_HZ, (self._measures, self._switchboard)
        if size != self._size:
            self._size = size
            self._sheets = [render(size, sim, status) for render in panels]
            self._drawn_at = [now_s, now_s - period / 2]
        older = self._drawn_at.index(min(self._drawn_at))
        if now_s - self._drawn_at[older] >= period:
            self._sheets[older], self._drawn_at[older] = panels[older](size, sim, status), now_s

    def _switchboard(self, size: tuple[int, int], sim: Simulation, status: Status) -> pygame.Surface:
        return draw_switchboard(size[1] - 24, sim, status, self.keys, self.pen)

    def _measures(self, size: tuple[int, int], sim: Simulation, status: Status) -> pygame.Surface:
        sections = visible_sections(self._sections(sim, status), size[1] - 24 - 2 * PAD + 4)
        sheet = panel((WIDTH, sum(section.height for section in sections) + 2 * PAD - 4))
        top = PAD - 2
        for section in sections:
            section.draw(sheet, top)
            top += section.height
        return sheet

    def _sections(self, sim: Simulation, status: Status) -> list[Section]:
        profile = sim.profile
        table = -(-len(profile.stages) // 2) * LINE + 6
        return [
            Section(46, 0, lambda on, top: self._header(on, top, profile, status)),
            Section(GRAPH_HEIGHT + 10, 3, lambda on, top: draw_graph(
                on, pygame.Rect(PAD, top, INNER, GRAPH_HEIGHT), profile, self.stage_colours, self.pen)),
            Section(table, 2, lambda on, top: self._stages(on, top, profile)),
            *self.crowd_sections.sections(sim, status.readings),
        ]

    def _header(self, on: pygame.Surface, top: int, profile: Profile, status: Status) -> None:
        frames = profile.frame_ms(RECENT)
        mean = float(frames[-SMOOTHED:].mean()) if len(frames) else 0.0
        p50, p95, p99 = np.percentile(frames, (50, 95, 99)) if len(frames) else (0.0, 0.0, 0.0)
        end = self.pen.left(on, f"{1e3 / mean if mean else 0:.0f}", PAD, top + 14, HUGE)
        end = self.pen.left(on, "FPS", end + 6, top + 19, NORMAL, DIM)
        start = self.pen.right(on, "ms", WIDTH - PAD, top + 19, NORMAL, DIM)
        start = self.pen.right(on, f"{mean:.2f}", start - 5, top + 17, LARGE)
        pace = "paused" if status.paused else f"x{status.speed:g}"
        self.pen.left(on, pace, (end + start - self.pen.width(pace)) // 2, top + 19, NORMAL, WARM if pace != "x1" else FAINT)
        for name, ms, x in (("p50", p50, 0), ("p95", p95, 1), ("p99", p99, 2)):
            at = PAD + x * INNER // 3
            end = self.pen.left(on, name, at, top + 36, SMALL, FAINT)
            self.pen.left(on, f"{ms:.1f}", end + 5, top + 36, SMALL, DIM)

    def _stages(self, on: pygame.Surface, top: int, profile: Profile) -> None:
        width, half = (INNER - 14) // 2, -(-len(profile.stages) // 2)
        for number, stage in enumerate(profile.stages):
            x, y = PAD + number // half * (width + 14), top + 6 + number % half * LINE
            recent = profile.stage_ms(stage, SMOOTHED)
            ms = float(recent.mean()) if len(recent) else 0.0
            pygame.draw.rect(on, self.stage_colours[stage], (x, y - 4, 8, 8), border_radius=2)
            self.pen.left(on, stage, x + 14, y, SMALL, DIM)
            self.pen.right(on, f"{ms:.2f}", x + width, y, SMALL, TEXT if ms >= 0.005 else FAINT)


def draw_notices(on: pygame.Surface, notices: Sequence[str], pen: Pen) -> None:
    """Pills above the lower edge, the newest lowest; shown whether the HUD is or not."""
    bottom = on.get_height() - 14
    for notice in reversed(notices):
        text = pen.fitted(notice, on.get_width() - 60)
        sheet = panel((pen.width(text) + 28, 26))
        pen.left(sheet, text, 14, 13)
        on.blit(sheet, ((on.get_width() - sheet.get_width()) // 2, bottom - 26))
        bottom -= 32
