"""Tooltips: what the thing under the cursor is, and what to watch."""

from __future__ import annotations

from typing import NamedTuple

from crowd_demo.registry.readouts import READOUTS
from crowd_demo.registry.stages import text_of
from crowd_demo.registry.techniques import BY_PATH, exactness
from crowd_demo.render.hud.canvas import Canvas, Target
from crowd_demo.render.hud.pen import Pen
from crowd_demo.render.hud.status import Status
from crowd_demo.render.hud.theme import DIM, FAINT, GOOD, NORMAL, PAD, SHEET, SMALL, TEXT, Colour
from crowd_demo.sim.inactive import inactive
from crowd_demo.sim.simulation import Simulation

WIDTH, LINE = 300.0, 13.5
AWAY = 14  # pixels from the cursor


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
    parts: list[tuple[str, Colour]] = [(technique.why, TEXT)]
    if path in inactive(sim):
        parts.append(("It changes nothing at present: another technique or the behaviour leaves it no work.", FAINT))
    if technique.watch:
        parts.append((f"Watch: {technique.watch}", DIM))
    if measured := status.measured.get(path):
        parts.append((f"Measured last: {measured}", GOOD))
    if technique.source:
        parts.append((f"From: {technique.source}", FAINT))
    how = "click: its choices" + ("; drag the number: any other" if technique.numbers else "")
    return Tip(f"{technique.label.strip()} ({exactness(technique)})", (*parts, (how, FAINT)))


def draw_tip(tip: Tip, cursor: tuple[float, float], window: tuple[int, int], pen: Pen,
             scale: float) -> tuple[Canvas, tuple[int, int]]:
    """Render a tip, and place it beside the cursor, inside the window."""
    ruler = Canvas((1, 1), pen, scale, None)
    wide = min(WIDTH, window[0] / scale - 8)
    title = ruler.wrapped(tip.title, wide - 2 * PAD)
    lines = [(line, colour) for text, colour in tip.paragraphs for line in ruler.wrapped(text, wide - 2 * PAD, SMALL)]
    on = Canvas((wide, LINE * (len(title) + len(lines)) + 16), pen, scale, SHEET)
    middle = 8 + LINE / 2
    for text in title:
        on.left(text, PAD, middle, NORMAL)
        middle += LINE
    for text, colour in lines:
        on.left(text, PAD, middle + 1, SMALL, colour)
        middle += LINE
    return on, beside(cursor, on.surface.get_size(), window)


def beside(cursor: tuple[float, float], size: tuple[int, int], window: tuple[int, int]) -> tuple[int, int]:
    """Where a box of that size goes: to the lower right of the cursor, or on its other side where there is no room."""
    x, y = (round(at + AWAY) if at + AWAY + length <= limit else round(at - AWAY - length)
            for at, length, limit in zip(cursor, size, window, strict=True))
    return max(x, 0), max(y, 0)
