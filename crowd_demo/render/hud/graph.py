"""The graphs of the HUD. Frame times: one column a frame, the stages stacked, and a line at 16.7 ms.

NumPy colours all columns at once: about 0.3 ms for 240 x 64 pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.profile import Profile, percentiles
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
    tall, = percentiles(frames, 95)
    return next((float(scale) for scale in SCALES_MS if scale >= tall * 1.1), float(SCALES_MS[-1]))


class Bars:
    """The picture of the last frames, newest at the right; part by part, the step lowest. Owns its memory."""

    def __init__(self, size: tuple[int, int]) -> None:
        width, height = size
        self.surface = pygame.Surface(size, 0, 8)  # a pixel is the number of its stage, the rest or the ground
        self._numbers = np.zeros(size, np.uint8)
        self._above = np.zeros(size, np.uint8)  # whether a pixel lies above what was added up so far
        self._top_ms = np.zeros((width, 1), np.float32)
        self._middles = np.arange(height, 0, -1, dtype=np.float32) - np.float32(0.5)

    def draw(self, profile: Profile, full_ms: float, ground: tuple[int, ...]) -> None:
        """Draw the frames, `full_ms` being as high as the picture."""
        width, height = self._numbers.shape
        stages, frames = in_order(profile.stages), profile.frame_ms(width)
        first, middles_ms = width - len(frames), self._middles * np.float32(full_ms / height)
        self._numbers[:first] = len(stages) + 1
        numbers, above, top_ms = self._numbers[first:], self._above[first:], self._top_ms[first:]
        numbers[:] = 0
        top_ms[:] = 0
        for stage in stages:
            top_ms += profile.stage_ms(stage, len(frames))[:, None]
            numbers += np.greater_equal(middles_ms, top_ms, out=above.view(bool)).view(np.uint8)
        np.maximum(top_ms, frames[:, None], out=top_ms)
        numbers += np.greater_equal(middles_ms, top_ms, out=above.view(bool)).view(np.uint8)
        pygame.surfarray.blit_array(self.surface, self._numbers)
        self.surface.set_palette([*map(colour_of, stages), REST, ground[:3]])


def draw_curve(on: Canvas, box: Box, values: Ints, colour: Colour) -> None:
    """Draw the last values, newest at the right, scaled to their least and greatest."""
    on.rect(GROUND, box)
    left, top, width, height = box
    counts = values[-int(width):].tolist()
    if len(counts) > 1:
        least = min(counts)
        tall = (height - 3) / max(max(counts) - least, 1)
        first = left + width - len(counts)
        on.lines(colour, [(first + x, top + height - 2 - (count - least) * tall) for x, count in enumerate(counts)])


class Graph:
    """The graph of frame times. Its scale fits the first frames and then stays, so that what a switch changes can be seen.

    Once all frames that are shown are far below it, it fits them.
    """

    def __init__(self) -> None:
        self._full_ms: float | None = None
        self._fits = self._compiled_at = 0
        self._bars = Bars((1, 1))

    def draw(self, on: Canvas, box: Box, profile: Profile, ticks: Sequence[Tick] = (), fits: int = 0,
             compiling: bool = False) -> None:
        """Draw the frames with a line at the budget, and a mark where a technique was switched.

        Where `fits` is another number than before, the scale is fitted to the present frames. While something is compiling,
        frames are slower than those that follow, and the scale is not fixed.
        """
        if fits != self._fits:
            self._fits, self._full_ms = fits, None
        if compiling:
            self._compiled_at = profile.frames
        left, top, width, height = box
        rect = on.pixels(box)
        frames = profile.frame_ms(rect.width)
        if self._full_ms and len(frames) == rect.width and scale_ms(frames) < self._full_ms / 2:
            self._full_ms = None  # what it was kept for is in the graph no longer
        full_ms = self._full_ms or scale_ms(frames[-SETTLED:])
        if self._full_ms is None and profile.frames - self._compiled_at >= min(SETTLED, rect.width):
            self._full_ms = full_ms
        if self._bars.surface.get_size() != rect.size:
            self._bars = Bars(rect.size)
        self._bars.draw(profile, full_ms, on.pen.colour(GROUND))
        on.surface.blit(self._bars.surface, rect)
        line = top + height * (1 - BUDGET_MS / full_ms)
        on.line(FAINT, (left, line), (left + width, line))
        self._write(on, f"{BUDGET_MS:.1f} ms", left, line + (7 if line - top < 12 else -7), DIM)
        recent = float(np.median(frames[-SETTLED:])) if len(frames) else full_ms
        if recent > full_ms:
            text = f"above {full_ms:.0f} ms: click to fit"
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
