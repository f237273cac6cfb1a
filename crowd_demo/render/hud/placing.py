"""Canvases that have a place in the window, and what they cover of each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pygame

from crowd_demo.render.hud.canvas import Canvas, Target

ON_PANEL = Target("panel")  # a place there that means nothing in particular


class Placed(NamedTuple):
    """A canvas and where its upper left corner is, in pixels."""

    canvas: Canvas
    at: tuple[int, int]

    @property
    def rect(self) -> pygame.Rect:
        return self.canvas.surface.get_rect(topleft=self.at)

    def target_at(self, x: float, y: float) -> Target | None:
        """The target at a pixel of the window; None outside of the canvas."""
        x, y = x - self.at[0], y - self.at[1]
        if not self.canvas.surface.get_rect().collidepoint(x, y):
            return None
        return next((region.target for region in reversed(self.canvas.targets) if region.rect.collidepoint(x, y)), ON_PANEL)


def between(rects: Sequence[pygame.Rect], width: int, margin: int) -> tuple[int, int]:
    """The columns of pixels that rectangles at both sides of a window so wide leave free."""
    middle = width // 2
    return (max((rect.right for rect in rects if rect.right <= middle), default=0) + margin,
            min((rect.left for rect in rects if rect.left >= middle), default=width) - margin)


def common_px(rect: pygame.Rect, others: Iterable[pygame.Rect]) -> int:
    """Pixels that a rectangle has in common with others, each by itself."""
    return sum(common.width * common.height for common in map(rect.clip, others))
