"""What a press or a drag moves: the minimap and the timeline, which go there, and the tool bar with its brush.

The minimap is the whole world, small, with its crowd, the view, and the frozen frustum. The ground has the mean
colour of each tile; the crowd is a sample, drawn on it some times a second and kept in between.

The timeline is a bar at the lower edge that shows how far back one can go, and how long the frames took then. It spans
the last minute. What can be returned to is lighter; a line marks the present tick, and a small triangle each event that
happened, with its text when the cursor is there. The bar is rendered a few times a second, and only lines and triangles
move in between.

The tool bar has a button with an icon for each tool, and the slider of the brush. Icons are drawn in a square of 16
units. The bar is as many columns wide as its height requires. The cursor shows what a press of a tool will change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes
from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    GROUND,
    INACTIVE,
    KEY,
    MUTED,
    PANEL,
    RGBA,
    SMALL,
    TEXT,
    TOUCHED,
    WARM,
    Canvas,
    Colour,
    Pen,
    Point,
    Renderings,
    Target,
)
from crowd_demo.render.hud.frame_sections import BUDGET_MS, scale_ms
from crowd_demo.render.hud.status import BrushView, FlowView, Mark, MinimapView, Past, Ring, ToolBarView
from crowd_demo.sim.simulation import Simulation

MAP_HZ = 4.0
MARK_PX = 5  # half the width of an event's mark on the timeline, at scale 1
WIDEST, HIGHEST, MAP_EDGE = 130.0, 110.0, 6.0  # units, of the minimap
SAMPLE = 8192  # agents at most
DARK, LIGHT = (30, 34, 60), (250, 240, 210)  # the crowd on a light ground, and on a dark one
DARK_BELOW = 110.0  # mean of the ground's channels
STRONGEST = 0.8  # share of the crowd's colour, where it is densest

BUTTON, GAP, AROUND = 22.0, 2.0, 4.0  # units, of the tool bar
SLIDER, KNOB, WORDS = 48.0, 4.0, 14.0  # units: the slider, half its knob, the size below it
BRUSH_SLIDER = Target("brush")
FLOW_WIDTH, FLOW_HEIGHT = 150.0, 34.0  # units: of the numbers beside the counting line, and of the plot below them
FLOW_SHOWN = 60  # seconds in the plot
ALONG = 32  # corners of the cursor's circle


# --- the minimap -----------------------------------------------------------------------------------------------------

class Minimap:
    def __init__(self) -> None:
        self._rendered = Renderings()
        self._canvas: Canvas  # as drawn last, and pixels a world unit there
        self._px_per_unit = 1.0

    def draw(self, sim: Simulation, shown: MinimapView, pen: Pen, scale: float, now_s: float) -> Canvas:
        width, height = float(sim.terrain.walls.width), float(sim.terrain.walls.height)
        per_unit = min(WIDEST / width, HIGHEST / height)  # panel units a world unit
        box = width * per_unit, height * per_unit
        size = box[0] + 2 * MAP_EDGE, box[1] + 2 * MAP_EDGE
        canvas = self._canvas = Canvas(size, pen, scale, PANEL, Target("minimap"))
        inner = canvas.pixels((MAP_EDGE, MAP_EDGE, *box))
        self._px_per_unit = per_unit * scale
        picture = self._rendered.get("world", (inner.size, id(shown.ground)), lambda: pygame.surfarray.make_surface(
            picture_of(sim, shown.ground, inner.size)), now_s, 1 / MAP_HZ)
        canvas.surface.blit(picture, inner)
        canvas.surface.set_clip(inner)
        for rect, colour in ((shown.frozen, WARM), (shown.view, TEXT)):
            if rect:
                left, top = MAP_EDGE + rect.left * per_unit, MAP_EDGE + rect.top * per_unit
                size = (rect.right - rect.left) * per_unit, (rect.bottom - rect.top) * per_unit
                seen = canvas.pixels((left, top, *size)).clip(inner)
                pygame.draw.rect(canvas.surface, (0, 0, 0), seen.inflate(2, 2), 3)
                pygame.draw.rect(canvas.surface, pen.colour(colour), seen, 1)
        canvas.surface.set_clip(None)
        return canvas

    def world_at(self, x: float, y: float) -> tuple[float, float]:
        """The point of the world at a pixel of the window, as drawn last; beside the minimap, where it would go on."""
        (left, top), edge = self._canvas.at, self._canvas.px(MAP_EDGE)
        return (x - left - edge) / self._px_per_unit, (y - top - edge) / self._px_per_unit


def picture_of(sim: Simulation, tiles: Bytes, size: tuple[int, int]) -> Bytes:
    """Ground and crowd of the whole world in so many pixels: uint8[width, height, 3]."""
    width, height = size
    rows, columns = (np.arange(pixels) * tiles_along // pixels
                     for pixels, tiles_along in zip((height, width), tiles.shape[:2], strict=True))
    ground = tiles[rows][:, columns].swapaxes(0, 1).astype(np.float32)
    crowd = np.array(LIGHT if ground.mean() < DARK_BELOW else DARK, np.float32)
    columns_of, count = sim.agents.view, sim.agents.count
    every = max(1, -(-count // SAMPLE))
    across, down = (np.clip(along[:count:every] / float(side) * pixels, 0, pixels - 1).astype(np.int64)
                    for along, side, pixels in ((columns_of.x, sim.terrain.walls.width, width),
                                                (columns_of.y, sim.terrain.walls.height, height)))
    counts = np.zeros(size, np.float32)
    np.add.at(counts, (across, down), 1)
    share = STRONGEST * (1 - np.exp(-counts / max(3 * float(counts.mean()), 0.1)))[..., None]
    return (ground + (crowd - ground) * share).astype(np.uint8)


# --- the timeline -------------------------------------------------------------------------------------------------------

def first_tick(past: Past) -> int:
    """The tick at the left end of the bar; below 0 in the first minute."""
    return past.newest - past.span


def tick_at(past: Past, x: float, bar: pygame.Rect) -> int:
    """The tick that is shown at a pixel's column, or the nearest that can be returned to."""
    tick = first_tick(past) + round((x - bar.left) / max(bar.width - 1, 1) * past.span)
    return min(max(tick, past.oldest), past.newest)


