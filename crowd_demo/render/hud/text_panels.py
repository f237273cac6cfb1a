"""Small panels of text: a notice, the tooltip, the inspector's, a tour's; legends, and the chart of an overlay.

A legend is laid out in parts, such as a colour with its text, in as many lines as they take.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pygame

from crowd_demo.registry.stages import READOUTS, text_of
from crowd_demo.registry.techniques import BY_PATH, exactness, key_does, no_effect
from crowd_demo.registry.terms import TERMS
from crowd_demo.render.colours.base import Legend
from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    FAINT,
    GOOD,
    GROUND,
    LARGE,
    NORMAL,
    PAD,
    PANEL,
    SHEET,
    SMALL,
    TEXT,
    WARM,
    Canvas,
    Colour,
    Pen,
    Target,
)
from crowd_demo.render.hud.card import PROOF_COLOURS, ms_text
from crowd_demo.render.hud.navigation import label
from crowd_demo.render.hud.panel_layout import LEFT_WIDTH, RIGHT_WIDTH, STRIP_HEIGHT
from crowd_demo.render.hud.sections import value_text
from crowd_demo.render.hud.status import (
    BetView,
    Chart,
    Half,
    Inspection,
    Key,
    LegendItem,
    NumberRow,
    RunningJob,
    Status,
    TourView,
)
from crowd_demo.render.inks import GREEN, GREY, ORANGE
from crowd_demo.sim.simulation import Simulation

NOTICE_LINE = 16  # units: the heights of lines, the widths of panels, the sizes of text
JOB_BAR = 84.0
TIP_LINE = 14.5
CURSOR_PX = 14  # from the cursor to its tip
TOUR_WIDEST = 540.0  # fits between the panels at the usual size
SAID, SAID_LINE, TOUR_FOOT = 15.0, 20.0, 26.0
TOUR_KEYS = (("next", "Enter", "next"), ("back", "Left", "back"), ("leave", "Esc", "leave"))
BET = Target("bet")  # the scale for a guess
BET_HIGH = 46.0
ROW, TITLE, STRIP, FOOT = 14.0, 26.0, 30.0, 18.0
RAW = "raw fields"  # of the inspector: the name of their fold
HALF_WIDTH, HALF_LEAST, HALF_EDGE = 214.0, 100.0, 15.0  # of a half's label


class Said(NamedTuple):
    text: str
    colour: Colour = TEXT
    size: float = SMALL


def text_panel(said: Sequence[Said], room: float, line: float, pen: Pen, scale: float, edges: tuple[float, float] = (PAD, 5.0),
               foot: float = 0.0, widest: bool = False, colour: Colour = SHEET) -> Canvas:
    """A panel with paragraphs below each other, each line so high, and a free foot; as wide as its lines, or `widest`."""
    ruler = Canvas((1, 1), pen, scale, None)
    lines = [(text, each) for each in said for text in ruler.wrapped(each.text, room - 2 * edges[0], each.size)]
    wide = room if widest else max((ruler.width(text, each.size) for text, each in lines), default=0) + 2 * edges[0]
    on = Canvas((wide, 2 * edges[1] + line * len(lines) + foot), pen, scale, colour)
    for number, (text, each) in enumerate(lines):
        on.left(text, edges[0], edges[1] + line * (number + 0.5), each.size, each.colour)
    return on


def draw_notice(text: str, room: float, pen: Pen, scale: float) -> Canvas:
    """A panel around a text, no wider than the room: in one line, in small text if need be, or else in several."""
    ruler = Canvas((1, 1), pen, scale, None)
    is_small = ruler.width(text) > room - 2 * PAD >= ruler.width(text, SMALL)
    return text_panel([Said(text, TEXT, SMALL if is_small else NORMAL)], room, NOTICE_LINE, pen, scale, colour=PANEL)


def draw_half(half: Half, is_right: bool, room: float, pen: Pen, scale: float) -> Canvas:
    """The label of one half of a split window, which a triangle points to; narrower than usual if there is little room."""
    state = [Said(half.state.text, PROOF_COLOURS[half.state.kind])] if half.state else []
    times = f"step {ms_text(half.step_ms)}, frame {ms_text(half.frame_ms)}"
    on = text_panel([Said(half.value, ACCENT), Said(times), *state, *(Said(note, DIM) for note in half.notes)],
                    room if HALF_LEAST <= room < HALF_WIDTH else HALF_WIDTH, ROW, pen, scale, (HALF_EDGE, 4.0))
    on.target((0, 0, *on.size), "number", half.target)
    tip, base = (on.size[0] - 4, on.size[0] - 11) if is_right else (4, 11)
    on.polygon(ACCENT, ((tip, 4 + ROW / 2), (base, 7), (base, 1 + ROW)))
    return on


# --- the tooltip -----------------------------------------------------------------------------------------------------

def tip_of(target: Target, sim: Simulation, status: Status) -> list[Said] | None:
    """The tip of a target, its title first; None for one that needs none."""
    kind, name = target
    match kind:
        case "technique" | "value" | "number" if name in BY_PATH:
            return _about_technique(name, sim, status)
        case "number" if name == "agents":
            return _about_number(name, ("drag to change, click to type a number", FAINT))
        case "slider" | "setting":
            return next((_about_setting(row) for row in status.numbers if row.number.path == name), None)
        case "fact" if name in READOUTS:
            return _about_number(name)
        case "stage":
            text = text_of(name)
            return _tip(f"{name} (part of {text.part})", (f"{text.about[0].upper()}{text.about[1:]}.", TEXT))
        case "fold" | "unfold":
            return _about_number(name, (f"click: {kind} this section", FAINT))
        case "graph":
            return _about_number("graph", ("click: fit the scale to the current frames", FAINT))
        case "timeline":
            return _tip(name, ("an event of the scenario", DIM)) if name else _about_number(
                "timeline", *([(label(status.past), FAINT)] if status.past else []))
        case "tool" if status.tools:
            return next((_tip(button.label, (button.key and f"key: {button.key}", FAINT))
                         for button in status.tools.buttons if button.action == name), None)
        case "brush":
            return _tip("size of the brush", ("in metres: drag, or Ctrl+wheel", DIM))
        case "why" if status.card:
            return next((_tip(name, (row.source, TEXT), *((line, DIM) for line in row.lines))
                         for row in status.card.why if row.name == name), None)
        case "legend":
            return _tip("legend of the overlays", ("the wheel scrolls, Shift+F10 hides all overlays", DIM))
    return None


def _tip(title: str, *paragraphs: tuple[str, Colour]) -> list[Said]:
    return [Said(title, TEXT, NORMAL), *(Said(text, colour) for text, colour in paragraphs if text)]


def _about_number(name: str, *more: tuple[str, Colour]) -> list[Said]:
    about = READOUTS.get(name)
    return _tip(name, *([(about.what, TEXT), (about.good, DIM)] if about else []), *more)


def _about_setting(row: NumberRow) -> list[Said]:
    number = row.number
    holds = {"step": "Changes take effect in the next step.", "birth": "Changes apply to agents born from now on.",
             "no": f"It cannot be changed while the crowd runs: {number.why_not}."}[number.live]
    hands = "" if number.live == "no" else "drag to change, double-click to reset, click the value to type it"
    return _tip(number.path, (f"{number.about[0].upper()}{number.about[1:]}.", TEXT), (TERMS.get(number.path, ""), ACCENT),
                (holds, DIM), (f"In the configuration: {value_text(row._replace(value=row.shipped))}", FAINT), (hands, FAINT))


def _about_technique(path: str, sim: Simulation, status: Status) -> list[Said]:
    technique = BY_PATH[path]
    measured = status.measured.get(path, "")
    return _tip(
        f"{technique.label.strip()} ({exactness(technique)})",
        (technique.why, TEXT), (no_effect(path, sim.situation), FAINT),
        (technique.watch and f"Watch: {technique.watch}", DIM), (measured and f"Measured last: {measured}", GOOD),
        (technique.source and f"From: {technique.source}", FAINT),
        (f"key, or a click: {key_does(technique)}", FAINT),
        ("a click on the value lists all" + (", a drag sets any other" if technique.numbers else ""), FAINT))


def draw_tip(tip: Sequence[Said], cursor: tuple[float, float], window: tuple[int, int], pen: Pen, scale: float,
             keep: Sequence[pygame.Rect] = ()) -> tuple[Canvas, tuple[int, int]]:
    on = text_panel(tip, min(LEFT_WIDTH, window[0] / scale - 8), TIP_LINE, pen, scale, (PAD, 8.0), widest=True)
    return on, beside(cursor, on.surface.get_size(), window, keep)


def beside(cursor: tuple[float, float], size: tuple[int, int], window: tuple[int, int],
           keep: Sequence[pygame.Rect] = ()) -> tuple[int, int]:
    """Where a box of that size goes: to the lower right of the cursor, or as near as there is room beside `keep`."""
    (left, x), (above, y) = ((round(at - CURSOR_PX - length), round(at + CURSOR_PX))
                             for at, length in zip(cursor, size, strict=True))
    whole = pygame.Rect(0, 0, *window)
    usual = [at for at in ((x, y), (left, y), (x, above), (left, above)) if whole.contains((at, size))]
    aside = [at for each in keep for at in ((each.right, y), (each.left - size[0], y), (x, each.bottom),
                                            (x, each.top - size[1]))]
    aside.sort(key=lambda at: math.hypot(at[0] + size[0] / 2 - cursor[0], at[1] + size[1] / 2 - cursor[1]))
    places = [pygame.Rect(at, size).clamp(whole) for at in (*usual, *aside, (left, above))]
    return next((place for place in places if place.collidelist(keep) < 0), places[0]).topleft


# --- a tour ----------------------------------------------------------------------------------------------------------

def draw_tour(view: TourView, room_px: int, pen: Pen, scale: float) -> Canvas:
    bet, foot = view.bet, BET_HIGH * bool(view.bet) + TOUR_FOOT - 4
    verdict = bet.outcome if bet else None
    said: list[tuple[str, Colour]] = [(view.question, DIM), (view.text, TEXT), (view.hint, DIM)] if view.is_answer else [
        (view.text, WARM if bet and bet.is_open else TEXT), (view.hint, DIM), (view.question, WARM),
        (verdict.verdict if verdict else "", GOOD if verdict and verdict.is_right else ACCENT)]
    on = text_panel([Said(text, colour, SAID) for text, colour in said if text], min(TOUR_WIDEST, room_px / scale), SAID_LINE,
                    pen, scale, (PAD, PAD - 1.0), foot, widest=True)
    if bet:
        _draw_bet(on, bet, on.size[1] - TOUR_FOOT - 6 - BET_HIGH)
    _draw_foot(on, view)
    return on


def _draw_bet(on: Canvas, bet: BetView, top: float) -> None:
    """The scale: the guess above it, what was measured below it, or how to guess."""
    ends = [on.width(end, SMALL) for end in bet.ends]
    left, right, middle = PAD + ends[0] + 8, on.size[0] - PAD - ends[1] - 8, top + BET_HIGH / 2
    on.left(bet.ends[0], PAD, middle, SMALL, DIM)
    on.left(bet.ends[1], right + 8, middle, SMALL, DIM)
    on.rect(GROUND, (left, middle - 3, right - left, 6), radius=3)
    on.rect(EDGE, (left, middle - 3, right - left, 6), radius=3, width=1)

    def beside(text: str, share: float, y: float, colour: Colour) -> None:
        text = on.fitted(text, on.size[0] - 2 * PAD)
        wide, x = on.width(text), left + share * (right - left)
        on.left(text, min(max(x - wide / 2, PAD), on.size[0] - PAD - wide), y, NORMAL, colour)

    if bet.outcome:
        between = bet.outcome.between or (0.5, 0.5)
        wide = max((between[1] - between[0]) * (right - left), 4)
        if bet.outcome.between:
            on.rect(GOOD, (left + sum(between) / 2 * (right - left) - wide / 2, middle - 6, wide, 12), radius=2)
        beside(f"measured: {bet.outcome.measured}", sum(between) / 2, middle + 15, GOOD)
    elif bet.is_open:
        beside("type a number, or click on the scale", 0.5, middle + 15, DIM)
    if bet.share is not None:
        x = left + bet.share * (right - left)
        on.polygon(ACCENT, ((x, middle + 4), (x - 5, middle - 7), (x + 5, middle - 7)))
    if bet.guess:
        beside(f"your guess: {bet.guess} {bet.unit}", 0.5 if bet.share is None else bet.share, middle - 15, ACCENT)
    if bet.is_open:
        on.target((left, top, right - left, BET_HIGH), *BET)


def _draw_foot(canvas: Canvas, view: TourView) -> None:
    wide, tall = canvas.size
    middle = tall - TOUR_FOOT / 2
    canvas.rect(GROUND, (0, tall - 3, wide, 3))
    canvas.rect(ACCENT, (0, tall - 3, wide * view.step / view.steps, 3))
    x = wide - PAD
    keys = {name: does for name, _, does in TOUR_KEYS}
    if view.bet and view.bet.is_open:
        keys["next"] = "bet" if view.bet.share is not None else "no bet"
    elif view.step == view.steps and (view.is_answer or not view.question):
        keys["next"] = "end"
    for name, key, _ in reversed(TOUR_KEYS):
        does = keys[name]
        left = x - canvas.width(does, SMALL) - 5 - canvas.key_width(key)
        end = canvas.key(key, left, middle)
        canvas.left(does, end + 5, middle, SMALL, DIM)
        canvas.target((left - 4, tall - TOUR_FOOT, x - left + 8, TOUR_FOOT), "tour", name)
        x = left - 14
    title, end = f"{view.title}  {view.step} of {view.steps}", PAD - 14.0
    told = [(title, FAINT), (view.doing, WARM)]
    if view.doing and PAD + canvas.width(f"{title}   {view.doing}", SMALL) > x:  # what it waits for matters more
        told = told[1:]
    for text, colour in told:
        end = canvas.left(canvas.fitted(text, x - end - 14, SMALL), end + 14, middle, SMALL, colour)


# --- the inspector ---------------------------------------------------------------------------------------------------

def draw_inspection(found: Inspection, keys: Sequence[str], pen: Pen, scale: float) -> Canvas:
    """Draw the panel, with the raw fields if they are open; `keys` go on to another agent and close it."""
    ruler = Canvas((1, 1), pen, scale, None)
    sentence = ruler.wrapped(found.sentence, RIGHT_WIDTH - 2 * PAD, NORMAL)
    fold = [("", f"{len(found.raw)} raw fields: click to {'fold' if found.is_open else 'show'}")] if found.raw else []
    facts = *found.rows, *fold, *(found.raw if found.is_open else ())
    labels = max((ruler.width(what, SMALL) for what, _ in facts), default=0) + 6  # a value and its unit share a line
    rows = [(what, ruler.wrapped(value, RIGHT_WIDTH - 2 * PAD - (labels if what else 0), SMALL))
            for what, value in facts]
    strip = found.strip if found.is_open else None
    hints = ruler.wrapped("   ".join(keys), RIGHT_WIDTH - 2 * PAD, SMALL)
    high = TITLE + (len(sentence) + sum(len(lines) for _, lines in (*rows, ("", hints)))) * ROW + (STRIP if strip else 0) + 18
    on = Canvas((RIGHT_WIDTH, high), pen, scale)
    on.left(found.title, PAD, 16, LARGE, ACCENT)
    on.right("x", RIGHT_WIDTH - PAD, 16, LARGE, DIM)
    on.target((RIGHT_WIDTH - 30, 0, 30, TITLE), "action", "inspect")
    top = on.paragraph(sentence, PAD, TITLE + 2, ROW, NORMAL) + 4
    if fold:
        above = sum(len(lines) for _, lines in rows[:len(found.rows)])
        on.target((0, top + ROW * above, RIGHT_WIDTH, ROW), "fold" if found.is_open else "unfold", RAW)
    for what, lines in rows:
        on.left(what, PAD, top + ROW / 2, SMALL, DIM)
        top = on.paragraph(lines, PAD + (labels if what else 0), top, ROW, SMALL)
    if strip:  # all of memory from left to right: candidates above, neighbours below, the agent across both
        wide, top, (own, candidates, neighbours) = RIGHT_WIDTH - 2 * PAD, top + 4, strip
        on.left("memory, from the first slot to the last", PAD, top + 4, SMALL, FAINT)
        on.rect(GROUND, (PAD, top + 11, wide, 12))
        on.rect(EDGE, (PAD, top + 11, wide, 12), width=1)
        for shares, colour, down in ((candidates, GREY, 11.0), (neighbours, GREEN, 17.0)):
            for offset in {int(share * wide) for share in shares}:
                on.rect(colour, (PAD + offset, top + down, 1.5, 6))
        on.rect(ORANGE, (PAD + own * wide - 1, top + 9, 2.5, 16))
    on.paragraph(hints, PAD, high - ROW * len(hints) - 6, ROW, SMALL, FAINT)
    return on


# --- legends ----------------------------------------------------------------------------------------------------------

LINE = 16.0
LEGEND = "legend"  # the kind of the target of one that scrolls
EDGES, KEY_WIDTH, KEY_GAP = 12.0, 18.0, 16.0  # of overlays
WIDEST = 620.0
TEXT_LINES = 2  # at most
COLOUR_EDGES, SWATCH, COLOUR_GAP = 10.0, 10.0, 12.0  # of a colour mode
RAMP, RAMP_SHARE = 150.0, 0.4  # width of all colours of a ramp, and the most of what room there is


class LegendPart(NamedTuple):
    """A part that is not broken into lines: its width, and a function that draws it from x on around the middle of a line."""

    wide: float
    draw: Callable[[Canvas, float, float], object]


def in_lines(parts: Sequence[LegendPart], room: float, gap: float) -> list[list[LegendPart]]:
    """As many parts in a line as fit there; one line if there are none."""
    lines: list[list[LegendPart]] = [[]]
    for part in parts:
        if lines[-1] and width_of(lines[-1], gap) + gap + part.wide > room:
            lines.append([])
        lines[-1].append(part)
    return lines


def width_of(line: Sequence[LegendPart], gap: float) -> float:
    return sum(part.wide + gap for part in line) - gap


def draw_line(on: Canvas, line: Sequence[LegendPart], x: float, middle: float, gap: float) -> None:
    for part in line:
        part.draw(on, x, middle)
        x += part.wide + gap


def _words(text: str, ruler: Canvas, size: float, colour: Colour) -> LegendPart:
    return LegendPart(ruler.width(text, size), lambda on, x, middle: on.left(text, x, middle, size, colour))


# --- the strip --------------------------------------------------------------------------------------------------------

def draw_pill(parts: Sequence[LegendPart], gap: float, pen: Pen, scale: float, target: Target | None = None) -> Canvas:
    on = Canvas((2 * PAD + width_of(parts, gap), STRIP_HEIGHT), pen, scale, PANEL, target)
    draw_line(on, parts, PAD, STRIP_HEIGHT / 2, gap)
    return on


def draw_clock(text: str, is_paused: bool, pen: Pen, scale: float) -> Canvas:
    """The crowd's time beside a triangle, or a square while it is paused; a click pauses and goes on."""
    colour = WARM if is_paused else TEXT
    tip = 8.0 if is_paused else 4.0  # down its right side
    sign = LegendPart(8, lambda on, x, middle: on.polygon(
        colour, ((x, middle - 4), (x, middle + 4), (x + 8, middle - 4 + tip), (x + 8, middle + 4 - tip))))
    return draw_pill([sign, _words(text, Canvas((1, 1), pen, scale, None), NORMAL, colour)], 7, pen, scale,
                     Target("action", "pause"))


