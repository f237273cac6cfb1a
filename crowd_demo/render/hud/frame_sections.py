"""The left panel's sections on time: what a step, its picture and both cost, the graph, and what each stage costs.

A frame is a step and its picture. How many pictures the window displays in a second, and how many steps lie between
two of them, are numbers of their own. The graph has one column a displayed picture, the stages stacked, and a line at
16.7 ms. NumPy colours all columns at once: about 0.3 ms for 240 x 64 pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Floats
from crowd_demo.profile import OTHER, Profile, percentiles
from crowd_demo.registry.stages import EVERYWHERE, PARTS, in_order, stages_of, text_of
from crowd_demo.registry.texts import digits_text
from crowd_demo.render.hud.canvas import (
    DIM,
    FAINT,
    GROUND,
    LARGE,
    PAD,
    SMALL,
    TEXT,
    WARM,
    Box,
    Canvas,
    Colour,
)
from crowd_demo.render.hud.panel_layout import (
    ALWAYS,
    FACT,
    INNER,
    LEFT_WIDTH,
    PLAIN_CHIP,
    Fact,
    PanelSection,
    draw_facts,
    facts_height,
)
from crowd_demo.render.hud.status import Status, Tick, speed_text, time_text

RECENT = 300  # pictures in the percentiles
MAX_STEPS = 240  # of which the panel tells the time: at a high speed a second has many
GRAPH_TITLE, GRAPH_HEIGHT = 13.0, 50.0
RATES_HEIGHT, CLOCK = 57.0, 15.0
HEADER_HEIGHT = RATES_HEIGHT + FACT + CLOCK
SHOWN, COST = "FPS shown", "ms step+draw"  # a frame costs what can be far less than the time between two pictures
BUDGET_MS = 1000 / 60
SCALES_MS = (20, 40, 80, 160, 320, 640, 1280, 2560, 10_000)  # the full height
SETTLED = 60  # frames after which the scale is fixed


def frame_sections(profile: Profile, status: Status, graph: Graph) -> list[PanelSection]:
    return [
        header_section(profile, status),
        PanelSection("graph", GRAPH_TITLE + GRAPH_HEIGHT + 6, 3,
                     partial(draw_graph, graph=graph, profile=profile, status=status)),
        *(part_section(part, profile) for part in PARTS),
    ]


def header_section(profile: Profile, status: Status, is_full: bool = True) -> PanelSection:
    """Rates and the clock; in full also how even the pictures come."""
    height = HEADER_HEIGHT if is_full else HEADER_HEIGHT - FACT
    return PanelSection("header", height, ALWAYS, partial(draw_header, profile=profile, status=status, is_full=is_full))


# --- the header ------------------------------------------------------------------------------------------------------

class Rates(NamedTuple):
    """By the last second."""

    fps: float  # pictures displayed in a second
    step_ms: float  # of one step
    draw_ms: float  # of one picture
    steps_a_picture: float

    @property
    def frame_ms(self) -> float:
        return self.step_ms + self.draw_ms


def rates_of(profile: Profile) -> Rates:
    pictures = profile.recent_frames()
    mean_ms = float(profile.frame_ms(pictures).mean()) if pictures else 0.0
    steps = sum(record.steps for record in profile.records(pictures)) if pictures else 0
    return Rates(1e3 / mean_ms if mean_ms else 0.0, sum(times_of("step", profile).values()),
                 sum(times_of("draw", profile).values()), steps / max(pictures, 1))


def draw_header(on: Canvas, top: float, profile: Profile, status: Status, is_full: bool = True) -> None:
    draw_rates(on, top, rates_of(profile), status)
    frames = zip(("p50", "p95", "p99"), percentiles(profile.frame_ms(RECENT), 50, 95, 99), strict=True)
    facts = [Fact(name, digits_text(ms, 10), DIM) for name, ms in frames] if is_full else []
    top = draw_facts(on, top + RATES_HEIGHT, facts, 3)
    draw_clock(on, top + CLOCK / 2, status)


def draw_rates(on: Canvas, top: float, rates: Rates, status: Status) -> None:
    """Draw pictures a second beside the milliseconds of a frame, and below these the step and the picture that make it up.

    What is written stays where it is while numbers change.
    """
    middle = top + 19
    large, small = (f"{rates.fps:.0f}", SHOWN), (digits_text(rates.frame_ms, 10), COST)
    if status.panels.units != "fps":
        large, small = small, large
    unit = PAD + on.width("0000", LARGE, True) + 6
    on.right(large[0], unit - 6, middle - 2, LARGE, bold=True)
    end = on.left(large[1], unit, middle, SMALL, DIM)
    on.target((PAD, middle - 18, end - PAD, 28), "fact", large[1])
    start = on.right(small[1], LEFT_WIDTH - PAD, middle, SMALL, DIM)
    start = on.right(small[0], start - 5, middle - 2, LARGE, bold=True)
    on.target((start, middle - 18, LEFT_WIDTH - PAD - start, 28), "fact", small[1])
    facts = {"steps/picture": f"{rates.steps_a_picture:.1f}", "steps/s": f"{status.clock.steps_per_s:.0f}",
             "step": digits_text(rates.step_ms, 10), "draw": digits_text(rates.draw_ms, 10)}
    draw_facts(on, top + 31, [Fact(*fact, DIM) for fact in facts.items()])


def draw_clock(on: Canvas, middle: float, status: Status) -> None:
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
    """Draw the graph below a line that says what it shows; only marks of switches are written into it."""
    said, colour = graph.draw(on, (PAD, top + GRAPH_TITLE, INNER, GRAPH_HEIGHT), profile, status.ticks,
                              status.panels.graph_fits, bool(status.pending))
    on.left("displayed pictures", PAD, top + GRAPH_TITLE / 2 + 1, SMALL, FAINT)
    on.right(said, LEFT_WIDTH - PAD, top + GRAPH_TITLE / 2 + 1, SMALL, colour)


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
             compiling: bool = False) -> tuple[str, Colour]:
        """Draw the frames with a line at the budget, and marks of switches; return what to write of the scale, and its colour.

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
        self._draw_ticks(on, box, profile.frames, ticks)
        on.target(box, "graph", "graph")
        recent = float(np.median(frames[-SETTLED:])) if len(frames) else full_ms
        if recent > full_ms:
            return f"above {full_ms:.0f}: click to fit", WARM
        return f"line {BUDGET_MS:.1f}, top {full_ms:.0f} ms", FAINT

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
                on.rect(GROUND, (start, top + height - 13, wide, 12))
                on.left(tick.text, start + 3, top + height - 7, SMALL, TEXT)
                room = start


