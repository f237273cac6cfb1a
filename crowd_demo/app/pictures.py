"""Screenshots."""

from __future__ import annotations

import io
import os
from itertools import count
from pathlib import Path

import pygame

from crowd_demo.app.files import write_file


def save_picture(surface: pygame.Surface, path: Path) -> None:
    """Save a surface as a PNG. Raises OSError."""
    png = io.BytesIO()
    pygame.image.save(surface, png, "picture.png")
    write_file(path, png.getvalue())


def free_name(folder: Path) -> Path:
    """crowd-0001.png, or the first number after it that is not taken, not even by a link that leads nowhere."""
    names = (folder / f"crowd-{number:04}.png" for number in count(1))
    return next(path for path in names if not os.path.lexists(path))
