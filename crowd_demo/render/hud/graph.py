"""The graphs of the HUD. Frame times: one column a frame, the stages stacked, and a line at 16.7 ms.

NumPy colours all columns at once: about 0.3 ms for 240 x 64 pixels.
"""

from __future__ import annotations

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes, Floats, Ints
from crowd_demo.profile import Profile
from crowd_demo.registry.stages import in_order
from crowd_demo.render.hud.stage_colours import REST, stage_colour
from crowd_demo.render.hud.theme import FAINT, SMALL, Pen

BUDGET_MS = 1000 / 60
SCALES_MS = (20, 40, 80, 160, 320, 640, 1280, 2560, 10_000)  # the full height
GROUND = (28, 34, 44)


def scale_ms(frames: Floats) -> float:
    """Milliseconds of the full height, such that all but a few slow frames fit."""
    tall = float(np.percentile(frames, 95)) if len(frames) else 0.0
    return next((float(scale) for scale in SCALES_MS if scale >= tall * 1.1), float(SCALES_MS[-1]))


def stacked(profile: Profile, size: tuple[int, int], full_ms: float) -> Bytes:
    """uint8[width, height, 3]: the last `width` frames, newest at the right, `full_ms` high; part by part, the step lowest."""
    width, height = size
    stages = in_order(profile.stages)
    pixels = np.full((width, height, 3), GROUND, np.uint8)
    frames = profile.frame_ms(width)
    if len(frames):
        middles_ms = (np.arange(height, 0, -1, dtype=np.float32)[None, :] - 0.5) * np.float32(full_ms / height)
        layer = np.zeros((len(frames), height), np.uint8)  # index of a pixel's stage, the rest or the ground
        top_ms = np.zeros((len(frames), 1), np.float32)
        for stage in stages:
            top_ms = top_ms + profile.stage_ms(stage, len(frames))[:, None]
            layer += middles_ms >= top_ms
        layer += middles_ms >= np.maximum(top_ms, frames[:, None])
        pixels[width - len(frames):] = np.array([*map(stage_colour, stages), REST, GROUND], np.uint8)[layer]
    return pixels


def draw_curve(on: pygame.Surface, box: pygame.Rect, values: Ints, colour: tuple[int, ...]) -> None:
    """Draw the last values, newest at the right, scaled to their least and greatest."""
    pygame.draw.rect(on, GROUND, box)
    values = values[-box.width:]
    if len(values) > 1:
        low, span = int(values.min()), max(int(np.ptp(values)), 1)
        heights = (values - low) * (box.height - 3) // span
        left = box.right - len(values)
        pygame.draw.lines(on, colour, False, [(left + x, box.bottom - 2 - int(y)) for x, y in enumerate(heights)])


def draw_graph(on: pygame.Surface, box: pygame.Rect, profile: Profile, pen: Pen) -> None:
    """Draw the graph of frame times with its line at the budget."""
    full_ms = scale_ms(profile.frame_ms(box.width))
    on.blit(pygame.surfarray.make_surface(stacked(profile, box.size, full_ms)), box)
    line = box.bottom - round(box.height * BUDGET_MS / full_ms)
    pygame.draw.line(on, FAINT, (box.left, line), (box.right - 1, line))
    pen.left(on, f"{BUDGET_MS:.1f} ms", box.left + 3, line + (7 if line - box.top < 12 else -6), SMALL, FAINT)
