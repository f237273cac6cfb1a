"""The help screen: every key of the present bindings by what one wants to do; for techniques also why they exist.

All groups flow through balanced columns, at the largest size of text at which they fit into the window. Where text would be
too small to be read, techniques have their names alone. It is rendered once for each size of the window.
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
    LEAST_PX,
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
WIDEST, LEAST_COLUMN, MOST_COLUMN, MOST_COLUMNS = 1400.0, 250.0, 560.0, 4
SHRINK = 0.96  # from one size to the next
READABLE_PX = 7  # of small text: without the words of techniques rather than smaller
ABOUT = "All keys. Those of techniques step through the choices, with Shift backwards."
CLOSE = "closes this"


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


class Block(NamedTuple):
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
    columns: list[list[Block]]
    foot: list[str]
    whole: bool  # nothing is cut off


class Help:
    """The help screen; `draw` darkens the picture and draws the sheet over it."""

    def __init__(self, keys: Keys, mouse: Sequence[tuple[str, str]], pen: Pen) -> None:
        self.groups = help_groups(keys, mouse)
        self.pen = pen
        self._closing = (*keys.get("help", ()), *keys.get("quit", ()))
        self._rendered = Renderings()

    def draw(self, on: pygame.Surface, scale: float) -> None:
        drawn_as = on.get_size(), scale, id(self.pen.theme)
        on.blit(self._rendered.get("help", drawn_as, lambda: self._covered(on.get_size(), scale)), (0, 0))

    def _covered(self, size: tuple[int, int], scale: float) -> pygame.Surface:
        shade = pygame.Surface(size, pygame.SRCALPHA)
        shade.fill(self.pen.colour(SHADE))
        sheet = self._drawn(self._layout(size, scale))
        shade.blit(sheet, ((size[0] - sheet.get_width()) // 2, (size[1] - sheet.get_height()) // 2))
        return shade

    def _layout(self, size: tuple[int, int], scale: float) -> Layout:
        """The largest that fits: with all words, else without those of techniques, else cut off."""
        full = self._largest(size, scale, False, READABLE_PX)
        return full if full.whole else self._largest(size, scale, True, LEAST_PX)

    def _largest(self, size: tuple[int, int], scale: float, brief: bool, least_px: int) -> Layout:
        """The largest that is whole, with small text of at least that height; else the smallest."""
        fitted = cache(partial(self._fitted, size, brief))
        steps = max(math.floor(math.log((least_px - 0.5) / (SMALL * scale), SHRINK)), 0) + 1
        scales = [scale * SHRINK**step for step in range(steps)]
        first = bisect_left(scales, True, key=lambda each: fitted(each).whole)
        return fitted(scales[min(first, steps - 1)])

    def _fitted(self, size: tuple[int, int], brief: bool, scale: float) -> Layout:
        """Laid out at that scale, in as few columns as possible; what does not fit into the window is cut off."""
        ruler, wide = Canvas((1, 1), self.pen, scale, None), min(size[0] / scale - 12, WIDEST)
        foot = ruler.wrapped(marks_in_a_line(), wide - 2 * PAD, SMALL)
        most = size[1] / scale - 8 - HEAD - 3 * EDGE_Y - LINE * len(foot)
        for count in range(1, MOST_COLUMNS + 1):
            width, narrower = ((wide - 2 * PAD + GUTTER) / each - GUTTER for each in (count, count + 1))
            if width > MOST_COLUMN and count < MOST_COLUMNS:
                continue
            groups = self._blocks(ruler, width, brief)
            columns = balanced(groups, count, most, not brief)
            if columns or narrower < LEAST_COLUMN or count == MOST_COLUMNS:
                break
        return Layout(scale, wide, width, columns or _filled(groups, most, False)[:count], foot, bool(columns))

    def _drawn(self, layout: Layout) -> pygame.Surface:
        scale, wide, width, columns, foot, _ = layout
        tallest = max(map(height_of, columns))
        on = Canvas((wide, HEAD + 3 * EDGE_Y + tallest + LINE * len(foot)), self.pen, scale, SHEET)
        self._draw_head(on, wide)
        for number, column in enumerate(columns):
            _draw_column(on, column, PAD + number * (width + GUTTER), HEAD + EDGE_Y, width)
        for number, line in enumerate(foot):
            on.left(line, PAD, HEAD + 2 * EDGE_Y + tallest + LINE * (number + 0.5), SMALL, FAINT)
        return on.surface

    def _draw_head(self, on: Canvas, wide: float) -> None:
        middle, start = 3 + HEAD / 2, wide - PAD
        if self._closing:
            start = on.right(CLOSE, start, middle, SMALL, DIM) - 6
            for key in reversed(self._closing):
                start -= on.key_width(key)
                on.key(key, start, middle, LINE + 2)
                start -= 4
        on.left(on.fitted(ABOUT, start - PAD - 8), PAD, middle)
        on.line(EDGE, (PAD, HEAD + 3), (wide - PAD, HEAD + 3))

    def _blocks(self, ruler: Canvas, width: float, brief: bool) -> list[list[Block]]:
        """The groups in a column of that width, each entry as high as it is then; `brief`: of techniques only the names."""
        groups = []
        for heading, entries in self.groups:
            indent = max(sum(ruler.key_width(key) + 4 for key in entry.keys) for entry in entries) + 8
            lines = [[] if brief and entry.name else ruler.wrapped(entry.what, width - indent, SMALL) for entry in entries]
            groups.append([Block(entry, heading, what, indent, NAME * bool(entry.name) + LINE * len(what) + APART)
                           for entry, what in zip(entries, lines, strict=True)])
        return groups


def height_of(column: Sequence[Block]) -> float:
    """Of a column with its headings: units."""
    headings = 1 + sum(block.heading != above.heading for above, block in pairwise(column))
    return sum(block.height for block in column) + headings * (HEADING + BEFORE_HEADING) - BEFORE_HEADING


def balanced(groups: Sequence[Sequence[Block]], count: int, most: float, whole: bool = True) -> list[list[Block]]:
    """The groups in so many columns of about one height; none if that is over `most`.

    They stay `whole`, but for those higher than a column.
    """
    least = sum(map(height_of, groups)) / count
    heights = [least + APART * step for step in range(math.floor((most - least) / APART) + 1)]
    first = bisect_left(heights, True, key=lambda height: len(_filled(groups, height, whole)) <= count)
    return _filled(groups, heights[first], whole) if first < len(heights) else []


def _filled(groups: Sequence[Sequence[Block]], height: float, whole: bool) -> list[list[Block]]:
    """Columns of at most that height, as many as it takes."""
    columns: list[list[Block]] = [[]]
    for group in groups:
        if whole and columns[-1] and height_of(columns[-1]) + BEFORE_HEADING + height_of(group) > height:
            columns.append([])
        for block in group:
            if columns[-1] and height_of([*columns[-1], block]) > height:
                columns.append([])
            columns[-1].append(block)
    return columns


def _draw_column(on: Canvas, column: Sequence[Block], left: float, top: float, width: float) -> None:
    heading = ""
    for block in column:
        if block.heading != heading:
            top += BEFORE_HEADING * bool(heading)
            heading = block.heading
            on.left(on.fitted(heading, width, LARGE), left, top + HEADING / 2 - 1, LARGE, ACCENT)
            top += HEADING
        _draw_block(on, block, left, top)
        top += block.height


def _draw_block(on: Canvas, block: Block, left: float, top: float) -> None:
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