def draw_job(job: RunningJob, pen: Pen, scale: float) -> Canvas:
    def bar(on: Canvas, x: float, middle: float) -> None:
        on.rect(GROUND, (x, middle - 3, JOB_BAR, 6), radius=3)
        on.rect(ACCENT, (x, middle - 3, max(JOB_BAR * min(job.part, 1.0), 6), 6), radius=3)

    ruler = Canvas((1, 1), pen, scale, None)
    return draw_pill([_words(job.text, ruler, NORMAL, TEXT), LegendPart(JOB_BAR, bar),
                      _words(job.done, ruler, NORMAL, DIM)], 14, pen, scale)


def draw_hints(keys: Sequence[tuple[str, str, str]], room: float, pen: Pen, scale: float) -> Canvas:
    """As many keys as there is room for: action, key, and what it does; a click does it."""
    def draw(on: Canvas, x: float, middle: float, action: str, key: str, what: str) -> None:
        end = on.left(what, on.key(key, x, middle) + 6, middle, colour=DIM)
        on.target((x - 6, 0, end - x + 12, STRIP_HEIGHT), "action", action)

    ruler = Canvas((1, 1), pen, scale, None)
    parts = [LegendPart(ruler.key_width(key) + 6 + ruler.width(what), partial(draw, action=action, key=key, what=what))
             for action, key, what in keys]
    line = in_lines(parts, room - 2 * PAD, KEY_GAP)[0]
    return draw_pill(line if line and line[0].wide <= room - 2 * PAD else (), KEY_GAP, pen, scale)


