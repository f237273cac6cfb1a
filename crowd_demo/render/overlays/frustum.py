"""The frozen frustum: the part of the world that culling still keeps after the camera has moved on."""

from __future__ import annotations

import pygame

from crowd_demo.render.camera import Camera, Rect
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.theme import NORMAL, WARM, scale_for
from crowd_demo.render.overlays.base import Looking


def draw_frustum(on: pygame.Surface, looking: Looking, pen: Pen) -> None:
    """Draw the outline of that rectangle, with its name above it."""
    if looking.frozen:
        outline(on, looking.camera, looking.frozen, pen)


def outline(on: pygame.Surface, camera: Camera, frozen: Rect, pen: Pen) -> None:
    """Draw it where the camera shows it; the name stays on the screen."""
    left, top = camera.world_to_screen(frozen.left, frozen.top)
    right, bottom = camera.world_to_screen(frozen.right, frozen.bottom)
    far = 4 * max(on.get_size())  # SDL cannot draw lines with huge coordinates
    left, top, right, bottom = (round(max(-far, min(far, value))) for value in (left, top, right, bottom))
    box = pygame.Rect(left, top, max(right - left, 2), max(bottom - top, 2))
    pygame.draw.rect(on, (0, 0, 0), box.inflate(4, 4), width=4)
    pygame.draw.rect(on, pen.colour(WARM), box, width=2)
    label = "frozen frustum"
    scale = scale_for(on.get_size())
    canvas = Canvas((Canvas((1, 1), pen, scale, None).width(label) + 16, 22), pen, scale)
    canvas.left(label, 8, 11, NORMAL, WARM)
    sheet = canvas.surface
    x = max(8, min(on.get_width() - sheet.get_width() - 8, box.left))
    above = box.top - sheet.get_height() - 8
    y = max(8, min(on.get_height() - sheet.get_height() - 8, above if above >= 8 else box.top + 6))
    on.blit(sheet, (x, y))
