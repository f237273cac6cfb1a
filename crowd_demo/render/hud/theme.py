"""How text and panels look: the colours, the font and the panels of HUD, help and progress bar.

The font is the system's monospaced one if it is at a usual path, else the one that comes with pygame; asking the system
for its list of fonts can take seconds. All digits get the same width, so numbers do not jitter. Rendered text is kept:
drawing the same text again costs one blit.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pygame

Colour = tuple[int, int, int] | tuple[int, int, int, int]

PANEL: Colour = (13, 17, 24, 216)
EDGE: Colour = (58, 66, 78)
KEY: Colour = (52, 60, 72)
TOUCHED: Colour = (38, 56, 76)
SHADE: Colour = (6, 8, 12, 150)
TEXT: Colour = (230, 235, 241)
DIM: Colour = (164, 174, 186)
FAINT: Colour = (122, 132, 146)
INACTIVE: Colour = (84, 92, 104)
ACCENT: Colour = (96, 190, 240)
MUTED: Colour = (62, 120, 156)
WARM: Colour = (240, 178, 62)

SMALL, NORMAL, LARGE, HUGE = 10, 12, 14, 26
PAD = 12
KEPT = 2048  # rendered texts, about 2 KB each

FACES = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf", "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
    "/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono.ttf", "/System/Library/Fonts/Menlo.ttc",
    "C:/Windows/Fonts/consola.ttf",
)


@cache
def system_face() -> str:
    """Path of a monospaced font of the system, or the name of pygame's own."""
    return next((path for path in FACES if Path(path).is_file()), pygame.font.get_default_font())


class Pen:
    """Writes text in one font at any size. Call `pygame.font.init` before."""

    def __init__(self, face: str | None = None) -> None:
        self.face = face or system_face()
        self._fonts: dict[int, pygame.font.Font] = {}
        self._kept: dict[tuple[str, int, Colour], pygame.Surface] = {}

    def image(self, text: str, size: int = NORMAL, colour: Colour = TEXT) -> pygame.Surface:
        """The text on a transparent surface, which must not be changed."""
        key = text, size, colour
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[key] = self._render(text, size, colour)
        return self._kept[key]

    def width(self, text: str, size: int = NORMAL) -> int:
        """Pixels that the text takes."""
        font, digits = self._font(size), len(re.findall(r"\d", text))
        return digits * font.size("0")[0] + sum(font.size(words)[0] for words in re.split(r"\d", text))

    def left(self, on: pygame.Surface, text: str, x: int, middle: int, size: int = NORMAL, colour: Colour = TEXT) -> int:
        """Write from x on, with the middle of the line at `middle`; return where the text ends."""
        image = self.image(text, size, colour)
        on.blit(image, (x, middle - image.get_height() // 2))
        return x + image.get_width()

    def right(self, on: pygame.Surface, text: str, x: int, middle: int, size: int = NORMAL, colour: Colour = TEXT) -> int:
        """Write up to x; return where the text begins."""
        start = x - self.image(text, size, colour).get_width()
        self.left(on, text, start, middle, size, colour)
        return start

    def fitted(self, text: str, width: int, size: int = NORMAL) -> str:
        """The text, or as much of it as fits, with an ellipsis."""
        if self.width(text, size) <= width:
            return text
        while text and self.width(text + "…", size) > width:
            text = text[:-1]
        return text.rstrip() + "…"

    def in_two(self, text: str, width: int, size: int = NORMAL) -> list[str]:
        """The text as one line if it fits, else as two, of which the second may be cut."""
        if self.width(text, size) <= width:
            return [text]
        words = text.split()
        first = next((count for count in range(len(words), 0, -1)
                      if self.width(" ".join(words[:count]), size) <= width), 0)
        return [" ".join(words[:first]), self.fitted(" ".join(words[first:]), width, size)]

    def _font(self, size: int) -> pygame.font.Font:
        if size not in self._fonts:
            self._fonts[size] = pygame.font.Font(self.face, size)
        return self._fonts[size]

    def _render(self, text: str, size: int, colour: Colour) -> pygame.Surface:
        """Draw digits one by one in boxes of equal width: kerning would make "11" narrower than "00"."""
        font, digit = self._font(size), self._font(size).size("0")[0]
        # size() can be a pixel higher than get_height(), which would cut the tails of letters
        image = pygame.Surface((max(self.width(text, size), 1), font.size(text)[1]), pygame.SRCALPHA)
        x = 0
        for words in re.findall(r"\d|\D+", text):
            part = font.render(words, True, colour)
            width = digit if words.isdigit() else part.get_width()
            image.blit(part, (x + (width - part.get_width()) // 2, 0))
            x += width
        return image


def panel(size: tuple[int, int], colour: Colour = PANEL) -> pygame.Surface:
    """A translucent surface with round corners."""
    surface = pygame.Surface(size, pygame.SRCALPHA)
    pygame.draw.rect(surface, colour, surface.get_rect(), border_radius=10)
    pygame.draw.rect(surface, EDGE, surface.get_rect(), width=1, border_radius=10)
    return surface


def draw_key(on: pygame.Surface, pen: Pen, name: str, left: int, middle: int, height: int = 15) -> int:
    """Draw a key as on a keyboard; return where it ends."""
    label = name.upper()
    box = pygame.Rect(left, middle - height // 2, key_width(pen, name), height)
    pygame.draw.rect(on, KEY, box, border_radius=4)
    pen.left(on, label, box.centerx - pen.width(label, SMALL) // 2, middle, SMALL, TEXT)
    return box.right


def key_width(pen: Pen, name: str) -> int:
    return max(pen.width(name.upper(), SMALL) + 8, 17)
