"""What the HUD is drawn with: themes of colours, a `Pen` that writes in pixels, and a `Canvas` measured in units.

A unit is a pixel times the scale, which grows with the root of the window's height: text can be read from the back of
a room at 1280 x 720, and fills no larger screen.

A canvas is a sheet of its own, which is rendered now and then, kept (`Renderings`), and blitted in every frame. While
it is drawn, its parts are registered as targets: what a click there, or a cursor that rests there, is about.

The font is Roboto in two weights, and pygame's own where that package is missing. All digits get the same width, so
numbers do not jitter. It has no arrows and ticks: they are drawn. Rendered text is kept: drawing the same text again
costs one blit.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import pygame

from crowd_demo.config.keys import key_text
from crowd_demo.registry.texts import printable

T = TypeVar("T")
Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, width, height
RGBA = tuple[int, int, int] | tuple[int, int, int, int]  # opaque without the fourth
Colour = str | RGBA  # a name of the theme, or the colour itself
Theme = Mapping[str, RGBA]
Keys = Mapping[str, Sequence[str]]  # of each action, as they are shown

PANEL, SHEET, EDGE, KEY, TOUCHED, SHADE = "panel", "sheet", "edge", "key", "touched", "shade"
TEXT, DIM, FAINT, INACTIVE, GROUND = "text", "dim", "faint", "inactive", "ground"
ACCENT, MUTED, WARM, GOOD, BAD = "accent", "muted", "warm", "good", "bad"

# Small text of any of these colours but MUTED has a contrast of 4.5 at least (WCAG), whatever lies behind a panel.
DARK: Theme = {
    PANEL: (13, 17, 24, 232), SHEET: (13, 17, 24, 242), EDGE: (58, 66, 78), KEY: (52, 60, 72), TOUCHED: (38, 56, 76),
    SHADE: (6, 8, 12, 150), TEXT: (230, 235, 241), DIM: (178, 188, 199), FAINT: (152, 162, 175), INACTIVE: (134, 142, 154),
    GROUND: (28, 34, 44), ACCENT: (96, 190, 240), MUTED: (62, 120, 156), WARM: (240, 178, 62), GOOD: (92, 204, 160),
    BAD: (255, 104, 84),
}
LIGHT: Theme = {
    PANEL: (250, 251, 252, 238), SHEET: (250, 251, 252, 246), EDGE: (186, 194, 204), KEY: (218, 223, 229),
    TOUCHED: (206, 226, 244), SHADE: (230, 234, 240, 140), TEXT: (20, 26, 34), DIM: (50, 60, 72), FAINT: (76, 86, 99),
    INACTIVE: (95, 104, 116), GROUND: (226, 231, 237), ACCENT: (0, 94, 162), MUTED: (92, 150, 190), WARM: (148, 80, 0),
    GOOD: (0, 112, 80), BAD: (190, 30, 20),
}
THEMES: Mapping[str, Theme] = {"dark": DARK, "light": LIGHT}

SMALL, NORMAL, LARGE, HUGE = 10.5, 11.5, 15.5, 35.0  # hints and notes, rows, titles, the answer: 12, 13, 18, 40 pixels
PAD = 12
USUAL_SCALE, USUAL_HEIGHT = 1.15, 720  # pixels a unit, in a window of that height
LEAST_SCALE, MAX_SCALE = 0.7, 6.0
BOTH_PANELS = 566  # units that the two panels take side by side

CORNER = 8.0  # radius of a panel's corners, units
LEAST_PX = 6  # of text, however small the scale is
KEPT = 2048  # rendered texts, about 2 KB each
MEASURED = 16_384  # texts, about 200 bytes each
WORDS = re.compile(r"\S+(?: m/s)?")  # of which lines are made: a speed stays with its unit


def scale_for(size: tuple[int, int], factor: float = 1.0) -> float:
    """Pixels a unit in a window of that size; `factor` is the user's, as far as both panels have room side by side."""
    wanted = USUAL_SCALE * math.sqrt(size[1] / USUAL_HEIGHT) * factor
    return max(min(wanted, size[0] / BOTH_PANELS, MAX_SCALE), LEAST_SCALE)


