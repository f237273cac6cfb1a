"""What a step, drawing it, and both cost: the line of the compact HUD, and the left panel's sections on time.

A frame is one step and drawing it. How many frames the window displays in a second, and how many steps lie between two
of them, are numbers of their own. The graph has a column for each displayed frame, the stages stacked, and a line at
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
    ACCENT,
    DIM,
    FAINT,
    GROUND,
    LARGE,
    NORMAL,
    PAD,
    SMALL,
    TEXT,
    WARM,
    Box,
    Canvas,
    Colour,
    Pen,
)
from crowd_demo.render.hud.panel_layout import (
    FACT,
    INNER,
    LEFT_WIDTH,
    PLAIN_CHIP,
    Fact,
    PanelSection,
    draw_facts,
    facts_height,
)
from crowd_demo.render.hud.status import Mark, Status, speed_text
from crowd_demo.sim.simulation import Simulation

RECENT = 300  # frames in the percentiles
MAX_STEPS = 240  # of which the panel shows the time: at a high speed a second has many
GRAPH_TITLE, GRAPH_HEIGHT = 15.0, 50.0
LINE_HEIGHT, HEADER_HEIGHT = 36.0, 40.0
SHOWN, COST = "FPS", "ms per frame"  # a frame costs what can be far less than the time between two displayed frames
WORDS = {"crowd": "people", "playback": "people", "flock": "birds"}  # of agents, by behaviour
BUDGET_MS = 1000 / 60
SCALES_MS = (20, 40, 80, 160, 320, 640, 1280, 2560, 10_000)  # the full height
PART_COLOURS: Mapping[str, Colour] = {
    part: text_of(stage).colour for part, stage in zip(PARTS, ("interaction", "blit", "flip"), strict=True)}
SETTLED = 60  # frames after which the scale is fixed


def frame_sections(profile: Profile, status: Status, graph: Graph) -> list[PanelSection]:
    def stages(times: Mapping[str, float]) -> list[Fact]:
        return [Fact(stage, digits_text(ms, 10), TEXT if ms >= 0.005 else FAINT, "stage",
                     (PLAIN_CHIP, text_of(stage).colour)) for stage, ms in times.items()]

    times = {part: times_of(part, profile) for part in PARTS}
    sums = {part: sum(each.values()) for part, each in times.items()}
    slow_ms, = percentiles(profile.frame_ms(RECENT), 95)
    rates = rates_of(profile)
    pace = [Fact("steps per frame", f"{rates.steps_per_frame:.1f}"), Fact("steps per s", f"{status.steps_per_s:.0f}"),
            Fact("tick", f"{status.tick:,}"), Fact("speed", pace_text(status))]
    return [
        PanelSection("header", HEADER_HEIGHT, partial(draw_header, rates=rates, sums=sums,
                                                      units=status.panels.units), None),
        *(PanelSection(part, facts_height(len(each)) + 3, partial(draw_facts, facts=stages(each), colour=DIM),
                       f"{sums[part]:.2f} ms", PART_COLOURS[part]) for part, each in times.items()),
        PanelSection("graph", GRAPH_TITLE + GRAPH_HEIGHT + FACT + 6, partial(draw_graph, graph=graph, profile=profile,
                     status=status), f"95% below {digits_text(slow_ms, 10)} ms"),
        PanelSection("pace", facts_height(4), partial(draw_facts, facts=pace),
                     pace_text(status)),
    ]


# --- rates -----------------------------------------------------------------------------------------------------------

class Rates(NamedTuple):
    fps: float  # frames displayed in a second
    step_ms: float  # of one step
    draw_ms: float  # of drawing it
    steps_per_frame: float

    @property
    def frame_ms(self) -> float:
        return self.step_ms + self.draw_ms


def rates_of(profile: Profile) -> Rates:
    pictures = profile.recent_frames()
    mean_ms = float(profile.frame_ms(pictures).mean()) if pictures else 0.0
    steps = sum(record.steps for record in profile.records(pictures)) if pictures else 0
    return Rates(1e3 / mean_ms if mean_ms else 0.0, sum(times_of("step", profile).values()),
                 sum(times_of("draw", profile).values()), steps / max(pictures, 1))


def pace_text(status: Status) -> str:
    """The speed, with the measured one where that is lower."""
    real = status.real_speed
    speed = "paused" if status.paused else speed_text(status.speed)
    return speed if real is None else f"{speed}, real x{digits_text(real)}"


def draw_line(sim: Simulation, status: Status, pen: Pen, scale: float) -> Canvas:
    """The compact HUD's panel: agents, FPS, ms per frame, and the speed where it is not x1. Few digits move nothing."""
    ruler, rates, pace = Canvas((1, 1), pen, scale, None), rates_of(sim.profile), pace_text(status)
    facts = [("number", "agents", f"{sim.agents.count:,}", WORDS.get(sim.config.behaviour, "agents"), ""),
             ("fact", SHOWN, f"{rates.fps:.0f}", SHOWN, "00"),
             ("fact", COST, digits_text(rates.frame_ms, 10), "ms", "0.00"),
             *[("fact", "speed", "", pace, "")] * (pace != "x1")]
    wide = [max(ruler.width(value, LARGE, True), ruler.width(least, LARGE, True)) for *_, value, _, least in facts]
    ends = [width + 5 * bool(width) + ruler.width(word) for width, (*_, word, _) in zip(wide, facts, strict=True)]
    on = Canvas((2 * PAD + sum(ends) + 18 * (len(facts) - 1), LINE_HEIGHT), pen, scale)
    x, middle = float(PAD), LINE_HEIGHT / 2
    for (kind, name, value, word, _), width, end in zip(facts, wide, ends, strict=True):
        on.right(value, x + width, middle, LARGE, bold=True)
        is_late = status.paused or status.real_speed is not None
        colour = DIM if value else WARM if is_late else ACCENT
        on.left(word, x + end - on.width(word), middle + 1.5 * bool(value), NORMAL, colour, bold=not value)
        on.target((x - 6, 0, end + 12, LINE_HEIGHT), kind, name)
        x += end + 18
    return on


