"""Pictures that the program has written."""

from pathlib import Path
from typing import Any

import pygame


def pixels(path: Path) -> Any:
    """int[width, height, 3]: red, green and blue."""
    return pygame.surfarray.array3d(pygame.image.load(path)).astype(int)