class Pen:
    """Writes in one font at any size, in the colours of a theme. Call `pygame.font.init` before."""

    def __init__(self, theme: Theme = DARK) -> None:
        try:
            from font_roboto import Roboto, RobotoMedium

            self.faces = Roboto, RobotoMedium
        except ImportError:
            self.faces = (pygame.font.get_default_font(),) * 2
        self.theme = theme
        self.font = lru_cache(None)(lambda size, bold: pygame.font.Font(self.faces[bold], size))

    def colour(self, colour: Colour) -> RGBA:
        return self.theme[colour] if isinstance(colour, str) else colour

    def width(self, text: str, size: int = 13, bold: bool = False) -> int:
        return text_width(self.font(size, bold), text if text.isprintable() else printable(text))

    def left(self, on: pygame.Surface, text: str, x: int, middle: int, size: int = 13, colour: Colour = TEXT,
             bold: bool = False) -> int:
        """Write from x on, with the middle of the line at `middle`; return where the text ends."""
        image = text_image(self.font(size, bold), text if text.isprintable() else printable(text), self.colour(colour))
        on.blit(image, (x, middle - image.get_height() // 2))
        return x + image.get_width()


@lru_cache(None)
def digit_width(font: pygame.font.Font) -> int:
    return max(font.size(digit)[0] for digit in "0123456789")


@lru_cache(MEASURED)
def text_width(font: pygame.font.Font, text: str) -> int:
    parts = re.split(r"\d", text)
    return (len(parts) - 1) * digit_width(font) + sum(font.size(part)[0] for part in parts if part)


glyphs = lru_cache(KEPT)(pygame.font.Font.render)  # of a digit, or of what lies between digits


@lru_cache(KEPT)
def text_image(font: pygame.font.Font, text: str, colour: RGBA) -> pygame.Surface:
    """The text on a transparent surface, which must not be changed.

    Digits are drawn one by one in boxes of equal width: kerning would make "11" narrower than "00".
    """
    digit = digit_width(font)
    # size() can be a pixel higher than get_height(), which would cut the tails of letters
    image = pygame.Surface((max(text_width(font, text), 1), font.size(text)[1]), pygame.SRCALPHA)
    x = 0
    for words in re.findall(r"\d|\D+", text):
        if not font.size(words)[0]:  # such as a variation selector alone, which pygame refuses to draw
            continue
        part = glyphs(font, words, True, colour)
        width = digit if words.isdigit() else part.get_width()
        image.blit(part, (x + (width - part.get_width()) // 2, 0))
        x += width
    return image


class Target(NamedTuple):
    """What a part of the screen is about, such as ("technique", "simd")."""

    kind: str
    name: str = ""


class Region(NamedTuple):
    target: Target
    rect: pygame.Rect


ON_PANEL = Target("panel")  # a point there that means nothing in particular


class Canvas:
    """Draws on a surface of its own; all lengths are units. Its upper left corner lies at the pixel `at` of the window."""

    def __init__(self, size: Point, pen: Pen, scale: float, colour: Colour | None = PANEL,
                 target: Target | None = None) -> None:
        """A translucent panel with round corners, or with no colour a transparent surface; and what all of it is about."""
        self.pen, self.scale, self.size = pen, scale, size
        self.surface = pygame.Surface((max(self.px(size[0]), 1), max(self.px(size[1]), 1)), pygame.SRCALPHA)
        self.targets = [Region(target, self.surface.get_rect())] if target else []
        self.at = 0, 0
        if colour is not None:
            self.rect(colour, (0, 0, *size), radius=CORNER)
            pygame.draw.rect(self.surface, pen.colour(EDGE), self.surface.get_rect(), 1, self.px(CORNER))

    def px(self, units: float) -> int:
        return round(units * self.scale)

    def pixels(self, box: Box) -> pygame.Rect:
        """The box in pixels; boxes that share an edge share it there too."""
        left, top, right, bottom = (self.px(edge) for edge in (box[0], box[1], box[0] + box[2], box[1] + box[3]))
        return pygame.Rect(left, top, max(right - left, 1), max(bottom - top, 1))

    def target(self, box: Box, kind: str, name: str = "") -> None:
        """Register what a box is about; where boxes overlap, the last one counts."""
        self.targets.append(Region(Target(kind, name), self.pixels(box)))

    @property
    def area(self) -> pygame.Rect:
        return self.surface.get_rect(topleft=self.at)

    def target_at(self, x: float, y: float) -> Target | None:
        """The target at a pixel of the window; None outside of the canvas."""
        if not self.area.collidepoint(x, y):
            return None
        inside = x - self.at[0], y - self.at[1]
        return next((region.target for region in reversed(self.targets) if region.rect.collidepoint(inside)), ON_PANEL)

    # --- text --------------------------------------------------------------------------------------------------------

    def width(self, text: str, size: float = NORMAL, bold: bool = False) -> float:
        return self.pen.width(text, self._font_px(size), bold) / self.scale

    def left(self, text: str, x: float, middle: float, size: float = NORMAL, colour: Colour = TEXT,
             bold: bool = False) -> float:
        """Write from x on, with the middle of the line at `middle`; return where the text ends."""
        end = self.pen.left(self.surface, text, self.px(x), self.px(middle), self._font_px(size), colour, bold)
        return end / self.scale

    def right(self, text: str, x: float, middle: float, size: float = NORMAL, colour: Colour = TEXT,
              bold: bool = False) -> float:
        """Write up to x; return where the text begins."""
        start = x - self.width(text, size, bold)
        self.left(text, start, middle, size, colour, bold)
        return start

    def centred(self, text: str, x: float, middle: float, size: float = NORMAL, colour: Colour = TEXT,
                bold: bool = False) -> None:
        self.left(text, x - self.width(text, size, bold) / 2, middle, size, colour, bold)

    def fitted(self, text: str, width: float, size: float = NORMAL) -> str:
        """The text, or as much of it as fits, with an ellipsis."""
        if self.width(text, size) <= width:
            return text
        while text and self.width(text + "…", size) > width:
            text = text[:-1]
        return text.rstrip() + "…"

    def wrapped(self, text: str, width: float, size: float = NORMAL, most: int = 99) -> list[str]:
        """The text in lines no wider than that, at most `most` of them, of which the last may be cut."""
        px, lines, words, begin = self._font_px(size), list[str](), WORDS.findall(text), 0
        ends = list(accumulate(self.pen.width(f" {word}", px) for word in words))  # most of them have been measured before
        room = width * self.scale + self.pen.width(" ", px)
        while begin < len(words) and len(lines) < most - 1:
            end = max(bisect(ends, room + (ends[begin - 1] if begin else 0)), begin + 1)
            while end > begin + 1 and self.width(" ".join(words[begin:end]), size) > width:  # kerning
                end -= 1
            lines.append(self.fitted(" ".join(words[begin:end]), width, size))
            begin = end
        return [*lines, self.fitted(" ".join(words[begin:]), width, size)] if begin < len(words) else lines

    def paragraph(self, lines: Sequence[str], x: float, top: float, height: float, size: float = NORMAL,
                  colour: Colour = TEXT) -> float:
        """Write lines below each other, each so high; return where they end."""
        for line in lines:
            self.left(line, x, top + height / 2, size, colour)
            top += height
        return top

    def _font_px(self, size: float) -> int:
        return max(self.px(size), LEAST_PX)

    # --- shapes ------------------------------------------------------------------------------------------------------

    def rect(self, colour: Colour, box: Box, radius: float = 0, width: float = 0) -> None:
        """A filled box, or its outline if a width is given."""
        pygame.draw.rect(self.surface, self.pen.colour(colour), self.pixels(box), self._line_px(width) if width else 0,
                         self.px(radius))

    def line(self, colour: Colour, *points: Point, width: float = 1) -> None:
        pygame.draw.lines(self.surface, self.pen.colour(colour), False, [self._at(point) for point in points],
                          self._line_px(width))

    def circle(self, colour: Colour, middle: Point, radius: float, width: float = 0) -> None:
        pygame.draw.circle(self.surface, self.pen.colour(colour), self._at(middle), max(self.px(radius), 1),
                           self._line_px(width) if width else 0)

    def polygon(self, colour: Colour, points: Sequence[Point]) -> None:
        pygame.draw.polygon(self.surface, self.pen.colour(colour), [self._at(point) for point in points])

    def picture(self, picture: pygame.Surface, box: Box) -> None:
        rect = self.pixels(box)
        if max(abs(rect.width - picture.get_width()), abs(rect.height - picture.get_height())) > 1:
            picture = pygame.transform.smoothscale(picture, rect.size)
        self.surface.blit(picture, rect)

    def key(self, name: str, left: float, middle: float, height: float = 15, colour: Colour = TEXT,
            is_filled: bool = True) -> float:
        """Draw a key as on a keyboard, filled or its outline; return where it ends."""
        width = self.key_width(name)
        box = left, middle - height / 2, width, height
        self.rect(KEY if is_filled else colour, box, radius=3, width=not is_filled)
        self.centred(key_text(name), left + width / 2, middle, SMALL, colour, bold=True)
        return left + width

    def key_width(self, name: str) -> float:
        return max(self.width(key_text(name), SMALL, True) + 8, 17)

    def _at(self, point: Point) -> tuple[int, int]:
        return self.px(point[0]), self.px(point[1])

    def _line_px(self, width: float) -> int:
        return max(self.px(width), 1)


class Renderings:
    """A cache of renderings by name: rendered again when they have to look different, or are too old."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[object, float, Any]] = {}

    def get(self, name: str, drawn_as: object, render: Callable[[], T], now_s: float = 0.0, period_s: float = math.inf) -> T:
        """Return the last rendering if it was for an equal `drawn_as` less than `period_s` ago, else a new one."""
        kept = self._kept.get(name)
        if kept is None or kept[0] != drawn_as or now_s - kept[1] >= period_s:
            kept = self._kept[name] = drawn_as, now_s, render()
        return kept[2]
