"""An overlay."""

import pygame

from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.overlays.base import Looking


def draw_centre(on: pygame.Surface, looking: Looking, pen: Pen) -> None:
    x, y = looking.camera.world_to_screen(looking.camera.world[0] / 2, looking.camera.world[1] / 2)
    pygame.draw.circle(on, (255, 0, 255), (round(x), round(y)), 9)