# --- overlays --------------------------------------------------------------------------------------------------------

def draw_legend(items: Sequence[LegendItem], room: float, pen: Pen, scale: float, most: int = 99, first: int = 0) -> Canvas:
    """A panel, at most `room` units wide, with a text of one or two lines for each overlay, and below it its colours.

    Of more than `most` lines those from `first` on are shown, beside a bar; the target says how far one can scroll.
    """
    ruler, wide = Canvas((1, 1), pen, scale, None), min(room, WIDEST)
    left = PAD + max(ruler.width(each.name) for each in items) + 12
    inner, lines = wide - PAD - left, list[tuple[str, list[LegendPart]]]()
    for each in items:
        texts = [[_words(line, ruler, SMALL, DIM)] for line in ruler.wrapped(each.text, inner, SMALL, TEXT_LINES)]
        keys = in_lines([_key(key, ruler) for key in each.keys], inner, KEY_GAP) if each.keys else []
        lines += [(each.name, line) for line in texts + keys or [[]]]
    last_first = max(len(lines) - max(most, 1), 0)
    first = min(first, last_first)
    shown = lines[first:first + max(most, 1)]
    on = Canvas((wide, EDGES + LINE * len(shown)), pen, scale)
    middle, named = (EDGES + LINE) / 2, ""
    for name, line in shown:
        if name != named:
            on.left(name, PAD, middle, NORMAL, ACCENT)
        draw_line(on, line, left, middle, KEY_GAP)
        middle, named = middle + LINE, name
    if last_first:
        line_px = (on.size[1] - EDGES) / len(lines)
        on.rect(FAINT, (wide - 6, EDGES / 2 + first * line_px, 3, len(shown) * line_px), radius=1)
        on.target((0, 0, *on.size), LEGEND, str(last_first))
    return on


