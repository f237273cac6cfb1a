"""The left panel's sections on time: frames a second, the graph of the last frames, and what each stage costs.

The graph has one column a frame, the stages stacked, and a line at 16.7 ms. NumPy colours all columns at once: about
0.3 ms for 240 x 64 pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pygame

from crowd_demo.compute.arrays import Floats
from crowd_demo.profile import OTHER, Profile, percentiles
from crowd_demo.registry.stages import PARTS, in_order, stages_of, text_of
from crowd_demo.render.hud.canvas import (
    DIM,
    FAINT,
    GROUND,
    HUGE,
    LARGE,
    NORMAL,
    PAD,
    SMALL,
    TEXT,
    WARM,
    Box,
    Canvas,
    Colour,
    digits_text,
)
from crowd_demo.render.hud.panel_layout import ALWAYS, INNER, LEFT_WIDTH, PanelSection
from crowd_demo.render.hud.status import Status, Tick, speed_text, time_text

SMOOTHED = 30  # frames in the mean of a stage
RECENT = 300  # frames in the percentiles; a stage that the last ones of its part did without is not listed
GRAPH_HEIGHT, LINE = 60.0, 15.0
STEPS_RIGHT = 178.0  # where "steps/s" ends
HEADER_HEIGHT = 61.0
APART = 6.0  # units between two rates at least
BUDGET_MS = 1000 / 60
SCALES_MS = (20, 40, 80, 160, 320, 640, 1280, 2560, 10_000)  # the full height
SETTLED = 60  # frames after which the scale is fixed


def frame_sections(profile: Profile, status: Status, graph: Graph) -> list[PanelSection]:
    return [
        PanelSection("header", HEADER_HEIGHT, ALWAYS, partial(draw_header, profile=profile, status=status)),
        PanelSection("graph", GRAPH_HEIGHT + 10, 3, partial(draw_graph, graph=graph, profile=profile, status=status)),
        *(part_section(part, profile, status) for part in PARTS),
    ]


# --- frames a second -------------------------------------------------------------------------------------------------

def draw_header(on: Canvas, top: float, profile: Profile, status: Status) -> None:
    frames = profile.frame_ms(RECENT)
    mean = float(frames[-SMOOTHED:].mean()) if len(frames) else 0.0
    _draw_rates(on, top + 19, mean, status)
    for number, (name, ms) in enumerate(zip(("p50", "p95", "p99"), percentiles(frames, 50, 95, 99), strict=True)):
        at = PAD + number * INNER / 3
        end = on.left(name, at, top + 36, SMALL, FAINT)
        on.left(f"{ms:.1f}", end + 5, top + 36, SMALL, DIM)
        on.target((at, top + 29, INNER / 3, 14), "fact", name)
    _draw_clock(on, top + 51, status)


def _draw_rates(on: Canvas, middle: float, mean_ms: float, status: Status) -> None:
    """Draw frames and steps a second and the time of a frame; units stay where they are while numbers change."""
    steps_unit = STEPS_RIGHT - on.width("steps/s", SMALL)
    steps_start = on.right(f"{status.clock.steps_per_s:.0f}", steps_unit - 4, middle, NORMAL)
    on.left("steps/s", steps_unit, middle, SMALL, DIM)
    on.target((steps_start, middle - 8, STEPS_RIGHT - steps_start, 16), "fact", "steps/s")
    rate, in_fps = f"{1e3 / mean_ms if mean_ms else 0.0:.0f}", status.panels.units == "fps"
    first_unit, other_unit = ("FPS", "ms") if in_fps else ("ms", "FPS")
    end = LEFT_WIDTH - PAD - 5 - on.width(other_unit)
    time = (_fitting(mean_ms, end - STEPS_RIGHT - APART, LARGE, on) if in_fps else
            _fitting(mean_ms, steps_start - APART - on.width(first_unit) - 6 - PAD, HUGE, on))
    first, other = (rate, time) if in_fps else (time, rate)
    unit = PAD + on.width("0" * max(len(first), 3), HUGE) + 6
    on.left(first, unit - 6 - on.width(first, HUGE), middle - 5, HUGE)
    unit_end = on.left(first_unit, unit, middle, NORMAL, DIM)
    on.target((PAD, middle - 18, unit_end - PAD, 28), "fact", first_unit)
    on.right(other_unit, LEFT_WIDTH - PAD, middle, NORMAL, DIM)
    start = on.right(other, end, middle - 2, LARGE)
    on.target((start, middle - 18, LEFT_WIDTH - PAD - start, 28), "fact", other_unit)


def _fitting(ms: float, room: float, size: float, on: Canvas) -> str:
    """Milliseconds with two decimals, or as many as there is room for."""
    texts = [f"{ms:.{decimals}f}" for decimals in (2, 1, 0)]
    return next((text for text in texts if on.width(text, size) <= room), texts[-1])


def _draw_clock(on: Canvas, middle: float, status: Status) -> None:
    """Draw the speed, the measured one where that differs, and the crowd's tick and time."""
    speed = "paused" if status.paused else speed_text(status.speed)
    end = on.left(speed, PAD, middle, SMALL, WARM if status.paused else DIM)
    if status.clock.real_speed is not None:
        end = on.left(f"real x{digits_text(status.clock.real_speed)}", end + 6, middle, SMALL, WARM)
    on.target((PAD, middle - 7, end - PAD, 14), "fact", "speed")
    time = time_text(status.clock.time_s)
    on.right(time, LEFT_WIDTH - PAD, middle, SMALL, DIM)
    start = on.right(f"tick {status.clock.tick:,}", LEFT_WIDTH - PAD - 12 - on.width(time, SMALL), middle, SMALL, FAINT)
    on.target((start, middle - 7, LEFT_WIDTH - PAD - start, 14), "fact", "tick")


