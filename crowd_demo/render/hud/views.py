"""What is open over the picture: a list to choose from, a table of results, a question or a field to type into.

All of them are one record, `ListView`, that a dialog of the program makes, and are drawn alike. Rows are targets, so
the mouse finds them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pygame

from crowd_demo.config.maps import png_size, unpacked
from crowd_demo.config.memory import read_bounded
from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    FAINT,
    GROUND,
    INACTIVE,
    LARGE,
    NORMAL,
    PAD,
    SHEET,
    SMALL,
    TEXT,
    TOUCHED,
    WARM,
    Canvas,
    Colour,
    Pen,
    Target,
)

ROW, TILE, GAP = 19.0, 167.0, 14.0  # units: height of a row, width of a tile with a picture, and from one to the next
TEXTS = 56.0  # below a tile's picture
KEPT = 640, 360  # pixels of a picture
MAX_BYTES, MAX_PIXELS = 16 << 20, 1 << 23  # of a picture's file: one of 3840 x 2160
MIN_WIDTH, MAX_WIDTH, MAX_TABLE, MARGIN = 300.0, 560.0, 900.0, 10.0
HEAD, FOOT, LINE = 34.0, 26.0, 13.0
MAX_ABOUT = 6  # lines
FILTER = "type to filter"
ON_DIALOG = Target("dialog")  # a point there that means nothing in particular


class Row(NamedTuple):
    """A row; `about` is told at the foot while the row is selected. A table's row has `cells` instead of a detail."""

    text: str
    detail: str = ""
    about: str = ""
    picture: Path | None = None
    usable: bool = True
    group: str = ""  # the heading under which it stands
    cells: tuple[str, ...] = ()
    colour: Colour = TEXT


class ListView(NamedTuple):
    """Rows of which one is selected. With `at`, pixels, it opens there like a menu, else in the middle."""

    title: str
    rows: Sequence[Row]
    selected: int = 0
    hint: str = "Enter chooses, Esc closes"
    at: tuple[int, int] | None = None
    typed: str | None = None  # what is in its field; None if it has none
    columns: Sequence[str] = ()  # a table's headings
    notes: Sequence[str] = ()
    progress: float | None = None  # 0 to 1 while a table is made
    is_wrong: bool = False  # the hint says what is
    total: int = 0  # rows that there are, also those that what was typed leaves out
    across: int = 0  # rows are tiles with pictures, so many beside each other

    @property
    def matches(self) -> re.Pattern[str] | None:
        """Return what finds the words that were typed; None if there are none."""
        words = (self.typed or "").split()
        return re.compile(f"({'|'.join(map(re.escape, words))})", re.IGNORECASE) if words else None


class ColumnWidths(NamedTuple):
    """Units: the size of the first column's text and of the others', the width of each, and the gap between them."""

    sizes: tuple[float, float]
    widths: list[float]
    gap: float

    @property
    def total(self) -> float:
        return sum(self.widths) + self.gap * (len(self.widths) - 1)


