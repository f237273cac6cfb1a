"""PNG pictures of others, looked at before they are unpacked; and maps drawn as such, one pixel a tile.

The three channels of a pixel, 0-255, decide what it is. If one exceeds both others by 64 or more, red is a destination
(red pixels that touch form one, numbered in reading order), green is grass, blue is water. Any other pixel counts as
grey: a wall if the mean of its channels is below 128, else floor. Pixels less than half opaque are floor.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowd_demo.config.map_data import (
    FLOOR,
    GRASS,
    MAX_DESTINATIONS,
    WALL,
    WATER,
    MapData,
    MapError,
    check_size,
    label_marks,
)
from crowd_demo.config.quiet import quiet_libraries

if TYPE_CHECKING:
    import pygame

COLOURED = 64  # how far a channel exceeds the others before it counts as a colour
DARK = 128  # mean of the channels below which a grey is a wall


def parse_png(data: bytes, path: Path) -> MapData:
    """The map in the bytes of a PNG. Raises MapError; imports pygame, but opens no display."""
    size = png_size(data)
    if not size:
        raise MapError(f"{path}: not a PNG picture")
    check_size(*size, str(path))
    kinds, red = classify(_pixels(data, path))
    marks = label_marks(red)
    if marks.max() >= MAX_DESTINATIONS:
        raise MapError(f"{path}: more than {MAX_DESTINATIONS} red areas (each is a destination)")
    return MapData(kinds, marks, path.stem)


def classify(rgba: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """(kinds uint8[H, W], red bool[H, W]) of a picture uint8[H, W, 4]."""
    red, green, blue, alpha = np.moveaxis(rgba.astype(np.int16), 2, 0)
    transparent = alpha < 128
    is_red = ~transparent & (red - np.maximum(green, blue) >= COLOURED)
    kinds = np.where(red + green + blue < 3 * DARK, WALL, FLOOR).astype(np.uint8)
    kinds[green - np.maximum(red, blue) >= COLOURED] = GRASS
    kinds[blue - np.maximum(red, green) >= COLOURED] = WATER
    kinds[transparent | is_red] = FLOOR
    return kinds, is_red


def png_size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG, as its header says, or None. Look before `unpacked`: a small file can hold a huge picture."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def unpacked(data: bytes) -> pygame.Surface:
    """The picture in the bytes of a PNG. Raises pygame.error."""
    import pygame

    with quiet_libraries():  # libpng prints its own lines
        return pygame.image.load(io.BytesIO(data), ".png")


def _pixels(data: bytes, path: Path) -> NDArray[np.uint8]:
    import pygame

    try:
        image = unpacked(data)
    except pygame.error as error:
        raise MapError(f"{path}: cannot be read as a PNG ({error})") from None
    width, height = image.get_size()
    return np.frombuffer(pygame.image.tobytes(image, "RGBA"), np.uint8).reshape(height, width, 4)