# --- the graph -------------------------------------------------------------------------------------------------------

def draw_graph(on: Canvas, top: float, graph: Graph, profile: Profile, status: Status) -> None:
    graph.draw(on, (PAD, top, INNER, GRAPH_HEIGHT), profile, status.ticks, status.panels.graph_fits,
               bool(status.pending))


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
        """Draw the frames; `full_ms` is the height of the picture."""
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
        self.surface.set_palette([*(text_of(stage).colour for stage in (*stages, OTHER)), ground[:3]])


class Graph:
    """The graph of frame times. Its scale fits the first frames and then stays, so a switch can be seen in it.

    It is fitted again when hardly any frame fits.
    """

    def __init__(self) -> None:
        self._full_ms: float | None = None
        self._fits = self._compiled_at = 0
        self._bars = Bars((1, 1))

    def draw(self, on: Canvas, box: Box, profile: Profile, ticks: Sequence[Tick] = (), fits: int = 0,
             compiling: bool = False) -> None:
        """Draw the frames with a line at the budget, and a mark where a technique was switched.

        Where `fits` is another number than before, the scale is fitted to the present frames. While something is
        compiling, frames are slower than those that follow, and the scale is not fixed.
        """
        if fits != self._fits:
            self._fits, self._full_ms = fits, None
        if compiling:
            self._compiled_at = profile.frames
        left, top, width, height = box
        rect = on.pixels(box)
        frames = profile.frame_ms(rect.width)
        if self._full_ms and not percentiles(frames, 5)[0] <= self._full_ms <= 2 * scale_ms(frames):
            self._full_ms = scale_ms(frames)  # all but a few frames were above the full height, or far below it
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


# --- stages ----------------------------------------------------------------------------------------------------------

def mean_ms(stage: str, profile: Profile) -> float:
    recent = profile.other_ms(SMOOTHED) if stage == OTHER else profile.stage_ms(stage, SMOOTHED)
    return float(recent.mean()) if len(recent) else 0.0


def present_stages(part: str, profile: Profile) -> list[str]:
    """The stages of a part that ran not long before the others; all of them while the part as a whole does not run."""
    since = {stage: profile.frames_since(stage) for stage in stages_of(part, [*profile.stages, OTHER])}
    return [stage for stage, frames in since.items() if frames - min(since.values()) < RECENT]


def steps_a_frame(profile: Profile, ms: float) -> str:
    """How many steps the last frames had, on average, and how long one took, where all took `ms` a frame.

    Nothing where that is one, or none.
    """
    counts = [record.steps for record in profile.records(SMOOTHED)]
    mean = sum(counts) / max(len(counts), 1)
    return f"{mean:.1f} steps of {digits_text(ms / mean, thousands=',')} ms" if mean and f"{mean:.1f}" != "1.0" else ""


def part_section(part: str, profile: Profile, status: Status) -> PanelSection:
    """The sum of a part of the frame, and its stages in two columns."""
    stages = present_stages(part, profile)
    return PanelSection(part, LINE * (1 + -(-len(stages) // 2)) + 3, 2,
                        partial(draw_part, part=part, stages=stages, profile=profile))


def draw_part(on: Canvas, top: float, part: str, stages: Sequence[str], profile: Profile) -> None:
    times = {stage: mean_ms(stage, profile) for stage in stages}
    total = sum(times.values())
    end = on.left(part, PAD, top + 8, NORMAL, TEXT)
    if part == "step" and (said := steps_a_frame(profile, total)):
        on.left(said, end + 8, top + 8, SMALL, FAINT)
    on.right(f"{total:.2f} ms", LEFT_WIDTH - PAD, top + 8, NORMAL, TEXT)
    on.target((PAD, top, INNER, LINE), "fact", part)
    width, half = (INNER - 14) / 2, -(-len(stages) // 2)
    for number, (stage, ms) in enumerate(times.items()):
        x, y = PAD + number // half * (width + 14), top + 8 + LINE * (1 + number % half)
        on.rect(text_of(stage).colour, (x, y - 4, 8, 8), radius=2)
        on.left(stage, x + 14, y, SMALL, DIM)
        on.right(f"{ms:.2f}", x + width, y, SMALL, TEXT if ms >= 0.005 else FAINT)
        on.target((x, y - 7, width, LINE), "stage", stage)