# --- stages ----------------------------------------------------------------------------------------------------------

def times_of(part: str, profile: Profile) -> dict[str, float]:
    """Milliseconds of each stage of a part, by the last second: those of *step* in one step, the others in one picture.

    A stage that has run, or that any crowd can have, is always listed: the rows keep their places.
    """
    stages = stages_of(part, {*profile.stages, *EVERYWHERE})
    if part == "step":
        in_step = profile.step_ms(min(sum(record.steps for record in profile.recent_stepped()), MAX_STEPS))
        return {stage: in_step.get(stage, 0.0) for stage in stages}
    return {stage: _mean_ms(stage, profile, profile.recent_frames()) for stage in stages}


def _mean_ms(stage: str, profile: Profile, pictures: int) -> float:
    if not pictures or stage not in (*profile.stages, OTHER):
        return 0.0
    if stage == OTHER:
        in_stages = sum(profile.stage_ms(each, pictures).mean() for each in profile.stages)
        return float(profile.frame_ms(pictures).mean() - in_stages)
    return float(profile.stage_ms(stage, pictures).mean())


def part_section(part: str, profile: Profile) -> PanelSection:
    """The sum of a part, and its stages."""
    times = times_of(part, profile)
    return PanelSection(part, FACT + facts_height(len(times)) + 3, 2, partial(draw_part, part=part, times=times))


def draw_part(on: Canvas, top: float, part: str, times: Mapping[str, float]) -> None:
    top = draw_facts(on, top, [Fact(part, f"{sum(times.values()):.2f} ms")], 1, TEXT)
    draw_facts(on, top, [Fact(stage, digits_text(ms, 10), TEXT if ms >= 0.005 else FAINT, "stage",
                              (PLAIN_CHIP, text_of(stage).colour)) for stage, ms in times.items()], colour=DIM)
