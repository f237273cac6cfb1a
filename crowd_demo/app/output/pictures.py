"""Screenshots."""

from __future__ import annotations

import io
from pathlib import Path

import pygame

from crowd_demo.app.output.files import write_file


def save_picture(surface: pygame.Surface, path: Path) -> None:
    """Save a surface as a PNG. Raises OSError."""
    png = io.BytesIO()
    pygame.image.save(surface, png, "picture.png")
    write_file(path, png.getvalue())
