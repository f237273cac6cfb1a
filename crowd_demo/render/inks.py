"""Colours as numbers; and those of overlays: Okabe and Ito's, which everybody can tell apart, on any ground, and a scale."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Words

RGB = tuple[int, int, int]

BLACK: RGB = (12, 14, 18)
WHITE: RGB = (250, 250, 246)
ORANGE: RGB = (230, 159, 0)
SKY: RGB = (86, 180, 233)
BLUE: RGB = (0, 84, 160)
VERMILION: RGB = (200, 70, 0)
GREEN: RGB = (0, 158, 115)
PURPLE: RGB = (204, 121, 167)
GREY: RGB = (176, 180, 186)
SCALE: tuple[RGB, ...] = ((255, 240, 120), (250, 160, 30), (205, 50, 40), (90, 0, 80))  # ever darker


def packed(channels: ArrayLike) -> Words:
    """Colours as 0xRRGGBB, uint32[...], from whole numbers [..., 3]: red, green and blue, 0 to 255."""
    red, green, blue = np.moveaxis(np.asarray(channels).astype(np.uint32), -1, 0)
    return red << np.uint32(16) | green << np.uint32(8) | blue


def channels_of(pixels: Words) -> Words:
    """Red, green and blue of each pixel: uint32[..., 3]."""
    return pixels[..., None] >> np.array([16, 8, 0], np.uint32) & np.uint32(255)


def ink(colour: RGB, alpha: int = 255) -> int:
    """A colour as kernels blend it: premultiplied 0xAARRGGBB."""
    red, green, blue = (round(channel * alpha / 255) for channel in colour)
    return alpha << 24 | red << 16 | green << 8 | blue


SHADOW = ink(BLACK, 96)  # of lines


def scale_colour(share: float) -> RGB:
    at = min(max(share, 0.0), 1.0) * (len(SCALE) - 1)
    low = min(int(at), len(SCALE) - 2)
    red, green, blue = (round(a + (b - a) * (at - low)) for a, b in zip(SCALE[low], SCALE[low + 1], strict=True))
    return red, green, blue


TONES = 64  # of the scale


def scale_inks(shares: ArrayLike, least_alpha: int, most_alpha: int) -> Words:
    """The inks of shares between 0 and 1, uint32 of their shape; greater shares are more opaque."""
    tones = np.clip(np.nan_to_num(np.asarray(shares)) * (TONES - 1), 0, TONES - 1).astype(np.int64)
    return _inks(least_alpha, most_alpha)[tones]


@cache
def _inks(least_alpha: int, most_alpha: int) -> Words:
    shares = np.linspace(0, 1, TONES).tolist()
    return np.array([ink(scale_colour(share), round(least_alpha + (most_alpha - least_alpha) * share)) for share in shares],
                    np.uint32)
