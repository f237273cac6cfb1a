"""The help screen: every key of the present bindings and what it does; for techniques also why they exist.

All entries flow through balanced columns, as many as give the largest text. It is rendered once for each size of the window.
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

NAME, LINE, APART, TITLE = 14.0, 12.0, 5.0, 26.0  # heights in units: of a name, a line and a title; between two entries
EDGE_Y, GUTTER = 8.0, 22.0  # units above and below the columns, and between them
WIDEST, LEAST_COLUMN, MOST_COLUMNS = 1400.0, 250.0, 4
LEAST_SCALE, SHRINK = 0.3, 0.96  # the sheet is drawn smaller, a little at a time, rather than cut


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


class Block(NamedTuple):
    """An entry as it is laid out, with the title of its part if it is the first one: units."""

    entry: Entry
    lines: list[str]
    indent: float  # where the words begin
    title: str
    height: float


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
        while (sheet := self._sheet(size[0] / scale, size[1] / scale, scale)) is None:
            scale *= SHRINK
        shade.blit(sheet, ((size[0] - sheet.get_width()) // 2, (size[1] - sheet.get_height()) // 2))
        return shade

    def _sheet(self, room_x: float, room_y: float, scale: float) -> pygame.Surface | None:
        """The sheet in that room, units; None where it does not fit."""
        ruler, wide = Canvas((1, 1), self.pen, scale, None), min(room_x - 12, WIDEST)
        foot = ruler.wrapped(f"Esc closes;  {in_a_line()}", wide - 2 * PAD, SMALL)
        most = room_y - 8 - 3 * EDGE_Y - LINE * len(foot)
        for count in range(2, MOST_COLUMNS + 1):
            width = (wide - 2 * PAD - (count - 1) * GUTTER) / count
            columns = balanced(self._blocks(ruler, width), count, most)
            if scale < LEAST_SCALE or (columns and width >= LEAST_COLUMN):
                return self._drawn(columns, width, foot, (wide, most), scale)
        return None

    def _drawn(self, columns: Sequence[Sequence[Block]], width: float, foot: Sequence[str], room: tuple[float, float],
               scale: float) -> pygame.Surface:
        tallest = max((sum(block.height for block in column) for column in columns), default=room[1])
        on = Canvas((room[0], 3 * EDGE_Y + tallest + LINE * len(foot)), self.pen, scale, SHEET)
        for number, column in enumerate(columns):
            top, left = EDGE_Y, PAD + number * (width + GUTTER)
            for block in column:
                _draw_block(on, block, left, top)
                top += block.height
        for number, line in enumerate(foot):
            on.left(line, PAD, 2 * EDGE_Y + tallest + LINE * (number + 0.5), SMALL, FAINT)
        return on.surface

    def _blocks(self, ruler: Canvas, width: float) -> list[Block]:
        """All entries in a column of that width, as high as they are then."""
        blocks = []
        for title, entries in (("Techniques, with Shift: backwards", self.techniques), ("Program", self.program)):
            indent = max(sum(ruler.key_width(key) + 4 for key in entry.keys) for entry in entries) + 8
            for number, entry in enumerate(entries):
                lines = ruler.wrapped(entry.what, width - indent, SMALL)
                height = NAME * bool(entry.name) + LINE * len(lines) + APART + TITLE * (number == 0)
                blocks.append(Block(entry, lines, indent, title if number == 0 else "", height))
        return blocks


def balanced(blocks: Sequence[Block], count: int, most: float) -> list[list[Block]]:
    """The blocks in so many columns of about one height; none where that would be more than `most`."""
    height = sum(block.height for block in blocks) / count
    while height <= most:
        columns: list[list[Block]] = [[]]
        for block in blocks:
            if sum(each.height for each in columns[-1]) + block.height > height:
                columns.append([])
            columns[-1].append(block)
        if len(columns) <= count:
            return columns
        height += APART
    return []


def _draw_block(on: Canvas, block: Block, left: float, top: float) -> None:
    entry = block.entry
    if block.title:
        on.left(block.title, left, top + TITLE / 2 - 2, LARGE)
        top += TITLE
    x = left
    for key in entry.keys:
        x = on.key(key, x, top + LINE / 2, LINE + 2) + 4
    x = left + block.indent
    if entry.name:
        end = on.left(entry.name, x, top + LINE / 2, NORMAL, TEXT)
        if entry.mark:
            on.left(entry.mark, end + 6, top + LINE / 2, NORMAL, WARM)
        top += NAME
    for number, line in enumerate(block.lines):
        on.left(line, x, top + LINE * (number + 0.5), SMALL, DIM)
