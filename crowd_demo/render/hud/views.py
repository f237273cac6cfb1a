"""What can be open over the picture: lists to choose from, tables of results, questions; and how they are drawn.

A view is a plain record that a dialog of the program makes. Rows and buttons are targets, so the mouse finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pygame

from crowd_demo.config.maps import png_size, unpacked
from crowd_demo.config.reading import read_bounded
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
)

ROW, PICTURE_ROW, PICTURE = 19, 62, (96, 54)  # heights of rows, size of their pictures
KEPT = 4 * PICTURE[0], 4 * PICTURE[1]  # pixels: enough for a scale of 4
MAX_BYTES, MAX_PIXELS = 16 << 20, 1 << 23  # of a picture's file: one of 3840 x 2160
WIDEST, LEAST_TABLE, WIDEST_TABLE, MARGIN = 560, 420, 900, 10
HEAD, ABOUT_LINE = 34, 13
MAX_ABOUT = 6  # lines


class Row(NamedTuple):
    """A row of a list; `about` is told at the foot while the row is selected."""

    text: str
    detail: str = ""
    about: str = ""
    picture: Path | None = None
    usable: bool = True


class ListView(NamedTuple):
    """Rows of which one is selected. With `at`, pixels, it opens there like a menu, else in the middle."""

    title: str
    rows: Sequence[Row]
    selected: int = 0
    hint: str = "Enter chooses, Esc closes"
    at: tuple[int, int] | None = None


class Cell(NamedTuple):
    text: str
    colour: Colour = TEXT


class TableView(NamedTuple):
    """A table of results, perhaps still growing: the first column is aligned to the left, the others to the right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    progress: float | None = None  # 0 to 1 while it is made
    hint: str = "Esc closes"


class QuestionView(NamedTuple):
    text: str
    hint: str
    is_wrong: bool = False  # the hint says what is


View = ListView | TableView | QuestionView


def draw_view(view: View, window: tuple[int, int], pen: Pen, scale: float) -> Canvas:
    """Render a view for a window of that size, in pixels."""
    units = window[0] / scale, window[1] / scale
    match view:
        case ListView():
            return _draw_list(view, units, pen, scale)
        case TableView():
            return _draw_table(view, units, pen, scale)
        case QuestionView():
            return _draw_question(view, units, pen, scale)


