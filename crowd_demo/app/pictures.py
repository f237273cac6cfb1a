"""Screenshots, and writing a file completely or not at all."""

from __future__ import annotations

import io
import os
import tempfile
from itertools import count
from pathlib import Path

import pygame


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is complete or as it was before. Raises OSError."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(content)
    try:
        Path(file.name).chmod(0o666 & ~_umask())
        Path(file.name).replace(path)
    except OSError:
        Path(file.name).unlink()
        raise


def save_picture(surface: pygame.Surface, path: Path) -> None:
    """Save a surface as a PNG. Raises OSError."""
    png = io.BytesIO()
    pygame.image.save(surface, png, "picture.png")
    write_whole(path, png.getvalue())


def free_name(folder: Path) -> Path:
    """crowd-0001.png, or the first number after it that is not taken."""
    names = (folder / f"crowd-{number:04}.png" for number in count(1))
    return next(path for path in names if not path.exists())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