def _key(key: Key, ruler: Canvas, wide: float = KEY_WIDTH) -> LegendPart:
    dashes, width, height = ((0.0, 7.0, 14.0), 4.0, 3.0) if key.dashed else ((0.0,), wide, 8.0)

    def draw(on: Canvas, x: float, middle: float) -> None:
        on.rect(EDGE if key.dashed else FAINT, (x - 1, middle - 5, wide + 2, 10), radius=2)
        for dash in dashes:
            on.rect(key.colour, (x + dash, middle - height / 2, width, height))
        on.left(key.what, x + wide + 6, middle, SMALL, DIM)

    return LegendPart(wide + 6 + ruler.width(key.what, SMALL), draw)


# --- a colour mode ---------------------------------------------------------------------------------------------------

def draw_colour_legend(legend: Legend, room: float, pen: Pen, scale: float) -> Canvas:
    """A panel of at most `room` units width: a title, and each colour with its text, or all of them between two texts."""
    ruler = Canvas((1, 1), pen, scale, None)
    inner = room - 2 * PAD
    parts = [_words(ruler.fitted(legend.title, inner), ruler, NORMAL, TEXT)]
    parts += [_ramp(legend, inner, ruler)] if legend.is_ramp else [
        _key(Key(colour, ruler.fitted(text, inner - SWATCH - 6, SMALL)), ruler, SWATCH)
        for colour, text in zip(legend.colours, legend.texts, strict=True)]
    lines = in_lines(parts, inner, COLOUR_GAP)
    wide = max(width_of(line, COLOUR_GAP) for line in lines)
    canvas = Canvas((2 * PAD + wide, COLOUR_EDGES + LINE * len(lines)), pen, scale, PANEL, Target("action", "colours"))
    for number, line in enumerate(lines):
        draw_line(canvas, line, PAD, COLOUR_EDGES / 2 + LINE * (number + 0.5), COLOUR_GAP)
    return canvas


