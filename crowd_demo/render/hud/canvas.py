"""A surface that is drawn on in units, sharp at every scale; and what its parts mean to the mouse.

A `Canvas` is a sheet of its own, which is rendered now and then, kept, and blitted in every frame. While it is drawn, its
parts are registered as targets: what a click there, or a cursor that rests there, is about.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import pygame

from crowd_demo.config.keys import key_text
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import EDGE, KEY, NORMAL, PANEL, SMALL, TEXT, Colour

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, width, height
LEAST_PX = 6  # of text, however small the scale is
CORNER = 8.0  # radius of a panel's corners


class Target(NamedTuple):
    """What a part of the screen is about, such as ("technique", "simd")."""

    kind: str
    name: str = ""


class Region(NamedTuple):
    """The part of a canvas, in pixels, that a target is about."""

    target: Target
    rect: pygame.Rect


class Canvas:
    """Draws on a surface of its own; all lengths are units."""

    def __init__(self, size: Point, pen: Pen, scale: float, colour: Colour | None = PANEL) -> None:
        """A translucent panel with round corners, or with no colour a transparent surface."""
        self.pen, self.scale, self.size = pen, scale, size
        self.surface = pygame.Surface((max(self.px(size[0]), 1), max(self.px(size[1]), 1)), pygame.SRCALPHA)
        self.targets: list[Region] = []
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
        """Say what a box is about; of several that overlap, the last one counts."""
        self.targets.append(Region(Target(kind, name), self.pixels(box)))

    # --- text --------------------------------------------------------------------------------------------------------

    def width(self, text: str, size: float = NORMAL) -> float:
        return self.pen.width(text, self._font_px(size)) / self.scale

    def left(self, text: str, x: float, middle: float, size: float = NORMAL, colour: Colour = TEXT) -> float:
        """Write from x on, with the middle of the line at `middle`; return where the text ends."""
        return self.pen.left(self.surface, text, self.px(x), self.px(middle), self._font_px(size), colour) / self.scale

    def right(self, text: str, x: float, middle: float, size: float = NORMAL, colour: Colour = TEXT) -> float:
        """Write up to x; return where the text begins."""
        start = x - self.width(text, size)
        self.left(text, start, middle, size, colour)
        return start

    def centred(self, text: str, x: float, middle: float, size: float = NORMAL, colour: Colour = TEXT) -> None:
        self.left(text, x - self.width(text, size) / 2, middle, size, colour)

    def fitted(self, text: str, width: float, size: float = NORMAL) -> str:
        """The text, or as much of it as fits, with an ellipsis."""
        if self.width(text, size) <= width:
            return text
        while text and self.width(text + "…", size) > width:
            text = text[:-1]
        return text.rstrip() + "…"

    def wrapped(self, text: str, width: float, size: float = NORMAL, most: int = 99) -> list[str]:
        """The text in lines no wider than that, at most `most` of them, of which the last may be cut."""
        px, lines, words, begin = self._font_px(size), list[str](), text.split(), 0
        ends = list(accumulate(self.pen.width(f" {word}", px) for word in words))  # most of them have been measured before
        room = width * self.scale + self.pen.width(" ", px)
        while begin < len(words) and len(lines) < most - 1:
            end = max(bisect(ends, room + (ends[begin - 1] if begin else 0)), begin + 1)
            lines.append(self.fitted(" ".join(words[begin:end]), width, size))
            begin = end
        return [*lines, self.fitted(" ".join(words[begin:]), width, size)] if begin < len(words) else lines

    def _font_px(self, size: float) -> int:
        return max(self.px(size), LEAST_PX)

    # --- shapes ------------------------------------------------------------------------------------------------------

    def rect(self, colour: Colour, box: Box, radius: float = 0, width: float = 0) -> None:
        """A filled box, or its outline if a width is given."""
        pygame.draw.rect(self.surface, self.pen.colour(colour), self.pixels(box), self._line_px(width) if width else 0,
                         self.px(radius))

    def line(self, colour: Colour, start: Point, end: Point, width: float = 1) -> None:
        pygame.draw.line(self.surface, self.pen.colour(colour), self._at(start), self._at(end), self._line_px(width))

    def lines(self, colour: Colour, points: Sequence[Point], width: float = 1) -> None:
        pygame.draw.lines(self.surface, self.pen.colour(colour), False, [self._at(point) for point in points],
                          self._line_px(width))

    def circle(self, colour: Colour, middle: Point, radius: float, width: float = 0) -> None:
        pygame.draw.circle(self.surface, self.pen.colour(colour), self._at(middle), max(self.px(radius), 1),
                           self._line_px(width) if width else 0)

    def polygon(self, colour: Colour, points: Sequence[Point]) -> None:
        pygame.draw.polygon(self.surface, self.pen.colour(colour), [self._at(point) for point in points])

    def picture(self, picture: pygame.Surface, box: Box) -> None:
        """Draw a picture, fitted into the box."""
        rect = self.pixels(box)
        if picture.get_size() != rect.size:
            picture = pygame.transform.smoothscale(picture, rect.size)
        self.surface.blit(picture, rect)

    def key(self, name: str, left: float, middle: float, height: float = 15) -> float:
        """Draw a key as on a keyboard; return where it ends."""
        width = self.key_width(name)
        self.rect(KEY, (left, middle - height / 2, width, height), radius=3)
        self.centred(key_text(name).upper(), left + width / 2, middle, SMALL)
        return left + width

    def key_width(self, name: str) -> float:
        return max(self.width(key_text(name).upper(), SMALL) + 8, 17)

    def _at(self, point: Point) -> tuple[int, int]:
        return self.px(point[0]), self.px(point[1])

    def _line_px(self, width: float) -> int:
        return max(self.px(width), 1)
