"""Writes text, in pixels.

The font is the system's monospaced one if it is at a usual path, else the one that comes with pygame; asking the system
for its list of fonts can take seconds. All digits get the same width, so numbers do not jitter. Rendered text is kept:
drawing the same text again costs one blit.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pygame

from crowd_demo.registry.texts import printable
from crowd_demo.render.hud.theme import DARK, NORMAL, RGBA, TEXT, Colour, Theme

KEPT = 2048  # rendered texts, about 2 KB each
MEASURED = 16_384  # texts, about 200 bytes each: the help screen measures some 500 words at each size that it tries

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
    """Writes in one font at any size, in the colours of a theme. Call `pygame.font.init` before."""

    def __init__(self, face: str | None = None, theme: Theme = DARK) -> None:
        self.face = face or system_face()
        self.theme = theme
        self._fonts: dict[int, pygame.font.Font] = {}
        self._kept: dict[tuple[str, int, RGBA], pygame.Surface] = {}
        self._widths: dict[tuple[str, int], int] = {}

    def colour(self, colour: Colour) -> RGBA:
        """The colour that a name stands for in the present theme."""
        return self.theme[colour] if isinstance(colour, str) else colour

    def image(self, text: str, size: int = NORMAL, colour: Colour = TEXT) -> pygame.Surface:
        """The text on a transparent surface, which must not be changed."""
        key = printable(text), size, self.colour(colour)
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[key] = self._render(*key)
        return self._kept[key]

    def width(self, text: str, size: int = NORMAL) -> int:
        """Pixels that the text takes."""
        key = text, size
        if key not in self._widths:
            if len(self._widths) >= MEASURED:
                self._widths.clear()
            font, parts = self._font(size), re.split(r"\d", printable(text))
            self._widths[key] = (len(parts) - 1) * font.size("0")[0] + sum(font.size(part)[0] for part in parts if part)
        return self._widths[key]

    def left(self, on: pygame.Surface, text: str, x: int, middle: int, size: int = NORMAL, colour: Colour = TEXT) -> int:
        """Write from x on, with the middle of the line at `middle`; return where the text ends."""
        image = self.image(text, size, colour)
        on.blit(image, (x, middle - image.get_height() // 2))
        return x + image.get_width()

    def _font(self, size: int) -> pygame.font.Font:
        if size not in self._fonts:
            self._fonts[size] = pygame.font.Font(self.face, size)
        return self._fonts[size]

    def _render(self, text: str, size: int, colour: RGBA) -> pygame.Surface:
        """Draw digits one by one in boxes of equal width: kerning would make "11" narrower than "00"."""
        font, digit = self._font(size), self._font(size).size("0")[0]
        # size() can be a pixel higher than get_height(), which would cut the tails of letters
        image = pygame.Surface((max(self.width(text, size), 1), font.size(text)[1]), pygame.SRCALPHA)
        x = 0
        for words in re.findall(r"\d|\D+", text):
            if not font.size(words)[0]:  # such as a variation selector alone, which pygame refuses to draw
                continue
            part = font.render(words, True, colour)
            width = digit if words.isdigit() else part.get_width()
            image.blit(part, (x + (width - part.get_width()) // 2, 0))
            x += width
        return image
