"""The sections of the HUD's left panel: what a frame costs, what the crowd does, and the errors of approximate techniques.

A `Section` is a height, a rank, and a function that draws it at a given top. The techniques that are on decide which
sections there are, not the readings: a value that has not been read yet is shown as a dash, and the panel keeps its height.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Longs
from crowd_demo.profile import OTHER, Profile
from crowd_demo.registry.stages import in_order
from crowd_demo.render.hud.graph import GROUND, draw_curve, draw_graph
from crowd_demo.render.hud.stage_colours import REST, stage_colour
from crowd_demo.render.hud.status import Status, real_speed_text, speed_text, time_text
from crowd_demo.render.hud.theme import (
    ACCENT,
    DIM,
    EDGE,
    FAINT,
    HUGE,
    LARGE,
    MUTED,
    NORMAL,
    PAD,
    SMALL,
    TEXT,
    WARM,
    Colour,
    Pen,
)
from crowd_demo.sim.inactive import inactive
from crowd_demo.sim.metrics.bias import Bias
from crowd_demo.sim.metrics.push_error import PushError
from crowd_demo.sim.metrics.readings import Readings, has_field, is_capped, is_staggered
from crowd_demo.sim.simulation import Simulation

WIDTH = 272  # of the panel
INNER = WIDTH - 2 * PAD
SMOOTHED = 30  # frames in the mean of a stage
RECENT = 300  # frames in the percentiles
GRAPH_HEIGHT, LINE = 60, 15
STEPS_RIGHT = 178  # where "steps/s" ends
FACTS_HEIGHT, AGES_HEIGHT, BIAS_HEIGHT, CURVE_HEIGHT = 35, 54, 44, 32
BARS = pygame.Rect(PAD, 16, INNER * 2 // 3 - 14, 22)  # of the histogram, from the top of its section
DIAL_RADIUS, DIAL_FULL = 15, 0.5  # pixels; the length of the bias that reaches the rim
UNREAD = "-"


class Section(NamedTuple):
    """A part of the left panel; the higher the rank, the sooner it is left out."""

    height: int
    rank: int
    draw: Callable[[pygame.Surface, int], None]


# --- the texts -------------------------------------------------------------------------------------------------------

def percent(share: float) -> str:
    """A share in percent, with a decimal if it is below ten."""
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def work_facts(counters: Mapping[str, float]) -> dict[str, str]:
    """Means over the agents that were due: neighbours, candidates, and the one as a share of the other."""
    candidates, neighbours = counters.get("candidates_per_agent", 0.0), counters.get("neighbours_per_agent", 0.0)
    return {"neighbours": f"{neighbours:.1f}", "candidates": f"{candidates:.1f}",
            "useful": percent(neighbours / candidates) if candidates else UNREAD}


def sorting_facts(sim: Simulation, unused: Set[str]) -> dict[str, str]:
    """How often agents were reordered and how long that takes, the steps since then, and the drift in cells.

    Empty where agents are not reordered.
    """
    counters, cell = sim.profile.counters, sim.world.grid.cell
    if "reorder.when" in unused or sim.optimizations.reorder.when == "off" or "sorts" not in counters:
        return {}
    return {"sorts (ms)": f"{counters['sorts']:,.0f} ({sim.profile.last_run_ms('reorder'):.2g})",
            "since sort": f"{counters['steps_since_sort']:,.0f}", "drift": f"{counters['drift'] / cell:.2f} cells"}


def memory_facts(counters: Mapping[str, float], readings: Readings) -> dict[str, str]:
    """What the busiest worker of the last step did against the mean, and how near to each other neighbours are in memory.

    Empty before the first step.
    """
    if "imbalance" not in counters:
        return {}
    score = readings.locality
    return {"top worker": f"{counters['imbalance']:.2f}x mean",
            "near reads": f"{score.same_or_next_line:.0%}" if score else UNREAD,
            "L1 misses": f"{score.miss_rate:.1%}" if score else UNREAD}


def mean_error(error: PushError | None) -> str:
    return percent(error.mean) if error else UNREAD


# --- the sections ----------------------------------------------------------------------------------------------------

class FrameSections:
    """What a frame costs: frames a second with percentiles, the graph, and the mean time of each stage."""

    def __init__(self, pen: Pen) -> None:
        self.pen = pen

    def sections(self, profile: Profile, status: Status) -> list[Section]:
        table = -(-(len(profile.stages) + 1) // 2) * LINE + 6
        return [
            Section(61, 0, lambda on, top: self._header(on, top, profile, status)),
            Section(GRAPH_HEIGHT + 10, 3, lambda on, top: draw_graph(
                on, pygame.Rect(PAD, top, INNER, GRAPH_HEIGHT), profile, self.pen)),
            Section(table, 2, lambda on, top: self._stages(on, top, profile)),
        ]

    def _header(self, on: pygame.Surface, top: int, profile: Profile, status: Status) -> None:
        frames = profile.frame_ms(RECENT)
        mean = float(frames[-SMOOTHED:].mean()) if len(frames) else 0.0
        p50, p95, p99 = np.percentile(frames, (50, 95, 99)) if len(frames) else (0.0, 0.0, 0.0)
        self._rates(on, top + 19, 1e3 / mean if mean else 0.0, status.clock.steps_per_s, mean)
        for name, ms, x in (("p50", p50, 0), ("p95", p95, 1), ("p99", p99, 2)):
            at = PAD + x * INNER // 3
            end = self.pen.left(on, name, at, top + 36, SMALL, FAINT)
            self.pen.left(on, f"{ms:.1f}", end + 5, top + 36, SMALL, DIM)
        self._clock(on, top + 51, status)

    def _rates(self, on: pygame.Surface, middle: int, frames_per_s: float, steps_per_s: float, mean_ms: float) -> None:
        """Draw frames and steps a second and the time of a frame; units stay where they are while numbers change."""
        frames = f"{frames_per_s:.0f}"
        unit = PAD + self.pen.width("0" * max(len(frames), 3), HUGE) + 6
        self.pen.left(on, frames, unit - 6 - self.pen.width(frames, HUGE), middle - 5, HUGE)
        self.pen.left(on, "FPS", unit, middle, NORMAL, DIM)
        self.pen.right(on, "ms", WIDTH - PAD, middle, NORMAL, DIM)
        self.pen.right(on, f"{mean_ms:.2f}", WIDTH - PAD - 5 - self.pen.width("ms"), middle - 2, LARGE)
        unit = STEPS_RIGHT - self.pen.width("steps/s", SMALL)
        self.pen.right(on, f"{steps_per_s:,.0f}", unit - 4, middle, NORMAL)
        self.pen.left(on, "steps/s", unit, middle, SMALL, DIM)

    def _clock(self, on: pygame.Surface, middle: int, status: Status) -> None:
        """Draw the speed, the real one where it is another, tick and time of the crowd."""
        speed = "paused" if status.paused else speed_text(status.speed)
        end = self.pen.left(on, speed, PAD, middle, SMALL, WARM if status.paused else DIM)
        if status.clock.real_speed is not None:
            self.pen.left(on, f"real {real_speed_text(status.clock.real_speed)}", end + 6, middle, SMALL, WARM)
        time = time_text(status.clock.time_s)
        self.pen.right(on, time, WIDTH - PAD, middle, SMALL, DIM)
        self.pen.right(on, f"tick {status.clock.tick:,}", WIDTH - PAD - 12 - self.pen.width(time, SMALL), middle, SMALL, FAINT)

    def _stages(self, on: pygame.Surface, top: int, profile: Profile) -> None:
        rows = [(stage, profile.stage_ms(stage, SMOOTHED), stage_colour(stage)) for stage in in_order(profile.stages)]
        rows.append((OTHER, profile.other_ms(SMOOTHED), REST))
        width, half = (INNER - 14) // 2, -(-len(rows) // 2)
        for number, (stage, recent, colour) in enumerate(rows):
            x, y = PAD + number // half * (width + 14), top + 6 + number % half * LINE
            ms = float(recent.mean()) if len(recent) else 0.0
            pygame.draw.rect(on, colour, (x, y - 4, 8, 8), border_radius=2)
            self.pen.left(on, stage, x + 14, y, SMALL, DIM)
            self.pen.right(on, f"{ms:.2f}", x + width, y, SMALL, TEXT if ms >= 0.005 else FAINT)


class CrowdSections:
    """What the crowd does, and the errors of approximate techniques; `colours` are those of the agents' states."""

    def __init__(self, pen: Pen, colours: Mapping[str, Colour]) -> None:
        self.pen = pen
        self.colours = colours

    def sections(self, sim: Simulation, readings: Readings) -> list[Section]:
        """Those for the present techniques."""
        counters, states = sim.profile.counters, sim.states()
        crowd = {"agents": sim.agents.count, "visible": counters.get("visible", 0), "drawn": counters.get("drawn", 0)}
        more = {**sorting_facts(sim, inactive(sim)), **memory_facts(counters, readings)}
        rows = [dict(list(more.items())[at:at + 3]) for at in range(0, len(more), 3)]
        return [
            self._row({name: f"{count:,.0f}" for name, count in crowd.items()}, 1),
            self._row(work_facts(counters), 4),
            *([Section(FACTS_HEIGHT, 6, lambda on, top: self._states(on, top, states))] if states else []),
            *self._errors(sim, readings),
            *([Section(CURVE_HEIGHT + 39, 7, lambda on, top: self._life(on, top, sim))] if sim.life.active else []),
            *(self._row(facts, 8) for facts in rows),
        ]

    def _errors(self, sim: Simulation, readings: Readings) -> list[Section]:
        """A section for each approximate technique that is on."""
        sections = []
        if is_capped(sim):
            sections.append(Section(BIAS_HEIGHT, 5, lambda on, top: self._cap(on, top, readings.cap, readings.bias)))
        if has_field(sim):
            worst = percent(readings.field.most) if readings.field else UNREAD
            sections.append(self._row({"field error": mean_error(readings.field), "at worst": worst}, 5, WARM))
        if is_staggered(sim):
            period = sim.optimizations.stagger.avoidance
            sections.append(Section(AGES_HEIGHT, 5, lambda on, top: self._ages(on, top, period, readings)))
        return sections

    def _row(self, facts: Mapping[str, str], rank: int, colour: Colour = TEXT) -> Section:
        return Section(FACTS_HEIGHT, rank, partial(self._facts, facts=facts, colour=colour))

    def _facts(self, on: pygame.Surface, top: int, facts: Mapping[str, str], colour: Colour = TEXT) -> None:
        """Draw numbers side by side, each under its name."""
        for number, (name, value) in enumerate(facts.items()):
            x = PAD + number * INNER // 3
            self.pen.left(on, name, x, top + 8, SMALL, FAINT)
            self.pen.left(on, value, x, top + 22, NORMAL, colour)

    def _states(self, on: pygame.Surface, top: int, states: Mapping[str, int]) -> None:
        """Draw how many agents are in each state; a state has a colour and a shape, so it can be told apart by either."""
        for number, (name, count) in enumerate(states.items()):
            x = PAD + number * INNER // 3
            draw_chip(on, number, self.colours.get(name, TEXT), (x + 5, top + 8))
            self.pen.left(on, name, x + 15, top + 8, SMALL, FAINT)
            self.pen.left(on, f"{count:,}", x, top + 22, NORMAL)

    def _life(self, on: pygame.Surface, top: int, sim: Simulation) -> None:
        """Draw births and deaths of the last step, and the number of agents after each of the last steps."""
        counters, lived = sim.profile.counters, sim.population
        self._facts(on, top, {"births": f"{counters.get('births', 0):,.0f}", "deaths": f"{counters.get('deaths', 0):,.0f}",
                              "peak": f"{lived.max():,}" if len(lived) else UNREAD})
        draw_curve(on, pygame.Rect(PAD, top + 35, INNER, CURVE_HEIGHT), lived, ACCENT)

    def _ages(self, on: pygame.Surface, top: int, period: int, readings: Readings) -> None:
        """Draw how many agents were last due 0, 1, ... steps ago, and the error of staggering."""
        self.pen.left(on, "steps since update", PAD, top + 8, SMALL, FAINT)
        box = BARS.move(0, top)
        draw_bars(on, box, readings.ages[:period] if readings.ages is not None else [0] * period, MUTED)
        self.pen.left(on, "0", box.left, box.bottom + 7, SMALL, FAINT)
        self.pen.right(on, f"{period - 1}", box.right, box.bottom + 7, SMALL, FAINT)
        x = PAD + 2 * INNER // 3
        self.pen.left(on, "stagger error", x, top + 8, SMALL, FAINT)
        self.pen.left(on, mean_error(readings.stagger), x, top + 22, NORMAL, WARM)

    def _cap(self, on: pygame.Surface, top: int, error: PushError | None, bias: Bias | None) -> None:
        """Draw the error of the cap, and the mean direction to the neighbours that it keeps."""
        self.pen.left(on, "cap error", PAD, top + 8, SMALL, FAINT)
        self.pen.left(on, mean_error(error), PAD, top + 22, NORMAL, WARM)
        middle = PAD + INNER // 3 + DIAL_RADIUS, top + 20
        pygame.draw.circle(on, GROUND, middle, DIAL_RADIUS)
        pygame.draw.circle(on, EDGE, middle, DIAL_RADIUS, width=1)
        x = middle[0] + DIAL_RADIUS + 8
        self.pen.left(on, "mean direction to", x, top + 8, SMALL, FAINT)
        for line, (name, colour) in enumerate((("all", DIM), ("kept", WARM))):
            text = UNREAD
            if bias:
                direction = bias.kept if name == "kept" else bias.all
                draw_hand(on, middle, direction, colour)
                text = " ".join(f"{round(part, 2) + 0.0:+.2f}" for part in direction)  # never -0.00
            self.pen.left(on, name, x, top + 20 + 12 * line, SMALL, colour)
            self.pen.left(on, text, x + 34, top + 20 + 12 * line, SMALL, colour)