def column_of(past: Past, tick: int, width: int) -> int:
    return round((tick - first_tick(past)) / past.span * (width - 1))


def mark_at(past: Past, x: float, bar: pygame.Rect, scale: float) -> Mark | None:
    """The event whose mark is at a pixel's column; the nearest, of several."""
    near = [(abs(bar.left + column_of(past, mark.at, bar.width) - x), mark) for mark in shown_marks(past)]
    return min((found for found in near if found[0] <= MARK_PX * scale), default=(0, None))[1]


def shown_marks(past: Past) -> list[Mark]:
    return [mark for mark in past.marks if first_tick(past) <= mark.at <= past.newest]


def label(past: Past) -> str:
    """The present tick, how far back one can go, and the memory for it."""
    reach = why_not(past) or (
        f"rewind {int((past.newest - past.oldest) / past.hz)} s ({past.nbytes / 1e6:.0f} of {past.bound / 1e6:.0f} MB)")
    if past.recorded is not None:
        reach += f", recording {past.recorded / 1e6:,.2f} MB"
    if past.tick == past.newest:
        return reach
    ago_s = (past.newest - past.tick) / past.hz
    what = "Space plays on" if past.replayed else "changes discard what follows"
    return f"{ago_s:.2f} s ago, tick {past.tick:,}: {what}   ({reach})"


def why_not(past: Past) -> str:
    """Why there is no going back; empty if there is."""
    if not past.bound:
        return "going back is off: time.rewind_mb is 0"
    if not past.nbytes:
        return f"no going back: this crowd needs more than {past.bound / 1e6:.0f} MB (time.rewind_mb)"
    return ""