def _ramp(legend: Legend, room: float, ruler: Canvas) -> LegendPart:
    wide = min(RAMP, RAMP_SHARE * room)
    each = (room - wide - COLOUR_GAP) / 2
    first, last = (ruler.fitted(text, each, SMALL) for text in (legend.texts[0], legend.texts[-1]))
    before = ruler.width(first, SMALL) + COLOUR_GAP / 2
    step = wide / len(legend.colours)

    def draw(on: Canvas, x: float, middle: float) -> None:
        on.left(first, x, middle, SMALL, DIM)
        for number, colour in enumerate(legend.colours):
            on.rect(colour, (x + before + number * step, middle - SWATCH / 2, step, SWATCH))
        on.rect(FAINT, (x + before - 1, middle - SWATCH / 2 - 1, wide + 2, SWATCH + 2), width=1)
        on.left(last, x + before + wide + COLOUR_GAP / 2, middle, SMALL, DIM)

    return LegendPart(before + wide + COLOUR_GAP / 2 + ruler.width(last, SMALL), draw)


# --- a chart ---------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 230.0, 176.0  # units; beside the inspector's panel in a window of 1280 x 720
LEFT, TOP, RIGHT, BOTTOM = 36.0, 28.0, 14.0, 30.0  # around the plot
CURVE_LINE = 13.0
FAINTEST = 90  # how opaque what was found once is, of 255
STEPS, MAX_NUMBERS = (0.5, 1.0, 2.0, 5.0, 10.0), 6  # between numbers of an axis; how many there are at most