def draw_bars(on: pygame.Surface, box: pygame.Rect, values: Sequence[int] | Longs, colour: Colour) -> None:
    """Draw a bar for each value, the largest as high as the box; any value above 0 has at least a pixel."""
    pygame.draw.rect(on, GROUND, box)
    most = max(int(max(values)), 1)
    for number, value in enumerate(values):
        left, right = (box.left + box.width * at // len(values) for at in (number, number + 1))
        height = math.ceil(box.height * int(value) / most)
        pygame.draw.rect(on, colour, (left + 1, box.bottom - height, right - left - 2, height))


def draw_hand(on: pygame.Surface, middle: tuple[int, int], direction: tuple[float, float], colour: Colour) -> None:
    """Draw a hand from the middle of the dial, with a dot at its tip, at most to the rim."""
    length = math.hypot(*direction)
    scale = DIAL_RADIUS * min(1 / DIAL_FULL, 1 / max(length, DIAL_FULL))
    tip = middle[0] + round(direction[0] * scale), middle[1] + round(direction[1] * scale)
    pygame.draw.line(on, colour, middle, tip, width=2)
    pygame.draw.circle(on, colour, tip, 2)


def draw_chip(on: pygame.Surface, shape: int, colour: Colour, middle: tuple[int, int]) -> None:
    """Draw a disc, a square or a triangle with a light rim, 9 pixels wide."""
    x, y = middle
    rim = (240, 242, 245)
    if shape % 3 == 0:
        pygame.draw.circle(on, rim, middle, 5)
        pygame.draw.circle(on, colour, middle, 4)
    elif shape % 3 == 1:
        pygame.draw.rect(on, rim, (x - 5, y - 5, 10, 10))
        pygame.draw.rect(on, colour, (x - 4, y - 4, 8, 8))
    else:
        pygame.draw.polygon(on, rim, ((x, y - 6), (x - 6, y + 5), (x + 6, y + 5)))
        pygame.draw.polygon(on, colour, ((x, y - 4), (x - 4, y + 4), (x + 4, y + 4)))
