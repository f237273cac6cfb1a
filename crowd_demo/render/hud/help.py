"""The help screen: every key of the present bindings and what it does; for techniques also why they exist.

It is rendered once for each size of the window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pygame

from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES
from crowd_demo.render.hud.theme import (
    DIM,
    FAINT,
    LARGE,
    NORMAL,
    PAD,
    SHADE,
    SMALL,
    TEXT,
    WARM,
    Pen,
    draw_key,
    key_width,
    panel,
)

TWO_LINES = 22  # pixels of a row that has room for two


class Entry(NamedTuple):
    """A line of the help screen: keys, a short name (of techniques only) and what it does."""

    keys: Sequence[str]
    name: str
    what: str
    exact: bool = True


def technique_entries(keys: Mapping[str, Sequence[str]]) -> list[Entry]:
    """One a technique, in the order of the registry; `keys` by action."""
    return [Entry(keys.get(technique.path, ()), technique.label.strip(), technique.why, technique.exact)
            for technique in TECHNIQUES]


def program_entries(keys: Mapping[str, Sequence[str]], actions: Mapping[str, str],
                    mouse: Sequence[tuple[str, str]]) -> list[Entry]:
    """The actions that are not techniques, and the mouse; `actions` says what each does."""
    listed = [Entry(keys.get(action, ()), "", what) for action, what in actions.items() if action not in BY_PATH]
    return listed + [Entry((gesture,), "", what) for gesture, what in mouse]


class Help:
    """The help screen; `draw` darkens the picture and draws the sheet over it."""

    def __init__(self, techniques: Sequence[Entry], program: Sequence[Entry], pen: Pen) -> None:
        self.techniques = techniques
        self.program = program
        self.pen = pen
        self._kept: tuple[tuple[int, int], pygame.Surface] | None = None

    def draw(self, on: pygame.Surface) -> None:
        if self._kept is None or self._kept[0] != on.get_size():
            self._kept = on.get_size(), self._sheet(on.get_size())
        on.blit(self._kept[1], (0, 0))

    def _sheet(self, size: tuple[int, int]) -> pygame.Surface:
        shade = pygame.Surface(size, pygame.SRCALPHA)
        shade.fill(SHADE)
        wide, tall = max(min(size[0] - 24, 1256), 1), size[1] - 24
        rows = max(len(self.techniques), len(self.program))
        row = max(min(24, (tall - 74) // rows), 13)
        height = min(74 + rows * row, size[1])
        sheet = panel((wide, height), (13, 17, 24, 240))
        split = max(wide - 2 * PAD - 20 - self._width(self.program), wide * 11 // 20)
        self._column(sheet, "Techniques", "with Shift: backwards", self.techniques, PAD + 8, split - 8, row)
        self._column(sheet, "Program", "", self.program, split + 12, wide - PAD - 8, row)
        self.pen.left(sheet, "~ and field, first, nearest change the motion; all other values give exactly the same crowd",
                      PAD + 8, height - 16, SMALL, FAINT)
        shade.blit(sheet, ((size[0] - wide) // 2, (size[1] - height) // 2))
        return shade

    def _column(self, on: pygame.Surface, title: str, remark: str, entries: Sequence[Entry], left: int, right: int,
                row: int) -> None:
        end = self.pen.left(on, title, left, 24, LARGE)
        self.pen.left(on, remark, end + 12, 25, SMALL, FAINT)
        keys, names = self._margins(entries)
        for number, entry in enumerate(entries):
            middle, x = 52 + number * row, left
            for key in entry.keys:
                x = draw_key(on, self.pen, key, x, middle, min(row - 2, 16)) + 4
            x = left + keys
            if names:
                self.pen.left(on, entry.name, x, middle, NORMAL, TEXT)
                if not entry.exact:
                    self.pen.left(on, "~", x + names + 4, middle, NORMAL, WARM)
                x += names + 18
            lines = self.pen.in_two(entry.what, right - x, SMALL) if row >= TWO_LINES else [
                self.pen.fitted(entry.what, right - x, SMALL)]
            for line, text in enumerate(lines):
                self.pen.left(on, text, x, middle + 6 * (2 * line + 1 - len(lines)), SMALL, DIM)

    def _margins(self, entries: Sequence[Entry]) -> tuple[int, int]:
        """Widths of the widest keys and of the widest name."""
        keys = (sum(key_width(self.pen, key) + 4 for key in entry.keys) for entry in entries)
        return max(keys) + 10, max(self.pen.width(entry.name) for entry in entries)

    def _width(self, entries: Sequence[Entry]) -> int:
        return sum(self._margins(entries)) + max(self.pen.width(entry.what, SMALL) for entry in entries)