def draw_chart(chart: Chart, pen: Pen, scale: float) -> Canvas:
    """A histogram of pairs of numbers, the more opaque the more frequent, in the colours of classes, and curves."""
    def at(x: float, y: float) -> tuple[float, float]:
        return (LEFT + x / chart.ends[0] * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - y / chart.ends[1] * (HEIGHT - TOP - BOTTOM))

    on = Canvas((WIDTH, HEIGHT), pen, scale)
    on.left(chart.title, PAD, 14, NORMAL, TEXT)
    on.rect(GROUND, (LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM))
    rows, columns = chart.counts.shape
    across, up = chart.ends[0] / columns, chart.ends[1] / rows
    shares = np.sqrt(chart.counts / max(int(chart.counts.max(initial=1)), 1))
    alpha, kinds = (FAINTEST + (255 - FAINTEST) * shares).astype(int).tolist(), chart.classes.tolist()
    ground = pen.colour(GROUND)[:3]
    for row, column in np.argwhere(chart.counts).tolist():
        (x0, y0), (x1, y1) = at(column * across, (row + 1) * up), at((column + 1) * across, row * up)
        red, green, blue = (round(under + (above - under) * alpha[row][column] / 255)
                            for under, above in zip(ground, chart.colours[kinds[row][column]], strict=True))
        on.rect((red, green, blue), (x0, y0, x1 - x0, y1 - y0))
    (left, bottom), (right, top) = at(0, 0), at(*chart.ends)
    for number in _numbers(chart.ends[0]):
        x, _ = at(number, 0)
        on.line(EDGE, (x, bottom), (x, bottom + 3))
        on.centred(f"{number:g}", x, bottom + 10, SMALL, DIM)
    for number in _numbers(chart.ends[1]):
        _, y = at(0, number)
        on.line(EDGE, (left - 3, y), (left, y))
        on.right(f"{number:g}", left - 6, y, SMALL, DIM)
    on.line(FAINT, (left, bottom), (right, bottom))
    on.line(FAINT, (left, bottom), (left, top))
    on.right(chart.axes[0], right, bottom + 21, SMALL, FAINT)
    on.left(chart.axes[1], left + 4, top + 8, SMALL, FAINT)
    for rank, (name, along, upwards) in reversed(list(enumerate(chart.curves))):
        colour, width = (FAINT, 1.0) if rank else (TEXT, 1.6)
        on.line(colour, *itertools.starmap(at, zip(along.tolist(), upwards.tolist(), strict=True)), width=width)
        on.right(name, WIDTH - RIGHT - 6, TOP + 9 + CURVE_LINE * rank, SMALL, colour)
    return on


def _numbers(end: float) -> list[float]:
    step = next((step for step in STEPS if end / step <= MAX_NUMBERS + 0.5), STEPS[-1])
    return np.arange(0, end + step / 100, step).tolist()