def draw_timeline(on: pygame.Surface, bar: pygame.Rect, past: Past, pen: Pen, scale: float,
                  tall: pygame.Surface | None) -> None:
    """Draw the bar, thin or as it was `rendered` when tall, with lines and triangles."""
    at = bar.left + column_of(past, past.tick, bar.width)
    if tall:
        on.blit(tall, bar)
    else:
        on.fill(pen.colour(GROUND), bar)
        left = bar.left + column_of(past, past.oldest, bar.width)
        on.fill(pen.colour(MUTED), (left, bar.top + 2, max(at - left, 0), bar.height - 4))
    warm, half = pen.colour(WARM), round(MARK_PX * scale)
    for mark in shown_marks(past):
        x = bar.left + column_of(past, mark.at, bar.width)
        pygame.draw.line(on, warm, (x, bar.top), (x, bar.bottom - 1))
        pygame.draw.polygon(on, warm, ((x - half, bar.top), (x + half, bar.top), (x, bar.top + 2 * half)))
    pygame.draw.line(on, pen.colour(ACCENT), (at, bar.top), (at, bar.bottom - 1), 3)


def rendered(size: tuple[int, int], past: Past, pen: Pen) -> pygame.Surface:
    """The tall bar without its line: each column is as high as the slowest frame of the ticks that it stands for."""
    sheet, (width, height) = pygame.Surface(size), size
    full_ms, reach = scale_ms(past.frame_ms[past.frame_ms > 0]), column_of(past, past.oldest, width)
    slowest = np.maximum.reduceat(past.frame_ms, np.arange(width) * past.span // width)  # of each column
    sheet.fill(pen.colour(GROUND))
    sheet.fill(pen.colour(KEY), (reach, 0, width, height))
    beyond, within = pen.colour(INACTIVE), pen.colour(MUTED)
    for column, ms in enumerate(slowest.tolist()):
        tall = round(min(ms / full_ms, 1.0) * height)
        if tall:
            sheet.fill(within if column >= reach else beyond, (column, height - tall, 1, tall))
    budget = height - round(height * BUDGET_MS / full_ms)
    if 0 < budget < height:
        for column in range(0, width, 2):
            sheet.set_at((column, budget), pen.colour(DIM))
    pygame.draw.rect(sheet, pen.colour(EDGE), sheet.get_rect(), 1)
    return sheet


# --- the tool bar ----------------------------------------------------------------------------------------------------

def draw_tool_bar(shown: ToolBarView, room: float, pen: Pen, scale: float) -> Canvas:
    """The bar, at most so high if that is possible."""
    count, foot = len(shown.buttons), SLIDER + WORDS + 2 * AROUND
    rows = max(min(int((room - foot - AROUND) / (BUTTON + GAP)), count), 1)
    columns = math.ceil(count / rows)
    rows = math.ceil(count / columns)
    wide = max(columns * (BUTTON + GAP) - GAP + 2 * AROUND, 40.0)
    canvas = Canvas((wide, AROUND + rows * (BUTTON + GAP) + foot), pen, scale)
    left = (wide - columns * (BUTTON + GAP) + GAP) / 2
    for number, button in enumerate(shown.buttons):
        column, row = divmod(number, rows)
        x, y = left + column * (BUTTON + GAP), AROUND + row * (BUTTON + GAP)
        if button.is_held:
            canvas.rect(TOUCHED, (x, y, BUTTON, BUTTON), radius=4)
            canvas.rect(ACCENT, (x, y, BUTTON, BUTTON), radius=4, width=1)
        draw_icon(canvas, button.icon, x + 3, y + 3, ACCENT if button.is_held else TEXT)
        canvas.target((x, y, BUTTON, BUTTON), "tool", button.action)
    top, middle = 2 * AROUND + rows * (BUTTON + GAP), wide / 2
    canvas.line(EDGE, (2 * AROUND, top - AROUND), (wide - 2 * AROUND, top - AROUND))
    canvas.rect(KEY, (middle - 2, top, 4, SLIDER), radius=2)
    canvas.rect(ACCENT, (middle - 8, top + SLIDER * (1 - shown.share) - KNOB, 16, 2 * KNOB), radius=3)
    canvas.centred(shown.size, middle, top + SLIDER + AROUND + WORDS / 2, SMALL, DIM)
    canvas.target((0, top, wide, SLIDER), *BRUSH_SLIDER)
    return canvas


def draw_brush(on: pygame.Surface, brush: BrushView, pen: Pen, scale: float) -> None:
    """Draw on the picture what a press at the cursor will change: tiles, a circle, and below it a few words."""
    (x, y), thick, colour = brush.at, max(round(scale), 1), pen.colour(ACCENT)
    for start, end in brush.lines:
        pygame.draw.line(on, colour, start, end, thick)
    _circle(on, brush.at, brush.radius, thick, (255, 255, 255, 255))
    ruler = Canvas((1, 1), pen, scale, None)
    label = Canvas((ruler.width(brush.text, SMALL) + 12, 16), pen, scale)
    label.left(brush.text, 6, 8, SMALL)
    away = max(brush.radius, 8 * scale) + 4 * scale
    place = label.surface.get_rect(midtop=(x, y + away))
    if place.bottom > on.get_height():
        place.midbottom = round(x), round(y - away)
    on.blit(label.surface, place.clamp(on.get_rect()))


def draw_rings(on: pygame.Surface, rings: Sequence[Ring], pen: Pen, scale: float) -> None:
    """Draw the forces that stand in the picture: a circle, and the icon of the tool in its middle."""
    for at, radius, icon in rings:
        _circle(on, at, radius, max(round(scale), 1), pen.colour(ACCENT))
        sign = Canvas((20, 20), pen, scale)
        draw_icon(sign, icon, 2, 2, ACCENT)
        on.blit(sign.surface, sign.surface.get_rect(center=at))


def draw_flow(on: pygame.Surface, flow: FlowView, pen: Pen, scale: float) -> None:
    """Draw the counting line, an arrow for each direction across it, and beside it their numbers and a plot."""
    (x, y), (to_x, to_y) = flow.start, flow.end
    length = max(math.hypot(to_x - x, to_y - y), 1)
    across, middle = ((to_y - y) / length, (x - to_x) / length), ((x + to_x) / 2, (y + to_y) / 2)  # to the left
    for thick, ink in ((5, (0, 0, 0, 255)), (3, pen.colour(TEXT))):
        pygame.draw.line(on, ink, flow.start, flow.end, max(round(thick * scale), 1))
    label = Canvas((FLOW_WIDTH, 2 * WORDS + FLOW_HEIGHT + 14), pen, scale)
    recent, most, low = flow.flows[-FLOW_SHOWN:].tolist(), flow.flows.max(initial=0.1), 2 * WORDS + FLOW_HEIGHT + 8
    label.line(EDGE, (8, low), (FLOW_WIDTH - 8, low))
    for number, (way, colour) in enumerate(((1, ACCENT), (-1, WARM))):
        x, y, size = way * across[0], way * across[1], 14 * scale
        pygame.draw.polygon(on, pen.colour(colour), [
            (middle[0] + size * (along * x + side * y), middle[1] + size * (along * y - side * x))
            for along, side in ((1.6, 0), (0.5, -0.6), (0.5, 0.6))])
        label.circle(colour, (10, 6 + WORDS * (number + 0.5)), 4)
        label.left(flow.texts[number], 20, 6 + WORDS * (number + 0.5), SMALL)
        if len(recent) > 1:
            label.line(colour, *[(8 + (FLOW_WIDTH - 16) / FLOW_SHOWN * second, low - FLOW_HEIGHT * now[number] / most)
                                 for second, now in enumerate(recent)])
    place = label.surface.get_rect(topleft=(middle[0] + 50 * scale, middle[1] + 20 * scale))  # right of the cursor's
    on.blit(label.surface, place.clamp(on.get_rect()))


def _circle(on: pygame.Surface, at: Point, radius: float, thick: int, ink: RGBA) -> None:
    """A thin circle that is seen on light and dark alike."""
    corners = [(at[0] + radius * math.cos(angle), at[1] + radius * math.sin(angle))
               for angle in (2 * math.pi * number / ALONG for number in range(ALONG))]
    for width, colour in ((thick + 2, (0, 0, 0, 255)), (thick, ink)):
        pygame.draw.lines(on, colour, True, corners, width)


# --- icons -----------------------------------------------------------------------------------------------------------

class Shape(NamedTuple):
    """A part of an icon; a box lies between two corners. `size`: the width of lines, a radius, also of a box's corners."""

    kind: Literal["polygon", "lines", "disc", "box"]
    points: Sequence[Point]
    size: float = 1.6
    colour: Colour = ""  # empty: that of the icon


def draw_icon(on: Canvas, name: str, x: float, y: float, colour: Colour) -> None:
    for shape in ICONS[name]:
        ink, points = shape.colour or colour, [(x + across, y + down) for across, down in shape.points]
        match shape.kind:
            case "polygon":
                on.polygon(ink, points)
            case "lines":
                on.line(ink, *points, width=shape.size)
            case "disc":
                on.circle(ink, points[0], shape.size)
            case "box":
                (left, top), (right, bottom) = points
                on.rect(ink, (left, top, right - left, bottom - top), shape.size)


def _mirrored(shapes: Sequence[Shape]) -> Sequence[Shape]:
    return [shape._replace(points=[(16 - across, down) for across, down in shape.points]) for shape in shapes]


def _door(tip: float, back: float) -> Sequence[Shape]:
    """A doorway, and an arrow that points into it or out of it."""
    return (Shape("lines", ((9, 2), (14, 2), (14, 14), (9, 14))), Shape("lines", ((1, 8), (10, 8))),
            Shape("polygon", ((tip, 8), (back, 4.8), (back, 11.2))))


def _arrows(tip: float, back: float) -> Sequence[Shape]:
    """A point, and four arrows towards it or away from it."""
    return (Shape("disc", ((8, 8),), 1.8), *(Shape("polygon", [
        (8 + across * along + side * down * 2.6, 8 + down * along + side * across * 2.6)
        for along, side in ((tip, 0), (back, -1), (back, 1))]) for across, down in ((1, 0), (-1, 0), (0, 1), (0, -1))))


BRICKS = tuple(Shape("box", ((first, 2 + 4.2 * row), (end - 0.9, 5.3 + 4.2 * row)), 0)
               for row, ends in enumerate(((1, 8, 15), (1, 4.5, 11.5, 15), (1, 8, 15))) for first, end in pairwise(ends))
FEWER = Shape("disc", ((5.5, 4),), 2.7), Shape("box", ((1.5, 7.5), (9.5, 15)), 3), Shape("lines", ((10.5, 8), (15.5, 8)))
BACK = (Shape("lines", [(8 + 5.5 * math.cos(angle), 9.5 + 5 * math.sin(angle))  # an arrow that turns back
                        for angle in map(math.radians, range(-160, 100, 20))]),
        Shape("polygon", ((0.5, 8.5), (6.5, 9.5), (2.5, 3.5))))
ACROSS = Shape("polygon", ((15, 8), (10.5, 4.5), (10.5, 11.5)))
ICONS: Mapping[str, Sequence[Shape]] = {
    "pointer": (Shape("polygon", ((3, 1), (3, 13.5), (6.3, 10.6), (8.6, 15.3), (10.6, 14.3), (8.4, 9.8), (12.8, 9.4))),),
    "wall": BRICKS,
    "erase": (*(brick._replace(colour=DIM) for brick in BRICKS), Shape("lines", ((1, 15), (15, 1)), 2)),
    "in": (*FEWER, Shape("lines", ((13, 5.5), (13, 10.5)))),
    "out": FEWER,
    "line": (Shape("lines", ((8, 1), (8, 15)), 1.8), ACROSS, *_mirrored((ACROSS,))),
    "goal": (Shape("lines", ((4, 1), (4, 15))), Shape("polygon", ((5, 1.5), (14, 5), (5, 8.5)))),
    "entry": _door(11, 6.5),
    "exit": _door(0.5, 5),
    "attract": _arrows(3.2, 6.4),
    "repel": _arrows(7.5, 4.3),
    "scare": (Shape("polygon", ((8, 1), (15.5, 15), (0.5, 15))), Shape("lines", ((8, 6), (8, 10.5)), 1.8, KEY),
              Shape("disc", ((8, 12.8),), 0.9, KEY)),
    "undo": BACK,
    "redo": _mirrored(BACK),
}
