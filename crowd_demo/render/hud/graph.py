"""The graphs of the HUD. Frame times: one column a frame, the stages stacked, and a line at 16.7 ms.

NumPy colours all columns at once: about 0.3 ms for 240 x 64 pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes, Floats, Ints
from crowd_demo.profile import Profile
from crowd_demo.registry.stages import in_order
from crowd_demo.render.hud.canvas import Box, Canvas
from crowd_demo.render.hud.stages import REST, colour_of
from crowd_demo.render.hud.theme import DIM, FAINT, GROUND, SMALL, TEXT, WARM, Colour

BUDGET_MS = 1000 / 60
SCALES_MS = (20, 40, 80, 160, 320, 640, 1280, 2560, 10_000)  # the full height
SETTLED = 60  # frames after which the scale is fixed


class Tick(NamedTuple):
    """A mark at the frame in which a technique's new value took effect."""

    frame: int  # of `Profile.frames`
    text: str


def scale_ms(frames: Floats) -> float:
    """Milliseconds of the full height, such that all but a few slow frames fit."""
    tall = float(np.percentile(frames, 95)) if len(frames) else 0.0
    return next((float(scale) for scale in SCALES_MS if scale >= tall * 1.1), float(SCALES_MS[-1]))


def stacked(profile: Profile, size: tuple[int, int], full_ms: float, ground: tuple[int, ...]) -> Bytes:
    """uint8[width, height, 3]: the last `width` frames, newest at the right, `full_ms` high; part by part, the step lowest."""
    width, height = size
    stages = in_order(profile.stages)
    pixels = np.full((width, height, 3), ground[:3], np.uint8)
    frames = profile.frame_ms(width)
    if len(frames):
        middles_ms = (np.arange(height, 0, -1, dtype=np.float32)[None, :] - 0.5) * np.float32(full_ms / height)
        layer = np.zeros((len(frames), height), np.uint8)  # index of a pixel's stage, the rest or the ground
        top_ms = np.zeros((len(frames), 1), np.float32)
        for stage in stages:
            top_ms = top_ms + profile.stage_ms(stage, len(frames))[:, None]
            layer += middles_ms >= top_ms
        layer += middles_ms >= np.maximum(top_ms, frames[:, None])
        colours = [*map(colour_of, stages), REST, ground[:3]]
        pixels[width - len(frames):] = np.array(colours, np.uint8)[layer]
    return pixels


def draw_curve(on: Canvas, box: Box, values: Ints, colour: Colour) -> None:
    """Draw the last values, newest at the right, scaled to their least and greatest."""
    on.rect(GROUND, box)
    left, top, width, height = box
    values = values[-int(width):]
    if len(values) > 1:
        heights = (values - int(values.min())) * (height - 3) / max(int(np.ptp(values)), 1)
        first = left + width - len(values)
        on.lines(colour, [(first + x, top + height - 2 - y) for x, y in enumerate(heights.tolist())])


class Graph:
    """The graph of frame times. Its scale fits the first frames and then stays, so that what a switch changes can be seen."""

    def __init__(self) -> None:
        self._full_ms: float | None = None
        self._fits = 0

    def draw(self, on: Canvas, box: Box, profile: Profile, ticks: Sequence[Tick] = (), fits: int = 0) -> None:
        """Draw the frames with a line at the budget, and a mark where a technique was switched.

        Where `fits` is another number than before, the scale is fitted to the present frames.
        """
        if fits != self._fits:
            self._fits, self._full_ms = fits, None
        left, top, width, height = box
        rect = on.pixels(box)
        frames = profile.frame_ms(rect.width)
        full_ms = self._full_ms or scale_ms(frames)
        if self._full_ms is None and len(frames) >= min(SETTLED, rect.width):
            self._full_ms = full_ms
        ground = on.pen.colour(GROUND)
        on.surface.blit(pygame.surfarray.make_surface(stacked(profile, rect.size, full_ms, ground)), rect)
        line = top + height * (1 - BUDGET_MS / full_ms)
        on.line(FAINT, (left, line), (left + width, line))
        self._write(on, f"{BUDGET_MS:.1f} ms", left, line + (7 if line - top < 12 else -7), DIM)
        recent = float(np.median(frames[-SETTLED:])) if len(frames) else full_ms
        if recent > full_ms or scale_ms(frames) < full_ms / 2:
            text = f"{'above' if recent > full_ms else 'far below'} {full_ms:.0f} ms: click to fit"
            self._write(on, text, left + width - on.width(text, SMALL) - 6, top + 7, WARM)
        self._draw_ticks(on, box, profile.frames, ticks)
        on.target(box, "graph", "graph")

    def _write(self, on: Canvas, text: str, left: float, middle: float, colour: Colour) -> None:
        """Write over the bars, on a ground of its own."""
        on.rect(GROUND, (left, middle - 6, on.width(text, SMALL) + 6, 12))
        on.left(text, left + 3, middle, SMALL, colour)

    def _draw_ticks(self, on: Canvas, box: Box, frames: int, ticks: Sequence[Tick]) -> None:
        """Draw the marks, the newest first; a text for which there is no room any more is left out."""
        left, top, width, height = box
        room = left + width
        for tick in reversed(ticks):
            x = left + width - (frames - tick.frame) / on.scale
            if x <= left:
                break
            on.line(TEXT, (x, top), (x, top + height))
            wide = on.width(tick.text, SMALL) + 6
            start = x if x + wide <= room else x - wide
            if left <= start and start + wide <= room:
                self._write(on, tick.text, start, top + height - 7, TEXT)
                room = start
