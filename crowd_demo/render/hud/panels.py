"""Small panels of text: a notice, the tooltip, the inspector's, a tour's; and the compact HUD, which is one such panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from crowd_demo.registry.readouts import READOUTS
from crowd_demo.registry.stages import text_of
from crowd_demo.registry.techniques import BY_PATH, exactness, hud_word, inactive
from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    FAINT,
    GOOD,
    GROUND,
    HUGE,
    LARGE,
    NORMAL,
    PAD,
    SHEET,
    SMALL,
    TEXT,
    WARM,
    Canvas,
    Colour,
    Pen,
    Target,
)
from crowd_demo.render.hud.frame_sections import SMOOTHED
from crowd_demo.render.hud.status import Inspection, MemoryStrip, Status, TourView
from crowd_demo.render.inks import GREEN, GREY, ORANGE
from crowd_demo.sim.simulation import Simulation

NOTICE_LINE = 16  # units: the heights of lines, the widths of panels, the sizes of text
TIP_WIDTH, TIP_LINE = 300.0, 13.5
CURSOR_PX = 14  # from the cursor to its tip
TOUR_WIDEST = 540.0  # fits between the panels at the usual size
SAID, SAID_LINE, TOUR_FOOT = 15.0, 20.0, 26.0
TOUR_KEYS = (("next", "Enter", "next"), ("back", "Left", "back"), ("leave", "Esc", "leave"))
INSPECTION_WIDTH, ROW, TITLE, STRIP, FOOT = 292.0, 14.0, 26.0, 30.0, 18.0
LABELS = 101.0
IDLE = "It changes nothing at present: another technique or the behaviour leaves it no work."
COMPACT = 250.0, 62.0


def draw_compact(sim: Simulation, status: Status, pen: Pen, scale: float) -> Canvas:
    """Frames a second, and the technique that was touched last."""
    on = Canvas(COMPACT, pen, scale)
    frames = sim.profile.frame_ms(SMOOTHED)
    mean = float(frames.mean()) if len(frames) else 0.0
    end = on.left(f"{1e3 / mean if mean else 0.0:.0f}", PAD, 22, HUGE)
    on.left("FPS", end + 6, 27, NORMAL, DIM)
    on.target((PAD, 6, end + 30, 30), "fact", "FPS")
    on.right("paused" if status.paused else f"{mean:.2f} ms", on.size[0] - PAD, 25, LARGE, WARM if status.paused else DIM)
    if technique := BY_PATH.get(status.touched):
        value = hud_word(status.pending.get(technique.path, sim.optimizations.get(technique.path)))
        end = on.left(technique.label.strip(), PAD, 48, NORMAL)
        on.left(value + " …" * (technique.path in status.pending), end + 8, 48, NORMAL, ACCENT)
        on.target((0, 38, on.size[0], 20), "technique", technique.path)
    return on


def draw_notice(text: str, room: float, pen: Pen, scale: float) -> Canvas:
    """A panel around a text, in as many lines as it takes for it to be no wider than the room."""
    ruler = Canvas((1, 1), pen, scale, None)
    lines = ruler.wrapped(text, room - 2 * PAD)
    canvas = Canvas((max(map(ruler.width, lines), default=0) + 2 * PAD, 10 + NOTICE_LINE * len(lines)), pen, scale)
    canvas.paragraph(lines, PAD, 5, NOTICE_LINE)
    return canvas


# --- the tooltip -----------------------------------------------------------------------------------------------------

class Tip(NamedTuple):
    """A title and paragraphs, each with its colour."""

    title: str
    paragraphs: tuple[tuple[str, Colour], ...]


def tip_of(target: Target, sim: Simulation, status: Status) -> Tip | None:
    """What there is to say about a target; None for one that speaks for itself."""
    kind, name = target
    match kind:
        case "technique" | "number" if name in BY_PATH:
            return _about_technique(name, sim, status)
        case "fact" if name in READOUTS:
            return _about_number(name)
        case "stage":
            text = text_of(name)
            return Tip(f"{name} (part of {text.part})", ((f"{text.about[0].upper()}{text.about[1:]}.", TEXT),))
        case "fold":
            return Tip(name, (("click to fold or unfold this section", DIM),))
        case "graph":
            return _about_number("graph", ("click: fit the scale to the present frames", FAINT))
        case "timeline":
            return _about_number("timeline")
    return None


def _about_number(name: str, *more: tuple[str, Colour]) -> Tip:
    readout = READOUTS[name]
    return Tip(name, ((readout.what, TEXT), (readout.good, DIM), *more))


def _about_technique(path: str, sim: Simulation, status: Status) -> Tip:
    technique = BY_PATH[path]
    measured = status.measured.get(path)
    paragraphs = (
        (technique.why, TEXT), (IDLE if path in inactive(sim.situation) else "", FAINT),
        (technique.watch and f"Watch: {technique.watch}", DIM), (measured and f"Measured last: {measured}", GOOD),
        (technique.source and f"From: {technique.source}", FAINT),
        ("click: its choices" + ("; drag the number: any other" if technique.numbers else ""), FAINT))
    return Tip(f"{technique.label.strip()} ({exactness(technique)})",
               tuple((text, colour) for text, colour in paragraphs if text))


def draw_tip(tip: Tip, cursor: tuple[float, float], window: tuple[int, int], pen: Pen,
             scale: float) -> tuple[Canvas, tuple[int, int]]:
    """Render a tip, and place it beside the cursor, inside the window."""
    ruler = Canvas((1, 1), pen, scale, None)
    wide = min(TIP_WIDTH, window[0] / scale - 8)
    title = ruler.wrapped(tip.title, wide - 2 * PAD)
    paragraphs = [(ruler.wrapped(text, wide - 2 * PAD, SMALL), colour) for text, colour in tip.paragraphs]
    lines = len(title) + sum(len(each) for each, _ in paragraphs)
    on = Canvas((wide, TIP_LINE * lines + 16), pen, scale, SHEET)
    top = on.paragraph(title, PAD, 8, TIP_LINE) + 1
    for each, colour in paragraphs:
        top = on.paragraph(each, PAD, top, TIP_LINE, SMALL, colour)
    return on, beside(cursor, on.surface.get_size(), window)


def beside(cursor: tuple[float, float], size: tuple[int, int], window: tuple[int, int]) -> tuple[int, int]:
    """Where a box of that size goes: to the lower right of the cursor, or on its other side where there is no room."""
    x, y = (round(at + CURSOR_PX) if at + CURSOR_PX + length <= limit else round(at - CURSOR_PX - length)
            for at, length, limit in zip(cursor, size, window, strict=True))
    return max(x, 0), max(y, 0)


# --- a tour ----------------------------------------------------------------------------------------------------------

def draw_tour(view: TourView, width_px: int, pen: Pen, scale: float) -> Canvas:
    """Render the panel for a window so wide."""
    wide = min(TOUR_WIDEST, width_px / scale - 2 * PAD)
    ruler = Canvas((1, 1), pen, scale, None)
    texts = [(ruler.wrapped(text, wide - 2 * PAD, SAID), colour) for text, colour in _texts(view)]
    lines, top = sum(len(text) for text, _ in texts), PAD - 1.0
    canvas = Canvas((wide, PAD + SAID_LINE * lines + TOUR_FOOT + 6), pen, scale, SHEET)
    for text, colour in texts:
        top = canvas.paragraph(text, PAD, top, SAID_LINE, SAID, colour)
    _draw_foot(canvas, view)
    return canvas


def _texts(view: TourView) -> list[tuple[str, Colour]]:
    """The sentence and then the question, or the question and then its answer."""
    if view.is_answer:
        return [(view.question, DIM), (view.text, TEXT)]
    return [(view.text, TEXT), *([(view.question, WARM)] if view.question else [])]


def _draw_foot(canvas: Canvas, view: TourView) -> None:
    wide, tall = canvas.size
    middle = tall - TOUR_FOOT / 2
    canvas.rect(GROUND, (0, tall - 3, wide, 3))
    canvas.rect(ACCENT, (0, tall - 3, wide * view.step / view.steps, 3))
    end = canvas.left(f"{view.title}  {view.step} of {view.steps}", PAD, middle, SMALL, FAINT)
    if view.doing:
        canvas.left(view.doing, end + 14, middle, SMALL, WARM)
    x = wide - PAD
    for name, key, does in reversed(TOUR_KEYS):
        left = x - canvas.width(does, SMALL) - 5 - canvas.key_width(key)
        end = canvas.key(key, left, middle)
        canvas.left(does, end + 5, middle, SMALL, DIM)
        canvas.target((left - 4, tall - TOUR_FOOT, x - left + 8, TOUR_FOOT), "tour", name)
        x = left - 14


# --- the inspector ---------------------------------------------------------------------------------------------------

def draw_inspection(found: Inspection, keys: Sequence[str], pen: Pen, scale: float) -> Canvas:
    """Draw the panel; `keys` go on to another agent and close it."""
    ruler = Canvas((1, 1), pen, scale, None)
    rows = [(what, ruler.wrapped(value, INSPECTION_WIDTH - 2 * PAD - (LABELS if what else 0), SMALL))
            for what, value in found.rows]
    high = TITLE + sum(len(lines) for _, lines in rows) * ROW + (STRIP if found.strip else 0) + FOOT + 6
    on = Canvas((INSPECTION_WIDTH, high), pen, scale)
    on.left(found.title, PAD, 16, LARGE, ACCENT)
    on.right("x", INSPECTION_WIDTH - PAD, 16, LARGE, DIM)
    on.target((INSPECTION_WIDTH - 30, 0, 30, TITLE), "action", "inspect")
    top = TITLE + 2
    for what, lines in rows:
        on.left(what, PAD, top + ROW / 2, SMALL, DIM)
        top = on.paragraph(lines, PAD + (LABELS if what else 0), top, ROW, SMALL)
    if found.strip:
        _draw_strip(on, found.strip, top + 4)
    on.left(on.fitted("   ".join(keys), INSPECTION_WIDTH - 2 * PAD, SMALL), PAD, high - FOOT / 2 - 3, SMALL, FAINT)
    return on


def _draw_strip(on: Canvas, strip: MemoryStrip, top: float) -> None:
    """All of memory from left to right: candidates above, neighbours below, the agent across both."""
    wide = INSPECTION_WIDTH - 2 * PAD
    on.left("memory, from the first slot to the last", PAD, top + 4, SMALL, FAINT)
    on.rect(GROUND, (PAD, top + 11, wide, 12))
    on.rect(EDGE, (PAD, top + 11, wide, 12), width=1)
    for shares, colour, down in ((strip.candidates, GREY, 11.0), (strip.neighbours, GREEN, 17.0)):
        for place in {int(share * wide) for share in shares}:
            on.rect(colour, (PAD + place, top + down, 1.5, 6))
    on.rect(ORANGE, (PAD + strip.own * wide - 1, top + 9, 2.5, 16))