def draw_header(on: Canvas, top: float, rates: Rates, sums: Mapping[str, float], units: str) -> None:
    """Draw FPS and the ms of a frame, the one that the user prefers first, above a bar of the three parts."""
    facts = [(f"{rates.fps:.0f}", SHOWN), (digits_text(rates.frame_ms, 10), COST)]
    for is_second, (value, name) in enumerate(facts if units == "fps" else facts[::-1]):
        wide = on.width(value, LARGE, True) + 6 + on.width(name)
        x = LEFT_WIDTH - PAD - wide if is_second else PAD
        on.left(name, on.left(value, x, top + 12, LARGE, bold=True) + 6, top + 13.5, NORMAL, DIM)
        on.target((x, top, wide, 24), "fact", name)
    left, per_ms = float(PAD), (INNER - 4) / max(sum(sums.values()), 1e-9)
    for part, ms in sums.items():
        if ms > 0:
            on.rect(PART_COLOURS[part], (left, top + 27, max(ms * per_ms, 2), 5), radius=2)
            left += ms * per_ms + 2


# --- the graph -------------------------------------------------------------------------------------------------------

def draw_graph(on: Canvas, top: float, graph: Graph, profile: Profile, status: Status) -> None:
    """Draw the graph between its scale and the percentiles of frame intervals; only marks are written into it."""
    said, colour = graph.draw(on, (PAD, top + GRAPH_TITLE, INNER, GRAPH_HEIGHT), profile, status.ticks,
                              status.panels.graph_fits, bool(status.pending))
    on.right(said, LEFT_WIDTH - PAD, top + GRAPH_TITLE / 2, SMALL, colour)
    frames = zip(("p50", "p95", "p99"), percentiles(profile.frame_ms(RECENT), 50, 95, 99), strict=True)
    facts = [Fact(name, digits_text(ms, 10), DIM) for name, ms in frames]
    draw_facts(on, top + GRAPH_TITLE + GRAPH_HEIGHT + 4, facts, 3)


