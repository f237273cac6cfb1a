"""Cross-fading two pictures: `(a * share + b * (256 - share) + 128) >> 8`, for each channel."""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Int
from crowd_demo.compute.jit import device, kernel
from crowd_demo.render.pixels import Frame

ODD, EVEN = 0xFF00FF, 0x00FF00  # channels


@device
def _mixed(a: Int, b: Int, share: Int) -> Int:
    """Two channels at a time; what a sum carries over does not reach the next one."""
    odd = (a & np.uint32(ODD)) * share + (b & np.uint32(ODD)) * (np.uint32(256) - share) + np.uint32(0x800080)
    even = (a >> np.uint32(8) & np.uint32(255)) * share + (b >> np.uint32(8) & np.uint32(255)) * (np.uint32(256) - share)
    return (odd >> np.uint32(8) & np.uint32(ODD)) | (even + np.uint32(128) & np.uint32(EVEN))


@kernel
def fade(worker: int, workers: int, frame: Frame, other: Frame, share: int) -> None:
    """Make the picture `share`/256 of itself and the rest of the other one."""
    height, width = frame.shape
    part = np.uint32(share)
    for row in range(height * worker // workers, height * (worker + 1) // workers):
        for column in range(width):
            frame[row, column] = _mixed(frame[row, column], other[row, column], part)


def fade_plain(frame: Frame, other: Frame, share: int) -> None:
    """The same in NumPy."""
    out = np.zeros_like(frame)
    for shift in (np.uint32(0), np.uint32(8), np.uint32(16)):
        a, b = (picture >> shift & np.uint32(255) for picture in (frame, other))
        out |= (a * np.uint32(share) + b * np.uint32(256 - share) + np.uint32(128) >> np.uint32(8)) << shift
    frame[:] = out