def draw_list(view: ListView, window: tuple[int, int], pen: Pen, scale: float) -> Canvas:
    ruler = Canvas((1, 1), pen, scale, None)
    room = window[0] / scale - 2 * MARGIN, window[1] / scale - 2 * MARGIN
    columns = _columns(view, room[0] - 2 * PAD, ruler)
    wide = min(max(columns.total, MIN_WIDTH, ruler.width(view.title, LARGE) + ruler.width(f"  {FILTER} 99 of 99"),
                   ruler.width(view.hint, SMALL)) + 2 * PAD, MAX_TABLE if view.columns else MAX_WIDTH, room[0])
    if view.across:
        wide = min(view.across * (TILE + GAP) - GAP + 2 * PAD, room[0])
    row = _tile(wide, view.across) * 9 / 16 + TEXTS if view.across else ROW
    notes = [line for note in view.notes for line in ruler.wrapped(note, wide - 2 * PAD, SMALL)]
    about_lines = max((len(ruler.wrapped(each.about, wide - 2 * PAD, SMALL, MAX_ABOUT)) for each in view.rows), default=0)
    fitting = max(int((room[1] - HEAD - row - FOOT) / LINE), 0)
    notes, about_lines = notes[:max(fitting - about_lines, 0)], min(about_lines, fitting)
    foot = LINE * (len(notes) + about_lines) + (FOOT if view.hint else PAD) + 10 * (view.progress is not None)
    lines = _lines(view)
    chosen = view.selected - view.selected % (view.across or 1)
    selected = next((number for number, line in enumerate(lines) if line == chosen), 0)
    shown = max(int((room[1] - HEAD - foot) / row), 1)
    first = max(min(selected - shown // 2, len(lines) - shown), 0)  # the selected line is in the middle if possible
    canvas = Canvas((wide, HEAD + row * len(lines[first:first + shown]) + foot), pen, scale, SHEET, ON_DIALOG)
    _draw_head(canvas, view)
    top = HEAD
    for line in lines[first:first + shown]:
        if isinstance(line, str):
            canvas.left(canvas.fitted(line, wide - 2 * PAD, SMALL), PAD, top + row / 2 + 2, SMALL, DIM, bold=True)
        elif line < 0:
            _draw_cells(canvas, Row(view.columns[0], cells=tuple(view.columns[1:]), colour=FAINT), top, columns, FAINT)
        elif view.across:
            for number in range(line, min(line + view.across, len(view.rows))):
                _draw_tile(canvas, view, number, top, row)
        else:
            _draw_row(canvas, view, line, top, columns)
        top += row
    if len(lines) > shown:
        each = (top - HEAD) / len(lines)
        canvas.rect(FAINT, (wide - 6, HEAD + each * first, 3, each * shown), radius=1)
    _draw_foot(canvas, view, top, notes, about_lines)
    return canvas


def place_of(view: ListView, canvas: Canvas, window: tuple[int, int], scale: float) -> tuple[int, int]:
    """Where the upper left corner of that canvas lies: in the middle, or where the view asks for as far as there is room."""
    width, height = canvas.surface.get_size()
    left, top = view.at or ((window[0] - width) // 2, (window[1] - height) // 2)
    edge = round(MARGIN * scale) if view.at else 0
    return max(min(left, window[0] - width - edge), 0), max(min(top, window[1] - height - edge), 0)


def _lines(view: ListView) -> list[int | str]:
    """What stands below each other: -1 for the headings of columns, the headings of groups, the numbers of rows."""
    if view.across:
        return list(range(0, len(view.rows), view.across))
    lines: list[int | str] = [-1] if view.columns else []
    for number, row in enumerate(view.rows):
        if row.group and (number == 0 or view.rows[number - 1].group != row.group):
            lines.append(row.group)
        lines.append(number)
    return lines


def _columns(view: ListView, room: float, ruler: Canvas) -> ColumnWidths:
    """The columns at the first size that fits, or else the widest as narrow as it takes."""
    listed = [(row.text, *(row.cells or (row.detail,))) for row in view.rows] + [tuple(view.columns)] * bool(view.columns)
    count = max((len(texts) for texts in listed), default=1)
    for sizes, gap in (((NORMAL, NORMAL), 18.0), ((SMALL, SMALL), 12.0)) if view.columns else (((NORMAL, SMALL), 24.0),):
        widths = [max((ruler.width(texts[column], sizes[column > 0]) for texts in listed if column < len(texts)), default=0)
                  for column in range(count)]
        found = ColumnWidths(sizes, widths, gap)
        if found.total <= room:
            break
    most = min(room, (MAX_TABLE if view.columns else MAX_WIDTH) - 2 * PAD)
    while found.total > most + 1e-6 and max(widths) > 0:
        widest = widths.index(max(widths))
        widths[widest] = max(widths[widest] - (found.total - most), 0)
    return found


def _draw_head(canvas: Canvas, view: ListView) -> None:
    count = f"{len(view.rows)} of {view.total}" if view.typed and view.total else ""
    start = canvas.right(count, canvas.size[0] - PAD, 18, SMALL, FAINT)
    end = canvas.left(canvas.fitted(view.title, start - PAD - 10, LARGE), PAD, 17, LARGE, bold=True)
    if view.typed is not None:
        field = FILTER if view.rows and not view.typed else f"{view.typed}_"
        canvas.left(canvas.fitted(field, start - end - 22), end + 12, 17, colour=ACCENT if view.typed else FAINT)


def _draw_row(canvas: Canvas, view: ListView, number: int, top: float, columns: ColumnWidths) -> None:
    row, wide = view.rows[number], canvas.size[0]
    if number == view.selected:
        canvas.rect(TOUCHED, (4, top, wide - 8, ROW), radius=4)
    canvas.target((0, top, wide, ROW), "row", str(number))
    colour, paler = _colours(row, number == view.selected)
    _draw_cells(canvas, row._replace(colour=colour), top, columns, paler, view.matches)


def _draw_tile(canvas: Canvas, view: ListView, number: int, top: float, height: float) -> None:
    row, wide = view.rows[number], _tile(canvas.size[0], view.across)
    left, high = PAD + (wide + GAP) * (number % view.across), wide * 9 / 16
    if number == view.selected:
        canvas.rect(TOUCHED, (left - 5, top - 1, wide + 10, height - 2), radius=6)
    canvas.target((left - GAP / 2, top, wide + GAP, height), "row", str(number))
    canvas.rect(GROUND, (left, top + 4, wide, high))
    if row.picture and (picture := loaded_picture(row.picture)):
        canvas.picture(picture, (left, top + 4, wide, high))
    colour, paler = _colours(row, number == view.selected)
    _write(canvas, canvas.fitted(row.text, wide), left, top + high + 14, NORMAL, colour, view.matches)
    for line, text in enumerate(canvas.wrapped(row.detail, wide, SMALL, 2)):
        _write(canvas, text, left, top + high + 29 + LINE * line, SMALL, paler, view.matches)


def _tile(wide: float, across: int) -> float:
    return (wide - 2 * PAD + GAP) / across - GAP


def _colours(row: Row, is_selected: bool) -> tuple[Colour, Colour]:
    """Those of a row's text and of its detail; brighter on the ground of the selected one."""
    unusable = FAINT if is_selected else INACTIVE
    return (row.colour, row.colour if row.cells else DIM) if row.usable else (unusable, unusable)


def _write(canvas: Canvas, text: str, x: float, middle: float, size: float, colour: Colour,
           matches: re.Pattern[str] | None) -> None:
    for number, part in enumerate(matches.split(text) if matches else [text]):
        x = canvas.left(part, x, middle, size, ACCENT if number % 2 else colour) if part else x


def _draw_cells(canvas: Canvas, row: Row, top: float, columns: ColumnWidths, paler: Colour,
                matches: re.Pattern[str] | None = None) -> None:
    """Draw the first text at the left, the last at the right edge, and those between at their columns' right ends."""
    middle, (first, others) = top + ROW / 2, columns.sizes
    _write(canvas, canvas.fitted(row.text, columns.widths[0] + 1, first), PAD, middle, first, row.colour, matches)
    end = canvas.size[0] - PAD
    for text, width in zip(reversed(row.cells or (row.detail,)), reversed(columns.widths[1:]), strict=False):
        text = canvas.fitted(text, width + 1, others)
        _write(canvas, text, end - canvas.width(text, others), middle, others, paler, matches)
        end -= width + columns.gap


def _draw_foot(canvas: Canvas, view: ListView, top: float, notes: Sequence[str], about_lines: int) -> None:
    wide = canvas.size[0]
    if canvas.size[1] - top > PAD:
        canvas.line(EDGE, (PAD, top + 4), (wide - PAD, top + 4))
    if view.progress is not None:
        canvas.rect(GROUND, (PAD, top + 8, wide - 2 * PAD, 4), radius=2)
        canvas.rect(ACCENT, (PAD, top + 8, max((wide - 2 * PAD) * min(view.progress, 1.0), 4), 4), radius=2)
        top += 10
    about = view.rows[view.selected].about if view.selected < len(view.rows) else ""
    top = canvas.paragraph(notes, PAD, top + 6, LINE, SMALL, DIM)
    canvas.paragraph(canvas.wrapped(about, wide - 2 * PAD, SMALL, about_lines)[:about_lines], PAD, top, LINE, SMALL, DIM)
    hint, colour = canvas.fitted(view.hint, wide - 2 * PAD, SMALL), WARM if view.is_wrong else FAINT
    canvas.left(hint, PAD, canvas.size[1] - 12, SMALL, colour)


@cache
def loaded_picture(path: Path) -> pygame.Surface | None:
    """The picture, shrunk to what a list shows; None for what is no PNG, or has too many bytes or pixels."""
    try:
        data = read_bounded(path, MAX_BYTES)
        size = png_size(data)
        if not size or len(data) > MAX_BYTES or size[0] * size[1] > MAX_PIXELS:
            return None
        picture = unpacked(data)
    except (OSError, pygame.error):
        return None
    coloured = pygame.Surface(picture.get_size(), pygame.SRCALPHA, 32)  # a palette's colours cannot be scaled smoothly
    coloured.blit(picture, (0, 0))
    return pygame.transform.smoothscale(coloured, [min(sides) for sides in zip(size, KEPT, strict=True)])
