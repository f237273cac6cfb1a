"""The help screen: every key of the present bindings and what it does; for techniques also why they exist.

It is rendered once for each size of the window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pygame

from crowd_demo.config.keys import TOLD_BY_OTHERS
from crowd_demo.registry.kinds import in_a_line, usual_kind
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import DIM, FAINT, LARGE, NORMAL, PAD, SHADE, SHEET, SMALL, TEXT, WARM

ROW, MOST_ROW, LINE, FRAME = 24.0, 38.0, 11.0, 74.0  # units; the frame is what is above and below the rows
LEAST_ROW, LEAST_WIDTH, LEAST_SCALE = 22.0, 960.0, 0.4  # the sheet is drawn smaller rather than cut; a row has two lines
WIDEST = 1256.0


class Entry(NamedTuple):
    """A line of the help screen: keys, a short name (of techniques only) and what it does."""

    keys: Sequence[str]
    name: str
    what: str
    mark: str = ""  # of a technique that changes the crowd


def technique_entries(keys: Mapping[str, Sequence[str]]) -> list[Entry]:
    """One a technique, in the order of the registry; `keys` by action."""
    return [Entry(keys.get(technique.path, ()), technique.label.strip(), technique.why,
                  usual_kind(technique).mark)
            for technique in TECHNIQUES]


def program_entries(keys: Mapping[str, Sequence[str]], actions: Mapping[str, str],
                    mouse: Sequence[tuple[str, str]]) -> list[Entry]:
    """The actions that are not techniques and have a key, and the mouse; `actions` says what each does."""
    listed = [Entry(keys[action], "", what) for action, what in actions.items()
              if action not in BY_PATH and action not in TOLD_BY_OTHERS and keys.get(action)]
    return listed + [Entry((gesture,), "", what) for gesture, what in mouse]


class Help:
    """The help screen; `draw` darkens the picture and draws the sheet over it."""

    def __init__(self, techniques: Sequence[Entry], program: Sequence[Entry], pen: Pen) -> None:
        self.techniques = techniques
        self.program = program
        self.pen = pen
        self._kept: tuple[object, pygame.Surface] | None = None

    def draw(self, on: pygame.Surface, scale: float) -> None:
        drawn_as = on.get_size(), scale, id(self.pen.theme)
        if self._kept is None or self._kept[0] != drawn_as:
            self._kept = drawn_as, self._covered(on.get_size(), scale)
        on.blit(self._kept[1], (0, 0))

    def _covered(self, size: tuple[int, int], scale: float) -> pygame.Surface:
        """A shade of the window's size with the sheet in its middle, smaller where it would not fit."""
        shade = pygame.Surface(size, pygame.SRCALPHA)
        shade.fill(self.pen.colour(SHADE))
        rows = max(len(self.techniques), len(self.program))
        scale = max(min(scale, (size[1] - 8) / (FRAME + rows * LEAST_ROW), size[0] / LEAST_WIDTH), LEAST_SCALE)
        sheet = self._sheet(size[0] / scale, size[1] / scale, scale).surface
        shade.blit(sheet, ((size[0] - sheet.get_width()) // 2, (size[1] - sheet.get_height()) // 2))
        return shade

    def _sheet(self, room_x: float, room_y: float, scale: float) -> Canvas:
        wide = min(room_x - 12, WIDEST)
        rows = max(len(self.techniques), len(self.program))
        tall = min(rows * min(ROW, max((room_y - 8 - FRAME) / rows, LEAST_ROW)), room_y - FRAME)
        on = Canvas((wide, FRAME + tall), self.pen, scale, SHEET)
        split = max(wide - 2 * PAD - 20 - self._width(on, self.program), wide * 11 / 20)
        self._column(on, "Techniques", "with Shift: backwards", self.techniques, PAD + 8, split - 8, tall)
        self._column(on, "Program", "", self.program, split + 12, wide - PAD - 8, tall)
        on.left(in_a_line(), PAD + 8, on.size[1] - 14, SMALL, FAINT)
        return on

    def _column(self, on: Canvas, title: str, remark: str, entries: Sequence[Entry], left: float, right: float,
                tall: float) -> None:
        """Draw the entries one below the other, each with as many lines as there is room for."""
        end = on.left(title, left, 24, LARGE)
        on.left(remark, end + 12, 25, SMALL, FAINT)
        keys, names = self._margins(on, entries)
        row = min(tall / len(entries), MOST_ROW)
        for number, entry in enumerate(entries):
            middle, x = 40 + (number + 0.5) * row, left
            for key in entry.keys:
                x = on.key(key, x, middle, min(row - 2, 16)) + 4
            x = left + keys
            if names:
                on.left(entry.name, x, middle, NORMAL, TEXT)
                if entry.mark:
                    on.left(entry.mark, x + names + 4, middle, NORMAL, WARM)
                x += names + 18
            lines = on.wrapped(entry.what, right - x, SMALL, max(int(row // LINE), 1))
            for line, text in enumerate(lines):
                on.left(text, x, middle + LINE / 2 * (2 * line + 1 - len(lines)), SMALL, DIM)

    def _margins(self, on: Canvas, entries: Sequence[Entry]) -> tuple[float, float]:
        """Widths of the widest keys and of the widest name."""
        keys = (sum(on.key_width(key) + 4 for key in entry.keys) for entry in entries)
        return max(keys) + 10, max(on.width(entry.name) for entry in entries)

    def _width(self, on: Canvas, entries: Sequence[Entry]) -> float:
        return sum(self._margins(on, entries)) + max(on.width(entry.what, SMALL) for entry in entries)
