"""Sprites drawn in one call have the pixels of pygame's own blend, on any surface of 32 bits and for any number of threads."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowd_demo.sprites
from crowd_demo.sprites import SpriteSheet, blit_many

MASKS = {"plain": (0xFF0000, 0xFF00, 0xFF, 0), "alpha": (0xFF0000, 0xFF00, 0xFF, 0xFF000000),
         "swapped": (0xFF, 0xFF00, 0xFF0000, 0)}


def picture(seed: int, size: tuple[int, int] = (96, 40)) -> pygame.Surface:
    """Cells with transparent edges, some opaque and some empty."""
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 2**32, size[::-1], dtype=np.uint32)
    pixels[rng.random(size[::-1]) < 0.3] |= np.uint32(0xFF000000)
    pixels[:3] = pixels[20:22] = pixels[:, :5] = 0
    pixels[20:, 48:72] = 0
    surface = pygame.Surface(size, pygame.SRCALPHA, 32)
    pygame.surfarray.pixels2d(surface)[:] = pixels.T
    return surface


def screen_of(kind: str, size: tuple[int, int], seed: int) -> pygame.Surface:
    """A surface with a background; a "part" lies in a larger one."""
    if kind == "part":
        return screen_of("plain", (size[0] + 13, size[1] + 9), seed).subsurface((7, 4, *size))
    surface = pygame.Surface(size, pygame.SRCALPHA if kind == "alpha" else 0, 32, MASKS[kind])
    surface.fill((30, 90, 150, 255))
    return surface


def expected(screen: pygame.Surface, sheet: pygame.Surface, x: Any, y: Any, frame: Any) -> None:
    cells = [sheet.subsurface((column * 24, row * 20, 24, 20)).premul_alpha() for row in range(2) for column in range(4)]
    places = zip(np.floor(x).astype(int).tolist(), np.floor(y).astype(int).tolist(), strict=True)
    screen.fblits([(cells[number], at) for number, at in zip(frame, places, strict=True)], pygame.BLEND_PREMULTIPLIED)


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(["plain", "alpha", "swapped", "part"]), n=st.integers(0, 40), seed=st.integers(0, 999),
       threads=st.integers(1, 3), sort=st.booleans(), clipped=st.booleans())
def test_pixels_are_those_of_pygame(kind: str, n: int, seed: int, threads: int, sort: bool, clipped: bool) -> None:
    rng, sheet = np.random.default_rng(seed), picture(seed % 3)
    x, y = rng.uniform(-40, 140, n), rng.uniform(-40, 110, n)
    frame, order = rng.integers(0, 8, n), np.argsort(y) if sort else None
    screens = [screen_of(kind, (120, 90), seed) for _ in range(2)]
    for screen in screens:
        screen.set_clip((11, 6, 70, 60) if clipped else None)
    listed = slice(None) if order is None else order
    expected(screens[0], sheet, x[listed], y[listed], frame[listed].tolist())
    blit_many(screens[1], SpriteSheet(sheet, frames=(4, 2)), x, y, frame, order, threads)
    first, second = (pygame.surfarray.array2d(screen) & 0xFFFFFF for screen in screens)
    assert np.array_equal(first, second)


def test_a_file_rectangles_and_one_frame_for_all(tmp_path: Path) -> None:
    sheet = picture(1)
    pygame.image.save(sheet, tmp_path / "sheet.png")
    rectangles = [(24, 0, 24, 20), (0, 20, 24, 20)]
    screens = [screen_of("plain", (120, 90), 0) for _ in range(3)]
    x, y = np.array([3.9, -2.5, 1e30], np.float32), np.array([7, 60, 5])
    expected(screens[0], sheet, np.minimum(x, 500), y, [1, 1, 1])
    blit_many(screens[1], SpriteSheet(tmp_path / "sheet.png", rectangles), x, y)
    blit_many(screens[2], SpriteSheet(sheet, (4, 2)), x, y, 1)
    assert len({pygame.image.tobytes(screen, "RGB") for screen in screens}) == 1
    assert SpriteSheet(sheet, rectangles).count == 2 and SpriteSheet(sheet).count == 1


def test_the_surface_can_be_drawn_on_afterwards() -> None:
    screen = screen_of("plain", (50, 50), 0)
    blit_many(screen, SpriteSheet(picture(0), (4, 2)), [1.0], [2.0])
    screen.fill((0, 0, 0))
    screen.blit(picture(0), (0, 0))
    assert not screen.get_locked()


SHEET = picture(0)


@pytest.mark.parametrize(("values", "said"), [
    ({"x": [1.0, np.nan]}, "x[1]: must be finite, not nan"),
    ({"y": [[1.0, 2.0]]}, "y: must be numbers[n], not float64[1, 2]"),
    ({"x": ["a", "b"]}, "x: must be numbers[n], not <U1[2]"),
    ({"frame": [0, 8]}, "frame[1]: must be from 0 to 7, not 8"),
    ({"frame": [-1, 0]}, "frame[0]: must be from 0 to 7, not -1"),
    ({"frame": [0.5, 0]}, "y and frame: must be [2] like x, frame whole numbers, not (2,) and float64(2,)"),
    ({"x": [1.0]}, "y and frame: must be [1] like x, frame whole numbers, not (2,) and int64()"),
    ({"order": [1, 2]}, "order[1]: must be from 0 to 1, not 2"),
    ({"order": [0.5]}, "order: must be whole numbers[n], not float64[1]"),
    ({"threads": 0}, "threads: must be 'auto' or a whole number from 1 to 64, not 0"),
    ({"threads": -1}, "threads: must be 'auto' or a whole number from 1 to 64, not -1"),
    ({"threads": 2.0}, "threads: must be 'auto' or a whole number from 1 to 64, not 2.0"),
    ({"screen": pygame.Surface((9, 9), 0, 24)}, "screen: must have 32 bits per pixel, alpha or nothing in the highest byte"),
])
def test_mistakes_are_named(values: dict[str, Any], said: str) -> None:
    arguments = {"screen": screen_of("plain", (9, 9), 0), "x": [1.0, 2.0], "y": [1.0, 2.0], **values}
    with pytest.raises(ValueError, match=f"^{re.escape(said.removesuffix('()'))}"):
        blit_many(sheet=SpriteSheet(SHEET, (4, 2)), **arguments)


@pytest.mark.parametrize("frames", [(0, 2), [(0, 0, 3)], [], [(90, 0, 24, 20)]])
def test_frames_lie_in_the_picture(frames: Any) -> None:
    with pytest.raises(ValueError, match=r"^(frames: must be|subsurface rectangle outside)"):
        SpriteSheet(SHEET, frames)


def test_the_public_names() -> None:
    assert crowd_demo.sprites.__all__ == ["SpriteSheet", "blit_many"]
    assert all(getattr(crowd_demo.sprites, name).__doc__ for name in crowd_demo.sprites.__all__)