def scale_ms(frames: Floats) -> float:
    """Milliseconds of the full height, such that all but a few slow frames fit."""
    tall, = percentiles(frames, 95)
    return next((float(scale) for scale in SCALES_MS if scale >= tall * 1.1), float(SCALES_MS[-1]))


def bars(size: tuple[int, int], profile: Profile, full_ms: float, ground: tuple[int, ...]) -> pygame.Surface:
    """The picture of the last frames, `full_ms` high, newest at the right; part by part, the step lowest."""
    stages, frames, picture = in_order(profile.stages), profile.frame_ms(size[0]), pygame.Surface(size, 0, 8)
    numbers = np.full(size, len(stages) + 1, np.uint8)  # a pixel is the number of its stage, the rest or the ground
    numbers[size[0] - len(frames):] = 0
    middles_ms = (np.arange(size[1], 0, -1, dtype=np.float32) - np.float32(0.5)) * np.float32(full_ms / size[1])
    top_ms = np.zeros_like(frames)
    for stage in (*stages, OTHER):
        top_ms = np.maximum(top_ms, frames) if stage == OTHER else top_ms + profile.stage_ms(stage, len(frames))
        numbers[size[0] - len(frames):] += middles_ms >= top_ms[:, None]
    pygame.surfarray.blit_array(picture, numbers)
    picture.set_palette([*(text_of(stage).colour for stage in (*stages, OTHER)), ground[:3]])
    return picture


class Graph:
    """The graph of frame times. Its scale fits the first frames and then stays, so a switch can be seen in it.

    It is fitted again when hardly any frame fits.
    """

    def __init__(self) -> None:
        self._full_ms: float | None = None
        self._fits = self._compiled_at = 0
        self.picture = pygame.Surface((1, 1), 0, 8)

    def draw(self, on: Canvas, box: Box, profile: Profile, ticks: Sequence[Mark] = (), fits: int = 0,
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
        self.picture = bars(rect.size, profile, full_ms, on.pen.colour(GROUND))
        on.surface.blit(self.picture, rect)
        line = top + height * (1 - BUDGET_MS / full_ms)
        on.line(FAINT, (left, line), (left + width, line))
        room = left + width  # the newest mark first; a text for which there is no room any more is left out
        for tick in reversed(ticks):
            x = left + width - (profile.frames - tick.at) / on.scale
            if x <= left:
                break
            on.line(TEXT, (x, top), (x, top + height))
            wide = on.width(tick.text, SMALL) + 6
            start = x if x + wide <= room else x - wide
            if left <= start and start + wide <= room:
                on.rect(GROUND, (start, top + height - 13, wide, 12))
                on.left(tick.text, start + 3, top + height - 7, SMALL, TEXT)
                room = start
        on.target(box, "graph", "graph")
        recent = float(np.median(frames[-SETTLED:])) if len(frames) else full_ms
        if recent > full_ms:
            return f"above {full_ms:.0f}: click to fit", WARM
        return f"line {BUDGET_MS:.1f}, top {full_ms:.0f} ms", FAINT


# --- stages ----------------------------------------------------------------------------------------------------------

def times_of(part: str, profile: Profile) -> dict[str, float]:
    """Milliseconds of each stage of a part, by the last second: those of *step* in one step, the others in one picture.

    A stage that has run, or that any crowd can have, is always listed: the rows keep their places.
    """
    steps = min(sum(record.steps for record in profile.recent_stepped()), MAX_STEPS)
    ms = profile.step_ms(steps) if part == "step" else profile.mean_ms(profile.recent_frames())
    return {stage: ms.get(stage, 0.0) for stage in stages_of(part, {*profile.stages, *EVERYWHERE})}
