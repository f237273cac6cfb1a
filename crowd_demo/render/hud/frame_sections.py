"""The HUD's sections on time: frames a second, the graph, and what each stage costs, in the three parts of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from crowd_demo.profile import OTHER, Profile, percentiles
from crowd_demo.registry.stages import PARTS, stages_of
from crowd_demo.render.hud.canvas import Canvas
from crowd_demo.render.hud.crowd_sections import INNER, WIDTH, short_ms
from crowd_demo.render.hud.graph import Graph
from crowd_demo.render.hud.sections import ALWAYS, Section
from crowd_demo.render.hud.stages import colour_of
from crowd_demo.render.hud.status import Status, real_speed_text, speed_text, time_text
from crowd_demo.render.hud.theme import DIM, FAINT, HUGE, LARGE, NORMAL, PAD, SMALL, TEXT, WARM

SMOOTHED = 30  # frames in the mean of a stage
RECENT = 300  # frames in the percentiles; a stage that the last ones of its part did without is not listed
GRAPH_HEIGHT, LINE = 60.0, 15.0
STEPS_RIGHT = 178.0  # where "steps/s" ends
HEADER_HEIGHT = 61.0
APART = 6.0  # units between two rates at least


def frame_sections(profile: Profile, status: Status, graph: Graph) -> list[Section]:
    return [
        Section("header", HEADER_HEIGHT, ALWAYS, partial(draw_header, profile=profile, status=status)),
        Section("graph", GRAPH_HEIGHT + 10, 3, partial(draw_graph, graph=graph, profile=profile, status=status)),
        *(part_section(part, profile, status) for part in PARTS),
    ]


# --- frames a second -------------------------------------------------------------------------------------------------

def draw_header(on: Canvas, top: float, profile: Profile, status: Status) -> None:
    frames = profile.frame_ms(RECENT)
    mean = float(frames[-SMOOTHED:].mean()) if len(frames) else 0.0
    p50, p95, p99 = percentiles(frames, 50, 95, 99)
    _draw_rates(on, top + 19, mean, status)
    for number, (name, ms) in enumerate((("p50", p50), ("p95", p95), ("p99", p99))):
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
    rate, in_fps = f"{1e3 / mean_ms if mean_ms else 0.0:.0f}", status.looks.units == "fps"
    first_unit, other_unit = ("FPS", "ms") if in_fps else ("ms", "FPS")
    end = WIDTH - PAD - 5 - on.width(other_unit)
    time = (_fitting(mean_ms, end - STEPS_RIGHT - APART, LARGE, on) if in_fps else
            _fitting(mean_ms, steps_start - APART - on.width(first_unit) - 6 - PAD, HUGE, on))
    first, other = (rate, time) if in_fps else (time, rate)
    unit = PAD + on.width("0" * max(len(first), 3), HUGE) + 6
    on.left(first, unit - 6 - on.width(first, HUGE), middle - 5, HUGE)
    unit_end = on.left(first_unit, unit, middle, NORMAL, DIM)
    on.target((PAD, middle - 18, unit_end - PAD, 28), "fact", first_unit)
    on.right(other_unit, WIDTH - PAD, middle, NORMAL, DIM)
    start = on.right(other, end, middle - 2, LARGE)
    on.target((start, middle - 18, WIDTH - PAD - start, 28), "fact", other_unit)


def _fitting(ms: float, room: float, size: float, on: Canvas) -> str:
    """Milliseconds with two decimals, or as many as there is room for."""
    texts = [f"{ms:.{decimals}f}" for decimals in (2, 1, 0)]
    return next((text for text in texts if on.width(text, size) <= room), texts[-1])


def _draw_clock(on: Canvas, middle: float, status: Status) -> None:
    """Draw the speed, the real one where it is another, tick and time of the crowd."""
    speed = "paused" if status.paused else speed_text(status.speed)
    end = on.left(speed, PAD, middle, SMALL, WARM if status.paused else DIM)
    if status.clock.real_speed is not None:
        end = on.left(f"real {real_speed_text(status.clock.real_speed)}", end + 6, middle, SMALL, WARM)
    on.target((PAD, middle - 7, end - PAD, 14), "fact", "speed")
    time = time_text(status.clock.time_s)
    on.right(time, WIDTH - PAD, middle, SMALL, DIM)
    start = on.right(f"tick {status.clock.tick:,}", WIDTH - PAD - 12 - on.width(time, SMALL), middle, SMALL, FAINT)
    on.target((start, middle - 7, WIDTH - PAD - start, 14), "fact", "tick")


def draw_graph(on: Canvas, top: float, graph: Graph, profile: Profile, status: Status) -> None:
    graph.draw(on, (PAD, top, INNER, GRAPH_HEIGHT), profile, status.ticks, status.looks.graph_fits,
               bool(status.pending))


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
    return f"{mean:.1f} steps of {short_ms(ms / mean)} ms" if mean and f"{mean:.1f}" != "1.0" else ""


def part_section(part: str, profile: Profile, status: Status) -> Section:
    """The sum of a part of the frame, and its stages in two columns."""
    stages = present_stages(part, profile)
    height = LINE * (1 + -(-len(stages) // 2)) + 3
    return Section(part, height, 2, partial(draw_part, part=part, stages=stages, profile=profile))


def draw_part(on: Canvas, top: float, part: str, stages: Sequence[str], profile: Profile) -> None:
    times = {stage: mean_ms(stage, profile) for stage in stages}
    end = on.left(part, PAD, top + 8, NORMAL, TEXT)
    if part == "step" and (said := steps_a_frame(profile, sum(times.values()))):
        on.left(said, end + 8, top + 8, SMALL, FAINT)
    on.right(f"{sum(times.values()):.2f} ms", WIDTH - PAD, top + 8, NORMAL, TEXT)
    on.target((PAD, top, INNER, LINE), "fact", part)
    width, half = (INNER - 14) / 2, -(-len(stages) // 2)
    for number, (stage, ms) in enumerate(times.items()):
        x, y = PAD + number // half * (width + 14), top + 8 + LINE * (1 + number % half)
        on.rect(colour_of(stage), (x, y - 4, 8, 8), radius=2)
        on.left(stage, x + 14, y, SMALL, DIM)
        on.right(f"{ms:.2f}", x + width, y, SMALL, TEXT if ms >= 0.005 else FAINT)
        on.target((x, y - 7, width, LINE), "stage", stage)
