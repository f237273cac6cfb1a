"""The help screen: every key of the present bindings by what one wants to do; for techniques also why they exist.

All groups flow through balanced columns. Text is as large as in the panels, or up to 15 % smaller if all of it fits
into the window then; otherwise it goes on on further pages. A page is rendered once for each size of the window and of text.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

import pygame

from crowd_demo.config.keys import ACTIONS, by_heading
from crowd_demo.registry.actions import TOLD_BY_OTHERS
from crowd_demo.registry.techniques import BY_PATH, marks_in_a_line
from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    FAINT,
    LARGE,
    NORMAL,
    PAD,
    SHADE,
    SHEET,
    SMALL,
    TEXT,
    WARM,
    Canvas,
    Pen,
    Renderings,
)

Keys = Mapping[str, Sequence[str]]  # of each action, as they are shown

NAME, LINE, APART = 14.0, 12.0, 4.0  # heights in units: of a name and of a line; between two entries
HEADING, BEFORE_HEADING = 18.0, 6.0  # of a heading, and above it unless it begins a column
HEAD = 26.0  # of the line at the top, which tells how to close
EDGE_Y, GUTTER = 8.0, 22.0  # units above and below the columns, and between them
WIDEST, LEAST_COLUMN, MAX_COLUMN, MAX_COLUMNS = 1400.0, 250.0, 560.0, 4
SHRINK = 0.96  # from one size to the next
LEAST_SHARE, READABLE_PX = 0.85, 9  # of the panels' text, and pixels of small text: further pages rather than smaller text
ABOUT = "A technique's key: off and back on, Shift: next choice; without an off: next choice, Shift: back."
TITLE, NEXT, CLOSE = "All keys", "next page", "closes this"


class HelpEntry(NamedTuple):
    """A line of the help screen: keys, a short name (of techniques only) and what it does."""

    keys: Sequence[str]
    name: str
    what: str
    mark: str = ""  # of a technique that changes the crowd


class Group(NamedTuple):
    heading: str
    entries: Sequence[HelpEntry]


def help_groups(keys: Keys, mouse: Sequence[tuple[str, str]]) -> list[Group]:
    groups = [Group(heading, [_entry(action, keys.get(action, ())) for action in actions
                              if action in BY_PATH or (action not in TOLD_BY_OTHERS and keys.get(action))])
              for heading, actions in by_heading().items()]
    return [group for group in (*groups, Group("Mouse", [HelpEntry((gesture,), "", what) for gesture, what in mouse]))
            if group.entries]


def _entry(action: str, keys: Sequence[str]) -> HelpEntry:
    technique = BY_PATH.get(action)
    if technique is None:
        return HelpEntry(keys, "", ACTIONS[action].what)
    return HelpEntry(keys, technique.label.strip(), technique.why, technique.kind.mark)


class HelpBlock(NamedTuple):
    """An entry as it is laid out: units."""

    entry: HelpEntry
    heading: str
    lines: list[str]
    indent: float  # where the words begin
    height: float


class Layout(NamedTuple):
    """What is drawn where: units, and pixels a unit."""

    scale: float
    wide: float  # the sheet
    width: float  # a column
    pages: list[list[list[HelpBlock]]]  # of columns
    foot: list[str]


class Help:
    """The help screen; `draw` darkens the picture and draws a page over it."""

    def __init__(self, keys: Keys, mouse: Sequence[tuple[str, str]], pen: Pen) -> None:
        self.groups = help_groups(keys, mouse)
        self.pen = pen
        self._turning, self._closing = keys.get("help", ()), keys.get("quit", ())
        self._rendered = Renderings()

    def page_count(self, size: tuple[int, int], scale: float) -> int:
        return len(self._layout(size, scale).pages)

    def draw(self, on: pygame.Surface, scale: float, page: int = 1) -> None:
        """Draw a page, counted from 1; the last one if there are not so many."""
        size = on.get_size()
        page = min(page, self.page_count(size, scale))
        drawn_as = size, scale, page, id(self.pen.theme)
        on.blit(self._rendered.get("page", drawn_as, lambda: self._covered(size, scale, page)), (0, 0))

    def _covered(self, size: tuple[int, int], scale: float, page: int) -> pygame.Surface:
        shade = pygame.Surface(size, pygame.SRCALPHA)
        shade.fill(self.pen.colour(SHADE))
        sheet = self._drawn(self._layout(size, scale), page)
        shade.blit(sheet, ((size[0] - sheet.get_width()) // 2, (size[1] - sheet.get_height()) // 2))
        return shade

    def _layout(self, size: tuple[int, int], scale: float) -> Layout:
        """The largest that fits on one page; as large as the panels on several, if text would be too small on one."""
        return self._rendered.get("layout", (size, scale), lambda: self._largest(size, scale))

    def _largest(self, size: tuple[int, int], scale: float) -> Layout:
        fitted = cache(partial(self._fitted, size))
        least = max(LEAST_SHARE, min(READABLE_PX / (SMALL * scale), 1.0))
        scales = [scale * SHRINK**step for step in range(math.floor(math.log(least, SHRINK)) + 1)]
        first = bisect_left(scales, True, key=lambda each: len(fitted(each).pages) == 1)
        return fitted(scales[first] if first < len(scales) else scale)

    def _fitted(self, size: tuple[int, int], scale: float) -> Layout:
        """Laid out at that scale: in as few columns as possible, or on as few pages."""
        ruler, wide = Canvas((1, 1), self.pen, scale, None), min(size[0] / scale - 12, WIDEST)
        foot = [line for text in (ABOUT, marks_in_a_line()) for line in ruler.wrapped(text, wide - 2 * PAD, SMALL)]
        room = size[1] / scale - 8 - HEAD - 3 * EDGE_Y - LINE * len(foot)
        for count in range(1, MAX_COLUMNS + 1):
            width, narrower = ((wide - 2 * PAD + GUTTER) / each - GUTTER for each in (count, count + 1))
            if width > MAX_COLUMN and count < MAX_COLUMNS:
                continue
            groups = self._blocks(ruler, width)
            most = max(room, *(height_of([block]) for group in groups for block in group))
            columns = balanced(groups, count, most)
            if columns or narrower < LEAST_COLUMN or count == MAX_COLUMNS:
                break
        columns = columns or balanced(groups, count * math.ceil(len(_filled(groups, most)) / count), most)
        return Layout(scale, wide, width, [columns[first:first + count] for first in range(0, len(columns), count)], foot)

    def _drawn(self, layout: Layout, page: int) -> pygame.Surface:
        scale, wide, width, pages, foot = layout
        tallest = max(height_of(column) for columns in pages for column in columns)
        on = Canvas((wide, HEAD + 3 * EDGE_Y + tallest + LINE * len(foot)), self.pen, scale, SHEET)
        self._draw_head(on, wide, page, len(pages))
        for number, column in enumerate(pages[page - 1]):
            _draw_column(on, column, PAD + number * (width + GUTTER), HEAD + EDGE_Y, width)
        on.paragraph(foot, PAD, HEAD + 2 * EDGE_Y + tallest, LINE, SMALL, FAINT)
        return on.surface

    def _draw_head(self, on: Canvas, wide: float, page: int, pages: int) -> None:
        middle, start = 3 + HEAD / 2, wide - PAD
        turning, closing = ((), (*self._turning, *self._closing)) if page == pages else (self._turning, self._closing)
        for text, keys in ((CLOSE, closing), (NEXT, turning)):
            if keys:
                start = _draw_hint(on, text, keys, start, middle) - 12
        title = f"{TITLE}, page {page} of {pages}" if pages > 1 else TITLE
        on.left(on.fitted(title, start - PAD), PAD, middle)
        on.line(EDGE, (PAD, HEAD + 3), (wide - PAD, HEAD + 3))

    def _blocks(self, ruler: Canvas, width: float) -> list[list[HelpBlock]]:
        """The groups in a column of that width, each entry as high as it is then."""
        groups = []
        for heading, entries in self.groups:
            indent = max(sum(ruler.key_width(key) + 4 for key in entry.keys) for entry in entries) + 8
            lines = [ruler.wrapped(entry.what, width - indent, SMALL) for entry in entries]
            groups.append([HelpBlock(entry, heading, what, indent, NAME * bool(entry.name) + LINE * len(what) + APART)
                           for entry, what in zip(entries, lines, strict=True)])
        return groups


def height_of(column: Sequence[HelpBlock]) -> float:
    """Of a column with its headings: units."""
    headings = 1 + sum(block.heading != above.heading for above, block in pairwise(column))
    return sum(block.height for block in column) + headings * (HEADING + BEFORE_HEADING) - BEFORE_HEADING


def balanced(groups: Sequence[Sequence[HelpBlock]], count: int, most: float) -> list[list[HelpBlock]]:
    """The groups in so many columns of about one height; none if that is over `most`.

    They stay whole, but for those higher than a column.
    """
    least = sum(map(height_of, groups)) / count
    heights = [min(least + APART * step, most) for step in range(math.ceil((most - least) / APART) + 1)]
    first = bisect_left(heights, True, key=lambda height: len(_filled(groups, height)) <= count)
    return _filled(groups, heights[first]) if first < len(heights) else []


def _filled(groups: Sequence[Sequence[HelpBlock]], height: float) -> list[list[HelpBlock]]:
    """Columns of at most that height, as many as it takes."""
    columns: list[list[HelpBlock]] = [[]]
    for group in groups:
        if columns[-1] and height_of(columns[-1]) + BEFORE_HEADING + height_of(group) > height:
            columns.append([])
        for block in group:
            if columns[-1] and height_of([*columns[-1], block]) > height:
                columns.append([])
            columns[-1].append(block)
    return columns


def _draw_hint(on: Canvas, text: str, keys: Sequence[str], end: float, middle: float) -> float:
    """Write what keys do up to `end`; return where the first key begins."""
    start = on.right(text, end, middle, SMALL, DIM) - 2
    for key in reversed(keys):
        start -= on.key_width(key) + 4
        on.key(key, start, middle, LINE + 2)
    return start


def _draw_column(on: Canvas, column: Sequence[HelpBlock], left: float, top: float, width: float) -> None:
    heading = ""
    for block in column:
        if block.heading != heading:
            top += BEFORE_HEADING * bool(heading)
            heading = block.heading
            on.left(on.fitted(heading, width, LARGE), left, top + HEADING / 2 - 1, LARGE, ACCENT)
            top += HEADING
        _draw_block(on, block, left, top)
        top += block.height


def _draw_block(on: Canvas, block: HelpBlock, left: float, top: float) -> None:
    entry = block.entry
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
