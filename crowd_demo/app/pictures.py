"""Screenshots."""

from __future__ import annotations

import io
from pathlib import Path

import pygame

from crowd_demo.app import files


def save_picture(surface: pygame.Surface, path: Path) -> None:
    """Save a surface as a PNG. Raises OSError."""
    png = io.BytesIO()
    pygame.image.save(surface, png, "picture.png")
    files.write_file(path, png.getvalue())


def free_name(folder: Path) -> Path:
    """A name for a picture that no file has."""
    return files.free_name(folder, ".png")
