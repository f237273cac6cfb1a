"""The hawk under a real pointer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pygame

ALONE = ("--config", "murmuration", "--set", "agents=1", "--size", "640x360", "--set", "window.hud=off",
         "--set", "world.width=640", "--set", "world.height=360", "--set", "camera.zoom=1")


def red_at(path: Path) -> tuple[float, float]:
    """The middle of what is much redder than a sky."""
    pixels = pygame.surfarray.array3d(pygame.image.load(path)).astype(int)
    x, y = np.nonzero((pixels[..., 0] > 100) & (pixels[..., 0] > 1.8 * pixels[..., 1]))
    return float(x.mean()), float(y.mean())


def test_ctrl_h_puts_the_hawk_under_the_pointer(start: Callable[..., Any]) -> None:
    running = start(base=ALONE)
    running.until(running.shows_the_crowd)
    running.press("ctrl+h")
    for x, y in ((150, 100), (480, 260)):
        running.tool("mousemove", "--window", running.window, str(x), str(y))
        running.until(lambda x=x, y=y: np.hypot(*np.subtract(red_at(running.picture()), (x, y))) < 20)
    assert running.leave() == 0