def place_of(view: View, canvas: Canvas, window: tuple[int, int], scale: float) -> tuple[int, int]:
    """Where the upper left corner of that canvas lies: in the middle, or where the view asks for as far as there is room."""
    width, height = canvas.surface.get_size()
    asked = view.at if isinstance(view, ListView) else None
    left, top = asked or ((window[0] - width) // 2, (window[1] - height) // 2)
    edge = round(MARGIN * scale) if asked else 0
    return max(min(left, window[0] - width - edge), 0), max(min(top, window[1] - height - edge), 0)


# --- lists -----------------------------------------------------------------------------------------------------------

def _draw_list(view: ListView, room: tuple[float, float], pen: Pen, scale: float) -> Canvas:
    ruler = Canvas((1, 1), pen, scale, None)
    row = PICTURE_ROW if any(each.picture for each in view.rows) else ROW
    wide = min(max(_list_width(view, ruler), 220), WIDEST, room[0] - 2 * MARGIN)
    lines = max((len(ruler.wrapped(each.about, wide - 2 * PAD, SMALL, MAX_ABOUT)) for each in view.rows), default=0)
    lines = min(lines, max(int((room[1] - 2 * MARGIN - HEAD - row - 30) / ABOUT_LINE), 0))
    foot = ABOUT_LINE * lines + 22 + 8 * bool(lines)
    fitting = max(int((room[1] - 2 * MARGIN - HEAD - foot) // row), 1)
    first = first_shown(view.selected, len(view.rows), fitting)
    shown = view.rows[first:first + fitting]
    canvas = Canvas((wide, HEAD + row * len(shown) + foot), pen, scale, SHEET)
    count = f"{first + 1}-{first + len(shown)} of {len(view.rows)}" if len(shown) < len(view.rows) else ""
    canvas.left(canvas.fitted(view.title, wide - 2 * PAD - canvas.width(count, SMALL) - 10, LARGE), PAD, 17, LARGE)
    canvas.right(count, wide - PAD, 18, SMALL, FAINT)
    for number, each in enumerate(shown):
        _draw_row(canvas, each, HEAD + number * row, row, first + number == view.selected)
        canvas.target((0, HEAD + number * row, wide, row), "row", str(first + number))
    _draw_foot(canvas, view.rows[view.selected].about if view.rows else "", view.hint, lines, foot)
    return canvas


def _list_width(view: ListView, ruler: Canvas) -> float:
    pictures = any(row.picture for row in view.rows)
    texts = [ruler.width(row.text) + (ruler.width(row.detail, SMALL) + 24 if not pictures else PICTURE[0] + 280)
             for row in view.rows]
    return max([ruler.width(view.title, LARGE), ruler.width(view.hint, SMALL), *texts]) + 2 * PAD + 8


def _draw_row(canvas: Canvas, row: Row, top: float, height: float, selected: bool) -> None:
    wide, middle, left = canvas.size[0], top + height / 2, float(PAD)
    if selected:
        canvas.rect(TOUCHED, (4, top, wide - 8, height), radius=4)
    unusable = FAINT if selected else INACTIVE  # on the brighter ground of the selected row
    colour, paler = (TEXT, DIM) if row.usable else (unusable, unusable)
    if height == ROW:
        end = canvas.left(canvas.fitted(row.text, wide - 2 * PAD), left, middle, colour=colour)
        detail = canvas.fitted(row.detail, wide - PAD - end - 10, SMALL)
        canvas.right(detail, wide - PAD, middle, SMALL, paler)
        return
    canvas.rect(GROUND, (left, middle - PICTURE[1] / 2, *PICTURE))
    if row.picture and (picture := _loaded(row.picture)):
        canvas.picture(picture, (left, middle - PICTURE[1] / 2, *PICTURE))
    left += PICTURE[0] + 10
    canvas.left(canvas.fitted(row.text, wide - PAD - left), left, top + 12, colour=colour)
    for number, line in enumerate(canvas.wrapped(row.detail, wide - PAD - left, SMALL, 3)):
        canvas.left(line, left, top + 28 + 13 * number, SMALL, paler)


@cache
def _loaded(path: Path) -> pygame.Surface | None:
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


def first_shown(selected: int, count: int, fitting: int) -> int:
    """The first of the rows that are shown, so that the selected one is among them, in the middle if possible."""
    return max(min(selected - fitting // 2, count - fitting), 0)


def _draw_foot(canvas: Canvas, about: str, hint: str, lines: int, height: float) -> None:
    wide, tall = canvas.size
    top = tall - height + 4
    if lines:
        canvas.line(EDGE, (PAD, top), (wide - PAD, top))
        for number, line in enumerate(canvas.wrapped(about, wide - 2 * PAD, SMALL, lines)):
            canvas.left(line, PAD, top + 10 + ABOUT_LINE * number, SMALL, DIM)
    canvas.left(hint, PAD, tall - 12, SMALL, FAINT)


# --- tables and questions --------------------------------------------------------------------------------------------

def _draw_table(view: TableView, room: tuple[float, float], pen: Pen, scale: float) -> Canvas:
    ruler = Canvas((1, 1), pen, scale, None)
    cells = [[Cell(name, FAINT) for name in view.columns], *view.rows]
    widest = min(WIDEST_TABLE, room[0] - 2 * MARGIN)
    for size, gap in ((NORMAL, 18), (SMALL, 12)):  # the first that fits, or the small one
        widths = [max(ruler.width(row[column].text, size) for row in cells) for column in range(len(view.columns))]
        natural = max(sum(widths) + gap * (len(widths) - 1), ruler.width(view.title, LARGE), LEAST_TABLE) + 2 * PAD
        if natural <= widest:
            break
    wide = min(natural, widest)
    squeeze = min((wide - 2 * PAD) / (natural - 2 * PAD), 1.0)
    notes = [line for note in view.notes for line in ruler.wrapped(note, wide - 2 * PAD, SMALL)]
    notes = notes[:max(int((room[1] - 2 * MARGIN - HEAD - 2 * ROW - 34) / ABOUT_LINE), 0)]
    foot = ABOUT_LINE * len(notes) + 24 + (10 if view.progress is not None else 0)
    fitting = max(int((room[1] - 2 * MARGIN - HEAD - foot) // ROW), 2)
    shown = cells[:fitting]
    canvas = Canvas((wide, HEAD + ROW * len(shown) + foot), pen, scale, SHEET)
    canvas.left(canvas.fitted(view.title, wide - 2 * PAD, LARGE), PAD, 17, LARGE)
    ends = [PAD + (sum(widths[:column + 1]) + gap * column) * squeeze for column in range(len(widths))]
    for number, row in enumerate(shown):
        middle = HEAD + ROW * number + ROW / 2
        for column, cell in enumerate(row):
            text = canvas.fitted(cell.text, widths[column] * squeeze + 1, size)
            if column:
                canvas.right(text, ends[column], middle, size, cell.colour)
            else:
                canvas.left(text, PAD, middle, size, cell.colour)
    canvas.line(EDGE, (PAD, HEAD + ROW - 1), (wide - PAD, HEAD + ROW - 1))
    top = HEAD + ROW * len(shown) + 6
    if view.progress is not None:
        canvas.rect(GROUND, (PAD, top, wide - 2 * PAD, 4), radius=2)
        canvas.rect(ACCENT, (PAD, top, max((wide - 2 * PAD) * min(view.progress, 1.0), 4), 4), radius=2)
        top += 10
    for number, line in enumerate(notes):
        canvas.left(line, PAD, top + 6 + ABOUT_LINE * number, SMALL, DIM)
    hidden = len(cells) - len(shown)
    canvas.left(view.hint + (f"   {hidden} more rows do not fit" if hidden else ""), PAD, canvas.size[1] - 12, SMALL, FAINT)
    return canvas


def _draw_question(view: QuestionView, room: tuple[float, float], pen: Pen, scale: float) -> Canvas:
    ruler = Canvas((1, 1), pen, scale, None)
    wide = min(max(ruler.width(view.text, LARGE), ruler.width(view.hint)) + 4 * PAD, room[0] - 2 * MARGIN)
    canvas = Canvas((wide, 70), pen, scale, SHEET)
    canvas.centred(canvas.fitted(view.text, wide - 2 * PAD, LARGE), wide / 2, 24, LARGE)
    canvas.centred(canvas.fitted(view.hint, wide - 2 * PAD), wide / 2, 48, NORMAL, WARM if view.is_wrong else DIM)
    canvas.target((0, 0, *canvas.size), "row", "0")
    return canvas
